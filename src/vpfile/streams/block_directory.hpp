// BlockDirectory: where the blocks of each VP are. The chain of a VP is its entry in NAME.first and then a ring of
// entries in NAME.dir, entered at its last one (docs/format/vpfile.md, section 5).
//
// One call at a time.
#pragma once

#include <vector>

#include "vpfile/streams/entry_pages.hpp"

namespace thalweg {

class BlockDirectory {
 public:
  struct SideFile {
    StoredFile* file = nullptr;
    const EntrySums* stored = nullptr;  // of entries of other sessions; null: there are none
  };
  struct Setup {
    SideFile first;
    SideFile overflow;
    format::VpIdentity id{};
    format::VpGeometry geometry;
    std::uint64_t next_page = 0;  // of entries of NAME.dir: that this task fills first, the others follow
    std::uint64_t step = 1;       //   in these steps
    std::uint64_t cache_bytes = 0;
    std::uint32_t session = 0;     // in which entries are changed
    bool alone = true;             // nobody else writes entries
    std::uint64_t stored_end = 0;  // numbers of entries of other sessions are lower
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
  // The first VP from `vp` on whose entry may not be empty; as many as there are VPs: none is.
  Result<std::uint64_t> next_entry(std::uint64_t vp) const;
  // The rest of the run, or hole, that has block `index` of `vp`, from that block on.
  Result<format::BlockRun> find(std::uint64_t vp, std::uint64_t index, Cursor& cursor);
  // Blocks from `index` on that are a hole, also where several pointers name it.
  Result<std::uint64_t> gap_at(std::uint64_t vp, std::uint64_t index, Cursor& cursor);
  // Puts a run behind the others. On failure nothing changes, nor in replace(). `last` is that of the VP. Its stream
  // now has `bytes` bytes, which set_bytes() must tell unless the VP has no entry in NAME.dir.
  // `index`: of its first block.
  Status append(std::uint64_t vp, format::BlockRun run, std::uint64_t index, std::uint64_t bytes, Cursor& last);
  // The entry in which `which` ends or goes on, where it is at hand; else an empty span.
  std::span<std::byte> at_hand(std::uint64_t vp, Cursor which, bool change) {
    std::byte* entry = which == 0 ? first_.at_hand(vp, change) : overflow_.at_hand(which, change);
    return {entry, entry != nullptr ? entry_bytes_ : 0};
  }
  // Whether the chain whose last entry that is has so many blocks.
  static bool ends_at(const format::EntryView& tail, Cursor last, std::uint64_t blocks) {
    std::uint64_t sum = last == 0 ? 0 : tail.amount();
    for (std::uint32_t i = 0; i < tail.used(); ++i) sum += tail.run(i).blocks;
    return sum == blocks;
  }
  bool has_room(const format::EntryView& tail) const { return tail.used() < setup_.geometry.pointers; }
  // Puts a run behind those of an entry that is the last one of its chain. False: it has no room, and nothing was done.
  bool append_to(format::EntryView& tail, format::BlockRun run) const;
  // Puts a run in place of blocks of another one, or of a hole, from block `index` on. `last` is that of the VP.
  Status replace(std::uint64_t vp, std::uint64_t index, format::BlockRun run, Cursor& last);
  Status flush();

  std::vector<SumChange> changes() const;  // of the sums of the entries, once these are stored

  std::uint64_t end() const { return end_; }  // numbers of entries made here are lower

 private:
  struct Place {
    Cursor entry = 0;
    std::uint32_t slot = 0;
    std::uint64_t index = 0;  // of the run's first block
    format::BlockRun run;
  };
  // New entries behind one, and what it holds itself from then on.
  struct Change {
    std::span<const format::BlockRun> runs;  // of the new ones; none: there are none
    std::uint64_t index = 0;                 // of the first block of these
    std::span<const format::BlockRun> kept;  // none: it stays as it is
  };
  Result<format::EntryView> entry(std::uint64_t vp, Cursor which, bool change);
  Result<Place> locate(std::uint64_t vp, std::uint64_t index, Cursor from);
  Result<Cursor> next_of(std::uint64_t vp, Cursor which);
  Result<std::uint64_t> holes_behind(std::uint64_t vp, Place place);
  Status check_link(std::uint64_t vp, Cursor link) const;
  struct Made {
    Cursor last = 0;  // 0: none
    Cursor next = 0;  // to be made
  };
  Result<Made> make_entries(std::uint64_t vp, const Change& change, Cursor link);
  Status change(std::uint64_t vp, Cursor which, const Change& change, Cursor& last);
  Result<Cursor> link_behind(std::uint64_t vp, Cursor before);
  Cursor behind(Cursor made) const;
  bool joins(const format::BlockRun& before, const format::BlockRun& run) const {
    const std::uint64_t sum = before.blocks + run.blocks;
    if (before.is_hole() || run.is_hole()) return before.is_hole() && run.is_hole() && sum <= format::kMostHole;
    return before.address + before.blocks == run.address && sum <= format::kMostRun &&
           before.address >> superblock_shift_ == run.address >> superblock_shift_;
  }
  void put(format::EntryView to, std::span<const format::BlockRun> runs) const;

  Setup setup_;
  std::size_t entry_bytes_;
  int superblock_shift_;  // of numbers of blocks
  EntryPages first_;
  EntryPages overflow_;
  std::uint64_t next_;  // entry to be made
  std::uint64_t end_;
};

inline bool BlockDirectory::append_to(format::EntryView& tail, format::BlockRun run) const {
  const std::uint32_t used = tail.used();
  if (used > 0) {
    format::BlockRun joined = tail.run(used - 1);
    if (joins(joined, run)) {
      joined.blocks += run.blocks;
      tail.set_run(used - 1, joined);
      return true;
    }
  }
  if (used >= setup_.geometry.pointers) return false;
  tail.set_run(used, run);
  tail.set_used(used + 1);
  return true;
}

}  // namespace thalweg
