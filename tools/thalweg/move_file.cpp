// renameat2, or what comes nearest to it; locks of open file descriptions.
#include "move_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>

namespace tool {

bool exists(const std::string& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0;
}

namespace {

bool same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// Both locks of the library: that of the session and that of all writers.
struct flock all_locks(short type) {
  struct flock range = {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = off_t{1} << 62;
  range.l_len = 2;
  return range;
}

// False when somebody else has one of them. True also where the file system has no such locks.
bool take_locks(const Descriptor& file) {
  struct flock range = all_locks(F_WRLCK);
  if (fcntl(file.get(), F_OFD_SETLK, &range) == 0) return true;
  if (errno != EBADF) return errno != EAGAIN && errno != EACCES;
  if (fcntl(file.get(), F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK) return false;
  range = all_locks(F_RDLCK);  // all that may be had of a file that is only read
  return fcntl(file.get(), F_OFD_SETLK, &range) == 0 || (errno != EAGAIN && errno != EACCES);
}

Descriptor open_to_lock(int directory, const std::string& name) {
  constexpr int kFlags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  struct stat status = {};
  if (fstatat(directory, name.c_str(), &status, 0) != 0 || !S_ISREG(status.st_mode)) return Descriptor();
  Descriptor file(openat(directory, name.c_str(), O_RDWR | kFlags));
  return file ? std::move(file) : Descriptor(openat(directory, name.c_str(), O_RDONLY | kFlags));
}

// Returns when `name` leads to the file that `held` has locked, or to none that can be locked. False when another
// program has a lock.
bool hold_one(Descriptor& held, int directory, const std::string& name) {
  for (;;) {
    Descriptor found = open_to_lock(directory, name);
    struct stat opened = {};
    struct stat named = {};
    struct stat ours = {};
    if (!found || fstat(found.get(), &opened) != 0 || !S_ISREG(opened.st_mode)) return true;
    const bool have_it = held && fstat(held.get(), &ours) == 0 && same_file(ours, opened);
    if (!have_it && !take_locks(found)) return false;
    if (!have_it) held = std::move(found);
    if (fstatat(directory, name.c_str(), &named, 0) == 0 && same_file(named, opened)) return true;
  }
}

// NAME of NAME.meta, NAME.first, NAME.dir, NAME.batches (vpfile) and NAME.000001 (multifile), whose lock is that of NAME; else "".
std::string name_of_whole(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0 || name[dot - 1] == '/') return {};
  const std::string_view end = std::string_view(name).substr(dot + 1);
  const bool number = end.size() >= 6 && std::ranges::all_of(end, [](char c) { return c >= '0' && c <= '9'; });
  const bool side = end == "meta" || end == "first" || end == "dir" || end == "batches";
  return number || side ? name.substr(0, dot) : std::string();
}

}  // namespace

void HeldFile::hold(int directory, const std::string& name, const std::string& path) {
  const std::string whole = name_of_whole(name);
  if (hold_one(file_, directory, name) && (whole.empty() || hold_one(whole_, directory, whole))) return;
  throw Failure(kUnsafe, fmt::format("refused: '{}' is being written by another program", path));
}

bool move_file(int directory, const std::string& from, const std::string& to) {
  if (renameat2(directory, from.c_str(), directory, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;  // else a file system without that flag
  struct stat status = {};
  if (fstatat(directory, to.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return false;
  }
  return renameat(directory, from.c_str(), directory, to.c_str()) == 0;
}

bool replace_file(int directory, const std::string& from, const std::string& to, const std::string& path) {
  HeldFile held;
  held.hold(directory, to, path);
  if (move_file(directory, from, to)) return true;
  if (errno != EEXIST) return false;
  held.hold(directory, to, path);  // unless it is held already: a program may have made it meanwhile
  return renameat(directory, from.c_str(), directory, to.c_str()) == 0;
}

}  // namespace tool
