// A multifile in memory, byte by byte: the oracle for comparisons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "multifile/multifile.hpp"

namespace thalweg::test {

// Byte i of write `version` to logical file `rank`; differs between files, offsets and versions.
inline std::byte pattern(std::uint64_t rank, std::uint64_t i, std::uint64_t version = 0) {
  std::uint64_t x = rank * 0x9E3779B97F4A7C15u ^ i * 0xBF58476D1CE4E5B9u ^ version * 0x94D049BB133111EBu;
  x ^= x >> 31;
  return static_cast<std::byte>(x * 0xD6E8FEB86659FD93u >> 56);
}

struct ModelFile {
  std::vector<std::byte> bytes;
  std::string name;
  std::uint32_t mode = 0;
  void write(std::uint64_t at, const std::vector<std::byte>& data) {
    if (data.empty()) return;
    if (bytes.size() < at + data.size()) bytes.resize(at + data.size());
    std::copy(data.begin(), data.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  }
};
using Model = std::map<std::uint64_t, ModelFile>;  // by rank

// Writes at random to the logical files of `handle` and to the model: appends, seeks, overwrites, gaps, flushes, names.
// Sizes from 0 to `largest`.
void write_at_random(WriteHandle& handle, const std::vector<std::uint64_t>& ranks, Model& model,
                     std::mt19937_64& random, int steps, std::uint64_t largest);

// Adds up to `most` logical files by names that begin with `prefix`, and writes to some of them in turns. Some have one
// name: `added` keeps the last one, which a name finds.
void add_at_random(WriteHandle& handle, const std::string& prefix, std::map<std::string, ModelFile>& added,
                   std::mt19937_64& random, int most, std::uint64_t largest);

// Finds all of `added` by their names, and compares as expect_equal().
void expect_found(ReadHandle& handle, const std::map<std::string, ModelFile>& added, std::mt19937_64& random);

// Reads everything in random pieces and compares data, names, sizes and ends.
void expect_equal(ReadHandle& handle, const std::vector<std::uint64_t>& ranks, const Model& model,
                  std::mt19937_64& random);

}  // namespace thalweg::test
