#include "opened_direct.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

namespace probe {

bool opened_direct(const std::string& path) {
  struct stat wanted {};
  if (::stat(path.c_str(), &wanted) != 0) return false;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", failed)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    struct stat found {};
    if (::fstat(fd, &found) != 0 || found.st_ino != wanted.st_ino || found.st_dev != wanted.st_dev) continue;
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_DIRECT) != 0) return true;
  }
  return false;
}

}  // namespace probe
