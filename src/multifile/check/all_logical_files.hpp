// The common part of verify, repair and defrag: reading every logical file of a multifile.
#pragma once

#include <unordered_set>

#include "multifile/check/check_multifile.hpp"
#include "multifile/read/read_handle.hpp"
#include "store/reporter.hpp"

namespace thalweg {

inline constexpr std::size_t kReadBytes = 1 << 20;

// A handle that serves every logical file. `watch`: for the recovery of an unclosed multifile.
Result<ReadHandle> open_all(std::shared_ptr<Backend> backend, const std::string& path, ReadSet::Unclosed unclosed,
                            Watch watch = {});

// The added logical files that have an entry in a physical file and are in no run of the first one.
Result<std::uint64_t> count_without_rank(ReadSet& files, const GoOn& go_on);

// Visits all logical files of a multifile and reports how many of their bytes are done.
class FullRead {
 public:
  using Visit = std::function<Status(std::uint64_t rank, const EntryRun& run)>;
  FullRead(ReadHandle& handle, Reporter& report) : handle_(handle), report_(report) {}

  // Visits runs of logical files that are alike, in the order of ranks. Fails with corrupt_file before the first
  // logical file of a physical file in which a piece belongs to two of them: reading all could take as long as the
  // product of their numbers.
  Status each_run(const Visit& visit);
  // Sums up the bytes of all logical files, where the caller asks for progress. Call before each_run().
  Status count();
  // `within` bytes of the current logical file are done.
  Status at(std::uint64_t within);
  Status finished(std::uint64_t rank);

 private:
  Status check_pieces_of(std::uint64_t rank);
  std::uint64_t bytes_of(std::uint64_t rank);

  ReadHandle& handle_;
  Reporter& report_;
  std::unordered_set<std::uint32_t> checked_;  // numbers of physical files
  std::uint64_t done_ = 0;                     // bytes of the logical files before the current one
  std::uint64_t total_ = 0;                    // of all; both at most 2^63-1
};

}  // namespace thalweg
