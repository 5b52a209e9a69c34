#include "vpfile/streams/entry_pages.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "os/wait.hpp"

namespace thalweg {

namespace {

constexpr std::size_t kLeastPages = 8;
constexpr std::uint64_t kGap = 64;  // entries that are written rather than spend another call
constexpr int kMostReads = 20;      // of a page that another task may be writing to

}  // namespace

std::uint64_t EntryPages::Marks::next(std::uint64_t slot, bool set) const {
  while (slot < kPerPage) {
    const std::uint64_t word = set ? words_[slot / 64] : ~words_[slot / 64];
    const std::uint64_t left = word >> (slot % 64);
    if (left != 0) return slot + static_cast<std::uint64_t>(std::countr_zero(left));
    slot = (slot / 64 + 1) * 64;
  }
  return kPerPage;
}

void EntryPages::Marks::clear(std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t slot = begin; slot < end; ++slot) words_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
}

EntryPages::EntryPages(const Setup& setup)
    : setup_(setup),
      sealer_(setup.which, setup.id),
      base_(setup.which == format::DirectoryFile::overflow ? 1 : 0),
      entry_bytes_(format::entry_bytes(setup.pointers)),
      most_pages_(std::max<std::size_t>(kLeastPages, setup.cache_bytes / (kPerPage * entry_bytes_))),
      pages_now_(kLeastPages),
      stored_end_(setup.stored != nullptr ? setup.stored->bytes() : 0) {}

// Of the entries that are written together, from a changed one on: in a page of its own a task goes on behind others.
std::uint64_t EntryPages::end_of_run(const Page& page, std::uint64_t begin) const {
  std::uint64_t end = page.changed.next(begin, false);
  if (page.number < setup_.own_from) return end;
  for (;;) {
    const std::uint64_t more = page.changed.next(end, true);
    if (more == kPerPage || more - end > kGap) return end;
    end = page.changed.next(more, false);
  }
}

// Once in a session an entry keeps what it was before.
void EntryPages::seal(Page& page, std::uint64_t slot) {
  const std::uint64_t number = first_of(page.number) + slot;
  std::uint64_t& change = changes_[page.number];
  format::EntryView entry(bytes_of(page, slot));
  const std::uint32_t old = entry.crc();
  if (entry.session() != setup_.session) {
    entry.set_session(setup_.session);
    entry.set_before(old);
  }
  sealer_.seal(bytes_of(page, slot), number);
  change += format::entry_hash(number, entry.crc()) - format::entry_hash(number, old);
}

Status EntryPages::store(Page& page) {
  const std::uint64_t first = first_of(page.number);
  for (std::uint64_t begin = page.changed.next(0, true); begin < kPerPage; begin = page.changed.next(begin, true)) {
    const std::uint64_t end = end_of_run(page, begin);
    for (std::uint64_t slot = begin; slot < end; ++slot)
      if (page.changed.has(slot)) seal(page, slot);
    const std::uint64_t offset = format::entry_offset(setup_.which, setup_.pointers, first + begin);
    const auto run = std::span(page.bytes).subspan(begin * entry_bytes_, (end - begin) * entry_bytes_);
    TW_RETURN_IF_ERROR(setup_.file->write(offset, run));
    page.changed.clear(begin, end);
    stored_end_ = std::max(stored_end_, offset + run.size());
  }
  return {};
}

void EntryPages::tell_changes(std::vector<SumChange>& changes) const {
  for (const auto& [page, by] : changes_)
    if (by != 0) changes.push_back({setup_.which, page, by});
}

Status EntryPages::flush() {
  Status first;
  for (Page& page : pages_) {
    Status status = store(page);
    if (first.ok()) first = std::move(status);
  }
  return first;
}

Result<std::size_t> EntryPages::free_page() {
  if (pages_.size() < pages_now_) {
    pages_.emplace_back();
    return pages_.size() - 1;
  }
  for (;; ++hand_) {
    const std::size_t i = hand_ % pages_.size();
    Page& page = pages_[i];
    if (page.used) {
      page.used = false;
      continue;
    }
    TW_RETURN_IF_ERROR(store(page));
    ++hand_;
    gone_.insert(page.number);
    place_of_.erase(page.number);
    return i;
  }
}

// The sum of the entries of page `number`, or of what they were before this session, is what it must be.
bool EntryPages::has_its_sum(Page& page, std::uint64_t number) const {
  const bool own = is_own(number);
  std::uint64_t sum = 0;
  for (std::uint64_t slot = 0; slot < kPerPage; ++slot) {
    const format::EntryView entry(bytes_of(page, slot));
    const bool as_before = !own && entry.session() == setup_.session;
    sum += format::entry_hash(first_of(number) + slot, as_before ? entry.before() : entry.crc());
  }
  std::uint64_t expected = setup_.stored != nullptr ? setup_.stored->of(number) : 0;
  if (const auto changed = changes_.find(number); own && changed != changes_.end()) expected += changed->second;
  return sum == expected;
}

Status EntryPages::broken(const std::string& what) const {
  return Status::error(Code::corrupt_file,
                       "'" + setup_.file->path() + "': " + what + "; `thalweg repair` makes it anew");
}

// What the file has of page `number`; behind its end it is zero.
Status EntryPages::read(Page& page, std::uint64_t number) const {
  const std::uint64_t offset = format::kFirstEntry + number * kPerPage * entry_bytes_;
  page.bytes.resize(kPerPage * entry_bytes_);
  TW_ASSIGN_OR_RETURN(const std::size_t got, setup_.file->read(offset, page.bytes));
  const std::uint64_t there = std::min<std::uint64_t>(stored_end_ - std::min(stored_end_, offset), page.bytes.size());
  if (got < there)
    return broken("at " + std::to_string(offset) + " " + std::to_string(got) + " bytes of " + std::to_string(there) +
                  " could be read");
  std::fill(page.bytes.begin() + static_cast<std::ptrdiff_t>(got), page.bytes.end(), std::byte{0});
  return {};
}

// An entry that another task is just writing may be read in part: then once more.
Status EntryPages::read_stored(Page& page, std::uint64_t number) const {
  for (int reads = 1;; ++reads) {
    TW_RETURN_IF_ERROR(read(page, number));
    if (has_its_sum(page, number)) return {};
    if (is_own(number) || reads == kMostReads) break;
    sleep_for(std::chrono::microseconds(50 * reads));
  }
  return broken("entries " + std::to_string(first_of(number)) + " to " + std::to_string(first_of(number + 1) - 1) +
                " are not those with which the file was closed");
}

// A page that this task begins. A session that the machine ended may have left entries there, which no chain names.
Status EntryPages::begin_page(Page& page, std::uint64_t number) const {
  TW_RETURN_IF_ERROR(read(page, number));
  if (std::ranges::all_of(page.bytes, [](std::byte byte) { return byte == std::byte{0}; })) return {};
  std::ranges::fill(page.bytes, std::byte{0});
  return setup_.file->write(format::kFirstEntry + number * kPerPage * entry_bytes_, page.bytes);
}

Status EntryPages::load(Page& page, std::uint64_t number) {
  page.number = kNoPage;
  page.changed.set_all(false);
  const bool is_new = gone_.count(number) == 0 && (setup_.stored == nullptr || number >= setup_.own_from);
  page.verified.set_all(is_new);
  if (!is_new)
    TW_RETURN_IF_ERROR(read_stored(page, number));
  else if (number >= setup_.own_from)
    TW_RETURN_IF_ERROR(begin_page(page, number));
  else
    page.bytes.assign(kPerPage * entry_bytes_, std::byte{0});
  place_of_.emplace(number, static_cast<std::size_t>(&page - pages_.data()));
  gone_.erase(number);
  page.number = number;
  return {};
}

Result<std::size_t> EntryPages::find(std::uint64_t number) {
  const auto known = place_of_.find(number);
  std::size_t place = 0;
  if (known != place_of_.end()) {
    place = known->second;
  } else {
    if (gone_.count(number) != 0) pages_now_ = std::min(most_pages_, 2 * pages_now_);
    TW_ASSIGN_OR_RETURN(place, free_page());
    TW_RETURN_IF_ERROR(load(pages_[place], number));
  }
  pages_[place].used = true;
  return place;
}

Status EntryPages::verify(Page& page, std::uint64_t slot) const {
  const Status whole = sealer_.check(bytes_of(page, slot), first_of(page.number) + slot);
  if (!whole.ok()) return broken(whole.message());
  page.verified.set(slot);
  return {};
}

Result<format::EntryView> EntryPages::entry_elsewhere(std::uint64_t number, bool change) {
  const std::uint64_t page = (number - base_) / kPerPage;
  TW_ASSIGN_OR_RETURN(const std::size_t place, find(page));
  recent_.note(page, place);
  return entry(number, change);
}

}  // namespace thalweg
