#include "vpfile/streams/block_directory.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

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

}  // namespace

BlockDirectory::BlockDirectory(const Setup& setup)
    : setup_(setup),
      entry_bytes_(format::entry_bytes(setup.geometry.pointers)),
      superblock_shift_(std::countr_zero(setup.geometry.superblock_bytes) -
                        std::countr_zero(setup.geometry.block_bytes)),
      first_({setup.first.file, format::DirectoryFile::first, setup.id, setup.geometry.pointers, setup.first.stored,
              setup.session, setup.alone, setup.cache_bytes / 2}),
      overflow_({setup.overflow.file, format::DirectoryFile::overflow, setup.id, setup.geometry.pointers,
                 setup.overflow.stored, setup.session, setup.alone, setup.cache_bytes / 2, setup.next_page}),
      next_(first_of_page(setup.next_page)),
      end_(0) {}

Result<EntryView> BlockDirectory::entry(std::uint64_t vp, Cursor which, bool change) {
  return which == 0 ? first_.entry(vp, change) : overflow_.entry(which, change);
}

Result<BlockDirectory::Stored> BlockDirectory::stored(std::uint64_t vp) {
  TW_ASSIGN_OR_RETURN(const EntryView found, entry(vp, 0, false));
  if (found.amount() > kMostOffset - setup_.geometry.lattice_bytes())
    return broken(setup_.first.file->path(), vp, "says more bytes than a file has");
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
  const std::uint64_t page = (link - 1) / EntryPages::kPerPage;
  const bool made_here = link < end_ && page >= setup_.next_page && (page - setup_.next_page) % setup_.step == 0;
  if (link == 0 || link < setup_.stored_end || made_here) return {};
  return broken(setup_.overflow.file->path(), vp, "goes on behind the last entry");
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
    if (place.index == begin && place.entry != 0) return broken(setup_.overflow.file->path(), vp, "has an empty entry");
    TW_ASSIGN_OR_RETURN(place.entry, next_of(vp, place.entry));
    if (place.entry == 0) return broken(setup_.first.file->path(), vp, "ends before its stream");
    TW_ASSIGN_OR_RETURN(const EntryView next, entry(vp, place.entry, false));
    if (next.amount() != place.index) return broken(setup_.overflow.file->path(), vp, "goes on at another index");
  }
}

Result<BlockRun> BlockDirectory::find(std::uint64_t vp, std::uint64_t index, Cursor& cursor) {
  TW_ASSIGN_OR_RETURN(const Place place, locate(vp, index, cursor));
  cursor = place.entry;
  const std::uint64_t skipped = index - place.index;
  return BlockRun{place.run.is_hole() ? 0 : place.run.address + skipped, place.run.blocks - skipped};
}

Result<std::uint64_t> BlockDirectory::gap_at(std::uint64_t vp, std::uint64_t index, Cursor& cursor) {
  TW_ASSIGN_OR_RETURN(const Place place, locate(vp, index, cursor));
  cursor = place.entry;
  if (!place.run.is_hole()) return std::uint64_t{0};
  TW_ASSIGN_OR_RETURN(const std::uint64_t more, holes_behind(vp, place));
  return place.run.blocks - (index - place.index) + more;
}

// Holes behind a hole are one, so a writer makes few of them: whoever passes a gap by must not have to go through as
// many as a chain can name.
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
  return broken(setup_.first.file->path(), vp, "has many holes one behind the other");
}

Result<std::uint64_t> BlockDirectory::next_entry(std::uint64_t vp) const {
  StoredFile& file = *setup_.first.file;
  const std::uint64_t n = setup_.geometry.n;
  const std::uint64_t offset = format::entry_offset(format::DirectoryFile::first, setup_.geometry.pointers, vp);
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  std::uint64_t next = n;
  if (offset < size) {
    TW_ASSIGN_OR_RETURN(const std::uint64_t data, file.next_data(offset));
    if (data < size) next = std::max(vp, (data - format::kFirstEntry) / entry_bytes_);
  }
  // A hole where entries were when the file was closed is damage, which reading them tells.
  if (const EntrySums* const stored = setup_.first.stored; stored != nullptr)
    next = std::min(next, std::max(vp, stored->next(vp / format::kEntriesPerSum) * format::kEntriesPerSum));
  return std::min(n, next);
}

BlockDirectory::Cursor BlockDirectory::behind(Cursor made) const {
  const bool within = made % EntryPages::kPerPage != 0;
  return within ? made + 1 : first_of_page((made - 1) / EntryPages::kPerPage + setup_.step);
}

void BlockDirectory::put(EntryView to, std::span<const BlockRun> runs) const {
  for (std::uint32_t i = 0; i < setup_.geometry.pointers; ++i) {
    if (i < runs.size())
      to.set_run(i, runs[i]);
    else
      to.clear_run(i);
  }
  to.set_used(static_cast<std::uint32_t>(runs.size()));
}

// What an entry that comes behind `before` leads to; 0 as `before`: the ring begins with it.
Result<BlockDirectory::Cursor> BlockDirectory::link_behind(std::uint64_t vp, Cursor before) {
  if (before == 0) return next_;
  TW_ASSIGN_OR_RETURN(const EntryView left, entry(vp, before, false));
  return left.link();
}

// Whole entries that nothing leads to yet. `link`: what the last of them leads to.
Result<BlockDirectory::Made> BlockDirectory::make_entries(std::uint64_t vp, const Change& change, Cursor link) {
  Made made{0, next_};
  std::uint64_t index = change.index;
  for (auto rest = change.runs; !rest.empty();) {
    const auto part = rest.first(std::min<std::size_t>(rest.size(), setup_.geometry.pointers));
    rest = rest.subspan(part.size());
    made.last = std::exchange(made.next, behind(made.next));
    TW_ASSIGN_OR_RETURN(EntryView entered, entry(vp, made.last, true));
    entered.set_link(rest.empty() ? link : made.next);
    entered.set_amount(index);
    put(entered, part);
    for (const BlockRun& run : part) index += run.blocks;
  }
  return made;
}

// What fails leaves the chain as it was.
Status BlockDirectory::change(std::uint64_t vp, Cursor which, const Change& change, Cursor& last) {
  const Cursor before = which == 0 ? last : which;  // the first entry of the ring comes behind the last
  TW_ASSIGN_OR_RETURN(const Cursor link, link_behind(vp, before));
  TW_ASSIGN_OR_RETURN(const Made made, make_entries(vp, change, link));
  // In two files: the second does not take the place of the first.
  TW_ASSIGN_OR_RETURN(EntryView first, entry(vp, 0, true));
  EntryView left = first;
  if (before != 0) {
    TW_ASSIGN_OR_RETURN(left, entry(vp, before, true));
  }
  if (!change.kept.empty()) put(which == 0 ? first : left, change.kept);
  if (made.last == 0) return {};
  if (before != 0) left.set_link(next_);
  if (which == last) first.set_link(last = made.last);
  next_ = made.next;
  end_ = std::max(end_, made.last + 1);
  return {};
}

Status BlockDirectory::append(std::uint64_t vp, BlockRun run, std::uint64_t index, std::uint64_t bytes, Cursor& last) {
  TW_ASSIGN_OR_RETURN(EntryView tail, entry(vp, last, true));
  if (!ends_at(tail, last, index)) return broken(setup_.first.file->path(), vp, "has more blocks than its stream");
  if (append_to(tail, run)) {
    if (last == 0) tail.set_amount(bytes);
    return {};
  }
  return change(vp, last, {{&run, 1}, index, {}}, last);
}

Status BlockDirectory::replace(std::uint64_t vp, std::uint64_t index, BlockRun run, Cursor& last) {
  TW_ASSIGN_OR_RETURN(const Place place, locate(vp, index, 0));
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
  // They were one entry's, and may be too many for it now.
  const auto all = std::span<const BlockRun>(runs);
  const auto kept = all.first(std::min<std::size_t>(all.size(), setup_.geometry.pointers));
  std::uint64_t begin = place.entry == 0 ? 0 : old.amount();
  for (const BlockRun& one : kept) begin += one.blocks;
  return change(vp, place.entry, {all.subspan(kept.size()), begin, kept}, last);
}

std::vector<SumChange> BlockDirectory::changes() const {
  std::vector<SumChange> all;
  first_.tell_changes(all);
  overflow_.tell_changes(all);
  return all;
}

Status BlockDirectory::flush() {
  Status status = first_.flush();
  Status other = overflow_.flush();
  return status.ok() ? other : status;
}

}  // namespace thalweg
