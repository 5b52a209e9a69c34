// EntrySums: the length of a side file at its last close, and the sums of its entries, which are stored in NAME.meta
// (docs/format/vpfile.md, section 6). A task that changes entries keeps the changes of their sums; the close adds up
// the changes of all tasks.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "storage/backend.hpp"
#include "vpfile/format/directory.hpp"

namespace thalweg {

class EntrySums {
 public:
  // Reads the sums of one side file; corrupt_file where they do not match the seal in `meta`. Only pages of sums that
  // are not all zero take memory.
  static Result<EntrySums> read(StoredFile& meta_file, const format::VpMeta& meta, format::DirectoryFile which);

  std::uint64_t bytes() const { return bytes_; }  // of the side file
  std::uint64_t count() const { return count_; }  // of sums
  // The sum of entries number `at` · kEntriesPerSum and those that follow.
  std::uint64_t of(std::uint64_t at) const;
  // The first `at` from this one on whose sum is not zero; kNone: there is none.
  static constexpr std::uint64_t kNone = std::uint64_t{1} << 48;
  std::uint64_t next(std::uint64_t at) const;

 private:
  using Page = std::array<std::uint64_t, format::kSumsPerPage>;
  Status read_between(StoredFile& meta_file, std::uint64_t begin, std::uint64_t end);

  std::uint64_t bytes_ = 0;
  std::uint64_t count_ = 0;
  std::map<std::uint64_t, Page> pages_;
};

struct SumChange {
  format::DirectoryFile which = format::DirectoryFile::first;
  std::uint64_t at = 0;
  std::uint64_t by = 0;  // modulo 2^64
};

// Adds `changes` to the sums in NAME.meta of a file with `n` VPs, and returns the changes of the seals. No other task
// changes these pages of sums. `stored`: number of sums at the last close. Sums behind them count as zero, as a session
// that ended with the machine may have left bytes there.
Result<format::PerDirectoryFile<std::uint64_t>> change_sums(StoredFile& meta_file, std::uint64_t n,
                                                            const format::PerDirectoryFile<std::uint64_t>& stored,
                                                            std::vector<SumChange> changes);

}  // namespace thalweg
