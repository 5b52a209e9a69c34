// Passing name, then rename.
#include "new_multifile.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "common.hpp"

namespace tool {
namespace {

bool exists(const std::string& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0;
}

[[noreturn]] void refuse_existing(const std::string& path) {
  throw Failure(kUnsafe, fmt::format("refused: '{}' exists already; replace it with --force", path));
}

// 0 when `path` is no multifile.
int32_t physical_files_of(const std::string& path) {
  try {
    return open_in_any_state(path).first.summary().n_physical;
  } catch (const Failure&) {
    return 0;
  }
}

}  // namespace

std::string physical_name(const std::string& path, int32_t number) {
  return number == 0 ? path : fmt::format("{}.{:06d}", path, number);
}

NewMultifile::NewMultifile(std::string path, bool force)
    : path_(std::move(path)), passing_(fmt::format("{}.part-{}", path_, getpid())), force_(force) {
  struct stat status = {};
  if (lstat(path_.c_str(), &status) != 0) return;
  if (!force_) refuse_existing(path_);
  if (S_ISDIR(status.st_mode)) throw Failure(kUnsafe, fmt::format("refused: '{}' is a directory", path_));
}

NewMultifile::~NewMultifile() {
  for (int32_t k = 0; unlink(physical_name(passing_, k).c_str()) == 0 || k == 0; ++k) {
  }
}

void NewMultifile::publish() {
  std::vector<std::string> moved;
  int32_t n = 1;
  while (exists(physical_name(passing_, n))) ++n;
  if (force_) {
    for (int32_t k = physical_files_of(path_) - 1; k >= n; --k) unlink(physical_name(path_, k).c_str());
  }
  try {
    for (int32_t k = n - 1; k >= 0; --k) {
      move(physical_name(passing_, k), physical_name(path_, k));
      moved.push_back(physical_name(path_, k));
    }
  } catch (...) {
    for (const std::string& file : moved) unlink(file.c_str());
    throw;
  }
}

void NewMultifile::move(const std::string& from, const std::string& to) const {
  int result = renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), force_ ? 0 : RENAME_NOREPLACE);
  if (result != 0 && (errno == EINVAL || errno == ENOSYS)) {  // a file system without that flag
    if (!force_ && exists(to)) refuse_existing(to);
    result = rename(from.c_str(), to.c_str());
  }
  if (result == 0) return;
  if (errno == EEXIST) refuse_existing(to);
  fail_with_errno("rename to", to);
}

}  // namespace tool
