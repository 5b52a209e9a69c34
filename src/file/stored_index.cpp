#include "file/stored_index.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/endian.hpp"

namespace thalweg {

using format::kPageBytes;
using format::kPagePayload;
using format::SectionKind;

namespace {

// The state slot as it was when that index was complete.
format::StateSlot as_closed(format::StateSlot closed) {
  closed.state = format::FileState::closed;
  closed.end = closed.index_offset + closed.index_bytes;
  return closed;
}

// The ranges of pieces, taken in the order of the logical files.
class PieceRanges {
 public:
  explicit PieceRanges(const Part& part) : part_(part) {}

  Status take(std::uint64_t local, const format::FileEntry& entry) {
    if (entry.n_pieces == 0) return {};
    if (entry.first_piece < end_)
      return Status::error(Code::corrupt_file, "'" + part_.file().path() + "': the index gives piece " +
                                                   std::to_string(entry.first_piece) + " to local logical file " +
                                                   std::to_string(local) + " and to one before it");
    end_ = entry.first_piece + entry.n_pieces;
    return {};
  }

 private:
  const Part& part_;
  std::uint64_t end_ = 0;
};

}  // namespace

Status check_piece_ranges(const Part& part) {
  PieceRanges ranges(part);
  PageCache cache;
  for (std::uint64_t i = 0; i < part.header().n_local; ++i) {
    auto entry = part.file_entry(i, cache);
    if (entry.has_value()) TW_RETURN_IF_ERROR(ranges.take(i, *entry));  // what is wrong with others, their readers tell
  }
  return {};
}

Result<RecoveredIndex> load_index(const Part& part, const format::StateSlot& slot) {
  const format::StateSlot closed = as_closed(slot);
  if (closed.index_offset == 0 || closed.end > part.file_bytes())
    return Status::error(Code::corrupt_file, "'" + part.file().path() + "' has no complete index");
  std::vector<std::byte> page(kPageBytes);
  TW_RETURN_IF_ERROR(read_exactly(part.file(), closed.index_offset, page));
  TW_ASSIGN_OR_RETURN(const format::IndexPage index,
                      format::parse_index_page(page, part.header(), closed, part.file_bytes()));
  RecoveredIndex result;
  TW_ASSIGN_OR_RETURN(const auto files, part.section(format::SectionKind::files, index.files_offset, index.n_local,
                                                     format::kFileEntryBytes));
  TW_ASSIGN_OR_RETURN(const auto pieces, part.section(format::SectionKind::pieces, index.pieces_offset, index.n_pieces,
                                                      format::kPieceEntryBytes));
  PieceRanges ranges(part);
  for (std::uint64_t i = 0; i < index.n_local; ++i) {
    TW_ASSIGN_OR_RETURN(const auto entry,
                        format::parse_file_entry(
                            std::span(files).subspan(i * format::kFileEntryBytes, format::kFileEntryBytes), index));
    TW_RETURN_IF_ERROR(ranges.take(i, entry));
    result.files.push_back({i, entry});
  }
  for (std::uint64_t i = 0; i < index.n_pieces; ++i) {
    TW_ASSIGN_OR_RETURN(const auto entry,
                        format::parse_piece_entry(
                            std::span(pieces).subspan(i * format::kPieceEntryBytes, format::kPieceEntryBytes), index));
    result.pieces.push_back(entry);
  }
  TW_ASSIGN_OR_RETURN(const auto names,
                      part.section(format::SectionKind::names, index.names_offset, index.names_bytes, 1));
  result.names.assign(reinterpret_cast<const char*>(names.data()), names.size());
  TW_ASSIGN_OR_RETURN(const auto attributes, part.section(format::SectionKind::attributes, index.attributes_offset,
                                                          index.attributes_bytes, 1));
  TW_ASSIGN_OR_RETURN(result.attributes, format::parse_attributes(attributes));
  result.end = closed.end;
  result.session = index.session;
  return result;
}

namespace {

// A section that is a row of bytes, put together from the pages that are whole.
struct ByteSection {
  std::string bytes;
  std::vector<bool> here;  // by page

  void put(std::uint64_t number, std::span<const std::byte> payload) {
    if (number >= here.size()) {
      here.resize(number + 1);
      bytes.resize((number + 1) * kPagePayload);
    }
    here[number] = true;
    std::memcpy(bytes.data() + number * kPagePayload, payload.data(), kPagePayload);
  }
  bool has(std::uint64_t begin, std::uint64_t n) const {
    for (std::uint64_t page = begin / kPagePayload; page <= (begin + n - 1) / kPagePayload; ++page)
      if (page >= here.size() || !here[page]) return false;
    return true;
  }
};

class Salvage {
 public:
  explicit Salvage(const Part& part) : part_(part), slot_(as_closed(part.state())) {
    const std::uint64_t pages = format::section_pages(part.header().n_local, format::kFileEntryBytes);
    result_.file_pages.resize(std::min({pages, slot_.index_bytes / kPageBytes, part.file_bytes() / kPageBytes}));
  }

  Result<SalvagedIndex> run() {
    std::vector<std::byte> page(kPageBytes);
    for (std::uint64_t at = slot_.index_offset; at < slot_.end; at += kPageBytes) {
      if (at >= part_.file_bytes()) {
        lose(at, slot_.end);
        break;
      }
      TW_ASSIGN_OR_RETURN(const std::size_t got, part_.file().read(at, page));
      const bool whole = got == kPageBytes;
      if (at == slot_.index_offset) {
        if (whole) note_layout(page);
      } else if (!whole || !take(page, at)) {
        lose(at, at + kPageBytes);
      }
    }
    keep_names();
    keep_attributes();
    return std::move(result_);
  }

 private:
  void note_layout(std::span<const std::byte> page) {
    auto index = format::parse_index_page(page, part_.header(), slot_, slot_.end);
    if (!index.has_value()) return;
    pieces_begin_ = index->pieces_offset;
    pieces_end_ = index->names_offset;
  }

  // Pages of the pieces are no loss: the frames tell the same.
  void lose(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t from = std::max(begin, pieces_begin_), to = std::min(end, pieces_end_);
    result_.lost_pages += (end - begin - (from < to ? to - from : 0)) / kPageBytes;
  }

  // False when the page does not verify.
  bool take(std::span<const std::byte> page, std::uint64_t at) {
    const auto number = load_le<std::uint64_t>(page.subspan(kPagePayload + sizeof(std::uint32_t)));
    const auto is = [&](SectionKind kind) {
      return format::check_page(page, kind, number, part_.header().id, at).ok();
    };
    if (number > slot_.index_bytes / kPageBytes) return false;
    if (is(SectionKind::files)) return take_files(page.first(kPagePayload), number);
    if (is(SectionKind::names)) {
      names_.put(number, page.first(kPagePayload));
    } else if (is(SectionKind::attributes)) {
      attributes_.put(number, page.first(kPagePayload));
    } else {
      return is(SectionKind::pieces);
    }
    return true;
  }

  bool take_files(std::span<const std::byte> entries, std::uint64_t number) {
    format::IndexPage any;  // how many pieces and names there are is not known
    any.n_pieces = any.names_bytes = format::kMaxOffset;
    constexpr std::uint64_t kPerPage = kFileEntriesPerPage;
    for (std::uint64_t i = 0; i < kPerPage && number * kPerPage + i < part_.header().n_local; ++i) {
      auto entry = format::parse_file_entry(entries.subspan(i * format::kFileEntryBytes, format::kFileEntryBytes), any);
      if (!entry.has_value()) return false;
      RecoveredIndex::File file{number * kPerPage + i, *entry, part_.closed() ? entry->bytes : 0};
      file.entry.bytes = file.entry.first_piece = 0;
      file.entry.n_pieces = 0;
      if (file.told_bytes > 0 || entry->mode != 0 || entry->name_bytes > 0 || entry->flags != 0)
        result_.index.files.push_back(file);
    }
    if (number < result_.file_pages.size()) result_.file_pages[number] = true;
    return true;
  }

  void keep_names() {
    auto& files = result_.index.files;
    const auto by_local = [](const auto& a, const auto& b) { return a.local < b.local; };
    std::stable_sort(files.begin(), files.end(), by_local);  // pages say themselves where they belong
    const auto same = [](const auto& a, const auto& b) { return a.local == b.local; };
    files.erase(std::unique(files.begin(), files.end(), same), files.end());
    for (auto& file : files) {
      const format::FileEntry& entry = file.entry;
      if (entry.name_bytes > 0 && has_name(entry)) continue;
      result_.lost_names += entry.name_bytes > 0;
      file.entry.name_offset = file.entry.name_bytes = 0;
    }
    result_.index.names = std::move(names_.bytes);
  }

  bool has_name(const format::FileEntry& entry) const {
    return names_.has(entry.name_offset, entry.name_bytes) &&
           std::memchr(names_.bytes.data() + entry.name_offset, 0, entry.name_bytes) == nullptr;
  }

  // The pairs fill the section but for the zeros of its last page, and no key is empty.
  void keep_attributes() {
    std::size_t pages = 0;
    while (pages < attributes_.here.size() && attributes_.here[pages]) ++pages;
    const auto bytes = std::as_bytes(std::span(attributes_.bytes).first(pages * kPagePayload));
    std::uint64_t end = 0;
    while (bytes.size() - end >= 8) {
      const std::uint64_t key = load_le<std::uint32_t>(bytes.subspan(end));
      const std::uint64_t value = load_le<std::uint32_t>(bytes.subspan(end + 4));
      if (key == 0 || key + value > bytes.size() - end - 8) break;
      end += 8 + key + value;
    }
    auto found = format::parse_attributes(bytes.first(end));
    if (found.has_value()) result_.index.attributes = std::move(found).value();
  }

  const Part& part_;
  const format::StateSlot slot_;
  SalvagedIndex result_;
  ByteSection names_, attributes_;
  std::uint64_t pieces_begin_ = 0, pieces_end_ = 0;  // of the section, when the index page tells it
};

}  // namespace

Result<SalvagedIndex> salvage_index(const Part& part) { return Salvage(part).run(); }

namespace {

// What both tell of one logical file: the pieces of the older index; name, mode and flags of the newer one if it has
// them.
RecoveredIndex::File joined(const RecoveredIndex::File& older, const RecoveredIndex::File& newer) {
  RecoveredIndex::File file = older;
  file.told_bytes = newer.told_bytes;
  file.entry.flags |= newer.entry.flags;
  if (newer.entry.mode != 0) file.entry.mode = newer.entry.mode;
  if (newer.entry.name_bytes != 0) {
    file.entry.name_offset = newer.entry.name_offset;
    file.entry.name_bytes = newer.entry.name_bytes;
  }
  return file;
}

}  // namespace

void fall_back_on(RecoveredIndex older, SalvagedIndex& newer) {
  RecoveredIndex all = std::move(older);
  const std::vector<RecoveredIndex::File> before = std::exchange(all.files, {});
  for (RecoveredIndex::File& file : newer.index.files)
    if (file.entry.name_bytes != 0) file.entry.name_offset += all.names.size();
  all.names += newer.index.names;
  for (auto& [key, value] : newer.index.attributes) all.attributes[key] = std::move(value);
  auto next = newer.index.files.begin();
  const auto end = newer.index.files.end();
  for (const RecoveredIndex::File& file : before) {
    for (; next != end && next->local < file.local; ++next) all.files.push_back(*next);
    const bool in_both = next != end && next->local == file.local;
    all.files.push_back(in_both ? joined(file, *next++) : file);
  }
  all.files.insert(all.files.end(), next, end);
  newer.index = std::move(all);
}

}  // namespace thalweg
