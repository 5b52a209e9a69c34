#include "omp_file/open_files.hpp"

#include <memory>
#include <new>

#include "omp_file/number_table.hpp"

namespace thalweg::omp_file {

namespace {

// Kernels assign no descriptors from 2^30 on. 4096 files, and 16 million opens until a number repeats.
constexpr std::int64_t kFirst = std::int64_t{1} << 30;

// Created when the library is loaded, so that no call can fail for it, and never destroyed: threads may still run while
// the process exits.
auto& table = *new NumberTable<OpenFile>({.first = kFirst, .slot_bits = 12, .generation_bits = 18});

}  // namespace

int add_descriptor(OpenFile* file) {
  try {
    return static_cast<int>(table.add(file));
  } catch (const std::bad_alloc&) {
    return -2;
  }
}

OpenFile* acquire(int fd) {
  return table.with(fd, [](OpenFile* file) {
    if (file != nullptr) file->references.fetch_add(1, std::memory_order_relaxed);
    return file;
  });
}

tw_status release(OpenFile* file) {
  if (file->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return TW_OK;
  const std::unique_ptr<OpenFile> last(file);
  return tw_file_close(&last->handle);
}

// After the descriptor is removed references only decrease, so that the first value read is an upper bound.
bool others_are_at_work(const OpenFile& file) {
  const int references = file.references.load(std::memory_order_acquire);
  return references > 1 + file.gathering.load(std::memory_order_acquire);
}

OpenFile* forget_descriptor(int fd) { return table.remove(fd); }

}  // namespace thalweg::omp_file
