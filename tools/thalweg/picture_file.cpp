#include "picture_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "common.hpp"
#include "move_file.hpp"

namespace tool {

namespace {

// Common beginning of the marks of all commands.
constexpr std::string_view kMark = "<!-- made by thalweg ";
constexpr std::string_view kRecords = "{\"kind\":\"run\",\"version\":";  // of thalweg methods

bool same_file(const struct stat& status, const std::string& path) {
  struct stat other = {};
  return stat(path.c_str(), &other) == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino;
}

bool is_own_picture(const std::string& path) {
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  char begin[256] = {};
  const ssize_t got = fd ? read(fd.get(), begin, sizeof begin) : 0;
  const std::string_view text(begin, got > 0 ? static_cast<size_t>(got) : 0);
  return text.find(kMark) != std::string_view::npos || text.starts_with(kRecords);
}

struct RemoveAtEnd {
  const std::string& path;
  ~RemoveAtEnd() { unlink(path.c_str()); }
};

}  // namespace

bool may_replace_picture(const std::string& path, bool force, const std::vector<std::string>& kept,
                         const char* of_what) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return force;
  if (!S_ISREG(status.st_mode))
    throw Failure(kUnsafe, fmt::format("refused: '{}' exists and is not a regular file", path));
  for (const std::string& file : kept) {
    if (same_file(status, file)) throw Failure(kUnsafe, fmt::format("refused: '{}' is a {}", path, of_what));
  }
  if (force || is_own_picture(path)) {
    HeldFile().hold(AT_FDCWD, path, path);
    return true;
  }
  throw Failure(
      kUnsafe,
      fmt::format(
          "refused: '{}' exists and was not made by this command; choose another name, or replace it with --force",
          path));
}

void write_picture(const std::string& path, const std::string& text, bool replace) {
  const std::string passing = fmt::format("{}.part-{}", path, getpid());
  const Descriptor fd(open(passing.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) fail_with_errno("make", path);
  const RemoveAtEnd unless_moved{passing};
  if (write_all(fd.get(), text.data(), text.size()) &&
      (replace ? replace_file(AT_FDCWD, passing, path, path) : move_file(AT_FDCWD, passing, path)))
    return;
  const int number = errno;
  stop_if_interrupted();
  errno = number;
  fail_with_errno("write", path);
}

}  // namespace tool
