// The open files by descriptor.
//
// A file closes with its last reference: one belongs to the descriptor, one to each call under way. A call therefore
// never sees a handle that another team has closed. The closing thread waits for calls that need no further threads, so
// that it can report errors of the close.
#pragma once

#include <atomic>
#include <cstdint>

#include "omp_file/brief_lock.hpp"
#include "thalweg/file.h"

namespace thalweg::omp_file {

struct OpenFile {
  tw_file* handle;
  bool readable;
  bool writable;
  bool syncs;  // O_SYNC or O_DSYNC: each write call ends with a sync

  // Released by each thread that drops one, acquired by the last.
  std::atomic<int> references{1};
  // Number of these held by calls that still wait for threads, possibly for the closing one.
  std::atomic<int> gathering{0};
  // Held while a team accesses the file: a tw_file serves one call at a time. Thread 0 locks it after all threads of
  // its team have arrived, so that the holder depends on no other thread; the last thread to leave unlocks it.
  BriefLock busy{};
};

// Gives the file a descriptor, which takes over the caller's reference; -1 when all are in use, -2 when out of memory.
int add_descriptor(OpenFile* file);

// The file of a descriptor, with a reference for the caller; nullptr when the descriptor is unknown.
OpenFile* acquire(int fd);

// Drops a reference; the last one closes the file. Returns the status of the close.
tw_status release(OpenFile* file);

// Whether other calls hold references that they will drop without the caller's help.
bool others_are_at_work(const OpenFile& file);

// Removes the descriptor; the caller gets its reference. nullptr when the descriptor is unknown.
OpenFile* forget_descriptor(int fd);

}  // namespace thalweg::omp_file
