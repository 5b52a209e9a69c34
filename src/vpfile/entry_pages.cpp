#include "vpfile/entry_pages.hpp"

#include <algorithm>
#include <bit>

namespace thalweg {

namespace {

constexpr std::size_t kLeastPages = 8;
constexpr std::uint64_t kGap = 64;  // entries that are written rather than spend another call

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
      pages_now_(kLeastPages) {}

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

Status EntryPages::store(Page& page) {
  const std::uint64_t first = first_of(page);
  for (std::uint64_t begin = page.changed.next(0, true); begin < kPerPage; begin = page.changed.next(begin, true)) {
    const std::uint64_t end = end_of_run(page, begin);
    for (std::uint64_t slot = begin; slot < end; ++slot)
      if (page.changed.has(slot)) sealer_.seal(bytes_of(page, slot), first + slot);
    const std::uint64_t offset = format::entry_offset(setup_.which, setup_.pointers, first + begin);
    const auto run = std::span(page.bytes).subspan(begin * entry_bytes_, (end - begin) * entry_bytes_);
    TW_RETURN_IF_ERROR(setup_.file->write(offset, run));
    page.changed.clear(begin, end);
  }
  return {};
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

Status EntryPages::load(Page& page, std::uint64_t number) {
  page.number = kNoPage;
  page.changed.set_all(false);
  const bool is_stored = setup_.stored || gone_.count(number) != 0;
  page.verified.set_all(!is_stored);
  std::size_t got = 0;
  if (is_stored) {
    page.bytes.resize(kPerPage * entry_bytes_);
    TW_ASSIGN_OR_RETURN(got, setup_.file->read(format::kFirstEntry + number * kPerPage * entry_bytes_, page.bytes));
    std::fill(page.bytes.begin() + static_cast<std::ptrdiff_t>(got), page.bytes.end(), std::byte{0});
  } else {
    page.bytes.assign(kPerPage * entry_bytes_, std::byte{0});
  }
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
  const Status whole = sealer_.check(bytes_of(page, slot), first_of(page) + slot);
  if (!whole.ok()) return whole.with_context("'" + setup_.file->path() + "'");
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
