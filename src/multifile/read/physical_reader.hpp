// One physical file of a multifile open for reading: header, state and index, which may be one that a recovery made.
//
// A PhysicalReader does not change after it was opened, so threads may share it; each task reads the index through a
// PageCache of its own. Pages of the index are read when they are needed, so opening costs the same for any number of
// logical files.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/watch.hpp"
#include "multifile/format/index.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// The index pages read last, one of each section kind; belongs to one task.
struct PageCache {
  std::uint64_t offsets[format::kSectionKinds] = {};  // 0: nothing
  std::vector<std::byte> pages[format::kSectionKinds];
  std::uint64_t place = 0;  // of listed file entries: the one that was found last, or where the next one should be
};

// Logical files up to `end`, by local index or by rank, that are alike: one with an entry, or several without one, or
// several whose entries cannot be read (`lost` is a failure).
struct EntryRun {
  std::uint64_t end = 0;
  bool has_entry = false;
  Status lost;
};

// Whether a failure concerns a part of a multifile only: the rest can be read. A stop or a lack of memory ends the
// work.
bool is_loss(Code code);

// An index in memory, made by a recovery.
struct RecoveredIndex {
  struct File {
    std::uint64_t local = 0;
    format::FileEntry entry;
    std::uint64_t recorded_bytes = 0;  // size in a damaged index, which a repair must find
    bool doubted = false;              // its entry in a damaged index is lost, so it may have had more bytes
  };
  // By local index. Others are empty: memory does not grow with the number that the header of an unclosed file claims.
  std::vector<File> files;
  std::vector<format::PieceEntry> pieces;
  std::string names;
  format::Attributes attributes;
  std::vector<format::AddedRun> added;  // the runs in a whole index of physical file 0
  std::vector<std::uint64_t> later;     // the end of each later physical file; 0: it was never made
  std::uint64_t end = 0;                // first page behind everything used
  std::uint32_t session = 0;            // the last covered session, and where its page lies
  std::uint64_t session_offset = 0;

  std::vector<File>::const_iterator find(std::uint64_t local) const;  // the first one that is not before it
};

class PhysicalReader {
 public:
  // Reads and checks header and state, and the index page of a closed file.
  static Result<std::unique_ptr<PhysicalReader>> open(std::unique_ptr<StoredFile> file, std::uint32_t number);

  StoredFile& file() const { return *file_; }
  const std::string& path() const { return file_->path(); }
  const format::IndexPage& index() const { return index_; }  // all zeros where a recovery made the index
  const format::FileHeader& header() const { return header_; }
  const format::StateSlot& state() const { return state_; }
  // The previous state, where the other slot is valid.
  const std::optional<format::StateSlot>& state_before() const { return state_before_; }
  bool closed() const { return state_.state == format::FileState::closed; }
  std::uint64_t file_bytes() const { return file_bytes_; }
  // Fails when another multifile was created over this one meanwhile. OK after a read proves that bytes without a
  // checksum belong to this one, because a creation writes the header before any data.
  Status check_not_replaced() const;
  // Replaces a failure to read by the better reason that the file was replaced.
  Status explain(Status status) const;
  // not_closed or corrupt_file where the file cannot be read as it is.
  const Status& readable() const { return readable_; }
  // Uses the index before the open session, which is one of this process.
  Status use_index_before_session();
  // Replaces the index.
  void use(RecoveredIndex index) { recovered_ = std::make_unique<RecoveredIndex>(std::move(index)); }
  const RecoveredIndex* recovered() const { return recovered_.get(); }  // null: the index of the file is used

  // The entry of a logical file; all zeros where the index has none.
  Result<format::FileEntry> file_entry(std::uint64_t local_index, PageCache& cache) const;
  // The run of logical files that begins at a local index: one step of a walk that costs O(entries), not O(n_local).
  Result<EntryRun> run_at(std::uint64_t local_index, PageCache& cache) const;
  // Visits every entry, or the failure of those that cannot be read.
  Status each_entry(const std::function<Status(std::uint64_t local, Result<format::FileEntry> entry)>& visit,
                    const GoOn& go_on) const;
  Result<std::vector<format::PieceEntry>> pieces(const format::FileEntry& entry, PageCache& cache,
                                                 const GoOn& go_on = {}) const;
  // `as_stored`: also one that is not legal.
  Result<std::string> name(const format::FileEntry& entry, PageCache& cache, bool as_stored = false) const;
  Result<format::Attributes> attributes() const;

  // Entry i of a section of fixed-size entries at `section_offset`, checked page by page. Borrowed until the next call.
  Result<std::span<const std::byte>> section_entry(format::SectionKind kind, std::uint64_t section_offset,
                                                   std::uint64_t i, std::uint64_t entry_bytes, PageCache& cache) const;
  // The local index of the entry at a place in the files section.
  Result<std::uint64_t> local_at(std::uint64_t place, PageCache& cache) const;
  // A whole section. Memory is taken as its pages prove to exist.
  Result<std::vector<std::byte>> section(format::SectionKind kind, std::uint64_t offset, std::uint64_t n_entries,
                                         std::uint64_t entry_bytes, const GoOn& go_on = {}) const;
  // A whole section of 64-bit numbers.
  Result<std::vector<std::uint64_t>> numbers(format::SectionKind kind, std::uint64_t offset, std::uint64_t n,
                                             const GoOn& go_on = {}) const;
  // The first page of a section from `number` on that is not a hole; `n_pages` when there is none.
  Result<std::uint64_t> next_page(std::uint64_t section_offset, std::uint64_t number, std::uint64_t n_pages) const;

  Status stopped() const;                         // the status of a call that its caller stopped
  Status corrupt(const std::string& what) const;  // corrupt_file, with the name of the file before `what`

 private:
  Status read_header(std::uint32_t number);
  Status read_index();
  Result<std::span<const std::byte>> page(format::SectionKind kind, std::uint64_t offset, std::uint64_t number,
                                          PageCache& cache) const;
  Result<std::span<const std::byte>> stored_entry(std::uint64_t place, PageCache& cache) const;
  Result<std::uint64_t> listed_page(std::uint64_t local_index, PageCache& cache) const;
  Result<std::uint64_t> place_from(std::uint64_t local_index, PageCache& cache) const;
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

// Opens the file at `path` for reading, and PhysicalReader::open().
Result<std::unique_ptr<PhysicalReader>> open_physical(Backend& backend, const std::string& path, std::uint32_t number);

// The page of the index that a state slot names, which was written when the file was closed with `file_bytes` bytes or
// more.
Result<format::IndexPage> read_index_page(const PhysicalReader& physical, format::StateSlot slot,
                                          std::uint64_t file_bytes);

// The end of each later physical file, as physical file 0 has it; 0: it was never made.
Result<std::vector<std::uint64_t>> later_ends(const PhysicalReader& first);

// Reads exactly `data.size()` bytes, or corrupt_file: the file ends before.
Status read_exactly(StoredFile& file, std::uint64_t offset, std::span<std::byte> data);

}  // namespace thalweg
