// One physical file of a multifile open for reading: header, state, index. And what a recovery makes up for an index.
//
// A PhysicalReader does not change after it was opened, so threads may share it; each task reads the index through a
// PageCache of its own. Nothing of the index is read before it is asked for: opening costs the same for any number of
// logical files.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/go_on.hpp"
#include "multifile/format/index.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// The index pages read last; belongs to one task.
struct PageCache {
  struct Page {
    std::uint64_t offset = 0;  // 0: nothing
    std::vector<std::byte> bytes;
  };
  Page pages[9];            // by section kind: one page of each at a time
  std::uint64_t place = 0;  // of listed file entries: the one that was found last
};

// Logical files [from, end), by local index or by rank, that are alike. With an entry it is one; else nothing is stored
// of any of them, or, where `lost` is a failure, nobody can tell.
struct EntryRun {
  std::uint64_t end = 0;
  bool has_entry = false;
  Status lost;
};

// An index in memory: what a scan found.
struct RecoveredIndex {
  struct File {
    std::uint64_t local = 0;
    format::FileEntry entry;
    std::uint64_t told_bytes = 0;  // what a damaged index says it had, and a repair must find
    bool doubted = false;          // it may have had more: what a damaged index said of it is lost
  };
  // By local index. One that is not here is empty: no memory for as many as the header of an unclosed file claims.
  std::vector<File> files;
  std::vector<format::PieceEntry> pieces;
  std::string names;
  format::Attributes attributes;
  std::uint64_t end = 0;      // first page behind everything used
  std::uint32_t session = 0;  // the last one that it covers

  std::vector<File>::const_iterator find(std::uint64_t local) const;  // the first one that is not before it
  format::FileEntry file(std::uint64_t local) const;
};

class PhysicalReader {
 public:
  // Reads header and state. `size` and everything else is checked; the index only when the state is closed.
  static Result<std::unique_ptr<PhysicalReader>> open(std::unique_ptr<StoredFile> file, std::uint32_t number);

  StoredFile& file() const { return *file_; }
  const format::FileHeader& header() const { return header_; }
  const format::StateSlot& state() const { return state_; }
  // Of the other slot, where it is valid: what held before.
  const std::optional<format::StateSlot>& state_before() const { return state_before_; }
  bool closed() const { return state_.state == format::FileState::closed; }
  std::uint64_t file_bytes() const { return file_bytes_; }
  // Fails when another multifile was created over this one meanwhile. Bytes without a checksum that is bound to the
  // identity are of this one if this is OK after they were read: a creation writes the header before any data.
  Status check_not_replaced() const;
  // The better reason for a failure to read: that the file was replaced.
  Status explain(Status status) const;
  // Why the file cannot be read as it is: not_closed, or corrupt_file. OK: it can.
  const Status& readable() const { return readable_; }
  // While a session of our own is open: the index is the one that covers the sessions before it.
  Status use_index_before_session();
  // From now on the index is `index`.
  void use(RecoveredIndex index) { recovered_ = std::make_unique<RecoveredIndex>(std::move(index)); }
  bool recovered() const { return recovered_ != nullptr; }

  std::uint64_t n_pieces() const { return recovered_ ? recovered_->pieces.size() : index_.n_pieces; }
  const format::IndexPage& index() const { return index_; }  // not when recovered()
  // All zeros where the index has none.
  Result<format::FileEntry> file_entry(std::uint64_t local_index, PageCache& cache) const;
  // Goes through the local indices without looking at each of those that are only claimed. Fails where reading does.
  Result<EntryRun> run_at(std::uint64_t local_index, PageCache& cache) const;
  // Visits every entry, or why it, or all up to the next one that can be read, cannot be had.
  Status each_entry(const std::function<Status(std::uint64_t local, Result<format::FileEntry> entry)>& visit,
                    const GoOn& go_on) const;
  // Listed entries must ascend: else none of them is found twice, but some not at all.
  Status check_order(const GoOn& go_on) const;
  Result<std::vector<format::PieceEntry>> pieces(const format::FileEntry& entry, PageCache& cache,
                                                 const GoOn& go_on = {}) const;
  Result<std::string> name(const format::FileEntry& entry, PageCache& cache) const;
  Result<format::Attributes> attributes() const;
  // Bytes [begin, begin + bytes) of all names.
  Result<std::string> names(std::uint64_t begin, std::uint64_t bytes, PageCache& cache) const;

  // Entry i of a section of fixed-size entries at `section_offset`, checked page by page. Borrowed until the next call.
  Result<std::span<const std::byte>> section_entry(format::SectionKind kind, std::uint64_t section_offset,
                                                   std::uint64_t i, std::uint64_t entry_bytes, PageCache& cache) const;
  // A whole section in memory, which is taken as its pages prove to be there.
  Result<std::vector<std::byte>> section(format::SectionKind kind, std::uint64_t offset, std::uint64_t n_entries,
                                         std::uint64_t entry_bytes, const GoOn& go_on = {}) const;
  // The first page of a section from `number` on that is not a hole; `n_pages` when there is none.
  Result<std::uint64_t> next_page(std::uint64_t section_offset, std::uint64_t number, std::uint64_t n_pages) const;

  Status stopped() const;  // what a call ends with that may not go on

 private:
  Status read_header(std::uint32_t number);
  Status read_index();
  Result<std::span<const std::byte>> page(format::SectionKind kind, std::uint64_t offset, std::uint64_t number,
                                          PageCache& cache) const;
  Result<std::span<const std::byte>> stored_entry(std::uint64_t place, PageCache& cache) const;
  Result<std::uint64_t> listed_local(std::uint64_t place, PageCache& cache) const;
  Result<std::uint64_t> listed_page(std::uint64_t local_index, PageCache& cache) const;
  Result<std::uint64_t> listed_place(std::uint64_t local_index, PageCache& cache) const;
  Result<EntryRun> lost_run(std::uint64_t local_index, std::uint64_t place, Status why, PageCache& cache) const;

  std::unique_ptr<StoredFile> file_;
  std::uint64_t file_bytes_ = 0;
  format::FileHeader header_;
  format::StateSlot state_;
  std::optional<format::StateSlot> state_before_;
  format::IndexPage index_;
  Status readable_;
  std::unique_ptr<RecoveredIndex> recovered_;
};

// Reads exactly `data.size()` bytes, or corrupt_file: the file ends before.
Status read_exactly(StoredFile& file, std::uint64_t offset, std::span<std::byte> data);

}  // namespace thalweg
