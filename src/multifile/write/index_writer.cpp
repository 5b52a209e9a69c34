#include "multifile/write/index_writer.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/crc32c.hpp"
#include "multifile/read/added_runs.hpp"
#include "multifile/write/physical_writer.hpp"
#include "storage/hold_file.hpp"
#include "store/format/field_list.hpp"

namespace thalweg {

namespace {

using format::kPageBytes;
using format::SectionKind;

constexpr std::size_t kContributionHead = 44;

constexpr std::size_t kWriteBytes = 1 << 20;

// Writes pages of the index, or keeps those of a small one, which are written together.
Status put(const IndexJob& job, std::uint64_t offset, std::span<const std::byte> pages) {
  if (job.small.empty()) return job.file->write(offset, pages);
  std::ranges::copy(pages, job.small.begin() + static_cast<std::ptrdiff_t>(offset - job.offset));
  return {};
}

// Writes one section page by page, in writes of about a MiB.
class SectionStream {
 public:
  SectionStream(const IndexJob& job, SectionKind kind, std::uint64_t offset, std::uint64_t entry_bytes)
      : job_(job), kind_(kind), offset_(offset), entry_bytes_(entry_bytes) {}

  // Room for the next entry, zeroed. Borrowed until the next call.
  Result<std::span<std::byte>> next() {
    if (room_ < entry_bytes_) TW_RETURN_IF_ERROR(new_page());
    const std::size_t at = pages_.size() - kPageBytes + (format::kPagePayload - room_);
    room_ -= entry_bytes_;
    return std::span(pages_).subspan(at, entry_bytes_);
  }
  Status append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      if (room_ == 0) TW_RETURN_IF_ERROR(new_page());
      const std::size_t n = std::min<std::size_t>(room_, bytes.size());
      std::memcpy(pages_.data() + pages_.size() - kPageBytes + (format::kPagePayload - room_), bytes.data(), n);
      room_ -= n;
      bytes = bytes.subspan(n);
    }
    return {};
  }
  Status finish() {
    seal();
    return write_out();
  }

 private:
  void seal() {
    if (pages_.empty()) return;
    const auto page = std::span(pages_).last(kPageBytes);
    format::seal_page(page, kind_, sealed_, job_.header.id, offset_ + sealed_ * kPageBytes);
    ++sealed_;
  }
  Status new_page() {
    seal();
    if (pages_.size() + kPageBytes > kWriteBytes) TW_RETURN_IF_ERROR(write_out());
    pages_.resize(pages_.size() + kPageBytes);
    room_ = format::kPagePayload;
    return {};
  }
  Status write_out() {
    if (pages_.empty()) return {};
    TW_RETURN_IF_ERROR(put(job_, offset_ + written_ * kPageBytes, pages_));
    written_ += pages_.size() / kPageBytes;
    pages_.clear();
    room_ = 0;
    return {};
  }

  const IndexJob& job_;
  const SectionKind kind_;
  const std::uint64_t offset_;
  const std::uint64_t entry_bytes_;
  std::vector<std::byte> pages_;
  std::uint64_t room_ = 0;     // bytes left in the last page
  std::uint64_t sealed_ = 0;   // pages sealed so far
  std::uint64_t written_ = 0;  // pages in the file
};

// A logical file that has an entry: its old entry, overlaid with the contribution of this session.
struct Stored {
  std::uint64_t local = 0;
  format::FileEntry old;
  std::optional<Contribution> fresh;

  bool renamed() const { return fresh && fresh->named; }
  // The new entry without its offsets.
  format::FileEntry entry() const {
    format::FileEntry both = old;
    if (!fresh) return both;
    both.bytes = std::max(both.bytes, fresh->bytes);
    both.n_pieces += static_cast<std::uint32_t>((fresh->pieces.size() + fresh->more.size()) / format::kPieceEntryBytes);
    if (renamed()) both.name_bytes = static_cast<std::uint32_t>(fresh->name.size());
    if (renamed()) both.mode = fresh->mode;
    return both;
  }
  bool has_content() const {
    const format::FileEntry both = entry();
    return both.bytes != 0 || both.n_pieces != 0 || both.name_bytes != 0 || both.mode != 0 || both.flags != 0;
  }
};

Status stopped(const IndexJob& job) {
  return Status::error(Code::stopped, "writing the index of '{}': stopped by the caller", job.file->path());
}

// Calls visit(stored, cache) for these logical files in the order of local indices.
template <class Visit>
Status each_stored(const IndexJob& job, Visit&& visit) {
  constexpr std::uint64_t kEnd = format::kLocalsEnd;
  PageCache cache;
  Steps steps(job.go_on);
  std::uint64_t old = job.old != nullptr ? 0 : kEnd;
  bool has_old = false;  // there is an entry of `old`
  job.fresh->rewind();
  while (steps.go_on()) {
    while (!has_old && old < kEnd) {
      TW_ASSIGN_OR_RETURN(const EntryRun run, job.old->run_at(old, cache));
      TW_RETURN_IF_ERROR(run.lost);
      has_old = run.has_entry;
      if (!has_old) old = run.end;
    }
    TW_ASSIGN_OR_RETURN(const std::uint64_t fresh, job.fresh->ahead());
    Stored stored{std::min(old, fresh), {}, {}};
    if (stored.local >= kEnd) return {};
    if (fresh == stored.local) stored.fresh = job.fresh->take();
    if (old == stored.local) {
      TW_ASSIGN_OR_RETURN(stored.old, job.old->file_entry(old++, cache));
      has_old = false;
    }
    if (stored.has_content()) TW_RETURN_IF_ERROR(visit(stored, cache));
  }
  return stopped(job);
}

// Pieces and names of all logical files follow each other without gaps, so old entries get new offsets.
class IndexSections {
 public:
  IndexSections(const IndexJob& job, const format::IndexPage& page)
      : job_(job),
        page_(page),
        files_(job, page.files_kind(), page.files_offset, page.file_entry_bytes()),
        pieces_(job, SectionKind::pieces, page.pieces_offset, format::kPieceEntryBytes),
        names_(job, SectionKind::names, page.names_offset, 1) {}

  Status write() {
    const auto write_one = [this](const Stored& stored, PageCache& cache) -> Status {
      TW_RETURN_IF_ERROR(write_empty_until(stored.local));
      TW_RETURN_IF_ERROR(write_entry(stored));
      TW_RETURN_IF_ERROR(write_pieces(stored, cache));
      return write_name(stored, cache);
    };
    TW_RETURN_IF_ERROR(each_stored(job_, write_one));
    TW_RETURN_IF_ERROR(write_empty_until(page_.n_local));
    TW_RETURN_IF_ERROR(files_.finish());
    TW_RETURN_IF_ERROR(pieces_.finish());
    return names_.finish();
  }

 private:
  Status write_empty_until(std::uint64_t local) {
    format::FileEntry empty;
    empty.first_piece = n_pieces_;
    for (; !page_.is_listed() && n_written_ < local; ++n_written_) {
      TW_ASSIGN_OR_RETURN(const auto room, files_.next());
      format::encode_file_entry(empty, room);
    }
    return {};
  }
  Status write_entry(const Stored& stored) {
    format::FileEntry entry = stored.entry();
    entry.first_piece = n_pieces_;
    entry.name_offset = entry.name_bytes == 0 ? 0 : name_bytes_;
    n_pieces_ += entry.n_pieces;
    name_bytes_ += entry.name_bytes;
    ++n_written_;
    TW_ASSIGN_OR_RETURN(const auto room, files_.next());
    if (page_.is_listed()) {
      format::encode_listed_entry(stored.local, entry, room);
    } else {
      format::encode_file_entry(entry, room);
    }
    return {};
  }
  Status write_pieces(const Stored& stored, PageCache& cache) {
    if (stored.old.n_pieces > 0) {
      TW_ASSIGN_OR_RETURN(const auto old, job_.old->pieces(stored.old, cache, job_.go_on));
      for (const format::PieceEntry& piece : old) {
        TW_ASSIGN_OR_RETURN(const auto room, pieces_.next());
        format::encode_piece_entry(piece, room);
      }
    }
    if (!stored.fresh) return {};
    for (auto rest : {stored.fresh->pieces, stored.fresh->more}) {
      for (; !rest.empty(); rest = rest.subspan(format::kPieceEntryBytes)) {
        TW_ASSIGN_OR_RETURN(const auto room, pieces_.next());
        std::memcpy(room.data(), rest.data(), format::kPieceEntryBytes);
      }
    }
    return {};
  }
  Status write_name(const Stored& stored, PageCache& cache) {
    if (stored.entry().name_bytes == 0) return {};
    std::string old;
    if (!stored.renamed()) {
      TW_ASSIGN_OR_RETURN(old, job_.old->name(stored.old, cache, true));
    }
    const auto name = std::as_bytes(stored.renamed() ? std::span(stored.fresh->name) : std::span<const char>(old));
    TW_RETURN_IF_ERROR(
        job_.names->add({crc32c(name), job_.header.id.physical, stored.local}, *job_.file, job_.header.id, page_.end));
    return names_.append(name);
  }

  const IndexJob& job_;
  const format::IndexPage& page_;
  SectionStream files_, pieces_, names_;
  std::uint64_t n_written_ = 0;  // file entries
  std::uint64_t n_pieces_ = 0;
  std::uint64_t name_bytes_ = 0;
};

// A reader finds the entry of a logical file with one read where all have one. So up to this size the section has an
// entry for every logical file; a larger one lists those with content where that is smaller.
constexpr std::uint64_t kSmallSection = 1 << 20;

// Adds the number of an added logical file to the runs.
void note_added(std::uint64_t number, std::uint32_t physical, std::vector<format::AddedRun>& runs) {
  const bool follows =
      !runs.empty() && runs.back().first + runs.back().count == number && runs.back().physical == physical;
  if (!follows) runs.push_back({number, 0, physical});
  ++runs.back().count;
}

Result<format::IndexPage> count(const IndexJob& job) {
  format::IndexPage counts;
  counts.session = job.session;
  counts.n_local = job.header.n_local;
  TW_RETURN_IF_ERROR(each_stored(job, [&](const Stored& stored, PageCache&) {
    ++counts.n_entries;
    if (format::is_added(stored.local)) {
      ++counts.n_added;
      note_added(stored.local, job.header.id.physical, *job.added);
    }
    counts.n_name_places += stored.entry().name_bytes > 0 ? 1 : 0;
    counts.n_pieces += stored.entry().n_pieces;
    counts.names_bytes += stored.entry().name_bytes;
    return Status{};
  }));
  const std::uint64_t all = format::section_pages(counts.n_local, format::kFileEntryBytes);
  const std::uint64_t listed = format::section_pages(counts.n_entries, format::kListedEntryBytes);
  if (counts.n_added == 0 && all <= std::max(listed, kSmallSection / kPageBytes)) counts.n_entries = counts.n_local;
  const bool first = job.header.id.physical == 0;
  counts.n_later = job.header.n_later;
  if (first) {
    *job.added = joined_runs(std::move(*job.added));
    counts.n_added_runs = job.added->size();
  }
  counts.n_name_places = first ? counts.n_name_places + job.names->size() : 0;
  return counts;
}

std::uint64_t local_of(std::span<const std::byte> encoded) { return load_le<std::uint64_t>(encoded); }

// The head of an encoded contribution, behind which its name and its pieces stand.
template <class Io, class C, class Count>
void list_contribution(Io& io, C& c, Count&& name_bytes, Count&& pieces) {
  format::move_fields(io, c.local_index, c.bytes, c.position, c.mode, c.sequences, c.named, name_bytes, pieces);
}

}  // namespace

std::size_t contribution_bytes(std::size_t name_bytes, std::size_t n_pieces) {
  return kContributionHead + name_bytes + n_pieces * format::kPieceEntryBytes;
}

void append_contribution(std::vector<std::byte>& out, const Contribution& contribution,
                         std::span<const WrittenPiece> pieces) {
  const std::size_t start = out.size();
  out.resize(start + contribution_bytes(contribution.name.size(), pieces.size()));
  format::FieldWriter fields(ByteSpan(out).subspan(start));
  list_contribution(fields, contribution, static_cast<std::uint32_t>(contribution.name.size()),
                    static_cast<std::uint32_t>(pieces.size()));
  fields.put_bytes(std::as_bytes(std::span(contribution.name)));
  std::span<std::byte> at = std::span(out).subspan(start + fields.position());
  for (const WrittenPiece& piece : pieces) {
    format::encode_piece_entry(piece.entry, at.first(format::kPieceEntryBytes));
    at = at.subspan(format::kPieceEntryBytes);
  }
}

Contribution take_contribution(std::span<const std::byte>& encoded) {
  format::FieldReader in(encoded.first(kContributionHead));
  Contribution out;
  std::uint32_t name = 0, pieces = 0;
  list_contribution(in, out, name, pieces);
  encoded = encoded.subspan(kContributionHead);
  out.name = {reinterpret_cast<const char*>(encoded.data()), name};
  out.pieces = encoded.subspan(name, pieces * format::kPieceEntryBytes);
  encoded = encoded.subspan(name + out.pieces.size());
  return out;
}

Result<std::vector<std::byte>> read_contributions(StoredFile& file, const StoredContributions& stored) {
  std::vector<std::byte> block(stored.bytes);
  TW_ASSIGN_OR_RETURN(const std::size_t got, file.read(stored.offset, block));
  if (got == block.size() && crc32c(block) == stored.crc) return block;
  return Status::error(Code::corrupt_file, "'{}': what was stored about added logical files at offset {} has changed",
                       file.path(), stored.offset);
}

void place_shipped(std::span<std::byte> contributions, std::uint64_t payload) {
  constexpr std::size_t kOffsetInEntry = 8;
  for (std::span<const std::byte> rest = contributions; !rest.empty();) {
    const Contribution one = take_contribution(rest);
    const auto pieces = contributions.subspan(contributions.size() - rest.size() - one.pieces.size());
    for (std::size_t i = 0; i < one.pieces.size(); i += format::kPieceEntryBytes) {
      const auto at = pieces.subspan(i + kOffsetInEntry);
      const auto offset = load_le<std::uint64_t>(at);
      if ((offset & kShipped) != 0) store_le(at, payload + (offset - kShipped));
    }
  }
}

Status Contributions::add(std::span<const std::byte> encoded) {
  while (!encoded.empty()) {
    in_memory_.push_back(encoded);
    const Contribution one = take_contribution(encoded);
    if (one.local_index >= n_local_ && !format::is_added(one.local_index))
      return Status::error(Code::internal, "a task contributed to local logical file {} of {}", one.local_index,
                           n_local_);
  }
  return {};
}

Status Contributions::sort() {
  std::ranges::sort(stored_, {}, &StoredContributions::first);
  if (!std::ranges::is_sorted(in_memory_, {}, local_of)) std::ranges::sort(in_memory_, {}, local_of);
  const auto twice = std::ranges::adjacent_find(in_memory_, {}, local_of);
  if (twice == in_memory_.end()) return {};
  return Status::error(Code::internal, "two tasks contributed to local logical file {}", local_of(*twice));
}

void Contributions::rewind() {
  next_in_memory_ = next_stored_ = 0;
  rest_ = {};
}

Result<std::uint64_t> Contributions::ahead() {
  if (rest_.empty() && next_stored_ < stored_.size()) {
    TW_ASSIGN_OR_RETURN(block_, read_contributions(file_, stored_[next_stored_++]));
    rest_ = block_;
  }
  const std::uint64_t stored = rest_.empty() ? format::kLocalsEnd : local_of(rest_);
  return next_in_memory_ < in_memory_.size() ? std::min(stored, local_of(in_memory_[next_in_memory_])) : stored;
}

Contribution Contributions::take() {
  const bool from_memory = next_in_memory_ < in_memory_.size() &&
                           (rest_.empty() || local_of(in_memory_[next_in_memory_]) <= local_of(rest_));
  if (!from_memory) return take_contribution(rest_);
  auto encoded = in_memory_[next_in_memory_++];
  Contribution newer = take_contribution(encoded);
  if (rest_.empty() || local_of(rest_) != newer.local_index) return newer;
  const Contribution older = take_contribution(rest_);
  newer.more = std::exchange(newer.pieces, older.pieces);
  if (!newer.named) {
    newer.named = older.named;
    newer.name = older.name;
    newer.mode = older.mode;
  }
  return newer;
}

// The sections that tell, for all physical files, which logical files were added, where each name is, and which later
// physical files there are.
static Status write_all_files_sections(const IndexJob& job, const format::IndexPage& page) {
  SectionStream runs(job, SectionKind::added_runs, page.added_runs_offset, format::kAddedRunBytes);
  for (const format::AddedRun& run : *job.added) {
    TW_ASSIGN_OR_RETURN(const auto room, runs.next());
    format::encode_added_run(run, room);
  }
  TW_RETURN_IF_ERROR(runs.finish());
  SectionStream places(job, SectionKind::name_places, page.name_places_offset, format::kNamePlaceBytes);
  Steps steps(job.go_on);
  TW_RETURN_IF_ERROR(job.names->each_sorted([&](const format::NamePlace& place) -> Status {
    if (!steps.go_on()) return stopped(job);
    TW_ASSIGN_OR_RETURN(const auto room, places.next());
    format::encode_name_place(place, room);
    return {};
  }));
  TW_RETURN_IF_ERROR(places.finish());
  SectionStream later(job, SectionKind::later_ends, page.later_offset, format::kLaterEndBytes);
  for (const std::uint64_t end : job.later) {
    TW_ASSIGN_OR_RETURN(const auto room, later.next());
    store_le(room, end);
  }
  return later.finish();
}

Result<format::IndexPage> write_index(IndexJob job) {
  TW_ASSIGN_OR_RETURN(format::IndexPage counts, count(job));
  const std::vector<std::byte> attributes = format::encode_attributes(job.attributes);
  counts.attributes_bytes = attributes.size();
  TW_ASSIGN_OR_RETURN(const format::IndexPage page, format::layout_index(counts, job.offset));
  std::vector<std::byte> small(page.end - job.offset <= kWriteBytes ? page.end - job.offset : 0);
  job.small = small;
  TW_RETURN_IF_ERROR(IndexSections(job, page).write());
  SectionStream stream(job, SectionKind::attributes, page.attributes_offset, 1);
  TW_RETURN_IF_ERROR(stream.append(attributes));
  TW_RETURN_IF_ERROR(stream.finish());
  if (job.header.id.physical == 0) TW_RETURN_IF_ERROR(write_all_files_sections(job, page));
  TW_RETURN_IF_ERROR(put(job, job.offset, format::encode_index_page(page, job.header.id, job.offset)));
  if (!small.empty()) TW_RETURN_IF_ERROR(job.file->write(job.offset, small));
  return page;
}

Status write_state(StoredFile& file, const format::FileHeader& header, const format::StateSlot& slot) {
  return file.write(format::state_offset(slot), format::encode_state(slot, header.id));
}

Status check_state(StoredFile& file, const format::FileHeader& header, const format::StateSlot& slot) {
  if (!file.locks_reach_all()) TW_RETURN_IF_ERROR(file.forget_cached());
  std::array<std::byte, format::kPageBytes> page{};
  TW_RETURN_IF_ERROR(file.read(0, page).status());
  const ByteView a = ByteView(page).subspan(format::kSlotOffset[0], format::kSlotBytes);
  auto found = format::parse_state(a, ByteView(page).subspan(format::kSlotOffset[1], format::kSlotBytes), header.id);
  const format::StateSlot now = found.has_value() ? *found : format::StateSlot{};
  if (format::encode_state(now, header.id) == format::encode_state(slot, header.id)) return {};
  return taken_by_another(file);
}

}  // namespace thalweg
