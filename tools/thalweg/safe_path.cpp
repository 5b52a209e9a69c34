// Writes below one directory, and nowhere else.
#include "safe_path.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "move_file.hpp"

namespace tool {
namespace {

constexpr size_t kMostStem = 200;  // a component of a path has at most 255 bytes
constexpr int kMostTries = 1000;
constexpr size_t kMostOpened = 32;

// The components of a name without "." and empty ones.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  while (!name.empty()) {
    const size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    name = slash == std::string_view::npos ? std::string_view() : name.substr(slash + 1);
  }
  return parts;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string name;
  for (const std::string& part : parts) name += (name.empty() ? "" : "/") + part;
  return name;
}

Descriptor open_directory(int parent, const std::string& name) {
  return Descriptor(openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_symlink(int parent, const std::string& name) {
  struct stat status = {};
  return fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

// errno has the reason for a failed creation.
[[noreturn]] void refuse_or_fail(const std::string& path) {
  if (errno == EEXIST || errno == EISDIR || errno == ENOTDIR || errno == ENOTEMPTY) {
    const char* remedy = errno == EEXIST ? "; choose another directory with -C, or replace files with --force" : "";
    throw Failure(kUnsafe, fmt::format("refused: '{}' exists{}", path, remedy));
  }
  fail_with_errno("make", path);
}

// Existing files are detected before the content is copied; keep() detects later ones.
void check_free(int directory, const std::string& leaf, const std::string& path, bool force) {
  struct stat status = {};
  if (fstatat(directory, leaf.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno != ENOENT) fail_with_errno("make", path);
    return;
  }
  errno = S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
  if (!force || S_ISDIR(status.st_mode)) refuse_or_fail(path);
  HeldFile().hold(directory, leaf, path);
}

}  // namespace

std::string unsafe_name(std::string_view name) {
  if (name.starts_with('/')) return "is absolute";
  const std::vector<std::string> parts = parts_of(name);
  for (const std::string& part : parts) {
    if (part == "..") return "leaves the directory by '..'";
  }
  if (name.empty()) return "is empty";
  return {};
}

std::string plain_name(std::string_view name) { return joined(parts_of(name)); }

SafeRoot::SafeRoot(std::string directory, bool force) : path_(std::move(directory)), force_(force), mask_(umask(0)) {
  umask(mask_);
  check_folder_of(path_);
  if (mkdir(path_.c_str(), 0777) != 0 && errno != EEXIST) fail_with_errno("make directory", path_);
  root_ = Descriptor(open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));  // chosen by the user, so links in it are
                                                                              // followed
  if (!root_) fail_with_errno("open directory", path_);
}

std::string SafeRoot::full(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

// Opens the directory `part` of `at`, whose name is `path`; creates a missing one. It is in the path of `name`.
Descriptor SafeRoot::enter(int at, const std::string& part, const std::string& path, std::string_view name) {
  Descriptor next = open_directory(at, part);
  if (!next && errno == ENOENT) {
    if (mkdirat(at, part.c_str(), 0777) == 0) {
      made_.insert(path);
    } else if (errno != EEXIST) {
      fail_with_errno("make directory", full(path));
    }
    next = open_directory(at, part);
  }
  if (next) return next;
  const int number = errno;
  if (is_symlink(at, part)) {
    throw Failure(
        kUnsafe,
        fmt::format(
            "refused: '{}' is a symbolic link in the path of '{}'; remove it, or choose another directory with -C",
            full(path), name));
  }
  errno = number;
  if (number == ENOTDIR)
    throw Failure(kUnsafe, fmt::format("refused: '{}' is in the path of '{}' and not a directory", full(path), name));
  fail_with_errno("open directory", full(path));
}

SafeRoot::Place SafeRoot::place(std::string_view name) {
  const std::string reason = unsafe_name(name);
  if (!reason.empty()) throw Failure(kUnsafe, fmt::format("refused: name '{}' {}", name, reason));
  std::vector<std::string> parts = parts_of(name);
  if (parts.empty()) throw Failure(kUnsafe, fmt::format("refused: name '{}' is the target directory", name));
  std::string leaf = std::move(parts.back());
  parts.pop_back();
  size_t same = 0;
  while (same < std::min(opened_.size(), parts.size()) && opened_[same].first == parts[same]) ++same;
  while (opened_.size() > same) opened_.pop_back();
  int at = same == 0 ? root_.get() : opened_.back().second.get();
  for (size_t i = same; i < parts.size(); ++i) {
    Descriptor next = enter(at, parts[i], joined({parts.begin(), parts.begin() + static_cast<ptrdiff_t>(i) + 1}), name);
    at = next.get();
    if (i < kMostOpened) {
      opened_.emplace_back(parts[i], std::move(next));
    } else {
      deeper_ = std::move(next);
    }
  }
  return {at, std::move(leaf)};
}

// The temporary name contains a short name; a long one leaves no space for it. Another number when the name exists.
std::string SafeRoot::NewFile::passing_name(int number) const {
  const std::string stem = leaf_.size() <= kMostStem ? leaf_ : ".thalweg";
  return fmt::format("{}.part-{}{}", stem, getpid(), number == 0 ? "" : fmt::format("-{}", number));
}

SafeRoot::NewFile::NewFile(SafeRoot& root, std::string_view name, uint32_t permissions)
    : name_(root.full(name)), permissions_(permissions), masked_((permissions & root.mask_) != 0), force_(root.force_) {
  Place at = root.place(name);
  directory_ = at.directory;
  leaf_ = std::move(at.leaf);
  check_free(directory_, leaf_, name_, force_);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  for (int number = 0; number < kMostTries; ++number) {
    const std::string made = passing_name(number);
    fd_ = Descriptor(openat(directory_, made.c_str(), kFlags, permissions));
    if (fd_) made_ = made;
    if (fd_) return;
    if (errno != EEXIST) break;
  }
  fail_with_errno("make", name_);
}

void SafeRoot::NewFile::keep() {
  if (masked_ && fchmod(fd_.get(), permissions_) != 0) fail_with_errno("set the mode of", name_);
  const bool moved = force_ ? replace_file(directory_, made_, leaf_, name_) : move_file(directory_, made_, leaf_);
  if (!moved) refuse_or_fail(name_);
  made_.clear();
}

SafeRoot::NewFile::~NewFile() {
  if (!made_.empty()) unlinkat(directory_, made_.c_str(), 0);
}

void SafeRoot::symlink(std::string_view name, const std::string& target) {
  const Place at = place(name);
  HeldFile held;
  if (force_) held.hold(at.directory, at.leaf, full(name));
  if (force_ && unlinkat(at.directory, at.leaf.c_str(), 0) != 0 && errno != ENOENT) refuse_or_fail(full(name));
  if (symlinkat(target.c_str(), at.directory, at.leaf.c_str()) != 0) refuse_or_fail(full(name));
}

void SafeRoot::directory(std::string_view name, uint32_t permissions) {
  const std::vector<std::string> parts = parts_of(name);
  if (parts.empty()) return;  // "." is the target directory: its mode belongs to its owner
  const Place at = place(name);
  const std::string plain = joined(parts);
  if (mkdirat(at.directory, at.leaf.c_str(), 0700) == 0) {
    made_.insert(plain);
  } else if (errno != EEXIST) {
    fail_with_errno("make directory", full(name));
  } else if (!open_directory(at.directory, at.leaf)) {
    throw Failure(kUnsafe, fmt::format("refused: '{}' exists and is not a directory", full(name)));
  }
  if (made_.contains(plain)) permissions_.emplace_back(plain, permissions);
}

void SafeRoot::set_mode(const std::string& name, uint32_t permissions) {
  const Place at = place(name);
  const Descriptor opened(openat(at.directory, at.leaf.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened || fchmod(opened.get(), permissions) != 0) fail_with_errno("set the mode of", full(name));
}

void SafeRoot::finish() {
  std::ranges::sort(permissions_);
  while (!permissions_.empty()) {  // from the end: the content of a directory before the directory
    const auto [name, permissions] = std::move(permissions_.back());
    permissions_.pop_back();
    set_mode(name, permissions);
  }
}

SafeRoot::~SafeRoot() {
  while (!permissions_.empty()) {
    try {
      finish();
    } catch (const std::exception&) {  // the work has already failed and reported its reason
    }
  }
}

}  // namespace tool
