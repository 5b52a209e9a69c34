// The logical files that a task reads at the moment. Readers have windows, so that not all of thousands are kept; the
// others keep their position only.
//
// The one to go is drawn by lot: who reads more logical files in turn than are kept meets most of them still here,
// where the rule "the one not used for longest" would always have dropped the next one.
#pragma once

#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include "multifile/read/logical_reader.hpp"

namespace thalweg {

class ReaderCache {
 public:
  // `reads_once`: nobody comes back to a logical file.
  explicit ReaderCache(bool reads_once) : reads_once_(reads_once) {}

  static constexpr std::size_t kSurelyKept = 256;        // of any size
  static constexpr std::uint64_t kMostBytes = 64 << 20;  // of more readers than that, about

  // Null: there is none.
  LogicalReader* find(std::uint64_t rank) const;
  // At the position that this logical file had when its reader went. `current` stays. Others may go.
  LogicalReader* put(std::uint64_t rank, std::unique_ptr<LogicalReader> reader, std::uint64_t window_bytes,
                     const LogicalReader* current);

 private:
  struct Entry {
    std::uint64_t rank = 0;
    std::uint64_t bytes = 0;
    std::unique_ptr<LogicalReader> reader;
  };
  void drop_one(const LogicalReader* current);

  const bool reads_once_;
  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, std::size_t> places_;       // in entries_, by rank
  std::unordered_map<std::uint64_t, std::uint64_t> positions_;  // of ranks without a reader, unless 0
  std::uint64_t bytes_ = 0;                                     // of all entries
  std::minstd_rand lot_;
};

}  // namespace thalweg
