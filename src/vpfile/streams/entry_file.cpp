#include "vpfile/streams/entry_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "os/wait.hpp"

namespace thalweg {

namespace {

constexpr std::size_t kLeastPages = 8;
constexpr std::uint64_t kGap = 64;  // unchanged entries up to which two writes become one
constexpr int kMostReads = 20;      // of a page that another task may be writing to

}  // namespace

EntryFile::EntryFile(const SegmentSetup& setup, format::DirectoryFile which, std::uint64_t own_from)
    : which_(which),
      file_(setup.sides->file(which)),
      stored_(setup.sides->sums(which)),
      session_(setup.meta.session),
      alone_(setup.alone),
      own_from_(own_from),
      id_(setup.meta.id),
      base_(which == format::DirectoryFile::overflow ? 1 : 0),
      entry_bytes_(format::entry_bytes(setup.meta.geometry.pointers)),
      stored_end_(stored_ != nullptr ? stored_->bytes() : 0),
      cache_(kLeastPages, setup.cache_bytes / 4 / (kPerPage * entry_bytes_)) {}

// End of the entries that are written together, from a changed one on. In its own pages a task also writes up to kGap
// unchanged entries between two changed ones.
std::uint64_t EntryFile::end_of_run(const Page& page, std::uint64_t begin) const {
  std::uint64_t end = page.next(begin, false);
  if (page.number < own_from_) return end;
  for (;;) {
    const std::uint64_t more = page.next(end, true);
    if (more == kPerPage || more - end > kGap) return end;
    end = page.next(more, false);
  }
}

// The first change in a session keeps the checksum from before.
void EntryFile::seal(Page& page, std::uint64_t slot) {
  const std::uint64_t number = first_of(page.number) + slot;
  std::uint64_t& change = changes_[page.number];
  format::EntryView entry(bytes_of(page, slot));
  const std::uint32_t old = entry.crc();
  if (entry.session() != session_) {
    entry.set_session(session_);
    entry.set_before(old);
  }
  format::seal(bytes_of(page, slot), format::side_identity(id_, which_), offset_of(page.number) + slot * entry_bytes_);
  change += format::entry_hash(number, entry.crc()) - format::entry_hash(number, old);
}

Status EntryFile::store(Page& page) {
  for (std::uint64_t begin = page.next(0, true); begin < kPerPage; begin = page.next(begin, true)) {
    const std::uint64_t end = end_of_run(page, begin);
    for (std::uint64_t slot = begin; slot < end; ++slot)
      if (page.changed[slot]) seal(page, slot);
    const std::uint64_t offset = offset_of(page.number) + begin * entry_bytes_;
    const auto run = std::span(page.bytes).subspan(begin * entry_bytes_, (end - begin) * entry_bytes_);
    TW_RETURN_IF_ERROR(file_->write(offset, run));
    std::fill_n(page.changed.begin() + static_cast<std::ptrdiff_t>(begin), end - begin, false);
    stored_end_ = std::max(stored_end_, offset + run.size());
  }
  return {};
}

void EntryFile::add_changes(std::vector<SumChange>& changes) const {
  for (const auto& [page, by] : changes_)
    if (by != 0) changes.push_back({which_, page, by});
}

Status EntryFile::flush() {
  Status first;
  for (Page& page : cache_.pages()) {
    Status status = store(page);
    if (first.ok()) first = std::move(status);
  }
  return first;
}

// Whether the sum of the entries of page `number`, or of their state before this session, is the expected one.
bool EntryFile::has_its_sum(Page& page, std::uint64_t number) const {
  const bool own = is_own(number);
  std::uint64_t sum = 0;
  for (std::uint64_t slot = 0; slot < kPerPage; ++slot) {
    const format::EntryView entry(bytes_of(page, slot));
    const bool as_before = !own && entry.session() == session_;
    sum += format::entry_hash(first_of(number) + slot, as_before ? entry.before() : entry.crc());
  }
  std::uint64_t expected = stored_ != nullptr ? stored_->of(number) : 0;
  if (const auto changed = changes_.find(number); own && changed != changes_.end()) expected += changed->second;
  return sum == expected;
}

Status EntryFile::broken(const std::string& what) const {
  return Status::error(Code::corrupt_file, "'{}': {}; `thalweg repair` makes it anew", path(), what);
}

// Reads page `number`; bytes behind the end of the file are zero.
Status EntryFile::read(Page& page, std::uint64_t number) const {
  const std::uint64_t offset = offset_of(number);
  TW_ASSIGN_OR_RETURN(const std::size_t got, file_->read(offset, page.bytes));
  const std::uint64_t there = std::min<std::uint64_t>(stored_end_ - std::min(stored_end_, offset), page.bytes.size());
  if (got < there) return broken(fmt::format("at {} {} bytes of {} could be read", offset, got, there));
  std::fill(page.bytes.begin() + static_cast<std::ptrdiff_t>(got), page.bytes.end(), std::byte{0});
  return {};
}

// Reads a page and checks its sum. A write of another task may tear an entry, so the read is retried.
Status EntryFile::read_stored(Page& page, std::uint64_t number) const {
  for (int reads = 1;; ++reads) {
    TW_RETURN_IF_ERROR(read(page, number));
    if (has_its_sum(page, number)) return {};
    if (is_own(number) || reads == kMostReads) break;
    sleep_for(std::chrono::microseconds(50 * reads));
  }
  return broken(fmt::format("entries {} to {} are not those with which the file was closed", first_of(number),
                            first_of(number + 1) - 1));
}

// A new page of this task is filled with zeros: a session that ended with the machine may have left entries there,
// which no chain names.
Status EntryFile::fill(Page& page, std::uint64_t number) const {
  const bool is_new = changes_.count(number) == 0 && (stored_ == nullptr || number >= own_from_);
  page.verified.fill(is_new);
  if (is_new && number < own_from_) {
    page.bytes.assign(kPerPage * entry_bytes_, std::byte{0});
    return {};
  }
  page.bytes.resize(kPerPage * entry_bytes_);
  if (!is_new) return read_stored(page, number);
  TW_RETURN_IF_ERROR(read(page, number));
  if (format::all_zero(page.bytes)) return {};
  std::ranges::fill(page.bytes, std::byte{0});
  return file_->write(offset_of(number), page.bytes);
}

Result<EntryFile::Page*> EntryFile::load(std::uint64_t number) {
  TW_ASSIGN_OR_RETURN(Page * page, cache_.make_room(number, nullptr, [this](Page& old) { return store(old); }));
  page->changed.fill(false);
  TW_RETURN_IF_ERROR(fill(*page, number));
  cache_.put(*page, number);
  return page;
}

Status EntryFile::verify(Page& page, std::uint64_t slot) const {
  const Status whole = format::check_entry(bytes_of(page, slot), which_, id_, first_of(page.number) + slot);
  if (!whole.ok()) return broken(whole.message());
  page.verified[slot] = true;
  return {};
}

}  // namespace thalweg
