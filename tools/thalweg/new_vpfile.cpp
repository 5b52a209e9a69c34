// Writes under a temporary name, then renames.
#include "new_vpfile.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <utility>

#include "common.hpp"
#include "move_file.hpp"

namespace tool {
namespace {

constexpr const char* kMeta = ".meta";

[[noreturn]] void refuse(const std::string& path) {
  throw Failure(kUnsafe, fmt::format("refused: '{}' exists already; remove it, or choose another name", path));
}

void move_in(const std::string& from, const std::string& to) {
  if (move_file(AT_FDCWD, from, to)) return;
  if (errno == EEXIST) refuse(to);
  fail_with_errno("rename to", to);
}

}  // namespace

NewVpfile::NewVpfile(std::string path)
    : path_(std::move(path)), passing_(fmt::format("{}.part-{}-{:08x}", path_, getpid(), std::random_device{}())) {
  check_folder_of(path_);
  for (const std::string& name : {path_, path_ + kMeta}) {
    if (exists(name)) refuse(name);
  }
}

NewVpfile::~NewVpfile() {
  unlink(passing_.c_str());
  unlink((passing_ + kMeta).c_str());
}

std::string NewVpfile::in_final_words(std::string message) const {
  for (size_t at = message.find(passing_); at != std::string::npos; at = message.find(passing_, at + path_.size()))
    message.replace(at, passing_.size(), path_);
  return message;
}

void NewVpfile::publish() {
  stop_if_interrupted();
  HeldFile held;  // the array keeps its lock under the new name, so that nobody writes it before NAME.meta is there
  held.hold(AT_FDCWD, passing_, path_);
  struct stat array = {};
  if (lstat(passing_.c_str(), &array) != 0) fail_with_errno("find", path_);
  move_in(passing_, path_);
  try {
    move_in(passing_ + kMeta, path_ + kMeta);
  } catch (const Failure&) {
    struct stat named = {};
    const bool is_it =
        lstat(path_.c_str(), &named) == 0 && named.st_dev == array.st_dev && named.st_ino == array.st_ino;
    if (is_it) unlink(path_.c_str());
    throw;
  }
}

}  // namespace tool
