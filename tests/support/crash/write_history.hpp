// The writes of a program to one logical file, and the judge of what a crash left of it.
//
// Byte i of write number v (from 1) to logical file r is pattern(r, i, v), so that a byte identifies its write. The
// judge checks each byte: a durable byte has the value of the last durable write that covers it or of a later one; any
// other byte has the value of some write, is zero where a gap preceded its first write, is refused, or is absent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "multifile/read/read_handle.hpp"

namespace thalweg::test {

struct WriteRecord {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool failed = false;  // its call failed: the write may or may not have taken effect
};

// Bytes of write number `version`.
std::vector<std::byte> written_bytes(std::uint64_t rank, const WriteRecord& write, std::uint64_t version);

struct History {
  std::string name;  // of a logical file that was added; empty: a numbered one, or one that was not added yet
  std::vector<WriteRecord> writes;
  std::size_t flushed = 0;         // number of writes that survive the death of the process
  std::size_t synced = 0;          // number of writes that survive the death of the machine
  std::size_t settled = 0;         // number of writes before the last recovery
  std::uint64_t settled_size = 0;  // size found by that recovery

  std::uint64_t size() const;  // bytes of the logical file
  // Called after a recovery that found `bytes` bytes: writes that were not flushed may be present or not.
  void settle(std::uint64_t bytes);
  // Called before a write; returns its number.
  std::uint64_t begin(std::uint64_t offset, std::uint64_t bytes) {
    writes.push_back({offset, bytes, false});
    return writes.size();
  }
};

// The histories of the logical files that one task writes: one flush or sync certifies all of them.
class TaskHistories {
 public:
  using Written = std::vector<std::size_t>;  // number of writes to each of them
  void add(History& history) { all_.push_back(&history); }
  Written written() const;
  // A flush, or a sync, that began after these writes has succeeded.
  void note(const Written& written, bool synced);
  void note_flush() { note(written(), false); }

 private:
  std::vector<History*> all_;
};

// A logical file as read.
struct Found {
  Status unreadable;  // not ok: it could not be opened
  std::vector<std::byte> bytes;
  std::vector<bool> refused;  // by position; empty: none
  bool whole() const { return unreadable.ok() && refused.empty(); }
};
// Reads around refused ranges.
Found read_found(ReadHandle& handle, std::uint64_t rank);
// The rank of the logical file of history `number`: that rank, or the one that its name finds. not_found: it was not
// added, or nothing has its name.
Result<std::uint64_t> find_rank(ReadHandle& handle, std::uint64_t number, const History& history);

// Returns "" when `found` is right, else what is wrong. The first `durable` writes must be present. Bytes below
// `zeros_below` that no durable write covers may be zero.
std::string judge(std::uint64_t rank, std::span<const WriteRecord> writes, std::size_t durable, const Found& found,
                  std::uint64_t zeros_below = 0);

}  // namespace thalweg::test
