// Walks without recursion and with one open directory at a time, so that depth costs neither stack nor descriptors.
#include "tree_walk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

#include "common.hpp"
#include "progress.hpp"

namespace tool {

void TreeWalk::add(const std::string& path) {
  if (path.empty()) throw Failure(kUsage, "an empty path cannot be packed");
  std::vector<Found> pending = {find(base_, path, path)};
  while (!pending.empty()) {
    note_work("pack", static_cast<int64_t>(entries_.size()), 0, "names");
    stop_if_interrupted();
    const Found next = std::move(pending.back());
    pending.pop_back();
    std::string name = next.path;
    while (name.size() > 1 && name.back() == '/') name.pop_back();
    if (add_one(next, name)) read_directory(next.path, name == "/" ? name : name + "/", pending);
  }
}

// `path` is `name` below `directory`.
TreeWalk::Found TreeWalk::find(int directory, const std::string& name, const std::string& path) {
  struct stat status = {};
  if (fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) fail_with_errno("read", path);
  return {path,
          status.st_mode,
          S_ISREG(status.st_mode) ? static_cast<int64_t>(status.st_size) : 0,
          {status.st_dev, status.st_ino}};
}

bool TreeWalk::add_one(const Found& found, std::string name) {
  if (name.size() > 4096)
    throw Failure(kUsage, fmt::format("name of {} bytes: the limit of a multifile is 4096", name.size()));
  const bool regular = S_ISREG(found.mode);
  if (!regular && !S_ISDIR(found.mode) && !S_ISLNK(found.mode)) {
    if (!skip_special_) {
      throw Failure(
          kUnsafe,
          fmt::format(
              "refused: '{}' is a device, pipe or socket, which cannot be stored; skip these with --skip-special",
              found.path));
    }
    skipped_.push_back(std::move(name));
    return false;
  }
  if (regular && own_.contains(found.file)) {
    left_out_.push_back(std::move(name));
    return false;
  }
  if (!names_.insert(name).second) return false;
  entries_.push_back({std::move(name), found.mode, found.bytes});
  bytes_ += found.bytes;
  return S_ISDIR(found.mode);
}

// Adds its content in descending order: the walk takes it from the end. Names are looked up in the open directory, since
// the lookup of a long path takes longer.
void TreeWalk::read_directory(const std::string& path, const std::string& prefix, std::vector<Found>& pending) const {
  const int fd = openat(base_, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(fd >= 0 ? fdopendir(fd) : nullptr, closedir);
  if (!directory) fail_with_errno("read directory", path);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* item = readdir(directory.get())) {
    const std::string_view name = item->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) fail_with_errno("read directory", path);
  std::ranges::sort(names, std::ranges::greater());
  for (const std::string& name : names) {
    stop_if_interrupted();
    pending.push_back(find(fd, name, prefix + name));
  }
}

}  // namespace tool
