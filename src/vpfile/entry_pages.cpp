#include "vpfile/entry_pages.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace thalweg {

namespace {

constexpr std::size_t kLeastPages = 8;
constexpr std::uint64_t kNoPage = std::numeric_limits<std::uint64_t>::max();

}  // namespace

EntryPages::EntryPages(const Setup& setup)
    : setup_(setup),
      entry_bytes_(format::entry_bytes(setup.pointers)),
      most_pages_(std::max<std::size_t>(kLeastPages, setup.cache_bytes / (kPerPage * entry_bytes_))) {}

std::uint64_t EntryPages::first_of(const Page& page) const {
  return page.number * kPerPage + (setup_.which == format::DirectoryFile::overflow ? 1 : 0);
}

std::span<std::byte> EntryPages::bytes_of(Page& page, std::uint64_t slot) const {
  return std::span(page.bytes).subspan(slot * entry_bytes_, entry_bytes_);
}

Status EntryPages::store(Page& page) {
  const std::uint64_t first = first_of(page);
  while (page.changed != 0) {
    const auto begin = static_cast<std::uint64_t>(std::countr_zero(page.changed));
    const std::uint64_t n = static_cast<std::uint64_t>(std::countr_one(page.changed >> begin));
    for (std::uint64_t slot = begin; slot < begin + n; ++slot)
      seal_entry(bytes_of(page, slot), setup_.which, first + slot, setup_.id);
    const std::uint64_t offset = format::entry_offset(setup_.which, setup_.pointers, first + begin);
    TW_RETURN_IF_ERROR(
        setup_.file->write(offset, std::span(page.bytes).subspan(begin * entry_bytes_, n * entry_bytes_)));
    const std::uint64_t stored = n == kPerPage ? ~std::uint64_t{0} : ((std::uint64_t{1} << n) - 1) << begin;
    page.changed &= ~stored;
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
  if (pages_.size() < most_pages_) {
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
    place_of_.erase(page.number);
    if (!setup_.stored) gone_.insert(page.number);
    if (last_found_ == i) last_found_ = kNone;
    return i;
  }
}

Status EntryPages::load(Page& page, std::uint64_t number) {
  page.number = kNoPage;
  page.changed = page.verified = 0;
  page.bytes.resize(kPerPage * entry_bytes_);
  const std::uint64_t offset = format::kFirstEntry + number * kPerPage * entry_bytes_;
  std::size_t got = 0;
  if (setup_.stored || gone_.erase(number) != 0) {
    TW_ASSIGN_OR_RETURN(got, setup_.file->read(offset, page.bytes));
  }
  std::fill(page.bytes.begin() + static_cast<std::ptrdiff_t>(got), page.bytes.end(), std::byte{0});
  page.number = number;
  return {};
}

Result<std::size_t> EntryPages::find(std::uint64_t number) {
  if (last_found_ != kNone && pages_[last_found_].number == number) return last_found_;
  const auto known = place_of_.find(number);
  if (known != place_of_.end()) {
    last_found_ = known->second;
  } else {
    TW_ASSIGN_OR_RETURN(const std::size_t place, free_page());
    TW_RETURN_IF_ERROR(load(pages_[place], number));
    place_of_.emplace(number, place);
    last_found_ = place;
  }
  pages_[last_found_].used = true;
  return last_found_;
}

Result<format::EntryView> EntryPages::entry(std::uint64_t number, bool change) {
  const std::uint64_t at = setup_.which == format::DirectoryFile::overflow ? number - 1 : number;
  TW_ASSIGN_OR_RETURN(const std::size_t place, find(at / kPerPage));
  Page& page = pages_[place];
  const std::uint64_t bit = std::uint64_t{1} << (at % kPerPage);
  const std::span<std::byte> bytes = bytes_of(page, at % kPerPage);
  if ((page.verified & bit) == 0) {
    const Status whole = check_entry(bytes, setup_.which, number, setup_.id);
    if (!whole.ok()) return whole.with_context("'" + setup_.file->path() + "'");
    page.verified |= bit;
  }
  if (change) page.changed |= bit;
  return format::EntryView(bytes);
}

}  // namespace thalweg
