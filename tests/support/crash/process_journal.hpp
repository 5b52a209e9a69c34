// A journal of the writes that a program made and of those that a flush certified. The program and the test that kills
// it map one file, so that the journal survives the program.
//
// A write is recorded before it is made, a flush after it returned: the journal never certifies too much. Each logical
// file has one writing thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "support/crash/write_history.hpp"

namespace thalweg::test {

inline constexpr int kMostLogical = 64;
inline constexpr std::uint64_t kMostWrites = 512;  // per logical file

enum class Doing : std::uint32_t { nothing, creating, writing, flushing, syncing, closing, done, count };
const char* name_of(Doing doing);

struct JournalFile {
  std::atomic<std::uint32_t> added;    // not 0: it is added by its name
  std::atomic<std::uint64_t> begun;    // number of writes
  std::atomic<std::uint64_t> flushed;  // number of writes that survive the death of the process
  struct Record {
    std::uint64_t offset, bytes;
  } writes[kMostWrites];
};

struct Journal {
  std::atomic<std::uint64_t> progress;  // steps of all threads
  std::atomic<Doing> doing;             // last step that a thread began
  std::atomic<std::uint32_t> closed;    // the last session closed with success
  std::atomic<std::uint64_t> lattice;   // vpfile: bytes of each stream outside independent blocks
  JournalFile files[kMostLogical];
};

// Maps the journal in file `path`, which is created when missing. Aborts on failure.
class MappedJournal {
 public:
  explicit MappedJournal(const std::string& path);
  ~MappedJournal();
  MappedJournal(const MappedJournal&) = delete;
  MappedJournal& operator=(const MappedJournal&) = delete;
  Journal* operator->() const { return journal_; }

  // The recorded writes of logical file `number`.
  History history(int number) const;
  static std::string name_of(int number) { return "added/" + std::to_string(number); }

 private:
  Journal* journal_;
};

}  // namespace thalweg::test
