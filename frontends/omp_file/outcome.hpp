// How a call ends: 0, or -1 and errno, the same on all threads.
#pragma once

#include <cerrno>

#include "omp_file/team.hpp"
#include "thalweg/file.h"

namespace thalweg::omp_file {

// What one thread finds wrong with its own arguments. TW_OK: nothing.
struct Complaint {
  tw_status status = TW_OK;
  int os_errno = 0;
  const char* message = nullptr;  // static text
  bool none() const { return status == TW_OK; }
};

inline Complaint invalid(const char* message, int os_errno = EINVAL) { return {TW_ERR_INVALID, os_errno, message}; }

// What all threads agreed on.
struct Outcome {
  int os_errno = 0;  // 0: success
  bool ok() const { return os_errno == 0; }
};

// Of the status of a call of the library that has just returned on this thread.
Outcome outcome_of(tw_status status, tw_direction direction = TW_ACCESS_READ);

// One thread's complaint becomes the outcome of all. Collective.
Outcome agree(Meeting& meeting, const Complaint& mine);

// By a thread that makes another call than the one that came first: that call fails on all threads. What it returns.
int refuse(Meeting& meeting);

// Thread 0 alone did something and tells the others how it went. `status` counts on thread 0 only. Collective.
Outcome tell(Meeting& meeting, tw_status status);

// This thread's descriptor against that of the thread that came first.
Complaint check_descriptor(Meeting& meeting, int fd);

// Whether what is moved must reach the storage at once (O_SYNC).
inline bool ends_with_sync(const OpenFile& file, tw_direction direction) {
  return file.syncs && direction == TW_ACCESS_WRITE;
}

// Syncs the file for all, with the file locked. Collective.
Outcome sync_file(Meeting& meeting, OpenFile& file);

// Ends a call: sets errno. `left` is what closing said on this thread, the last one of a call that outlived its file's
// descriptor: nobody else could be told any more.
inline int to_return(Outcome outcome, tw_status left = TW_OK) {
  if (outcome.ok()) outcome = outcome_of(left);
  if (outcome.ok()) return 0;
  errno = outcome.os_errno;
  return -1;
}

// What omp_file_last_count() gives on this thread.
void set_last_count(std::int64_t nbytes);

}  // namespace thalweg::omp_file
