#include "vpfile/block_directory.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "base/size_units.hpp"

namespace thalweg {

using format::BlockRun;
using format::EntryView;

namespace {

Status broken(const std::string& path, std::uint64_t vp, const char* what) {
  return Status::error(Code::corrupt_file, "'" + path + "': the chain of virtual processor " + std::to_string(vp) +
                                               " " + what + "; `thalweg repair` makes it anew");
}

std::uint64_t first_of_page(std::uint64_t page) { return page * EntryPages::kPerPage + 1; }

std::uint64_t blocks_of(const EntryView& entry) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < entry.used(); ++i) sum += entry.run(i).blocks;
  return sum;
}

}  // namespace

BlockDirectory::BlockDirectory(const Setup& setup)
    : setup_(setup),
      entry_bytes_(format::entry_bytes(setup.geometry.pointers)),
      superblock_shift_(std::countr_zero(setup.geometry.superblock_bytes) -
                        std::countr_zero(setup.geometry.block_bytes)),
      first_({setup.first, format::DirectoryFile::first, setup.id, setup.geometry.pointers, setup.stored,
              setup.cache_bytes / 2}),
      overflow_({setup.overflow, format::DirectoryFile::overflow, setup.id, setup.geometry.pointers, setup.stored,
                 setup.cache_bytes / 2}),
      next_(first_of_page(setup.next_page)),
      end_(0) {}

Result<EntryView> BlockDirectory::entry(std::uint64_t vp, Cursor which, bool change) {
  return which == 0 ? first_.entry(vp, change) : overflow_.entry(which, change);
}

Result<BlockDirectory::Stored> BlockDirectory::stored(std::uint64_t vp) {
  TW_ASSIGN_OR_RETURN(const EntryView found, entry(vp, 0, false));
  if (found.amount() > kMostOffset - setup_.geometry.lattice_bytes())
    return broken(setup_.first->path(), vp, "says more bytes than a file has");
  TW_RETURN_IF_ERROR(check_link(vp, found.link()));
  return Stored{found.amount(), found.link()};
}

Status BlockDirectory::set_bytes(std::uint64_t vp, std::uint64_t bytes) {
  TW_ASSIGN_OR_RETURN(EntryView found, entry(vp, 0, true));
  found.set_amount(bytes);
  return {};
}

// What leads elsewhere would be overwritten by entries that are made.
Status BlockDirectory::check_link(std::uint64_t vp, Cursor link) const {
  if (link == 0 || link < std::max(setup_.stored_end, end_)) return {};
  return broken(setup_.overflow->path(), vp, "goes on behind the last entry");
}

// 0: there is none.
Result<BlockDirectory::Cursor> BlockDirectory::next_of(std::uint64_t vp, Cursor which) {
  TW_ASSIGN_OR_RETURN(const EntryView first, entry(vp, 0, false));
  const Cursor tail = first.link();
  if (tail == 0 || which == tail) return Cursor{0};
  TW_RETURN_IF_ERROR(check_link(vp, tail));
  TW_ASSIGN_OR_RETURN(const EntryView found, entry(vp, which == 0 ? tail : which, false));
  TW_RETURN_IF_ERROR(check_link(vp, found.link()));
  return found.link();
}

Result<BlockDirectory::Place> BlockDirectory::locate(std::uint64_t vp, std::uint64_t index, Cursor from) {
  Place place;
  if (from != 0) {
    TW_ASSIGN_OR_RETURN(const EntryView start, entry(vp, from, false));
    if (start.amount() <= index) {
      place.entry = from;
      place.index = start.amount();
    }
  }
  for (;;) {
    TW_ASSIGN_OR_RETURN(const EntryView here, entry(vp, place.entry, false));
    const std::uint64_t begin = place.index;
    for (place.slot = 0; place.slot < here.used(); ++place.slot) {
      place.run = here.run(place.slot);
      if (index - place.index < place.run.blocks) return place;
      place.index += place.run.blocks;
    }
    if (place.index == begin && place.entry != 0) return broken(setup_.overflow->path(), vp, "has an empty entry");
    TW_ASSIGN_OR_RETURN(place.entry, next_of(vp, place.entry));
    if (place.entry == 0) return broken(setup_.first->path(), vp, "ends before its stream");
    TW_ASSIGN_OR_RETURN(const EntryView next, entry(vp, place.entry, false));
    if (next.amount() != place.index) return broken(setup_.overflow->path(), vp, "goes on at another index");
  }
}

Result<BlockRun> BlockDirectory::find(std::uint64_t vp, std::uint64_t index, Cursor& cursor) {
  TW_ASSIGN_OR_RETURN(const Place place, locate(vp, index, cursor));
  cursor = place.entry;
  const std::uint64_t skipped = index - place.index;
  return BlockRun{place.run.is_hole() ? 0 : place.run.address + skipped, place.run.blocks - skipped};
}

// A new entry behind `which`, empty, whose first block will be `index`.
Result<BlockDirectory::Cursor> BlockDirectory::add_behind(std::uint64_t vp, Cursor which, std::uint64_t index,
                                                          Cursor& last) {
  const Cursor made = next_;
  next_ = made % EntryPages::kPerPage != 0 ? made + 1 : first_of_page((made - 1) / EntryPages::kPerPage + setup_.step);
  end_ = std::max(end_, made + 1);
  Cursor link = made;  // a ring of one
  if (last != 0) {
    const Cursor before = which == 0 ? last : which;  // the first entry of the ring comes behind the last
    TW_ASSIGN_OR_RETURN(EntryView left, entry(vp, before, true));
    link = left.link();
    left.set_link(made);
  }
  TW_ASSIGN_OR_RETURN(EntryView entered, entry(vp, made, true));
  entered.set_link(link);
  entered.set_amount(index);
  entered.set_used(0);
  if (which != last) return made;
  last = made;
  TW_ASSIGN_OR_RETURN(EntryView first, entry(vp, 0, true));
  first.set_link(made);
  return made;
}

Status BlockDirectory::append(std::uint64_t vp, BlockRun run, std::uint64_t bytes, Cursor& last) {
  TW_ASSIGN_OR_RETURN(EntryView tail, entry(vp, last, true));
  if (last == 0) tail.set_amount(bytes);
  if (append_to(tail, run)) return {};
  const std::uint64_t index = (last == 0 ? 0 : tail.amount()) + blocks_of(tail);
  TW_ASSIGN_OR_RETURN(const Cursor made, add_behind(vp, last, index, last));
  return put(vp, made, {&run, 1});
}

Status BlockDirectory::put(std::uint64_t vp, Cursor which, std::span<const BlockRun> runs) {
  TW_ASSIGN_OR_RETURN(EntryView to, entry(vp, which, true));
  for (std::uint32_t i = 0; i < setup_.geometry.pointers; ++i) {
    if (i < runs.size())
      to.set_run(i, runs[i]);
    else
      to.clear_run(i);
  }
  to.set_used(static_cast<std::uint32_t>(runs.size()));
  return {};
}

Status BlockDirectory::replace(std::uint64_t vp, std::uint64_t index, BlockRun run, Cursor& last) {
  TW_ASSIGN_OR_RETURN(const Place place, locate(vp, index, 0));
  TW_ASSIGN_OR_RETURN(const EntryView old, entry(vp, place.entry, false));
  std::uint64_t begin = place.entry == 0 ? 0 : old.amount();
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
  // They were one entry's, and may be too many for it now.
  Cursor which = place.entry;
  for (std::span<const BlockRun> rest(runs);;) {
    const auto part = rest.first(std::min<std::size_t>(rest.size(), setup_.geometry.pointers));
    TW_RETURN_IF_ERROR(put(vp, which, part));
    for (const BlockRun& placed : part) begin += placed.blocks;
    rest = rest.subspan(part.size());
    if (rest.empty()) return {};
    TW_ASSIGN_OR_RETURN(which, add_behind(vp, which, begin, last));
  }
}

Status BlockDirectory::flush() {
  Status status = first_.flush();
  Status other = overflow_.flush();
  return status.ok() ? other : status;
}

}  // namespace thalweg
