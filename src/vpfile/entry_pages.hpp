// EntryPages: the entries of NAME.first or of NAME.dir as one task uses them: a cache of pages of them that never gets
// larger than it may. Only entries that were changed are written: their neighbours may be another task's.
//
// One call at a time.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backend/backend.hpp"
#include "format/vpfile_directory.hpp"

namespace thalweg {

class EntryPages {
 public:
  static constexpr std::uint64_t kPerPage = 64;  // entries

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
  Result<format::EntryView> entry(std::uint64_t number, bool change);
  Status flush();

 private:
  struct Page {
    std::uint64_t number = 0;
    std::vector<std::byte> bytes;
    std::uint64_t changed = 0;   // a bit for each entry
    std::uint64_t verified = 0;  // the same
    bool used = false;
  };
  std::uint64_t first_of(const Page& page) const;
  std::span<std::byte> bytes_of(Page& page, std::uint64_t slot) const;
  Result<std::size_t> find(std::uint64_t page);
  Result<std::size_t> free_page();
  Status load(Page& page, std::uint64_t number);
  Status store(Page& page);

  Setup setup_;
  std::uint64_t entry_bytes_;
  std::vector<Page> pages_;
  std::size_t most_pages_;
  std::size_t hand_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> place_of_;
  std::unordered_set<std::uint64_t> gone_;  // pages that were stored by this task and are not here; else there are none
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t last_found_ = kNone;
};

}  // namespace thalweg
