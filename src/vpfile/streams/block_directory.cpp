#include "vpfile/streams/block_directory.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/size_units.hpp"

namespace thalweg {

using format::BlockRun;
using format::EntryView;

namespace {

std::uint64_t first_of_page(std::uint64_t page) { return page * EntryFile::kPerPage + 1; }

}  // namespace

BlockDirectory::BlockDirectory(const SegmentSetup& setup)
    : setup_(setup),
      first_page_((setup.meta.end_of_entries == 0 ? 0 : format::sums_for(setup.meta.end_of_entries - 1)) + setup.task),
      may_be_wrong_(setup.sides->sums(format::DirectoryFile::first) != nullptr),
      superblock_shift_(std::countr_zero(setup.meta.geometry.superblock_bytes) -
                        std::countr_zero(setup.meta.geometry.block_bytes)),
      first_(setup, format::DirectoryFile::first),
      overflow_(setup, format::DirectoryFile::overflow, first_page_),
      next_(first_of_page(first_page_)) {}

Status BlockDirectory::broken(const EntryFile& file, std::uint64_t vp, const char* what) {
  return Status::error(Code::corrupt_file, "'{}': the chain of virtual processor {} {}; `thalweg repair` makes it anew",
                       file.path(), vp, what);
}

Status BlockDirectory::find_end(std::uint64_t vp, std::uint64_t& bytes, Cursor& last) {
  TW_ASSIGN_OR_RETURN(const EntryView found, entry(vp, 0, false));
  if (found.amount() > kMostOffset - setup_.meta.geometry.lattice_bytes())
    return broken(first_, vp, "says more bytes than a file has");
  TW_RETURN_IF_ERROR(check_link(vp, found.link()));
  bytes = found.amount();
  last = found.link();
  return {};
}

// A link must lead to a stored entry or to one made here: new entries would overwrite any other.
Status BlockDirectory::check_link(std::uint64_t vp, Cursor link) const {
  const std::uint64_t page = (link - 1) / EntryFile::kPerPage;
  const bool made_here = link < end_ && page >= first_page_ && (page - first_page_) % setup_.tasks == 0;
  if (link == 0 || link < setup_.meta.end_of_entries || made_here) return {};
  return broken(overflow_, vp, "goes on behind the last entry");
}

// The entry behind `which` in the chain; 0: there is none.
Result<BlockDirectory::Cursor> BlockDirectory::next_of(std::uint64_t vp, Cursor which) {
  TW_ASSIGN_OR_RETURN(const EntryView first, entry(vp, 0, false));
  const Cursor tail = first.link();
  if (tail == 0 || which == tail) return Cursor{0};
  TW_RETURN_IF_ERROR(check_link(vp, tail));
  TW_ASSIGN_OR_RETURN(const EntryView found, entry(vp, which == 0 ? tail : which, false));
  TW_RETURN_IF_ERROR(check_link(vp, found.link()));
  return found.link();
}

// Searches behind an entry that does not have the block; from the beginning of the chain where the entry is behind it.
Status BlockDirectory::locate_further(std::uint64_t vp, std::uint64_t index, Place& place) {
  if (place.index > index) return locate(vp, index, 0, place);
  for (;;) {
    TW_ASSIGN_OR_RETURN(place.entry, next_of(vp, place.entry));
    if (place.entry == 0) return broken(first_, vp, "ends before its stream");
    TW_ASSIGN_OR_RETURN(const EntryView here, entry(vp, place.entry, false));
    if (here.amount() != place.index) return broken(overflow_, vp, "goes on at another index");
    if (here.used() == 0) return broken(overflow_, vp, "has an empty entry");
    if (is_in(here, index, place)) return {};
  }
}

Result<std::uint64_t> BlockDirectory::gap_at(std::uint64_t vp, std::uint64_t index, Cursor& cursor) {
  Place place;
  TW_RETURN_IF_ERROR(locate(vp, index, cursor, place));
  cursor = place.entry;
  if (!place.run.is_hole()) return std::uint64_t{0};
  TW_ASSIGN_OR_RETURN(const std::uint64_t more, holes_behind(vp, place));
  return place.run.blocks - (index - place.index) + more;
}

// Blocks of the holes behind `place`. A writer joins consecutive holes, so more than kMostHoles of them are damage;
// this bounds the search.
Result<std::uint64_t> BlockDirectory::holes_behind(std::uint64_t vp, Place place) {
  constexpr int kMostHoles = 8;  // none with more blocks than one of them can have
  std::uint64_t blocks = 0;
  for (int n = 0; n < kMostHoles; ++n) {
    TW_ASSIGN_OR_RETURN(EntryView here, entry(vp, place.entry, false));
    if (++place.slot >= here.used()) {
      TW_ASSIGN_OR_RETURN(place.entry, next_of(vp, place.entry));
      if (place.entry == 0) return blocks;
      TW_ASSIGN_OR_RETURN(here, entry(vp, place.entry, false));
      place.slot = 0;
      if (here.used() == 0) return blocks;
    }
    const BlockRun run = here.run(place.slot);
    if (!run.is_hole() || blocks + run.blocks < blocks) return blocks;
    blocks += run.blocks;
  }
  return broken(first_, vp, "has many holes one behind the other");
}

Result<std::uint64_t> BlockDirectory::next_entry(std::uint64_t vp) const {
  StoredFile& file = *setup_.sides->file(format::DirectoryFile::first);
  const std::uint64_t n = setup_.meta.geometry.n;
  const std::uint64_t offset = format::entry_offset(format::DirectoryFile::first, setup_.meta.geometry.pointers, vp);
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  std::uint64_t next = n;
  if (offset < size) {
    TW_ASSIGN_OR_RETURN(const std::uint64_t data, file.next_data(offset));
    const std::uint64_t entry_bytes = format::entry_bytes(setup_.meta.geometry.pointers);
    if (data < size) next = std::max(vp, (data - format::kFirstEntry) / entry_bytes);
  }
  // Entries with a sum from the last close are not skipped: a hole there is damage, which reading them detects.
  if (const EntrySums* sums = setup_.sides->sums(format::DirectoryFile::first); sums != nullptr)
    next = std::min(next, std::max(vp, sums->next(vp / format::kEntriesPerSum) * format::kEntriesPerSum));
  return std::min(n, next);
}

BlockDirectory::Cursor BlockDirectory::behind(Cursor made) const {
  const bool within = made % EntryFile::kPerPage != 0;
  return within ? made + 1 : first_of_page((made - 1) / EntryFile::kPerPage + setup_.tasks);
}

void BlockDirectory::put(EntryView to, std::span<const BlockRun> runs) const {
  for (std::uint32_t i = 0; i < runs.size(); ++i) to.set_run(i, runs[i]);
  for (auto i = static_cast<std::uint32_t>(runs.size()); i < setup_.meta.geometry.pointers; ++i) to.clear_run(i);
  to.set_used(static_cast<std::uint32_t>(runs.size()));
}

// Makes entries that no link leads to yet; returns the last one, 0: none. `link`: link of the last one; `next`: the
// entry to be made behind it.
Result<BlockDirectory::Cursor> BlockDirectory::make_entries(std::uint64_t vp, std::span<const BlockRun> runs,
                                                            std::uint64_t index, Cursor link, Cursor& next) {
  Cursor last = 0;
  while (!runs.empty()) {
    const auto part = runs.first(std::min<std::size_t>(runs.size(), setup_.meta.geometry.pointers));
    runs = runs.subspan(part.size());
    last = std::exchange(next, behind(next));
    TW_ASSIGN_OR_RETURN(EntryView entered, entry(vp, last, true));
    entered.set_link(runs.empty() ? link : next);
    entered.set_amount(index);
    put(entered, part);
    for (const BlockRun& run : part) index += run.blocks;
  }
  return last;
}

// A failure leaves the chain as it was.
Status BlockDirectory::change(std::uint64_t vp, Cursor which, std::span<const BlockRun> runs, std::uint64_t index,
                              std::span<const BlockRun> kept, Cursor& last) {
  const Cursor before = which == 0 ? last : which;  // the first entry of the ring comes behind the last
  Cursor link = next_;                              // where the ring begins with the new entries
  if (before != 0) {
    TW_ASSIGN_OR_RETURN(const EntryView left, entry(vp, before, false));
    link = left.link();
  }
  Cursor next = next_;
  TW_ASSIGN_OR_RETURN(const Cursor made, make_entries(vp, runs, index, link, next));
  // The two entries are in different files, so loading the second does not evict the first.
  TW_ASSIGN_OR_RETURN(EntryView first, entry(vp, 0, true));
  EntryView left = first;
  if (before != 0) {
    TW_ASSIGN_OR_RETURN(left, entry(vp, before, true));
  }
  if (!kept.empty()) put(which == 0 ? first : left, kept);
  if (made == 0) return {};
  if (before != 0) left.set_link(next_);
  if (which == last) first.set_link(last = made);
  next_ = next;
  end_ = std::max(end_, made + 1);
  return {};
}

Status BlockDirectory::replace(std::uint64_t vp, std::uint64_t index, BlockRun run, Cursor& last) {
  Place place;
  TW_RETURN_IF_ERROR(locate(vp, index, 0, place));
  TW_ASSIGN_OR_RETURN(const EntryView old, entry(vp, place.entry, false));
  std::vector<BlockRun> runs;
  for (std::uint32_t i = 0; i < old.used(); ++i) {
    if (i != place.slot) {
      runs.push_back(old.run(i));
      continue;
    }
    const std::uint64_t before = index - place.index;
    if (before > 0) runs.push_back({place.run.address, before});
    runs.push_back(run);
    const std::uint64_t behind = place.run.blocks - before - run.blocks;
    const std::uint64_t skipped = place.run.is_hole() ? 0 : place.run.address + before + run.blocks;
    if (behind > 0) runs.push_back({skipped, behind});
  }
  // The runs were in one entry, and may be too many for it now.
  const auto all = std::span<const BlockRun>(runs);
  const auto kept = all.first(std::min<std::size_t>(all.size(), setup_.meta.geometry.pointers));
  std::uint64_t begin = place.entry == 0 ? 0 : old.amount();
  for (const BlockRun& one : kept) begin += one.blocks;
  return change(vp, place.entry, all.subspan(kept.size()), begin, kept, last);
}

std::vector<SumChange> BlockDirectory::changes() const {
  std::vector<SumChange> all;
  first_.add_changes(all);
  overflow_.add_changes(all);
  return all;
}

Status BlockDirectory::flush() {
  Status status = first_.flush();
  return status.or_else(overflow_.flush());
}

}  // namespace thalweg
