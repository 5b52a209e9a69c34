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
  std::vector<std::string> pending = {path};
  while (!pending.empty()) {
    note_work("pack", static_cast<int64_t>(entries_.size()), 0, "names");
    stop_if_interrupted();
    const std::string next = std::move(pending.back());
    pending.pop_back();
    std::string name = next;
    while (name.size() > 1 && name.back() == '/') name.pop_back();
    if (!add_one(next, name)) continue;
    const std::string prefix = name == "/" ? name : name + "/";
    for (const std::string& below : read_directory(next)) pending.push_back(prefix + below);
  }
}

bool TreeWalk::add_one(const std::string& path, std::string name) {
  struct stat status = {};
  if (path.empty()) throw Failure(kUsage, "an empty path cannot be packed");
  if (fstatat(base_, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) fail_with_errno("read", path);
  if (name.size() > 4096)
    throw Failure(kUsage, fmt::format("name of {} bytes: the limit of a multifile is 4096", name.size()));
  const bool regular = S_ISREG(status.st_mode);
  if (!regular && !S_ISDIR(status.st_mode) && !S_ISLNK(status.st_mode)) {
    if (!skip_special_) {
      throw Failure(
          kUnsafe,
          fmt::format(
              "refused: '{}' is a device, pipe or socket, which cannot be stored; skip these with --skip-special",
              path));
    }
    skipped_.push_back(std::move(name));
    return false;
  }
  if (regular && own_.contains({status.st_dev, status.st_ino})) {
    left_out_.push_back(std::move(name));
    return false;
  }
  if (!names_.insert(name).second) return false;
  entries_.push_back({std::move(name), status.st_mode, regular ? static_cast<int64_t>(status.st_size) : 0});
  bytes_ += entries_.back().bytes;
  return S_ISDIR(status.st_mode);
}

// Names in descending order: the walk takes them from the end.
std::vector<std::string> TreeWalk::read_directory(const std::string& path) const {
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
  return names;
}

}  // namespace tool
