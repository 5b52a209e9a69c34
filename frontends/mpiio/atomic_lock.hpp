// Atomic mode (MPI 4.1, 14.6.1): an access locks the bytes from its first to its last against those of other handles.
#pragma once

#include <cstdint>

#include "mpiio/failure.hpp"
#include "thalweg/file.h"

namespace thalweg::mpiio {

// A descriptor of the file for locks alone. The locks are those of an open file description, so that they hold between
// the handles of one process too, and none is lost when another descriptor of the file is closed.
class LockFile {
 public:
  LockFile() = default;
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  Failure open(const char* path, int amode);
  void close();

  // Waits for the lock: shared for a read, else exclusive.
  Failure lock(tw_direction direction, std::int64_t first, std::int64_t bytes);
  void unlock();

 private:
  int descriptor_ = -1;
};

}  // namespace thalweg::mpiio
