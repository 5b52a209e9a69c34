#include "multifile/read/physical_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/endian.hpp"
#include "base/shell_word.hpp"

namespace thalweg {

using format::kPageBytes;
using format::SectionKind;

Status read_exactly(StoredFile& file, std::uint64_t offset, std::span<std::byte> data) {
  TW_ASSIGN_OR_RETURN(const std::size_t got, file.read(offset, data));
  if (got == data.size()) return {};
  return Status::error(Code::corrupt_file,
                       "'{}' ends at offset {}; {} bytes at offset {} were expected: it is truncated", file.path(),
                       offset + got, data.size(), offset);
}

namespace {

// Adds the file to a message that does not name it; a proposed command does not count.
Status about(const std::string& path, const Status& status) {
  const std::string object = fmt::format("'{}'", path);
  const std::string message = status.message();
  return message.substr(0, message.find('`')).find(object) == std::string::npos ? status.with_context(object) : status;
}

template <class T>
Result<T> about(const std::string& path, Result<T> found) {
  return found.has_value() ? std::move(found) : Result<T>(about(path, found.error()));
}

// The multifile is repaired by the name of its first physical file.
std::string way_out(const std::string& path, std::uint32_t number) {
  return repair_command(path.substr(0, path.size() - format::physical_name("", number).size()));
}

}  // namespace

Status PhysicalReader::stopped() const { return Status::error(Code::stopped, "'{}': stopped by the caller", path()); }

Status PhysicalReader::corrupt(const std::string& what) const {
  return Status::error(Code::corrupt_file, "'{}': {}", path(), what);
}

Result<std::unique_ptr<PhysicalReader>> PhysicalReader::open(std::unique_ptr<StoredFile> file, std::uint32_t number) {
  auto reader = std::make_unique<PhysicalReader>();
  reader->file_ = std::move(file);
  TW_RETURN_IF_ERROR(about(reader->path(), reader->read_header(number)));
  if (!reader->header_.is_later()) reader->readable_ = about(reader->path(), reader->read_index());
  return reader;
}

Result<std::unique_ptr<PhysicalReader>> open_physical(Backend& backend, const std::string& path, std::uint32_t number) {
  TW_ASSIGN_OR_RETURN(auto file, backend.open(path, OpenMode::read));
  return PhysicalReader::open(std::move(file), number);
}

std::vector<RecoveredIndex::File>::const_iterator RecoveredIndex::find(std::uint64_t local) const {
  return std::ranges::lower_bound(files, local, {}, &File::local);
}

Status PhysicalReader::read_header(std::uint32_t number) {
  TW_ASSIGN_OR_RETURN(file_bytes_, file_->size());
  std::array<std::byte, kPageBytes> page{};
  TW_ASSIGN_OR_RETURN(const std::size_t got, file_->read(0, page));
  if (got < format::kHeaderBytes) return Status::error(Code::corrupt_file, "has {} bytes: not a multifile", got);
  TW_ASSIGN_OR_RETURN(header_, format::parse_header(std::span(page).first(format::kHeaderBytes), file_bytes_));
  if (header_.id.physical != number)
    return Status::error(
        Code::corrupt_file,
        "is physical file {} of a multifile, not number {}; open the first one, whose name has no number",
        header_.id.physical, number);
  if (header_.is_later()) return {};
  const auto place = [&](int i) {
    return std::span<const std::byte>(page).subspan(format::kSlotOffset[i], format::kSlotBytes);
  };
  auto state = format::parse_state(place(0), place(1), header_.id, &state_before_);
  if (state.has_value()) state_ = *state;
  readable_ = state.status();
  // A slot that was written but does not verify may have held a newer state.
  const ByteView nothing;
  for (int i = 0; i < 2 && readable_.ok(); ++i) {
    const auto alone = format::parse_state(i == 0 ? place(0) : nothing, i == 1 ? place(1) : nothing, header_.id);
    if (!format::all_zero(place(i)) && !alone.has_value())
      readable_ = Status::error(Code::corrupt_file, "state slot {} is damaged; try {}", i == 0 ? "A" : "B",
                                way_out(path(), number));
  }
  return {};
}

Status PhysicalReader::read_index() {
  TW_RETURN_IF_ERROR(readable_);
  if (!closed())
    return Status::error(Code::not_closed,
                         "was not closed by the program that wrote it; {} brings back everything that was flushed",
                         way_out(path(), header_.id.physical));
  if (file_bytes_ < state_.end)
    return Status::error(Code::corrupt_file, "is truncated: it has {} bytes of {}; try {}", file_bytes_, state_.end,
                         way_out(path(), header_.id.physical));
  TW_ASSIGN_OR_RETURN(index_, read_index_page(*this, state_, file_bytes_));
  return {};
}

Result<format::IndexPage> read_index_page(const PhysicalReader& physical, format::StateSlot slot,
                                          std::uint64_t file_bytes) {
  slot.state = format::FileState::closed;
  slot.end = slot.index_offset + slot.index_bytes;
  std::vector<std::byte> page(kPageBytes);
  TW_RETURN_IF_ERROR(read_exactly(physical.file(), slot.index_offset, page));
  return format::parse_index_page(page, physical.header(), slot, file_bytes);
}

Status PhysicalReader::check_not_replaced() const {
  std::array<std::byte, format::kHeaderBytes> bytes{};
  TW_ASSIGN_OR_RETURN(const std::size_t got, file_->read_aside(0, bytes));
  auto now = format::parse_header(std::span(bytes).first(got), file_bytes_);
  if (now.has_value() && now->id == header_.id) return {};
  return Status::error(Code::corrupt_file, "'{}' was replaced while it was open for reading; open it again", path());
}

Status PhysicalReader::explain(Status status) const {
  if (status.code() != Code::corrupt_file) return status;
  return check_not_replaced().or_else(status);
}

Status PhysicalReader::use_index_before_session() {
  TW_ASSIGN_OR_RETURN(index_, read_index_page(*this, state_, file_bytes_));
  readable_ = {};
  return {};
}

Result<std::span<const std::byte>> PhysicalReader::page(SectionKind kind, std::uint64_t offset, std::uint64_t number,
                                                        PageCache& cache) const {
  std::vector<std::byte>& page = cache.pages[static_cast<std::size_t>(kind) - 1];
  std::uint64_t& cached = cache.offsets[static_cast<std::size_t>(kind) - 1];
  const std::uint64_t at = offset + number * kPageBytes;
  if (cached != at) {
    cached = 0;
    page.resize(kPageBytes);
    Status status = read_exactly(*file_, at, page);
    if (status.ok()) status = format::check_page(page, kind, number, header_.id, at);
    if (!status.ok()) return about(path(), explain(std::move(status)));
    cached = at;
  }
  return std::span<const std::byte>(page);
}

Result<std::span<const std::byte>> PhysicalReader::section_entry(SectionKind kind, std::uint64_t section_offset,
                                                                 std::uint64_t i, std::uint64_t entry_bytes,
                                                                 PageCache& cache) const {
  const std::uint64_t per_page = format::kPagePayload / entry_bytes;
  TW_ASSIGN_OR_RETURN(const auto bytes, page(kind, section_offset, i / per_page, cache));
  return bytes.subspan(i % per_page * entry_bytes, entry_bytes);
}

Result<std::vector<std::byte>> PhysicalReader::section(SectionKind kind, std::uint64_t offset, std::uint64_t n_entries,
                                                       std::uint64_t entry_bytes, const GoOn& go_on) const {
  constexpr std::uint64_t kAtOnce = 256;  // pages
  const std::uint64_t n_pages = format::section_pages(n_entries, entry_bytes);
  if (offset > file_bytes_ || n_pages > (file_bytes_ - offset) / kPageBytes)
    return corrupt(fmt::format("a section of {} entries at offset {} does not fit into the file", n_entries, offset));
  const std::uint64_t per_page = format::kPagePayload / entry_bytes;
  std::vector<std::byte> entries, pages;
  for (std::uint64_t first = 0; first < n_pages; first += kAtOnce) {
    if (first > 0 && go_on && !go_on()) return stopped();
    pages.resize(std::min(kAtOnce, n_pages - first) * kPageBytes);
    const std::uint64_t at = offset + first * kPageBytes,
                        n = std::min(kAtOnce * per_page, n_entries - first * per_page);
    TW_RETURN_IF_ERROR(read_exactly(*file_, at, pages));
    TW_ASSIGN_OR_RETURN(const auto found,
                        about(path(), format::parse_section(pages, kind, n, entry_bytes, header_.id, at, first)));
    entries.insert(entries.end(), found.begin(), found.end());
  }
  return entries;
}

Result<std::vector<std::uint64_t>> PhysicalReader::numbers(SectionKind kind, std::uint64_t offset, std::uint64_t n,
                                                           const GoOn& go_on) const {
  TW_ASSIGN_OR_RETURN(const auto bytes, section(kind, offset, n, sizeof(std::uint64_t), go_on));
  std::vector<std::uint64_t> numbers(n);
  for (std::uint64_t i = 0; i < n; ++i)
    numbers[i] = load_le<std::uint64_t>(std::span(bytes).subspan(i * sizeof(std::uint64_t)));
  return numbers;
}

Result<std::uint64_t> PhysicalReader::next_page(std::uint64_t section_offset, std::uint64_t number,
                                                std::uint64_t n_pages) const {
  if (number >= n_pages) return n_pages;
  TW_ASSIGN_OR_RETURN(const std::uint64_t data, file_->next_data(section_offset + number * kPageBytes));
  return std::min(n_pages, std::max(number, (data - section_offset) / kPageBytes));
}

// ---- Entries of logical files ------------------------------------------------------------------------------------

Result<std::span<const std::byte>> PhysicalReader::stored_entry(std::uint64_t place, PageCache& cache) const {
  return section_entry(index_.files_kind(), index_.files_offset, place, index_.file_entry_bytes(), cache);
}

Result<std::uint64_t> PhysicalReader::local_at(std::uint64_t place, PageCache& cache) const {
  TW_ASSIGN_OR_RETURN(const auto bytes, stored_entry(place, cache));
  if (!index_.is_listed()) return place;
  return about(path(), format::parse_listed_local(bytes, index_));
}

// The last page that can be read and does not begin behind `local_index`; 0 when there is none.
Result<std::uint64_t> PhysicalReader::listed_page(std::uint64_t local_index, PageCache& cache) const {
  const std::uint64_t per_page = format::kPagePayload / format::kListedEntryBytes;
  const std::uint64_t n_pages = format::section_pages(index_.n_entries, format::kListedEntryBytes);
  const auto begins_before = [&](std::uint64_t page) -> Result<bool> {
    TW_ASSIGN_OR_RETURN(const std::uint64_t first, local_at(page * per_page, cache));
    return first <= local_index;
  };
  std::uint64_t low = 0, high = n_pages;
  for (std::uint64_t page :
       {cache.place / per_page, cache.place / per_page + 1}) {  // a walk through all entries is near
    auto before = page >= low && page < high ? begins_before(page) : Result<bool>(page < low);
    if (before.has_value()) (*before ? low : high) = *before ? std::max(low, page) : std::min(high, page);
  }
  while (high - low > 1) {
    auto before = begins_before(low + (high - low) / 2);
    if (!before.has_value()) break;
    (*before ? low : high) = low + (high - low) / 2;
  }
  std::uint64_t last = low;
  for (std::uint64_t page = low + 1; page < high; ++page) {  // where one in between cannot be read
    TW_ASSIGN_OR_RETURN(page, next_page(index_.files_offset, page, high));
    auto before = page < high ? begins_before(page) : Result<bool>(false);
    if (before.has_value() && !*before) break;
    if (before.has_value()) last = page;
  }
  return last;
}

// Place of the first entry that is not before `local_index`; n_entries when there is none. Where a listed entry that
// cannot be read hides it: the place of that one.
Result<std::uint64_t> PhysicalReader::place_from(std::uint64_t local_index, PageCache& cache) const {
  if (!index_.is_listed()) return std::min(local_index, index_.n_entries);
  for (std::uint64_t place = cache.place; place < std::min(cache.place + 2, index_.n_entries); ++place) {
    auto there = local_at(place, cache);
    if (there.has_value() && *there == local_index) return cache.place = place;
  }
  const std::uint64_t per_page = format::kPagePayload / format::kListedEntryBytes;
  TW_ASSIGN_OR_RETURN(const std::uint64_t page, listed_page(local_index, cache));
  std::uint64_t low = page * per_page, high = std::min(low + per_page, index_.n_entries);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    auto there = local_at(middle, cache);
    if (!there.has_value()) return middle;
    (*there < local_index ? low : high) = *there < local_index ? middle + 1 : middle;
  }
  return cache.place = low;
}

Result<format::FileEntry> PhysicalReader::file_entry(std::uint64_t local_index, PageCache& cache) const {
  if (recovered_) {
    const auto found = recovered_->find(local_index);
    return found != recovered_->files.end() && found->local == local_index ? found->entry : format::FileEntry{};
  }
  TW_ASSIGN_OR_RETURN(const std::uint64_t place, place_from(local_index, cache));
  if (place == index_.n_entries) return format::FileEntry{};
  TW_ASSIGN_OR_RETURN(const std::uint64_t there, local_at(place, cache));
  if (there != local_index) return format::FileEntry{};
  TW_ASSIGN_OR_RETURN(const auto bytes, stored_entry(place, cache));
  return about(path(), format::parse_file_entry(bytes.last(format::kFileEntryBytes), index_));
}

bool is_loss(Code code) {
  return code == Code::corrupt_file || code == Code::not_found || code == Code::not_closed || code == Code::io_error ||
         code == Code::no_permission;
}

Result<EntryRun> PhysicalReader::run_at(std::uint64_t local_index, PageCache& cache) const {
  if (recovered_) {
    const auto found = recovered_->find(local_index);
    const bool here = found != recovered_->files.end() && found->local == local_index;
    if (here) return EntryRun{local_index + 1, true, {}};
    return EntryRun{found == recovered_->files.end() ? format::kLocalsEnd : found->local, false, {}};
  }
  TW_ASSIGN_OR_RETURN(const std::uint64_t place, place_from(local_index, cache));
  if (place == index_.n_entries) return EntryRun{format::kLocalsEnd, false, {}};
  auto there = local_at(place, cache);
  if (is_loss(there.status().code())) return lost_run(local_index, place, there.status(), cache);
  TW_RETURN_IF_ERROR(there.status());
  const bool here = *there == local_index;
  return EntryRun{here ? local_index + 1 : *there, here, {}};
}

Status PhysicalReader::each_entry(
    const std::function<Status(std::uint64_t local, Result<format::FileEntry> entry)>& visit, const GoOn& go_on) const {
  PageCache cache;
  EntryRun run;
  for (std::uint64_t local = 0, i = 1; local < format::kLocalsEnd; local = run.end, ++i) {
    if (i % kAskEach == 0 && go_on && !go_on()) return stopped();
    TW_ASSIGN_OR_RETURN(run, run_at(local, cache));
    if (!run.lost.ok()) TW_RETURN_IF_ERROR(visit(local, run.lost));
    if (run.has_entry) TW_RETURN_IF_ERROR(visit(local, file_entry(local, cache)));
  }
  return {};
}

// The run of lost entries up to the first entry of the next page that can be read.
Result<EntryRun> PhysicalReader::lost_run(std::uint64_t local_index, std::uint64_t place, Status why,
                                          PageCache& cache) const {
  const std::uint64_t per_page = format::kPagePayload / index_.file_entry_bytes();
  const std::uint64_t n_pages = format::section_pages(index_.n_entries, index_.file_entry_bytes());
  for (std::uint64_t page = place / per_page + 1;; ++page) {
    TW_ASSIGN_OR_RETURN(page, next_page(index_.files_offset, page, n_pages));
    if (page == n_pages) return EntryRun{format::kLocalsEnd, false, std::move(why)};
    const std::uint64_t first = page * per_page;
    auto end = local_at(first, cache);
    if (end.has_value() && *end > local_index) return EntryRun{*end, false, std::move(why)};
  }
}

Result<std::vector<format::PieceEntry>> PhysicalReader::pieces(const format::FileEntry& entry, PageCache& cache,
                                                               const GoOn& go_on) const {
  std::vector<format::PieceEntry> result;
  if (recovered_) {
    const auto first = recovered_->pieces.begin() + static_cast<std::ptrdiff_t>(entry.first_piece);
    result.assign(first, first + entry.n_pieces);
    return result;
  }
  result.reserve(std::min(entry.n_pieces, 1024U));  // for more as they prove to be there
  for (std::uint64_t i = 0; i < entry.n_pieces; ++i) {
    if (i % kAskEach == kAskEach - 1 && go_on && !go_on()) return stopped();
    TW_ASSIGN_OR_RETURN(const auto bytes, section_entry(SectionKind::pieces, index_.pieces_offset,
                                                        entry.first_piece + i, format::kPieceEntryBytes, cache));
    TW_ASSIGN_OR_RETURN(const auto piece, about(path(), format::parse_piece_entry(bytes, index_)));
    result.push_back(piece);
  }
  return result;
}

Result<std::string> PhysicalReader::name(const format::FileEntry& entry, PageCache& cache, bool as_stored) const {
  std::string text;
  if (entry.name_bytes == 0) return text;
  if (recovered_) text = recovered_->names.substr(entry.name_offset, entry.name_bytes);
  while (!recovered_ && text.size() < entry.name_bytes) {
    const std::uint64_t at = entry.name_offset + text.size(), within = at % format::kPagePayload;
    TW_ASSIGN_OR_RETURN(const auto content,
                        page(SectionKind::names, index_.names_offset, at / format::kPagePayload, cache));
    const std::uint64_t n = std::min(entry.name_bytes - text.size(), format::kPagePayload - within);
    text.append(reinterpret_cast<const char*>(content.data()) + within, n);
  }
  if (as_stored || format::name_is_legal(text)) return text;
  return corrupt("a name with a NUL inside");
}

Result<std::vector<std::uint64_t>> later_ends(const PhysicalReader& first) {
  if (first.recovered() != nullptr) return first.recovered()->later;
  TW_ASSIGN_OR_RETURN(auto ends,
                      first.numbers(SectionKind::later_ends, first.index().later_offset, first.index().n_later));
  for (const std::uint64_t end : ends) TW_RETURN_IF_ERROR(about(first.path(), format::check_later_end(end)));
  return ends;
}

Result<format::Attributes> PhysicalReader::attributes() const {
  if (recovered_) return recovered_->attributes;
  if (index_.attributes_bytes == 0) return format::Attributes{};
  TW_ASSIGN_OR_RETURN(const auto bytes,
                      section(SectionKind::attributes, index_.attributes_offset, index_.attributes_bytes, 1));
  return about(path(), format::parse_attributes(bytes));
}

}  // namespace thalweg
