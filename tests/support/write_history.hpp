// What a program wrote to one logical file, write by write, and the judge of what a crash left of it.
//
// Byte i of write number v (from 1) to logical file r is pattern(r, i, v): a byte tells which write it is of. Judged
// byte by byte: a durable byte has the value of the last durable write that covers it or of a later one; any other byte
// has the value of some write, is zero where a gap stood there before its first write, is refused, or is absent.
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
  bool failed = false;  // its call returned a failure: it may have taken effect, but nobody may count on it
};

// Bytes of write number `version`.
std::vector<std::byte> written_bytes(std::uint64_t rank, const WriteRecord& write, std::uint64_t version);

struct History {
  std::vector<WriteRecord> writes;
  std::size_t flushed = 0;         // so many writes survive the death of the process
  std::size_t synced = 0;          // and so many that of the machine
  std::size_t settled = 0;         // what was left of so many writes was looked at, after a recovery;
  std::uint64_t settled_size = 0;  // they came to so many bytes

  std::uint64_t size() const;  // bytes of the logical file
  // After a recovery, which found so many bytes: writes that were not flushed may be there or not.
  void settle(std::uint64_t bytes);
  // To be called before the write is made; its number.
  std::uint64_t begin(std::uint64_t offset, std::uint64_t bytes) {
    writes.push_back({offset, bytes, false});
    return writes.size();
  }
};

// A logical file as a reader finds it.
struct Found {
  Status unreadable;  // not ok: it could not be opened at all
  std::vector<std::byte> bytes;
  std::vector<bool> refused;  // by position; empty: nothing was
  bool whole() const { return unreadable.ok() && refused.empty(); }
};
// Reads around what is refused.
Found read_found(ReadHandle& handle, std::uint64_t rank);

// Nothing when `found` is right, else what is wrong with it. The first `durable` writes must be there. Bytes below
// `zeros_below` that no durable write covers may be zero, too.
std::string judge(std::uint64_t rank, std::span<const WriteRecord> writes, std::size_t durable, const Found& found,
                  std::uint64_t zeros_below = 0);

}  // namespace thalweg::test
