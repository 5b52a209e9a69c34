// All physical files of a multifile open for reading, shared by the tasks of one process.
//
// A physical file is opened on first use; different ones are opened at the same time. Threads: any number at once.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "multifile/lazy_map.hpp"
#include "multifile/rank_ranges.hpp"
#include "multifile/read/physical_reader.hpp"
#include "multifile/read/recovery.hpp"
#include "storage/backend.hpp"

namespace thalweg {

class ReadSet {
 public:
  enum class Unclosed { refuse, recover, inspect };  // inspect: open files in any state (repair)
  // `watch`: of each recovery. `of_nodes`: other nodes may have written what this one has in its caches.
  ReadSet(std::shared_ptr<Backend> backend, std::string path, Unclosed unclosed, Watch watch = {},
          bool of_nodes = false)
      : backend_(std::move(backend)),
        path_(std::move(path)),
        unclosed_(unclosed),
        watch_(std::move(watch)),
        of_nodes_(of_nodes) {}

  // Opens physical file 0 and reads the mapping. The first caller does the work; all callers get its result.
  Status open();
  // A session of this process has begun: physical files that are opened from now on are expected to be unclosed.
  void expect_own_session() { own_session_.store(true, std::memory_order_relaxed); }
  // After a successful open():
  const format::FileHeader& header() const { return first_->header(); }
  // The logical files of the multifile: those numbered when it was made, then those that tasks added.
  std::uint64_t n_logical() const {
    return mapping_.added.empty() ? header().n_logical : mapping_.added.back().first + mapping_.added.back().count;
  }
  PhysicalReader& first() const { return *first_; }
  const std::string& path() const { return path_; }
  // Whether the caller lets long work continue.
  bool may_go_on() const { return !watch_.go_on || watch_.go_on(); }
  Result<PhysicalReader*> physical(std::uint32_t number);
  // The size of a later physical file that counts as never made, but that a process which died has left; 0: there is
  // none. unsafe: another file has the name.
  Result<std::uint64_t> bytes_left_behind(std::uint32_t later) const;
  // The place of a rank, and how many behind it lie in one row where that is known.
  Result<PlacedRange> locate(std::uint64_t rank, PageCache& cache_of_first) const;
  // The run that holds the number of an added logical file of a physical file; null: none does.
  const PlacedRange* run_of(std::uint32_t physical, std::uint64_t number) const;
  // The rank of a logical file of a physical file, by its local index or number.
  Result<std::uint64_t> rank_of(std::uint32_t physical, std::uint64_t local, PageCache& cache);
  // Whether the places of the names in physical file 0 are complete: not after a recovery.
  bool has_name_places() const { return unclosed_ == Unclosed::refuse; }
  // The end of the ranks, from `rank` on, whose entries of the table cannot be read.
  Result<std::uint64_t> end_of_lost_places(std::uint64_t rank) const;
  // Rank of each local index of a physical file with Mapping::table; empty with consecutive ranks.
  Result<std::vector<std::uint64_t>> ranks(const PhysicalReader& physical) const;
  // Without the table.
  const RankMapping& mapping() const { return mapping_; }

 private:
  Status load_added();
  Status use_as_first(PhysicalReader& physical);
  Result<std::unique_ptr<PhysicalReader>> open_physical(std::uint32_t number);
  Status check_member(const PhysicalReader& physical) const;
  Status readable(PhysicalReader& physical) const;
  Status recover(PhysicalReader& physical);

  const std::shared_ptr<Backend> backend_;
  const std::string path_;
  const Unclosed unclosed_;
  const Watch watch_;
  const bool of_nodes_;
  std::mutex mutex_;
  bool opened_ = false;  // guarded by mutex_
  Status open_status_;   // guarded by mutex_
  std::atomic<bool> own_session_ = false;
  LazyMap<PhysicalReader> readers_;  // by number
  PhysicalReader* first_ = nullptr;  // set by open(), constant afterwards
  RankMapping mapping_;              // set by open(), constant afterwards
};

}  // namespace thalweg
