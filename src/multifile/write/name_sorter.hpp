// Sorts the places of all names of a multifile, for its index, in memory that does not grow with their number.
//
// At most kMost places are in memory. More are sorted, and written as a section behind the index that is being written;
// each_sorted() merges these runs, a page of each at a time, and removes them. A run that stays behind after a crash
// looks like a part of an index to a recovery.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "multifile/format/index.hpp"
#include "storage/backend.hpp"

namespace thalweg {

class NameSorter {
 public:
  // `places`: those known before. `lists_equal`: each_sorted() lists the places of equal hashes.
  NameSorter(std::shared_ptr<Backend> backend, std::string path, std::vector<format::NamePlace> places = {},
             bool lists_equal = false)
      : backend_(std::move(backend)),
        path_(std::move(path)),
        lists_equal_(lists_equal),
        size_(places.size()),
        places_(std::move(places)) {}

  std::uint64_t size() const { return size_; }
  // `file`: the physical file whose index is being written, which will end at `index_end`.
  Status add(const format::NamePlace& place, StoredFile& file, const format::FileIdentity& id, std::uint64_t index_end);
  Status each_sorted(const std::function<Status(const format::NamePlace&)>& visit);  // once, when all are added
  // In order, all places whose hash another one has.
  std::vector<format::NamePlace> take_equal() { return std::move(equal_); }

 private:
  static constexpr std::size_t kMost = 256 * 1024;
  struct Run {
    format::FileIdentity id;  // of the physical file
    std::uint64_t offset = 0;
    std::uint64_t n = 0;
    std::uint64_t next = 0;
    std::vector<std::byte> entries = {};  // of the page that has `next`
  };
  Status write_run(StoredFile& file, const format::FileIdentity& id, std::uint64_t index_end);
  Result<format::NamePlace> take(Run& run);
  Status remove_runs();
  void note_equal(const format::NamePlace& before, const format::NamePlace& place);

  const std::shared_ptr<Backend> backend_;
  const std::string path_;
  const bool lists_equal_;
  std::uint64_t size_;
  std::vector<format::NamePlace> places_;  // those in memory
  std::vector<Run> runs_;
  std::map<std::uint32_t, std::unique_ptr<StoredFile>> files_;  // with runs, by physical file
  std::vector<format::NamePlace> equal_;
};

}  // namespace thalweg
