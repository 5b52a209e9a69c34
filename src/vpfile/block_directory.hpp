// BlockDirectory: where the blocks of each VP are. The chain of a VP is its entry in NAME.first and then a ring of
// entries in NAME.dir, entered at its last one (docs/format/vpfile.md, section 5).
//
// One call at a time.
#pragma once

#include <vector>

#include "vpfile/entry_pages.hpp"

namespace thalweg {

class BlockDirectory {
 public:
  struct Setup {
    StoredFile* first = nullptr;
    StoredFile* overflow = nullptr;
    format::VpIdentity id{};
    format::VpGeometry geometry;
    std::uint64_t next_page = 0;  // of entries of NAME.dir: that this task fills first, the others follow
    std::uint64_t step = 1;       //   in these steps
    std::uint64_t cache_bytes = 0;
    bool stored = false;           // there may be entries already: those of other sessions
    std::uint64_t stored_end = 0;  // whose numbers are lower
  };
  explicit BlockDirectory(const Setup& setup);

  // Where to go on in a chain: an entry of NAME.dir, 0: that in NAME.first. It may be any, and is moved on.
  using Cursor = std::uint64_t;

  struct Stored {
    std::uint64_t bytes = 0;  // in the IB segment
    Cursor last = 0;
  };
  Result<Stored> stored(std::uint64_t vp);
  Status set_bytes(std::uint64_t vp, std::uint64_t bytes);
  // The rest of the run, or hole, that has block `index` of `vp`, from that block on.
  Result<format::BlockRun> find(std::uint64_t vp, std::uint64_t index, Cursor& cursor);
  // Puts a run behind the others. `last` is that of the VP.
  Status append(std::uint64_t vp, format::BlockRun run, Cursor& last);
  // Puts a run in place of blocks of another one, or of a hole, from block `index` on. `last` is that of the VP.
  Status replace(std::uint64_t vp, std::uint64_t index, format::BlockRun run, Cursor& last);
  Status flush();

  std::uint64_t end() const { return end_; }  // numbers of entries made here are lower

 private:
  struct Place {
    Cursor entry = 0;
    std::uint32_t slot = 0;
    std::uint64_t index = 0;  // of the run's first block
    format::BlockRun run;
  };
  Result<format::EntryView> entry(std::uint64_t vp, Cursor which, bool change);
  Result<Place> locate(std::uint64_t vp, std::uint64_t index, Cursor from);
  Result<Cursor> next_of(std::uint64_t vp, Cursor which);
  Status check_link(std::uint64_t vp, Cursor link) const;
  Result<Cursor> add_behind(std::uint64_t vp, Cursor which, std::uint64_t index, Cursor& last);
  bool joins(const format::BlockRun& before, const format::BlockRun& run) const;
  Status put(std::uint64_t vp, Cursor which, std::span<const format::BlockRun> runs);

  Setup setup_;
  EntryPages first_;
  EntryPages overflow_;
  std::uint64_t next_;  // entry to be made
  std::uint64_t end_;
};

}  // namespace thalweg
