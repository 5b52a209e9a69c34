// A multifile open for reading, as one task holds it. One logical file is current.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "multifile/rank_ranges.hpp"
#include "multifile/read/read_set.hpp"
#include "multifile/read/reader_cache.hpp"

namespace thalweg {

class ReadHandle {
 public:
  ReadHandle(std::shared_ptr<ReadSet> files, const std::vector<RankRange>& served, ReaderSettings settings);

  Status seek_to(std::uint64_t rank, std::int64_t position);
  Result<LogicalReader*> current_or_first();
  LogicalReader* current() const { return current_; }
  // Reader of any logical file that the handle serves.
  Result<LogicalReader*> reader(std::uint64_t rank);

  // The entry of any logical file of the multifile; all zeros where nothing is stored.
  Result<format::FileEntry> entry(std::uint64_t rank) {
    const PhysicalReader* physical = nullptr;
    return entry_in(rank, physical);
  }
  // The run of logical files that begins at `rank`: see PhysicalReader::run_at.
  Result<EntryRun> run_at(std::uint64_t rank);
  // Visits all runs in the order of ranks, until the caller stops it.
  Status each_run(const std::function<Status(std::uint64_t rank, const EntryRun& run)>& visit, const GoOn& go_on);
  Result<std::string> name(std::uint64_t rank, std::uint32_t& mode);
  // The highest rank of a logical file of that name.
  Result<std::uint64_t> find(const std::string& name);
  Result<std::vector<format::PieceEntry>> pieces(std::uint64_t rank);
  Result<PlacedRange> locate(std::uint64_t rank) { return files_->locate(rank, map_cache_); }
  // Position of the first content byte of a piece in its physical file.
  Result<std::uint64_t> physical_position(std::uint64_t rank, const format::PieceEntry& piece);
  Result<const format::Attributes*> attributes();
  const ServedRanges& served() const { return served_; }
  ReadSet& files() const { return *files_; }

 private:
  Result<LogicalReader*> make_reader(std::uint64_t rank);
  Result<std::uint64_t> find_by_walk(const std::string& name);
  // As entry(), and the physical file in which it stands.
  Result<format::FileEntry> entry_in(std::uint64_t rank, const PhysicalReader*& physical);
  PageCache& cache_of(const PhysicalReader& physical) { return index_cache_[physical.header().id.physical]; }

  const std::shared_ptr<ReadSet> files_;
  const ServedRanges served_;  // without their places
  ReaderSettings settings_;
  ReaderCache readers_;
  LogicalReader* current_ = nullptr;
  PageCache map_cache_;                                       // of the table in physical file 0
  std::unordered_map<std::uint32_t, PageCache> index_cache_;  // by physical file
  std::unique_ptr<format::Attributes> attributes_;
};

}  // namespace thalweg
