// renameat2, or what comes nearest to it.
#include "move_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

namespace tool {

bool move_file(int directory, const std::string& from, const std::string& to, bool replace) {
  if (!replace) {
    if (renameat2(directory, from.c_str(), directory, to.c_str(), RENAME_NOREPLACE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS) return false;  // else a file system without that flag
    struct stat status = {};
    if (fstatat(directory, to.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
      errno = EEXIST;
      return false;
    }
  }
  return renameat(directory, from.c_str(), directory, to.c_str()) == 0;
}

}  // namespace tool
