#include "file/part.hpp"

#include <algorithm>
#include <array>

#include "base/shell_word.hpp"

namespace thalweg {

using format::kPageBytes;
using format::SectionKind;

Status read_exactly(StoredFile& file, std::uint64_t offset, std::span<std::byte> data) {
  TW_ASSIGN_OR_RETURN(const std::size_t got, file.read(offset, data));
  if (got == data.size()) return {};
  return Status::error(Code::corrupt_file, "'" + file.path() + "' ends at offset " + std::to_string(offset + got) +
                                               "; " + std::to_string(data.size()) + " bytes at offset " +
                                               std::to_string(offset) + " were expected: it is truncated");
}

namespace {

// Which file it is about, unless the message says so already; a command that it proposes does not count.
Status about(const std::string& path, const Status& status) {
  const std::string object = "'" + path + "'";
  const std::string message = status.message();
  return message.substr(0, message.find('`')).find(object) == std::string::npos ? status.with_context(object) : status;
}

// The multifile is repaired by the name of its first physical file.
std::string way_out(const std::string& path, std::uint32_t physical) {
  return repair_command(path.substr(0, path.size() - format::physical_name("", physical).size()));
}

}  // namespace

Result<std::unique_ptr<Part>> Part::open(std::unique_ptr<StoredFile> file, std::uint32_t physical) {
  auto part = std::make_unique<Part>();
  part->file_ = std::move(file);
  const std::string& path = part->file_->path();
  if (Status status = part->read_header(physical); !status.ok()) return about(path, status);
  part->readable_ = about(path, part->read_index());
  return part;
}

format::FileEntry RecoveredIndex::file(std::uint64_t local) const {
  const auto found = std::lower_bound(files.begin(), files.end(), local,
                                      [](const File& file, std::uint64_t wanted) { return file.local < wanted; });
  return found != files.end() && found->local == local ? found->entry : format::FileEntry{};
}

Status Part::read_header(std::uint32_t physical) {
  TW_ASSIGN_OR_RETURN(file_bytes_, file_->size());
  std::array<std::byte, kPageBytes> page{};
  TW_ASSIGN_OR_RETURN(const std::size_t got, file_->read(0, page));
  if (got < format::kHeaderBytes)
    return Status::error(Code::corrupt_file, "has " + std::to_string(got) + " bytes: not a multifile");
  TW_ASSIGN_OR_RETURN(header_, format::parse_header(std::span(page).first(format::kHeaderBytes), file_bytes_));
  if (header_.id.physical != physical)
    return Status::error(Code::corrupt_file, "is physical file " + std::to_string(header_.id.physical) +
                                                 " of a multifile, not number " + std::to_string(physical) +
                                                 "; open the first one, whose name has no number");
  const auto place = [&](int i) {
    return std::span<const std::byte>(page).subspan(format::kSlotOffset[i], format::kSlotBytes);
  };
  auto state = format::parse_state(place(0), place(1), header_.id);
  if (state.has_value()) {
    state_ = state->newest;
    state_before_ = state->before;
  }
  readable_ = state.status();
  // A place that was written but does not verify may have told of a newer state.
  const std::vector<std::byte> nothing(format::kSlotBytes);
  for (int i = 0; i < 2 && readable_.ok(); ++i) {
    const bool written = !std::equal(nothing.begin(), nothing.end(), place(i).begin());
    const bool valid =
        format::parse_state(i == 0 ? place(0) : nothing, i == 1 ? place(1) : nothing, header_.id).has_value();
    if (written && !valid)
      readable_ = Status::error(Code::corrupt_file, "state slot " + std::string(i == 0 ? "A" : "B") +
                                                        " is damaged; try " + way_out(file_->path(), physical));
  }
  return {};
}

Status Part::read_index() {
  TW_RETURN_IF_ERROR(readable_);
  if (!closed())
    return Status::error(Code::not_closed, "was not closed by the program that wrote it; " +
                                               way_out(file_->path(), header_.id.physical) +
                                               " brings back everything that was flushed");
  if (file_bytes_ < state_.end)
    return Status::error(Code::corrupt_file, "is truncated: it has " + std::to_string(file_bytes_) + " bytes of " +
                                                 std::to_string(state_.end) + "; try " +
                                                 way_out(file_->path(), header_.id.physical));
  std::vector<std::byte> page(kPageBytes);
  TW_RETURN_IF_ERROR(read_exactly(*file_, state_.index_offset, page));
  TW_ASSIGN_OR_RETURN(index_, format::parse_index_page(page, header_, state_, file_bytes_));
  return {};
}

Status Part::use_index_before_session() {
  format::StateSlot before = state_;
  before.state = format::FileState::closed;
  before.end = before.index_offset + before.index_bytes;
  std::vector<std::byte> page(kPageBytes);
  TW_RETURN_IF_ERROR(read_exactly(*file_, before.index_offset, page));
  TW_ASSIGN_OR_RETURN(index_, format::parse_index_page(page, header_, before, file_bytes_));
  readable_ = {};
  return {};
}

Result<std::span<const std::byte>> Part::page(SectionKind kind, std::uint64_t offset, std::uint64_t number,
                                              PageCache& cache) const {
  PageCache::Page& page = cache.pages[static_cast<std::size_t>(kind) - 1];
  const std::uint64_t at = offset + number * kPageBytes;
  if (page.offset != at) {
    page.offset = 0;
    page.bytes.resize(kPageBytes);
    TW_RETURN_IF_ERROR(read_exactly(*file_, at, page.bytes));
    if (Status status = format::check_page(page.bytes, kind, number, header_.id, at); !status.ok())
      return about(file_->path(), status);
    page.offset = at;
  }
  return std::span<const std::byte>(page.bytes);
}

Result<std::span<const std::byte>> Part::section_entry(SectionKind kind, std::uint64_t section_offset, std::uint64_t i,
                                                       std::uint64_t entry_bytes, PageCache& cache) const {
  const std::uint64_t per_page = format::kPagePayload / entry_bytes;
  TW_ASSIGN_OR_RETURN(const auto bytes, page(kind, section_offset, i / per_page, cache));
  return bytes.subspan(i % per_page * entry_bytes, entry_bytes);
}

Result<std::vector<std::byte>> Part::section(SectionKind kind, std::uint64_t offset, std::uint64_t n_entries,
                                             std::uint64_t entry_bytes) const {
  const std::uint64_t bytes = format::section_pages(n_entries, entry_bytes) * kPageBytes;
  if (offset > file_bytes_ || bytes > file_bytes_ - offset)
    return Status::error(Code::corrupt_file, "'" + file_->path() + "': a section of " + std::to_string(n_entries) +
                                                 " entries at offset " + std::to_string(offset) +
                                                 " does not fit into the file");
  std::vector<std::byte> pages(bytes);
  TW_RETURN_IF_ERROR(read_exactly(*file_, offset, pages));
  return format::parse_section(pages, kind, n_entries, entry_bytes, header_.id, offset);
}

Result<format::FileEntry> Part::file_entry(std::uint64_t local_index, PageCache& cache) const {
  if (recovered_) return recovered_->file(local_index);
  TW_ASSIGN_OR_RETURN(const auto bytes, section_entry(SectionKind::files, index_.files_offset, local_index,
                                                      format::kFileEntryBytes, cache));
  return format::parse_file_entry(bytes, index_);
}

Result<std::vector<format::PieceEntry>> Part::pieces(const format::FileEntry& entry, PageCache& cache) const {
  std::vector<format::PieceEntry> result;
  if (recovered_) {
    const auto first = recovered_->pieces.begin() + static_cast<std::ptrdiff_t>(entry.first_piece);
    result.assign(first, first + entry.n_pieces);
    return result;
  }
  result.reserve(entry.n_pieces);  // parse_file_entry checked it against the index, and that against the file
  for (std::uint64_t i = 0; i < entry.n_pieces; ++i) {
    TW_ASSIGN_OR_RETURN(const auto bytes, section_entry(SectionKind::pieces, index_.pieces_offset,
                                                        entry.first_piece + i, format::kPieceEntryBytes, cache));
    TW_ASSIGN_OR_RETURN(const format::PieceEntry piece, format::parse_piece_entry(bytes, index_));
    result.push_back(piece);
  }
  return result;
}

Result<std::string> Part::names(std::uint64_t begin, std::uint64_t bytes, PageCache& cache) const {
  if (recovered_) return recovered_->names.substr(begin, bytes);
  std::string text;
  text.reserve(bytes);
  while (bytes > 0) {
    const std::uint64_t within = begin % format::kPagePayload;
    TW_ASSIGN_OR_RETURN(const auto content,
                        page(SectionKind::names, index_.names_offset, begin / format::kPagePayload, cache));
    const std::uint64_t n = std::min(bytes, format::kPagePayload - within);
    text.append(reinterpret_cast<const char*>(content.data()) + within, n);
    begin += n;
    bytes -= n;
  }
  return text;
}

Result<std::string> Part::name(const format::FileEntry& entry, PageCache& cache) const {
  TW_ASSIGN_OR_RETURN(std::string text, names(entry.name_offset, entry.name_bytes, cache));
  if (text.find('\0') == std::string::npos) return text;
  return Status::error(Code::corrupt_file, "'" + file_->path() + "': a name with a NUL inside");
}

Result<format::Attributes> Part::attributes() const {
  if (recovered_) return recovered_->attributes;
  if (index_.attributes_bytes == 0) return format::Attributes{};
  TW_ASSIGN_OR_RETURN(const auto bytes,
                      section(SectionKind::attributes, index_.attributes_offset, index_.attributes_bytes, 1));
  return format::parse_attributes(bytes);
}

}  // namespace thalweg
