// The logical files that one task adds in a session.
//
// The newest are in memory, as LogicalWriters. When there are many, store() moves what the close needs of them to their
// physical file, about 84 bytes and the name of each, so that the memory of a task does not grow with the number of
// names. Where a task returns to one that was stored, it and the others of its block get new LogicalWriters, which stay in
// memory: most programs that return to one return to many.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "multifile/write/logical_writer.hpp"

namespace thalweg {

class AddedFiles {
 public:
  // `first`: the number of the first one. `most_bytes`: bytes of contributions at which full() says so.
  AddedFiles(std::uint64_t first, std::uint64_t most_bytes) : next_number_(first), first_(first), most_(most_bytes) {}

  std::uint64_t size() const { return next_number_ - first_; }
  std::uint64_t next_number() const { return next_number_; }
  // Those with lower numbers are stored, or stay in memory until the close.
  std::uint64_t first_newest() const { return next_number_ - in_memory_.size(); }
  bool has(std::uint64_t number) const { return number - first_ < size(); }
  LogicalWriter* last() const { return in_memory_.empty() ? nullptr : in_memory_.back().get(); }
  LogicalWriter* push(std::unique_ptr<LogicalWriter> writer);  // the one of next_number()
  // `home`: their physical file; `settings`: of new writers.
  Result<LogicalWriter*> at(std::uint64_t number, PhysicalWriter& home, WriterSettings& settings);
  template <class Step>
  Status each_in_memory(Step&& step) {
    for (const auto& [number, writer] : kept_) TW_RETURN_IF_ERROR(step(*writer));
    return each_newest(step);
  }
  template <class Step>
  Status each_newest(Step&& step) {
    for (const auto& writer : in_memory_) TW_RETURN_IF_ERROR(step(*writer));
    return {};
  }
  bool full() const { return bytes_ >= most_; }
  bool many() const { return bytes_ >= most_ / 8; }  // worth storing at the close
  // Stores the contributions of the newest, all of which are finished and whose packs are written. `last_stays`: the
  // last one stays in memory.
  Status store(PhysicalWriter& home, bool last_stays);
  // Ends the session of the task. Returns the writers that are in memory.
  std::vector<std::unique_ptr<LogicalWriter>> take_writers();
  std::vector<StoredContributions> take_stored() { return std::move(stored_); }

 private:
  Status write_blocks(PhysicalWriter& home, std::size_t n);  // of the first n in memory, which leave it

  std::uint64_t next_number_;
  const std::uint64_t first_;
  const std::uint64_t most_;
  std::uint64_t bytes_ = 0;                                                 // of the contributions of the newest, about
  std::vector<std::unique_ptr<LogicalWriter>> in_memory_;                   // the newest, by number
  std::unordered_map<std::uint64_t, std::unique_ptr<LogicalWriter>> kept_;  // until the close
  std::vector<StoredContributions> stored_;                                 // by number
};

}  // namespace thalweg
