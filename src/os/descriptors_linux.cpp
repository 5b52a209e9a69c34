#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <limits>

#include "os/descriptors.hpp"

namespace thalweg {

Result<FileIdentity> file_identity(const FileDescriptor& file, const std::string& path) {
  struct stat found = {};
  if (::fstat(file.get(), &found) == 0) return FileIdentity{found.st_dev, found.st_ino, found.st_nlink};
  const int err = errno;
  return os_error(err, "cannot look at '" + path + "'");
}

std::string link_to(const FileDescriptor& file) { return "/proc/self/fd/" + std::to_string(file.get()); }

std::string path_of(const FileDescriptor& file, const std::string& opened_as) {
  std::array<char, PATH_MAX> target;
  const ssize_t length = ::readlink(link_to(file).c_str(), target.data(), target.size());
  const bool known = length > 0 && static_cast<std::size_t>(length) < target.size() && target[0] == '/';
  return known ? std::string(target.data(), static_cast<std::size_t>(length)) : opened_as;
}

std::size_t descriptor_limit() {
  rlimit limit = {};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return known ? static_cast<std::size_t>(limit.rlim_cur) : std::numeric_limits<std::size_t>::max();
}

}  // namespace thalweg
