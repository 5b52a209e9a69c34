// The readers that a task keeps open. A reader has a window, so that of thousands only some are kept; for the others
// only the position is kept.
//
// A task that reads one logical file to its end after the other needs none of them again soon: the last but one is
// dropped. Otherwise the reader to drop is drawn by lot. A task that reads more logical files in turn than are kept
// still finds most of them, where dropping the least recently used one would always drop the next one.
#pragma once

#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include "multifile/read/logical_reader.hpp"

namespace thalweg {

class ReaderCache {
 public:
  // `reads_once`: no logical file is read a second time.
  explicit ReaderCache(bool reads_once) : reads_once_(reads_once) {}

  static constexpr std::size_t kSurelyKept = 256;        // of any size
  static constexpr std::uint64_t kMostBytes = 64 << 20;  // of more readers than that, about

  // Null where no reader is kept.
  LogicalReader* find(std::uint64_t rank) const;
  // Keeps a reader, at the position of the dropped one for this logical file. Others but `current` may be dropped.
  LogicalReader* put(std::uint64_t rank, std::unique_ptr<LogicalReader> reader, std::uint64_t window_bytes,
                     const LogicalReader* current);

 private:
  struct Entry {
    std::uint64_t rank = 0;
    std::uint64_t bytes = 0;
    std::unique_ptr<LogicalReader> reader;
  };
  void drop_one(const LogicalReader* current);
  void drop(std::size_t place);

  const bool reads_once_;
  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, std::size_t> places_;       // in entries_, by rank
  std::unordered_map<std::uint64_t, std::uint64_t> positions_;  // of ranks without a reader, unless 0
  std::uint64_t bytes_ = 0;                                     // of all entries
  std::uint64_t last_ = 0, last_but_one_ = 0;                   // ranks that were put
  std::minstd_rand lot_;
};

}  // namespace thalweg
