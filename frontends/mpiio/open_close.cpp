#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "mpiio/calls.hpp"
#include "mpiio/hints.hpp"
#include "mpiio/open_file.hpp"

namespace thalweg::mpiio {

namespace {

// What programs put before a name to choose a file system; all of them are used as POSIX files here.
constexpr std::string_view kPrefixes[] = {
    "ufs:", "nfs:", "xfs:", "panfs:", "gpfs:", "lustre:", "pvfs2:", "testfs:", "ime:", "quobyte:"};

const char* without_prefix(const char* path) {
  for (const std::string_view prefix : kPrefixes)
    if (std::string_view(path).starts_with(prefix)) return path + prefix.size();
  return path;
}

Failure wrong_amode(const std::string& what) { return {MPI_ERR_AMODE, "MPI_File_open: amode has " + what}; }

Failure check_amode(int amode) {
  constexpr int kAll = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL |
                       MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
  if ((amode & ~kAll) != 0) return wrong_amode("bits that are no MPI_MODE_* (" + std::to_string(amode) + ")");
  int n = 0;
  for (const int one : {MPI_MODE_RDONLY, MPI_MODE_RDWR, MPI_MODE_WRONLY}) n += (amode & one) != 0 ? 1 : 0;
  if (n != 1) return wrong_amode(std::to_string(n) + " of MPI_MODE_RDONLY, _RDWR and _WRONLY; pass exactly one");
  if ((amode & MPI_MODE_RDONLY) != 0 && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
    return wrong_amode("MPI_MODE_RDONLY with _CREATE or _EXCL");
  if ((amode & MPI_MODE_RDWR) != 0 && (amode & MPI_MODE_SEQUENTIAL) != 0)
    return wrong_amode("MPI_MODE_RDWR with _SEQUENTIAL");
  return {};
}

std::int32_t flags_of(int amode) {
  std::int32_t flags = 0;
  if ((amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR)) != 0) flags |= TW_READ;
  if ((amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) != 0) flags |= TW_WRITE;
  if ((amode & MPI_MODE_CREATE) != 0) flags |= TW_CREATE;
  // The library compares flags between ranks, and those that append meet for the end of the file.
  if ((amode & MPI_MODE_APPEND) != 0 && (amode & MPI_MODE_RDONLY) == 0) flags |= TW_APPEND;
  if ((amode & MPI_MODE_CREATE) != 0 && (amode & MPI_MODE_EXCL) != 0) flags |= TW_EXCLUSIVE;
  return flags;
}

struct FreeOptions {
  void operator()(tw_options* options) const { tw_options_free(&options); }
};

// Opens the file of the library. Where this rank's arguments are wrong it passes no flags, which fails on all ranks.
Failure open_library_file(OpenFile& made, const Failure& mine) {
  tw_options* options = nullptr;
  if (tw_options_create(&options) != TW_OK) options = nullptr;
  const std::unique_ptr<tw_options, FreeOptions> owner(options);
  if (options != nullptr) apply_hints(made.info, options);
  const tw_status status = tw_file_open(made.communicator->group, made.path.c_str(),
                                        mine.none() ? flags_of(made.amode) : 0, options, &made.file);
  Failure failure = failure_of(status);
  if (status == TW_ERR_UNKNOWN_HINT) failure.error_class = MPI_ERR_INFO_VALUE;
  if (status == TW_ERR_UNSAFE) failure.error_class = MPI_ERR_ACCESS;
  if (status == TW_ERR_INVALID) failure.error_class = MPI_ERR_NOT_SAME;  // another rank's arguments
  if (!failure.none()) failure.message = "MPI_File_open: " + failure.message;
  return mine.none() ? failure : mine;
}

// Gives back the slot and the group of the file. No rank uses the file any more.
void leave(OpenFile& file) {
  const SharedSlot& slot = file.shared.slot;
  for (int i = 0; i < SharedNumbers::kOfFile && file.communicator->rank == 0 && slot.numbers != nullptr; ++i)
    slot.numbers->clear(slot.first + i);
  if (slot.numbers != nullptr) slot.numbers->give_back(slot.first);
  if (file.group != file.communicator->group) tw_group_free(&file.group);
}

bool may_write(const OpenFile& file) { return (file.amode & MPI_MODE_RDONLY) == 0; }

// The group, the shared pointer, and with MPI_MODE_APPEND both pointers at the end of the file.
Failure prepare(OpenFile& made) {
  Communicator& all = *made.communicator;
  if (all.threads != 0)
    if (const tw_status status = tw_group_duplicate(all.group, &made.group); status != TW_OK) return failure_of(status);
  Failure failure = take_slot(all, made.group, made.shared.slot);
  if (!failure.none() || (made.amode & MPI_MODE_APPEND) == 0) return failure;
  std::int64_t end = 0;
  failure = failure_of(may_write(made) ? tw_file_size(made.file, &end) : tw_file_end(made.file, &end));
  made.position = made.shared.base = end;
  return failure;
}

// A collective call fails on all ranks. tw_file_end() fails on this rank alone: the slot and the group stay in use then, as
// they do on the other ranks.
void give_up(OpenFile& made) {
  if (may_write(made)) {
    (void)tw_file_close(&made.file);
    leave(made);
  } else {
    (void)tw_file_abandon(&made.file);
  }
}

Failure open_file(MPI_Comm communicator, const char* path, int amode, MPI_Info info, MPI_File* handle) {
  auto made = std::make_unique<OpenFile>();
  Failure failure;
  made->communicator = communicator_of(communicator, failure);
  if (!failure.none()) return failure;
  made->group = made->communicator->group;
  Failure mine = check_amode(amode);
  if (path == nullptr || *path == '\0') mine = {MPI_ERR_BAD_FILE, "MPI_File_open: the name is empty"};
  made->path = path != nullptr ? without_prefix(path) : "";
  made->amode = amode;
  made->handler = take_default_handler();
  made->info = system_hints();
  add_hints(info, made->communicator->rank == 0, made->info);
  failure = open_library_file(*made, mine);
  if (failure.none()) {
    failure = prepare(*made);
    if (!failure.none()) give_up(*made);
  }
  if (!failure.none()) {
    drop_handler(made->handler);
    return failure;
  }
  ask_whether_alone(*made);
  *handle = register_file(std::move(made));
  return failure;
}

void free_view(FileView& view) {
  if (!is_predefined(view.etype)) MPI_Type_free(&view.etype);
  if (!is_predefined(view.filetype)) MPI_Type_free(&view.filetype);
}

// Completes what the program has not: a split collective call, and accesses whose requests it freed.
void complete_all(OpenFile& file) {
  if (file.split != nullptr) file.split->wait();
  file.split.reset();
  for (const auto& request : file.freed) request->wait();
  file.freed.clear();
}

Failure close_file(OpenFile& file) {
  complete_all(file);
  report(file);
  // Before the collective call: another rank may make a file of this name as soon as it has returned.
  if (file.communicator->rank == 0 && (file.amode & MPI_MODE_DELETE_ON_CLOSE) != 0) ::unlink(file.path.c_str());
  Failure failure = failure_of(tw_file_close(&file.file));
  leave(file);
  free_view(file.view);
  file.locks.close();
  if (!failure.none()) failure.message = "MPI_File_close: " + failure.message;
  return failure;
}

}  // namespace

int open(MPI_Comm communicator, const char* path, int amode, MPI_Info info, MPI_File* handle) {
  *handle = MPI_FILE_NULL;
  return conclude(nullptr, open_file(communicator, path, amode, info, handle));
}

int close(MPI_File* handle) {
  const auto file = handle != nullptr ? file_of(*handle) : nullptr;
  if (file == nullptr) return conclude(nullptr, not_open("MPI_File_close"));
  const Failure failure = close_file(*file);
  const int error = conclude(file.get(), failure);
  drop_handler(file->handler);
  forget_file(*handle);
  *handle = MPI_FILE_NULL;
  return error;
}

int remove(const char* path) {
  const char* const name = path != nullptr ? without_prefix(path) : "";
  if (::unlink(name) == 0) return MPI_SUCCESS;
  const int os_errno = errno;
  return conclude(nullptr, {class_of_errno(os_errno),
                            std::string("MPI_File_delete: cannot remove '") + name + "': " + std::strerror(os_errno)});
}

}  // namespace thalweg::mpiio
