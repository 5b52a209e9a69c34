#include "file/index_writer.hpp"

#include <algorithm>
#include <cstring>

#include "base/endian.hpp"
#include "file/physical_writer.hpp"

namespace thalweg {

namespace {

using format::kPageBytes;
using format::SectionKind;

// An encoded contribution: u64 local index, u64 bytes, u32 mode, u32 named, u32 name bytes, u32 pieces, name, pieces.
constexpr std::size_t kContributionHead = 32;

// One section on its way to the file, in writes of about a MiB.
class SectionStream {
 public:
  SectionStream(const IndexJob& job, SectionKind kind, std::uint64_t offset, std::uint64_t entry_bytes)
      : job_(job), kind_(kind), offset_(offset), entry_bytes_(entry_bytes) {
    pages_.reserve(kWriteBytes);
  }

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
  static constexpr std::size_t kWriteBytes = 1 << 20;

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
    TW_RETURN_IF_ERROR(job_.file->write(offset_ + written_ * kPageBytes, pages_));
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

Result<format::FileEntry> old_entry(const IndexJob& job, std::uint64_t local, PageCache& cache) {
  if (job.old == nullptr) return format::FileEntry{};
  return job.old->file_entry(local, cache);
}

// Names are written anew, one after another; so old offsets give way to new ones.
Status write_files(const IndexJob& job, const format::IndexPage& page) {
  SectionStream stream(job, SectionKind::files, page.files_offset, format::kFileEntryBytes);
  PageCache cache;
  std::uint64_t piece = 0, name = 0;
  for (std::uint64_t i = 0; i < page.n_local; ++i) {
    TW_ASSIGN_OR_RETURN(format::FileEntry entry, old_entry(job, i, cache));
    if (Contribution fresh; job.fresh->find(i, fresh)) {
      entry.bytes = std::max(entry.bytes, fresh.bytes);
      entry.n_pieces += static_cast<std::uint32_t>(fresh.pieces.size() / format::kPieceEntryBytes);
      if (fresh.named) {
        entry.name_bytes = static_cast<std::uint32_t>(fresh.name.size());
        entry.mode = fresh.mode;
      }
    }
    entry.first_piece = piece;
    entry.name_offset = entry.name_bytes == 0 ? 0 : name;
    piece += entry.n_pieces;
    name += entry.name_bytes;
    TW_ASSIGN_OR_RETURN(const auto room, stream.next());
    format::encode_file_entry(entry, room);
  }
  return stream.finish();
}

Status write_pieces(const IndexJob& job, const format::IndexPage& page) {
  SectionStream stream(job, SectionKind::pieces, page.pieces_offset, format::kPieceEntryBytes);
  PageCache cache;
  for (std::uint64_t i = 0; i < page.n_local && page.n_pieces > 0; ++i) {
    if (job.old != nullptr) {
      TW_ASSIGN_OR_RETURN(const format::FileEntry entry, job.old->file_entry(i, cache));
      TW_ASSIGN_OR_RETURN(const auto pieces, job.old->pieces(entry, cache));
      for (const format::PieceEntry& piece : pieces) {
        TW_ASSIGN_OR_RETURN(const auto room, stream.next());
        format::encode_piece_entry(piece, room);
      }
    }
    Contribution fresh;
    if (!job.fresh->find(i, fresh)) continue;
    for (auto rest = fresh.pieces; !rest.empty(); rest = rest.subspan(format::kPieceEntryBytes)) {
      TW_ASSIGN_OR_RETURN(const auto room, stream.next());
      std::memcpy(room.data(), rest.data(), format::kPieceEntryBytes);
    }
  }
  return stream.finish();
}

Status write_names(const IndexJob& job, const format::IndexPage& page) {
  SectionStream stream(job, SectionKind::names, page.names_offset, 1);
  PageCache cache;
  for (std::uint64_t i = 0; i < page.n_local && page.names_bytes > 0; ++i) {
    Contribution fresh;
    if (job.fresh->find(i, fresh) && fresh.named) {
      TW_RETURN_IF_ERROR(stream.append(std::as_bytes(std::span(fresh.name))));
    } else if (job.old != nullptr) {
      TW_ASSIGN_OR_RETURN(const format::FileEntry entry, job.old->file_entry(i, cache));
      TW_ASSIGN_OR_RETURN(const std::string name, job.old->name(entry, cache));
      TW_RETURN_IF_ERROR(stream.append(std::as_bytes(std::span(name))));
    }
  }
  return stream.finish();
}

struct Totals {
  std::uint64_t pieces = 0;
  std::uint64_t names = 0;
};

Result<Totals> count(const IndexJob& job) {
  Totals totals{job.fresh->n_pieces(), job.fresh->name_bytes()};
  if (job.old == nullptr) return totals;
  PageCache cache;
  for (std::uint64_t i = 0; i < job.header.n_local; ++i) {
    TW_ASSIGN_OR_RETURN(const format::FileEntry entry, job.old->file_entry(i, cache));
    totals.pieces += entry.n_pieces;
    Contribution fresh;
    if (!job.fresh->find(i, fresh) || !fresh.named) totals.names += entry.name_bytes;
  }
  return totals;
}

}  // namespace

std::size_t contribution_bytes(std::size_t name_bytes, std::size_t n_pieces) {
  return kContributionHead + name_bytes + n_pieces * format::kPieceEntryBytes;
}

void append_contribution(std::vector<std::byte>& out, const Contribution& contribution,
                         std::span<const WrittenPiece> pieces) {
  const std::size_t start = out.size();
  out.resize(start + contribution_bytes(contribution.name.size(), pieces.size()));
  std::span<std::byte> at = std::span(out).subspan(start);
  store_le(at, contribution.local_index);
  store_le(at.subspan(8), contribution.bytes);
  store_le(at.subspan(16), contribution.mode);
  store_le(at.subspan(20), std::uint32_t{contribution.named});
  store_le(at.subspan(24), static_cast<std::uint32_t>(contribution.name.size()));
  store_le(at.subspan(28), static_cast<std::uint32_t>(pieces.size()));
  if (!contribution.name.empty())
    std::memcpy(at.data() + kContributionHead, contribution.name.data(), contribution.name.size());
  at = at.subspan(kContributionHead + contribution.name.size());
  for (const WrittenPiece& piece : pieces) {
    format::encode_piece_entry(piece.entry, at.first(format::kPieceEntryBytes));
    at = at.subspan(format::kPieceEntryBytes);
  }
}

void place_shipped(std::span<std::byte> contributions, std::uint64_t payload) {
  constexpr std::size_t kOffsetInEntry = 8;
  while (!contributions.empty()) {
    const std::size_t name = load_le<std::uint32_t>(contributions.subspan(24));
    const std::size_t pieces = load_le<std::uint32_t>(contributions.subspan(28));
    contributions = contributions.subspan(kContributionHead + name);
    for (std::size_t i = 0; i < pieces; ++i) {
      const auto at = contributions.subspan(i * format::kPieceEntryBytes + kOffsetInEntry);
      const auto offset = load_le<std::uint64_t>(at);
      if ((offset & kShipped) != 0) store_le(at, payload + (offset - kShipped));
    }
    contributions = contributions.subspan(pieces * format::kPieceEntryBytes);
  }
}

Status Contributions::add(std::span<const std::byte> encoded) {
  if (by_local_.empty() && !encoded.empty()) by_local_.resize(n_local_);
  while (!encoded.empty()) {
    const auto local = load_le<std::uint64_t>(encoded);
    if (local >= n_local_ || by_local_[local] != nullptr)
      return Status::error(Code::internal, "two tasks contributed to local logical file " + std::to_string(local));
    by_local_[local] = encoded.data();
    const std::uint64_t name = load_le<std::uint32_t>(encoded.subspan(24));
    const std::uint64_t pieces = load_le<std::uint32_t>(encoded.subspan(28));
    if (load_le<std::uint32_t>(encoded.subspan(20)) != 0) name_bytes_ += name;
    n_pieces_ += pieces;
    encoded = encoded.subspan(kContributionHead + name + pieces * format::kPieceEntryBytes);
  }
  return {};
}

bool Contributions::find(std::uint64_t local_index, Contribution& out) const {
  if (by_local_.empty() || by_local_[local_index] == nullptr) return false;
  const std::byte* at = by_local_[local_index];
  const std::span<const std::byte> head(at, kContributionHead);
  out.local_index = local_index;
  out.bytes = load_le<std::uint64_t>(head.subspan(8));
  out.mode = load_le<std::uint32_t>(head.subspan(16));
  out.named = load_le<std::uint32_t>(head.subspan(20)) != 0;
  const std::size_t name = load_le<std::uint32_t>(head.subspan(24));
  const std::size_t pieces = load_le<std::uint32_t>(head.subspan(28));
  out.name = {reinterpret_cast<const char*>(at + kContributionHead), name};
  out.pieces = {at + kContributionHead + name, pieces * format::kPieceEntryBytes};
  return true;
}

Result<format::IndexPage> write_index(const IndexJob& job) {
  TW_ASSIGN_OR_RETURN(const Totals totals, count(job));
  const std::vector<std::byte> attributes =
      job.attributes.empty() ? std::vector<std::byte>{} : format::encode_attributes(job.attributes);
  TW_ASSIGN_OR_RETURN(const format::IndexPage page, format::layout_index(job.session, job.header.n_local, totals.pieces,
                                                                         totals.names, attributes.size(), job.offset));
  TW_RETURN_IF_ERROR(write_files(job, page));
  TW_RETURN_IF_ERROR(write_pieces(job, page));
  TW_RETURN_IF_ERROR(write_names(job, page));
  SectionStream stream(job, SectionKind::attributes, page.attributes_offset, 1);
  TW_RETURN_IF_ERROR(stream.append(attributes));
  TW_RETURN_IF_ERROR(stream.finish());
  TW_RETURN_IF_ERROR(job.file->write(job.offset, format::encode_index_page(page, job.header.id, job.offset)));
  return page;
}

Status write_state(StoredFile& file, const format::FileHeader& header, const format::StateSlot& slot) {
  return file.write(format::state_offset(slot), format::encode_state(slot, header.id));
}

}  // namespace thalweg
