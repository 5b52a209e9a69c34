// What a writing program was promised, kept where its death cannot reach: a file mapped by the program and by the test
// that kills it.
//
// A write is noted before it is made; what counts as flushed is noted after the flush returned. So at any moment the
// journal promises too little rather than too much. Every logical file has one writing thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "support/write_history.hpp"

namespace thalweg::test {

inline constexpr int kMostLogical = 32;
inline constexpr std::uint64_t kMostWrites = 512;  // of a logical file

enum class Doing : std::uint32_t { nothing, creating, writing, flushing, syncing, closing, done, count };
const char* name_of(Doing doing);

struct JournalFile {
  std::atomic<std::uint64_t> begun;    // writes
  std::atomic<std::uint64_t> flushed;  // so many of them survive the death of the process
  struct Record {
    std::uint64_t offset, bytes;
  } writes[kMostWrites];
};

struct Journal {
  std::atomic<std::uint64_t> progress;  // steps of all threads
  std::atomic<Doing> doing;             // what a thread began last
  std::atomic<std::uint32_t> closed;    // the last session was closed with success
  std::atomic<std::uint64_t> lattice;   // of a vpfile: bytes of each stream that are no independent blocks
  JournalFile files[kMostLogical];
};

// The journal in the file `path`, which is made when it is not there. Aborts when it cannot be mapped.
class MappedJournal {
 public:
  explicit MappedJournal(const std::string& path);
  ~MappedJournal();
  MappedJournal(const MappedJournal&) = delete;
  MappedJournal& operator=(const MappedJournal&) = delete;
  Journal* operator->() const { return journal_; }

  // What is noted of logical file `rank`, for the judge.
  History history(int rank) const;

 private:
  Journal* journal_;
};

}  // namespace thalweg::test
