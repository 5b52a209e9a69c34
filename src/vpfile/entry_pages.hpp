// EntryPages: the entries of NAME.first or of NAME.dir as one task uses them: a cache of pages of them that never gets
// larger than it may. Only entries that were changed are written: their neighbours may be another task's.
//
// One call at a time.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backend/backend.hpp"
#include "format/vpfile_directory.hpp"

namespace thalweg {

class EntryPages {
 public:
  static constexpr std::uint64_t kPerPage = 512;  // entries: a page is worth a system call

  struct Setup {
    StoredFile* file = nullptr;
    format::DirectoryFile which = format::DirectoryFile::first;
    format::VpIdentity id{};
    std::uint32_t pointers = 0;
    bool stored = false;  // there may be entries already: those of other sessions
    std::uint64_t cache_bytes = 0;
  };
  explicit EntryPages(const Setup& setup);

  // Entry `number`: a VP, or from 1 on. Its checksum was verified. `change`: the caller changes it. Good until the next
  // call.
  Result<format::EntryView> entry(std::uint64_t number, bool change) {
    const std::uint64_t at = number - base_;
    if (last_found_ == kNone || pages_[last_found_].number != at / kPerPage) return entry_elsewhere(number, change);
    Page& page = pages_[last_found_];
    const std::uint64_t slot = at % kPerPage;
    if (!page.verified.has(slot)) TW_RETURN_IF_ERROR(verify(page, slot));
    if (change) page.changed.set(slot);
    return format::EntryView(bytes_of(page, slot));
  }
  // The same where it is at hand: in the page of the last call. Null: it is not, or not whole.
  std::byte* at_hand(std::uint64_t number, bool change) {
    const std::uint64_t at = number - base_;
    const std::uint64_t slot = at % kPerPage;
    if (last_found_ == kNone || pages_[last_found_].number != at / kPerPage) return nullptr;
    Page& page = pages_[last_found_];
    if (!page.verified.has(slot) && !verify(page, slot).ok()) return nullptr;
    if (change) page.changed.set(slot);
    return page.bytes.data() + slot * entry_bytes_;
  }
  Status flush();

 private:
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
    std::uint64_t number = 0;
    std::vector<std::byte> bytes;
    Marks changed;
    Marks verified;
    bool used = false;
  };
  std::uint64_t first_of(const Page& page) const { return page.number * kPerPage + base_; }
  std::span<std::byte> bytes_of(Page& page, std::uint64_t slot) const {
    return {page.bytes.data() + slot * entry_bytes_, entry_bytes_};
  }
  Result<format::EntryView> entry_elsewhere(std::uint64_t number, bool change);
  Status verify(Page& page, std::uint64_t slot) const;
  Result<std::size_t> find(std::uint64_t page);
  Result<std::size_t> free_page();
  Status load(Page& page, std::uint64_t number);
  Status store(Page& page);

  Setup setup_;
  format::EntrySealer sealer_;
  std::uint64_t base_;  // number of the first entry
  std::uint64_t entry_bytes_;
  std::vector<Page> pages_;
  std::size_t most_pages_;  // there may be
  std::size_t pages_now_;   // there may be now: more when one that had to make room is asked for again
  std::size_t hand_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> place_of_;
  std::unordered_set<std::uint64_t> gone_;  // pages that had to make room
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t last_found_ = kNone;
};

}  // namespace thalweg
