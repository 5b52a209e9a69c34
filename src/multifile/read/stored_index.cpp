#include "multifile/read/stored_index.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/endian.hpp"
#include "multifile/read/added_runs.hpp"

namespace thalweg {

using format::kPageBytes;
using format::kPagePayload;
using format::SectionKind;

namespace {

// Checks that the pieces, or the bytes of the names, of a logical file follow those of the ones before it, up to `end`.
Status take_range(const PhysicalReader& physical, const char* what, std::uint64_t local, std::uint64_t begin,
                  std::uint64_t n, std::uint64_t& end) {
  if (n == 0) return {};
  if (begin < end)
    return physical.corrupt(
        fmt::format("the index gives {} {} to local logical file {} and to one before it", what, begin, local));
  end = begin + n;
  return {};
}

Status take_ranges(const PhysicalReader& physical, std::uint64_t local, const format::FileEntry& entry,
                   std::uint64_t& pieces_end, std::uint64_t& names_end) {
  TW_RETURN_IF_ERROR(take_range(physical, "piece", local, entry.first_piece, entry.n_pieces, pieces_end));
  return take_range(physical, "byte of the names", local, entry.name_offset, entry.name_bytes, names_end);
}

// Fails where the index counts the entry at a place wrongly as one of an added logical file, or as none.
Status check_added(const PhysicalReader& physical, const format::IndexPage& index, std::uint64_t place,
                   std::uint64_t local) {
  if (format::is_added(local) == (place >= index.n_entries - index.n_added)) return {};
  return physical.corrupt(
      fmt::format("the index counts {} added logical files, which does not fit its entry {}", index.n_added, place));
}

Status load_files(const PhysicalReader& physical, const format::IndexPage& index, const GoOn& go_on,
                  RecoveredIndex& result) {
  const std::uint64_t entry_bytes = index.file_entry_bytes();
  TW_ASSIGN_OR_RETURN(const auto files,
                      physical.section(index.files_kind(), index.files_offset, index.n_entries, entry_bytes, go_on));
  std::uint64_t pieces_end = 0, names_end = 0;
  Steps steps(go_on);
  result.files.reserve(index.n_entries);  // their pages are there
  for (std::uint64_t i = 0; i < index.n_entries; ++i) {
    if (!steps.go_on()) return physical.stopped();
    const auto bytes = std::span<const std::byte>(files).subspan(i * entry_bytes, entry_bytes);
    std::uint64_t local = i;
    if (index.is_listed()) {
      TW_ASSIGN_OR_RETURN(local, format::parse_listed_local(bytes, index));
      if (!result.files.empty() && local <= result.files.back().local)
        return physical.corrupt("the listed entries of the index do not ascend");
      TW_RETURN_IF_ERROR(check_added(physical, index, i, local));
    }
    TW_ASSIGN_OR_RETURN(const auto entry, format::parse_file_entry(bytes.last(format::kFileEntryBytes), index));
    TW_RETURN_IF_ERROR(take_ranges(physical, local, entry, pieces_end, names_end));
    result.files.push_back({local, entry});
  }
  return {};
}

// The valid pages of a section of bytes, by number.
using BytePages = std::map<std::uint64_t, std::string>;

// No value where a page with some of the `n` bytes from `begin` on is missing.
std::optional<std::string> bytes_of(const BytePages& pages, std::uint64_t begin, std::uint64_t n) {
  std::string found;
  while (n > 0) {
    const auto page = pages.find(begin / kPagePayload);
    if (page == pages.end()) return std::nullopt;
    found.append(page->second, begin % kPagePayload, n);
    const std::uint64_t here = std::min(n, kPagePayload - begin % kPagePayload);
    begin += here;
    n -= here;
  }
  return found;
}

// Pages 0, 1, ... up to the first one that is missing.
std::string front_of(const BytePages& pages) {
  std::string found;
  for (const auto& [number, page] : pages) {
    if (number * kPagePayload != found.size()) break;
    found += page;
  }
  return found;
}

class Salvage {
 public:
  Salvage(const PhysicalReader& physical, const GoOn& go_on)
      : physical_(physical), go_on_(go_on), slot_(physical.state()), end_(slot_.index_offset + slot_.index_bytes) {}

  Result<SalvagedIndex> run() {
    constexpr std::uint64_t kPagesPerAsk = 256;
    std::vector<std::byte> page(kPageBytes);
    for (std::uint64_t at = slot_.index_offset, i = 1; at < end_; at += kPageBytes, ++i) {
      if (i % kPagesPerAsk == 0 && go_on_ && !go_on_()) return physical_.stopped();
      if (at >= physical_.file_bytes()) {
        lose(at, end_);
        break;
      }
      TW_ASSIGN_OR_RETURN(const std::size_t got, physical_.file().read(at, page));
      const bool whole = got == kPageBytes;
      if (at == slot_.index_offset) {
        note_layout();
      } else if (!whole || !take(page, at)) {
        TW_ASSIGN_OR_RETURN(const std::uint64_t next, behind_hole(at));
        lose(at, next);
        result_.lost_entries += format::kPagePayload / format::kFileEntryBytes;
        at = next - kPageBytes;
      }
    }
    join_known();
    keep_names();
    keep_attributes();
    return std::move(result_);
  }

 private:
  // The next page outside of a hole.
  Result<std::uint64_t> behind_hole(std::uint64_t at) const {
    TW_ASSIGN_OR_RETURN(const std::uint64_t data, physical_.file().next_data(at));
    const std::uint64_t next = at + kPageBytes;
    return std::clamp(data / kPageBytes * kPageBytes, next, std::max(end_, next));
  }

  void note_layout() {
    auto index = read_index_page(physical_, slot_, end_);
    if (!index.has_value()) return;
    pieces_begin_ = index->pieces_offset;
    pieces_end_ = index->names_offset;
    derived_begin_ = index->added_runs_offset;
    if (auto runs = stored_added_runs(physical_, *index, go_on_); runs.has_value())
      result_.index.added = std::move(runs).value();
    listed_pages_ = format::section_pages(index->n_entries, format::kListedEntryBytes);
  }

  // Pages of pieces, and of what follows from the entries of all physical files, are not counted.
  void lose(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t from = std::max(begin, pieces_begin_), to = std::min(end, pieces_end_);
    const std::uint64_t derived = end - std::min(end, std::max(begin, derived_begin_));
    result_.lost_pages += (end - begin - (from < to ? to - from : 0) - derived) / kPageBytes;
  }

  // Returns whether the page verifies.
  bool take(std::span<const std::byte> page, std::uint64_t at) {
    const auto number = load_le<std::uint64_t>(page.subspan(kPagePayload + sizeof(std::uint32_t)));
    const auto is = [&](SectionKind kind) {
      return format::check_page(page, kind, number, physical_.header().id, at).ok();
    };
    if (number > slot_.index_bytes / kPageBytes) return false;
    if (is(SectionKind::files)) return take_entries(page, number, false);
    if (is(SectionKind::listed_files)) return take_entries(page, number, true);
    BytePages* const kept = is(SectionKind::names) ? &names_ : is(SectionKind::attributes) ? &attributes_ : nullptr;
    if (kept == nullptr)
      return is(SectionKind::pieces) || is(SectionKind::added_runs) || is(SectionKind::name_places) ||
             is(SectionKind::later_ends);
    kept->try_emplace(number, reinterpret_cast<const char*>(page.data()), kPagePayload);
    return true;
  }

  // The numbers of pieces and names are unknown.
  static format::IndexPage any_index(std::uint64_t n_local) {
    format::IndexPage any;
    any.n_local = n_local;
    any.n_pieces = any.names_bytes = format::kMaxOffset;
    return any;
  }

  // Behind the last entry of the section there are zeros, which would read as a listed entry of local index 0.
  bool take_entries(std::span<const std::byte> page, std::uint64_t number, bool listed) {
    const std::uint64_t entry_bytes = listed ? format::kListedEntryBytes : format::kFileEntryBytes;
    const std::uint64_t per_page = kPagePayload / entry_bytes, n_local = physical_.header().n_local;
    SalvagedIndex::Range known{.page = number, .listed = listed};
    const std::uint64_t first = std::min(number * per_page, n_local);  // where not listed
    if (!listed) known.begin = known.end = first;
    for (std::uint64_t i = 0; i < per_page; ++i) {
      const auto bytes = page.subspan(i * entry_bytes, entry_bytes);
      const std::uint64_t local = listed ? load_le<std::uint64_t>(bytes) : first + i;
      if (listed ? i > 0 && local < known.end : local >= n_local) break;
      const bool legal = local < n_local || (listed && format::is_added(local) && local < format::kLocalsEnd);
      if (!legal) return false;
      take_entry(local, bytes.last(format::kFileEntryBytes));
      if (i == 0) known.begin = local;
      known.end = local + 1;
    }
    result_.known.push_back(known);
    return true;
  }

  void take_entry(std::uint64_t local, std::span<const std::byte> bytes) {
    auto entry = format::parse_file_entry(bytes, any_index(physical_.header().n_local));
    if (!entry.has_value()) {  // the page verifies, so its writer was faulty: the others count
      ++result_.lost_names;
      result_.index.files.push_back({local, {}, 0, true});  // doubted
      return;
    }
    RecoveredIndex::File file{local, *entry, physical_.closed() ? entry->bytes : 0};
    file.entry.bytes = file.entry.first_piece = 0;
    file.entry.n_pieces = 0;
    if (file.recorded_bytes > 0 || entry->mode != 0 || entry->name_bytes > 0 || entry->flags != 0)
      result_.index.files.push_back(file);
  }

  // There is no entry between two listed entries that follow each other, even across a page border.
  void join_known() {
    auto& all = result_.known;
    std::ranges::sort(all, {}, &SalvagedIndex::Range::page);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].listed && all[i].end == physical_.header().n_local) all[i].end = format::kLocalsEnd;
      if (!all[i].listed) continue;
      if (all[i].page == 0) all[i].begin = 0;
      if (all[i].page + 1 == listed_pages_) all[i].end = format::kLocalsEnd;
      const bool follows = i > 0 && all[i - 1].page + 1 == all[i].page;
      if (follows && all[i - 1].end <= all[i].begin) all[i].begin = all[i - 1].end;
    }
    std::ranges::sort(all, {}, &SalvagedIndex::Range::begin);
  }

  // Names follow each other: one that begins before the end of the previous one does not belong to this index.
  void keep_names() {
    auto& files = result_.index.files;
    std::ranges::stable_sort(files, {}, &RecoveredIndex::File::local);  // pages may come from another place
    const auto twice = std::ranges::unique(files, {}, &RecoveredIndex::File::local);
    files.erase(twice.begin(), twice.end());
    std::uint64_t end = 0;
    for (auto& file : files) {
      format::FileEntry& entry = file.entry;
      if (entry.name_bytes == 0) continue;
      auto name = entry.name_offset >= end ? bytes_of(names_, entry.name_offset, entry.name_bytes) : std::nullopt;
      const bool legal = name.has_value() && format::name_is_legal(*name);
      if (legal) end = entry.name_offset + entry.name_bytes;
      if (!legal) ++result_.lost_names;
      if (!legal) name.emplace();
      entry.name_offset = name->empty() ? 0 : result_.index.names.size();
      entry.name_bytes = static_cast<std::uint32_t>(name->size());
      result_.index.names += *name;
    }
  }

  // Pairs fill the section up to the zeros of its last page, and no key is empty.
  void keep_attributes() {
    const std::string whole = front_of(attributes_);
    const auto bytes = std::as_bytes(std::span(whole));
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

  const PhysicalReader& physical_;
  const GoOn& go_on_;
  const format::StateSlot slot_;
  const std::uint64_t end_;  // of the index
  SalvagedIndex result_;
  BytePages names_, attributes_;
  std::uint64_t pieces_begin_ = 0, pieces_end_ = 0;  // of the section, where the index page is valid
  std::uint64_t derived_begin_ = UINT64_MAX;         // of the sections behind the attributes, likewise
  std::uint64_t listed_pages_ = 0;                   // of the files section if it is listed
};

// The pieces of the older entry; name, mode and flags of the newer one where it has them.
RecoveredIndex::File joined(const RecoveredIndex::File& older, const RecoveredIndex::File& newer) {
  RecoveredIndex::File file = older;
  file.recorded_bytes = newer.recorded_bytes;
  file.entry.flags |= newer.entry.flags;
  if (newer.entry.mode != 0) file.entry.mode = newer.entry.mode;
  if (newer.entry.name_bytes != 0) {
    file.entry.name_offset = newer.entry.name_offset;
    file.entry.name_bytes = newer.entry.name_bytes;
  }
  return file;
}

// Checks that listed entries ascend: the binary search would miss others.
Status check_order(const PhysicalReader& physical, const GoOn& go_on) {
  const format::IndexPage& index = physical.index();
  if (physical.recovered() || !index.is_listed()) return {};
  const std::uint64_t per_page = format::kPagePayload / format::kListedEntryBytes;
  const std::uint64_t n_pages = format::section_pages(index.n_entries, format::kListedEntryBytes);
  PageCache cache;
  std::uint64_t least = 0;  // of the next one
  for (std::uint64_t page = 0;; ++page) {
    TW_ASSIGN_OR_RETURN(page, physical.next_page(index.files_offset, page, n_pages));
    if (page == n_pages) return {};
    if (page % 64 == 63 && go_on && !go_on()) return physical.stopped();
    for (std::uint64_t i = page * per_page; i < std::min((page + 1) * per_page, index.n_entries); ++i) {
      auto local = physical.local_at(i, cache);
      if (!local.has_value()) break;  // reported by its reader
      if (*local < least)
        return physical.corrupt(
            fmt::format("the listed entries of the index do not ascend: {} at place {}", *local, i));
      TW_RETURN_IF_ERROR(check_added(physical, index, i, *local));
      least = *local + 1;
    }
  }
}

}  // namespace

Status check_piece_ranges(const PhysicalReader& physical, const GoOn& go_on) {
  std::uint64_t pieces_end = 0, names_end = 0;
  TW_RETURN_IF_ERROR(check_order(physical, go_on));
  const auto take = [&](std::uint64_t local, Result<format::FileEntry> entry) {  // their readers report the others
    return entry.has_value() ? take_ranges(physical, local, *entry, pieces_end, names_end) : Status{};
  };
  return physical.each_entry(take, go_on);
}

Result<RecoveredIndex> load_index(const PhysicalReader& physical, const format::StateSlot& slot, const GoOn& go_on) {
  const std::uint64_t end = slot.index_offset + slot.index_bytes;
  if (slot.index_offset == 0 || end > physical.file_bytes())
    return Status::error(Code::corrupt_file, "'{}' has no complete index", physical.path());
  TW_ASSIGN_OR_RETURN(const format::IndexPage index, read_index_page(physical, slot, physical.file_bytes()));
  RecoveredIndex result;
  TW_RETURN_IF_ERROR(load_files(physical, index, go_on, result));
  TW_ASSIGN_OR_RETURN(const auto pieces, physical.section(format::SectionKind::pieces, index.pieces_offset,
                                                          index.n_pieces, format::kPieceEntryBytes, go_on));
  Steps steps(go_on);
  result.pieces.reserve(index.n_pieces);
  for (std::uint64_t i = 0; i < index.n_pieces; ++i) {
    if (!steps.go_on()) return physical.stopped();
    TW_ASSIGN_OR_RETURN(const auto entry,
                        format::parse_piece_entry(
                            std::span(pieces).subspan(i * format::kPieceEntryBytes, format::kPieceEntryBytes), index));
    result.pieces.push_back(entry);
  }
  TW_ASSIGN_OR_RETURN(const auto names,
                      physical.section(format::SectionKind::names, index.names_offset, index.names_bytes, 1, go_on));
  result.names.assign(reinterpret_cast<const char*>(names.data()), names.size());
  TW_ASSIGN_OR_RETURN(const auto attributes, physical.section(format::SectionKind::attributes, index.attributes_offset,
                                                              index.attributes_bytes, 1));
  TW_ASSIGN_OR_RETURN(result.attributes, format::parse_attributes(attributes));
  TW_ASSIGN_OR_RETURN(result.added, stored_added_runs(physical, index, go_on));
  // The places follow from the rest; one that cannot be read makes the index damaged all the same.
  TW_RETURN_IF_ERROR(physical
                         .section(SectionKind::name_places, index.name_places_offset, index.n_name_places,
                                  format::kNamePlaceBytes, go_on)
                         .status());
  TW_ASSIGN_OR_RETURN(result.later,
                      physical.numbers(SectionKind::later_ends, index.later_offset, index.n_later, go_on));
  for (const std::uint64_t last : result.later) TW_RETURN_IF_ERROR(format::check_later_end(last));
  result.end = end;
  result.session = index.session;
  result.session_offset = slot.covered_session_offset;
  return result;
}

Result<SalvagedIndex> salvage_index(const PhysicalReader& physical, const GoOn& go_on) {
  return Salvage(physical, go_on).run();
}

void fall_back_on(RecoveredIndex older, SalvagedIndex& newer) {
  RecoveredIndex all = std::move(older);
  const std::vector<RecoveredIndex::File> before = std::exchange(all.files, {});
  for (RecoveredIndex::File& file : newer.index.files)
    if (file.entry.name_bytes != 0) file.entry.name_offset += all.names.size();
  all.names += newer.index.names;
  if (!newer.index.added.empty()) all.added = std::move(newer.index.added);
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
  newer.fell_back = true;
}

}  // namespace thalweg
