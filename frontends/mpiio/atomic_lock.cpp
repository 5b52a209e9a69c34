#include "mpiio/atomic_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace thalweg::mpiio {

namespace {

Failure failed(const char* what) {
  const int os_errno = errno;
  return {class_of_errno(os_errno), std::string(what) + " failed: " + std::strerror(os_errno)};
}

int set_lock(int descriptor, short kind, std::int64_t first, std::int64_t bytes) {
  struct flock range {};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  range.l_start = first;
  range.l_len = bytes;
  int result = 0;
  do result = ::fcntl(descriptor, F_OFD_SETLKW, &range);
  while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

LockFile::~LockFile() { close(); }

Failure LockFile::open(const char* path, int amode) {
  if (descriptor_ >= 0) return {};
  const int flags = (amode & MPI_MODE_RDWR) != 0 ? O_RDWR : (amode & MPI_MODE_WRONLY) != 0 ? O_WRONLY : O_RDONLY;
  descriptor_ = ::open(path, flags | O_CLOEXEC);
  return descriptor_ >= 0 ? Failure{} : failed("opening the file for the locks of atomic mode");
}

void LockFile::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

Failure LockFile::lock(tw_direction direction, std::int64_t first, std::int64_t bytes) {
  const short kind = direction == TW_ACCESS_READ ? F_RDLCK : F_WRLCK;
  return set_lock(descriptor_, kind, first, bytes) == 0 ? Failure{} : failed("locking a range of the file");
}

void LockFile::unlock() { (void)set_lock(descriptor_, F_UNLCK, 0, 0); }

}  // namespace thalweg::mpiio
