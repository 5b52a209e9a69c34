// EntryFile: the entries of NAME.first or of NAME.dir as one task uses them, through a cache of pages of them. Only
// changed entries are written, except in pages of this task alone, as neighbours may belong to another task.
//
// Loading a page checks it: the sum of its entries must be the sum at the last close plus the changes since. Where
// other tasks may have changed their entries of the page, each entry holds its checksum from before this session, and
// the sum over these is checked.
//
// One call at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "vpfile/format/directory.hpp"
#include "vpfile/streams/page_cache.hpp"
#include "vpfile/streams/segment_setup.hpp"

namespace thalweg {

class EntryFile {
 public:
  static constexpr std::uint64_t kPerPage = format::kEntriesPerSum;  // entries; so many are worth a system call

  // Pages from `own_from` on are this task's alone.
  EntryFile(const SegmentSetup& setup, format::DirectoryFile which, std::uint64_t own_from = kNoPage);

  // Entry `number`, with its checksum verified: a VP in NAME.first, counted from 1 in NAME.dir. `change`: the caller
  // changes it. The view is valid until the next call.
  Result<format::EntryView> entry(std::uint64_t number, bool change) {
    const std::uint64_t at = number - base_;
    Page* page = cache_.find(at / kPerPage);
    if (page == nullptr) [[unlikely]] {
      TW_ASSIGN_OR_RETURN(page, load(at / kPerPage));
    }
    const std::uint64_t slot = at % kPerPage;
    if (!page->verified[slot]) TW_RETURN_IF_ERROR(verify(*page, slot));
    if (change) page->changed[slot] = true;
    return format::EntryView(bytes_of(*page, slot));
  }
  Status flush();
  // Appends the changes of the sums by all entries stored so far.
  void add_changes(std::vector<SumChange>& changes) const;
  const std::string& path() const { return file_->path(); }

 private:
  struct Page {
    std::uint64_t number = kNoPage;
    bool used = false;
    std::vector<std::byte> bytes;
    std::array<bool, kPerPage> changed{};
    std::array<bool, kPerPage> verified{};
    // The first entry from `slot` on that is changed, or is not; kPerPage: there is none.
    std::uint64_t next(std::uint64_t slot, bool is_changed) const {
      const auto found = std::find(changed.begin() + static_cast<std::ptrdiff_t>(slot), changed.end(), is_changed);
      return static_cast<std::uint64_t>(found - changed.begin());
    }
  };
  std::uint64_t first_of(std::uint64_t page) const { return page * kPerPage + base_; }
  std::uint64_t offset_of(std::uint64_t page) const { return format::kFirstEntry + page * kPerPage * entry_bytes_; }
  // Whether no other task changes entries of the page.
  bool is_own(std::uint64_t page) const { return alone_ || page >= own_from_; }
  std::span<std::byte> bytes_of(Page& page, std::uint64_t slot) const {
    return {page.bytes.data() + slot * entry_bytes_, entry_bytes_};
  }
  Result<Page*> load(std::uint64_t number);
  Status fill(Page& page, std::uint64_t number) const;
  Status read(Page& page, std::uint64_t number) const;
  Status read_stored(Page& page, std::uint64_t number) const;
  bool has_its_sum(Page& page, std::uint64_t number) const;
  Status verify(Page& page, std::uint64_t slot) const;
  Status broken(const std::string& what) const;
  Status store(Page& page);
  void seal(Page& page, std::uint64_t slot);
  std::uint64_t end_of_run(const Page& page, std::uint64_t begin) const;

  format::DirectoryFile which_;
  StoredFile* file_;
  const EntrySums* stored_;  // of entries of other sessions; null: there are none
  std::uint32_t session_;    // that changes entries here
  bool alone_;               // no other task writes entries
  std::uint64_t own_from_;
  format::FileIdentity id_;
  std::uint64_t base_;  // number of the first entry
  std::uint64_t entry_bytes_;
  std::uint64_t stored_end_ = 0;  // bytes that the file is known to have
  VpPageCache<Page> cache_;
  std::unordered_map<std::uint64_t, std::uint64_t> changes_;  // of the sums of pages that were stored in this session
};

}  // namespace thalweg
