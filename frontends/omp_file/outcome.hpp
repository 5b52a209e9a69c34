// The result of a call: 0, or -1 and errno, equal on all threads.
#pragma once

#include <cerrno>

#include "omp_file/team.hpp"
#include "thalweg/file.h"

namespace thalweg::omp_file {

// An error in the arguments of one thread. TW_OK: none.
struct Complaint {
  tw_status status = TW_OK;
  int os_errno = 0;
  const char* message = nullptr;  // static text
  bool none() const { return status == TW_OK; }
};

inline Complaint invalid(const char* message, int os_errno = EINVAL) { return {TW_ERR_INVALID, os_errno, message}; }

// The result agreed on by all threads.
struct Outcome {
  int os_errno = 0;  // 0: success
  bool ok() const { return os_errno == 0; }
};

// Converts the status of the library call that has just returned on this thread.
Outcome outcome_of(tw_status status, tw_direction direction = TW_ACCESS_READ);

// The complaint of one thread becomes the outcome of all. Collective.
Outcome agree(Meeting& meeting, const Complaint& mine);

// Called by a thread whose meeting is refused. A call that differs from the first one takes part in that one with a
// complaint, so that all threads get the error; where the threads cannot meet, each returns its own. Returns the result.
int refuse(Meeting& meeting);

// Distributes the status of an action of thread 0; `status` counts on thread 0 only. Collective.
Outcome tell(Meeting& meeting, tw_status status);

// Compares this thread's descriptor with the first thread's.
Complaint check_descriptor(Meeting& meeting, int fd);

// Whether the access must end with a sync (O_SYNC).
inline bool ends_with_sync(const OpenFile& file, tw_direction direction) {
  return file.syncs && direction == TW_ACCESS_WRITE;
}

// Syncs the file for all, with the file locked. Collective.
Outcome sync_file(Meeting& meeting, OpenFile& file);

// Ends a call: sets errno. `left` is the status of a close by this thread, the last one of a call that outlived its
// file's descriptor; only this thread can report it.
inline int to_return(Outcome outcome, tw_status left = TW_OK) {
  if (outcome.ok()) outcome = outcome_of(left);
  if (outcome.ok()) return 0;
  errno = outcome.os_errno;
  return -1;
}

// Sets the result of omp_file_last_count() on this thread.
void set_last_count(std::int64_t nbytes);

}  // namespace thalweg::omp_file
