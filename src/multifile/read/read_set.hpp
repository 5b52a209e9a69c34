// All physical files of a multifile open for reading, shared by the tasks of one process.
//
// Physical files are opened when first asked for, different ones at the same time. Threads: any number at once.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "multifile/once_table.hpp"
#include "multifile/read/part.hpp"
#include "multifile/read/recovery.hpp"
#include "storage/backend.hpp"

namespace thalweg {

struct Location {
  std::uint32_t physical = 0;
  std::uint64_t local_index = 0;
};

class ReadSet {
 public:
  enum class Unclosed { refuse, recover, inspect };  // inspect: open the parts, whatever their state (repair)
  // `watch`: of each recovery.
  ReadSet(std::shared_ptr<Backend> backend, std::string path, Unclosed unclosed, RecoveryWatch watch = {})
      : backend_(std::move(backend)), path_(std::move(path)), unclosed_(unclosed), watch_(std::move(watch)) {}

  // Opens physical file 0 and reads the mapping. The first caller does the work, all get its result.
  Status open();
  // A session of our own has begun: parts not opened yet are now open for writing, which is as it should be.
  void expect_own_session() { own_session_.store(true, std::memory_order_relaxed); }
  // After a successful open():
  const format::FileHeader& header() const { return first_->header(); }
  Part& first() const { return *first_; }
  const std::string& path() const { return path_; }
  bool recovered() const { return unclosed_ == Unclosed::recover; }
  // Asked in what may take long.
  bool may_go_on() const { return !watch_.go_on || watch_.go_on(); }
  Result<Part*> part(std::uint32_t physical);
  Result<Location> locate(std::uint64_t rank, PageCache& cache_of_first) const;
  // Logical files from `rank` on whose places the table cannot tell, where that is so of `rank`.
  Result<std::uint64_t> end_of_lost_places(std::uint64_t rank) const;
  // Rank of each local index of a part with Mapping::table; empty with consecutive ranks.
  Result<std::vector<std::uint64_t>> ranks(const Part& part) const;
  // Logical files [bounds[k], bounds[k+1]) lie in physical file k; only with consecutive ranks.
  const std::vector<std::uint64_t>& bounds() const { return bounds_; }
  Backend& backend() const { return *backend_; }
  const std::shared_ptr<Backend>& shared_backend() const { return backend_; }

 private:
  Status open_first();
  Status use_as_first(Part& part);
  Status read_bounds();
  Result<std::unique_ptr<Part>> open_part(std::uint32_t physical);
  Status check_member(const Part& part) const;
  Status recover(Part& part) const;

  const std::shared_ptr<Backend> backend_;
  const std::string path_;
  const Unclosed unclosed_;
  const RecoveryWatch watch_;
  std::mutex mutex_;
  bool opened_ = false;  // guarded by mutex_
  Status open_status_;   // guarded by mutex_
  std::atomic<bool> own_session_ = false;
  OnceTable<Part> parts_;              // by number: no memory for as many as a header claims
  Part* first_ = nullptr;              // set by open(), constant afterwards
  std::vector<std::uint64_t> bounds_;  // set by open(), constant afterwards
};

}  // namespace thalweg
