// The files that are open, by descriptor.
//
// A file is closed when its last reference goes: one is the descriptor's, one that of each call under way. So a call
// never meets a handle that another team has closed meanwhile. Who closes waits for the calls that need nobody else to
// end, so that what closing says is told by his call.
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

  // Release by whoever drops one, acquire by whoever drops the last.
  std::atomic<int> references{1};
  // Of these, of calls whose threads have not all come yet: perhaps they need the thread that closes.
  std::atomic<int> gathering{0};
  // Held while a team is at work: a tw_file serves one call at a time. Taken by thread 0 of a team whose threads have
  // all arrived, so that whoever holds it needs nobody else to go on; given back by the last that leaves.
  BriefLock busy{};
};

// Gives the file a descriptor, which takes over the caller's reference; -1 when all are in use, -2 without memory.
int add_descriptor(OpenFile* file);

// The file of a descriptor, with a reference for the caller; nullptr when it is none of ours.
OpenFile* acquire(int fd);

// Drops a reference, and closes with the last one. Returns what closing says.
tw_status release(OpenFile* file);

// Whether calls hold references besides the caller's that will be dropped without the caller.
bool others_are_at_work(const OpenFile& file);

// Forgets the descriptor; the caller has its reference. nullptr when it is none of ours.
OpenFile* forget_descriptor(int fd);

}  // namespace thalweg::omp_file
