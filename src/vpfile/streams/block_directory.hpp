// BlockDirectory: finds the blocks of each VP. The chain of a VP is its entry in NAME.first and then a ring of entries
// in NAME.dir, entered at its last one (docs/format/vpfile.md, section 5).
//
// One call at a time.
#pragma once

#include <vector>

#include "vpfile/streams/entry_file.hpp"

namespace thalweg {

class BlockDirectory {
 public:
  explicit BlockDirectory(const SegmentSetup& setup);

  // Place in a chain: an entry of NAME.dir; 0: the entry in NAME.first. A search may begin anywhere and moves its
  // cursor.
  using Cursor = std::uint64_t;

  // Whether other sessions stored entries for VPs of the page of `vp`.
  bool has_entries(std::uint64_t vp) const {
    const EntrySums* const sums = setup_.sides->sums(format::DirectoryFile::first);
    return sums != nullptr && sums->of(vp / EntryFile::kPerPage) != 0;
  }
  // Bytes of a VP in the IB segment, and the last entry of its chain.
  Status find_end(std::uint64_t vp, std::uint64_t& bytes, Cursor& last);
  Status set_bytes(std::uint64_t vp, std::uint64_t bytes) {
    TW_ASSIGN_OR_RETURN(format::EntryView found, entry(vp, 0, true));
    found.set_amount(bytes);
    return {};
  }
  // The first VP from `vp` on whose entry may not be empty; the number of VPs where there is none.
  Result<std::uint64_t> next_entry(std::uint64_t vp) const;
  // The rest of the run, or hole, that has block `index` of `vp`, from that block on.
  Status find(std::uint64_t vp, std::uint64_t index, Cursor& cursor, format::BlockRun& run) {
    Place place;
    TW_RETURN_IF_ERROR(locate(vp, index, cursor, place));
    cursor = place.entry;
    const std::uint64_t skipped = index - place.index;
    run = {place.run.is_hole() ? 0 : place.run.address + skipped, place.run.blocks - skipped};
    return {};
  }
  // The last block of a stream that has `blocks` blocks. `last`: the last entry of its chain. The chains of other
  // sessions may continue behind their stream, or be damaged, so they are searched.
  Status find_last(std::uint64_t vp, std::uint64_t blocks, Cursor last, format::BlockRun& run) {
    if (may_be_wrong_) return find(vp, blocks - 1, last, run);
    TW_ASSIGN_OR_RETURN(const format::EntryView tail, entry(vp, last, false));
    run = tail.run(tail.used() - 1);
    run = {run.is_hole() ? 0 : run.address + run.blocks - 1, 1};
    return {};
  }
  // Blocks of a hole from `index` on, also where several pointers make it up; 0: block `index` was written.
  Result<std::uint64_t> gap_at(std::uint64_t vp, std::uint64_t index, Cursor& cursor);
  // Appends a run to the chain. On failure append() and replace() change nothing. `index`: of the run's first block.
  // `last`: the last entry of the VP. `bytes`: new length of the stream; the caller stores it by set_bytes() where the
  // VP has an entry in NAME.dir.
  Status append(std::uint64_t vp, format::BlockRun run, std::uint64_t index, std::uint64_t bytes, Cursor& last) {
    TW_ASSIGN_OR_RETURN(format::EntryView tail, entry(vp, last, true));
    if (may_be_wrong_ && !ends_at(tail, last, index)) [[unlikely]]
      return broken(first_, vp, "has more blocks than its stream");
    if (!append_to(tail, run)) [[unlikely]]
      return change(vp, last, {&run, 1}, index, {}, last);
    if (last == 0) tail.set_amount(bytes);
    return {};
  }
  // Replaces blocks of a run or hole, from block `index` on, by another run.
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
  Result<format::EntryView> entry(std::uint64_t vp, Cursor which, bool change) {
    return which == 0 ? first_.entry(vp, change) : overflow_.entry(which, change);
  }
  // Finds block `index`, from entry `from` on.
  Status locate(std::uint64_t vp, std::uint64_t index, Cursor from, Place& place) {
    TW_ASSIGN_OR_RETURN(const format::EntryView here, entry(vp, from, false));
    place.entry = from;
    place.index = from == 0 ? 0 : here.amount();
    const bool found = place.index <= index && is_in(here, index, place);
    return found ? Status{} : locate_further(vp, index, place);
  }
  Status locate_further(std::uint64_t vp, std::uint64_t index, Place& place);
  // Whether the entry, whose first block is place.index, has block `index`; if not, place.index moves behind the entry.
  static bool is_in(const format::EntryView& here, std::uint64_t index, Place& place) {
    std::uint64_t begin = place.index;
    for (std::uint32_t slot = 0, used = here.used(); slot < used; ++slot) {
      const format::BlockRun run = here.run(slot);
      if (index - begin < run.blocks) {
        place = {place.entry, slot, begin, run};
        return true;
      }
      begin += run.blocks;
    }
    place.index = begin;
    return false;
  }
  Result<Cursor> next_of(std::uint64_t vp, Cursor which);
  Result<std::uint64_t> holes_behind(std::uint64_t vp, Place place);
  Status check_link(std::uint64_t vp, Cursor link) const;
  // Whether the chain with this last entry has `blocks` blocks.
  static bool ends_at(const format::EntryView& tail, Cursor last, std::uint64_t blocks) {
    std::uint64_t sum = last == 0 ? 0 : tail.amount();
    for (std::uint32_t i = 0; i < tail.used(); ++i) sum += tail.run(i).blocks;
    return sum == blocks;
  }

  // Appends a run to the last entry of a chain. False: the entry has no room, and nothing changed.
  bool append_to(format::EntryView& tail, format::BlockRun run) const {
    const std::uint32_t used = tail.used();
    if (used > 0) {
      format::BlockRun joined = tail.run(used - 1);
      if (joins(joined, run)) {
        joined.blocks += run.blocks;
        tail.set_run(used - 1, joined);
        return true;
      }
    }
    if (used >= setup_.meta.geometry.pointers) return false;
    tail.set_run(used, run);
    tail.set_used(used + 1);
    return true;
  }

  Result<Cursor> make_entries(std::uint64_t vp, std::span<const format::BlockRun> runs, std::uint64_t index,
                              Cursor link, Cursor& next);
  // Inserts new entries with `runs` behind entry `which`, whose own runs become `kept`, or stay where `kept` is empty.
  // `index`: of the first block of `runs`.
  Status change(std::uint64_t vp, Cursor which, std::span<const format::BlockRun> runs, std::uint64_t index,
                std::span<const format::BlockRun> kept, Cursor& last);
  Cursor behind(Cursor made) const;
  bool joins(const format::BlockRun& before, const format::BlockRun& run) const {
    const std::uint64_t sum = before.blocks + run.blocks;
    if (before.is_hole() || run.is_hole()) return before.is_hole() && run.is_hole() && sum <= format::kMostHole;
    return before.address + before.blocks == run.address && sum <= format::kMostRun &&
           before.address >> superblock_shift_ == run.address >> superblock_shift_;
  }
  void put(format::EntryView to, std::span<const format::BlockRun> runs) const;
  static Status broken(const EntryFile& file, std::uint64_t vp, const char* what);

  SegmentSetup setup_;
  std::uint64_t first_page_;  // of entries of NAME.dir that this task makes
  bool may_be_wrong_;         // there are chains of other sessions
  int superblock_shift_;      // of numbers of blocks
  EntryFile first_;
  EntryFile overflow_;
  Cursor next_;  // entry to be made
  Cursor end_ = 0;
};

}  // namespace thalweg
