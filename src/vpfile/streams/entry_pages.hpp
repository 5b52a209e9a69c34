// EntryPages: the entries of NAME.first or of NAME.dir as one task uses them: a cache of pages of them that never gets
// larger than it may. Only entries that were changed are written, but for pages that are this task's alone: neighbours
// may be another task's.
//
// A page is checked when it is loaded: the sum of its entries is the one with which the file was closed, changed by
// what was changed since. Where other tasks write to the file, too, and may have changed their entries of the page,
// each entry tells what it was before this session, and the sum of that is checked.
//
// One call at a time.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "storage/backend.hpp"
#include "vpfile/format/directory.hpp"
#include "vpfile/streams/entry_sums.hpp"
#include "vpfile/streams/recent.hpp"

namespace thalweg {

class EntryPages {
 public:
  static constexpr std::uint64_t kPerPage = format::kEntriesPerSum;  // entries: a page is worth a system call

  struct Setup {
    StoredFile* file = nullptr;
    format::DirectoryFile which = format::DirectoryFile::first;
    format::VpIdentity id{};
    std::uint32_t pointers = 0;
    const EntrySums* stored = nullptr;  // of entries of other sessions; null: there are none
    std::uint32_t session = 0;          // in which entries are changed
    bool alone = true;                  // nobody else writes entries
    std::uint64_t cache_bytes = 0;
    std::uint64_t own_from = std::numeric_limits<std::uint64_t>::max();  // pages from this one on are this task's alone
  };
  explicit EntryPages(const Setup& setup);

  // Entry `number`: a VP, or from 1 on. Its checksum was verified. `change`: the caller changes it. Good until the next
  // call.
  Result<format::EntryView> entry(std::uint64_t number, bool change) {
    const std::uint64_t at = number - base_;
    Page* page = recent_.find(pages_, at / kPerPage);
    if (page == nullptr) return entry_elsewhere(number, change);
    const std::uint64_t slot = at % kPerPage;
    page->used = true;
    if (!page->verified.has(slot)) TW_RETURN_IF_ERROR(verify(*page, slot));
    if (change) page->changed.set(slot);
    return format::EntryView(bytes_of(*page, slot));
  }
  // The same where it is at hand: in a page of late calls. Null: it is not, or not whole.
  std::byte* at_hand(std::uint64_t number, bool change) {
    const std::uint64_t at = number - base_;
    const std::uint64_t slot = at % kPerPage;
    Page* found = recent_.find(pages_, at / kPerPage);
    if (found == nullptr) return nullptr;
    Page& page = *found;
    page.used = true;
    if (!page.verified.has(slot) && !verify(page, slot).ok()) return nullptr;
    if (change) page.changed.set(slot);
    return page.bytes.data() + slot * entry_bytes_;
  }
  Status flush();
  // Of all entries that were changed so far, once they are stored: by how much their sums change.
  void tell_changes(std::vector<SumChange>& changes) const;

 private:
  static constexpr std::uint64_t kNoPage = std::numeric_limits<std::uint64_t>::max();
  class Marks {  // a bit for each entry of a page
   public:
    bool has(std::uint64_t slot) const { return (words_[slot / 64] >> (slot % 64) & 1) != 0; }
    void set(std::uint64_t slot) { words_[slot / 64] |= std::uint64_t{1} << (slot % 64); }
    void set_all(bool to) { words_.fill(to ? ~std::uint64_t{0} : 0); }
    void clear(std::uint64_t begin, std::uint64_t end);
    // The first one from `slot` on that is as `set` says; kPerPage: none is.
    std::uint64_t next(std::uint64_t slot, bool set) const;

   private:
    std::array<std::uint64_t, kPerPage / 64> words_{};
  };
  struct Page {
    std::uint64_t number = kNoPage;
    std::vector<std::byte> bytes;
    Marks changed;
    Marks verified;
    bool used = false;
  };
  std::uint64_t first_of(std::uint64_t page) const { return page * kPerPage + base_; }
  // Whether no other task changes entries of the page.
  bool is_own(std::uint64_t page) const { return setup_.alone || page >= setup_.own_from; }
  std::span<std::byte> bytes_of(Page& page, std::uint64_t slot) const {
    return {page.bytes.data() + slot * entry_bytes_, entry_bytes_};
  }
  Result<format::EntryView> entry_elsewhere(std::uint64_t number, bool change);
  Status verify(Page& page, std::uint64_t slot) const;
  Result<std::size_t> find(std::uint64_t page);
  Result<std::size_t> free_page();
  Status load(Page& page, std::uint64_t number);
  Status begin_page(Page& page, std::uint64_t number) const;
  Status read(Page& page, std::uint64_t number) const;
  Status read_stored(Page& page, std::uint64_t number) const;
  bool has_its_sum(Page& page, std::uint64_t number) const;
  Status broken(const std::string& what) const;
  Status store(Page& page);
  void seal(Page& page, std::uint64_t slot);
  std::uint64_t end_of_run(const Page& page, std::uint64_t begin) const;

  Setup setup_;
  format::EntrySealer sealer_;
  std::uint64_t base_;  // number of the first entry
  std::uint64_t entry_bytes_;
  std::vector<Page> pages_;
  std::size_t most_pages_;  // there may be
  std::size_t pages_now_;   // there may be now: more when one that had to make room is asked for again
  std::size_t hand_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> place_of_;
  std::unordered_set<std::uint64_t> gone_;                    // pages that had to make room
  std::unordered_map<std::uint64_t, std::uint64_t> changes_;  // of the sums of pages
  std::uint64_t stored_end_ = 0;                              // of what the file is known to have
  Recent recent_;
};

}  // namespace thalweg
