#include "mpiio/open_file.hpp"

#include <atomic>
#include <cstdio>
#include <deque>

namespace thalweg::mpiio {

namespace {

constexpr std::uint64_t kMagic = 0x5448414c57454731;

struct Slot {
  std::uint64_t magic = kMagic;
  std::shared_ptr<OpenFile> file;
  MPI_Fint number = 0;
};

struct Slots {
  std::mutex mutex;
  std::deque<Slot> all;
  std::atomic<bool> is_over{false};  // MPI ends: no file can be used any more
};

Slots& slots() {
  static auto* const kept = new Slots;  // files may be used while static objects go
  return *kept;
}

MPI_File handle_of_slot(Slot& slot) { return reinterpret_cast<MPI_File>(&slot); }

Slot* slot_of(MPI_File handle) {
  if (handle == MPI_FILE_NULL || reinterpret_cast<std::uintptr_t>(handle) == 0 || slots().is_over) return nullptr;
  auto* const slot = reinterpret_cast<Slot*>(handle);
  return slot->magic == kMagic ? slot : nullptr;
}

}  // namespace

MPI_File register_file(std::shared_ptr<OpenFile> file) {
  Slots& known = slots();
  const std::scoped_lock lock(known.mutex);
  for (Slot& slot : known.all)
    if (slot.file == nullptr) {
      slot.file = std::move(file);
      return handle_of_slot(slot);
    }
  Slot& slot = known.all.emplace_back();
  slot.file = std::move(file);
  slot.number = static_cast<MPI_Fint>(known.all.size());
  return handle_of_slot(slot);
}

void forget_file(MPI_File handle) {
  Slots& known = slots();
  const std::scoped_lock lock(known.mutex);
  slot_of(handle)->file.reset();
}

std::shared_ptr<OpenFile> file_of(MPI_File handle) {
  const Slot* const slot = slot_of(handle);
  return slot != nullptr ? slot->file : nullptr;
}

MPI_File handle_of(const OpenFile* file) {
  if (file == nullptr) return MPI_FILE_NULL;
  Slots& known = slots();
  const std::scoped_lock lock(known.mutex);
  for (Slot& slot : known.all)
    if (slot.file.get() == file) return handle_of_slot(slot);
  return MPI_FILE_NULL;
}

MPI_Fint number_of(MPI_File handle) {
  const Slot* const slot = slot_of(handle);
  return slot != nullptr ? slot->number : 0;
}

MPI_File handle_of_number(MPI_Fint number) {
  Slots& known = slots();
  const std::scoped_lock lock(known.mutex);
  if (number < 1 || static_cast<std::size_t>(number) > known.all.size()) return MPI_FILE_NULL;
  return handle_of_slot(known.all[static_cast<std::size_t>(number) - 1]);
}

void ask_whether_alone(OpenFile& file) {
  std::int32_t alone = 0;
  file.goes_alone = tw_file_goes_alone(file.file, &alone) == TW_OK && alone != 0;
}

void name_unclosed() {
  Slots& known = slots();
  known.is_over = true;
  const std::scoped_lock lock(known.mutex);
  for (const Slot& slot : known.all)
    if (slot.file != nullptr && slot.file->communicator->rank == 0)
      std::fprintf(stderr, "thalweg: '%s' was not closed before MPI_Finalize; what was written is in the file\n",
                   slot.file->path.c_str());
}

Failure not_open(const char* call) {
  return {MPI_ERR_FILE, std::string(call) + ": the handle is MPI_FILE_NULL, or its file was closed"};
}

}  // namespace thalweg::mpiio
