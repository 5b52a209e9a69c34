#include "multifile/read/recovery_scan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/crc32c.hpp"
#include "base/endian.hpp"
#include "multifile/format/data_seal.hpp"

namespace thalweg {

using format::FillSlot;

Scan::Scan(const PhysicalReader& physical, const std::vector<std::uint64_t>& ranks, const Watch& watch)
    : physical_(physical), here_(&physical), ranks_(ranks), watch_(watch) {}

Status Scan::sort_ranks() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> unsorted;
  unsorted.reserve(ranks_.size());
  for (std::uint64_t i = 0; i < ranks_.size(); ++i) unsorted.emplace_back(ranks_[i], i);
  SortedRuns<std::pair<std::uint64_t, std::uint64_t>> sorted;
  Steps steps(watch_.go_on);
  sorted.add_all(unsorted, steps);
  by_rank_.reserve(unsorted.size());
  for (const auto* place = sorted.next(); place != nullptr && steps.go_on(); place = sorted.next())
    by_rank_.push_back(*place);
  return steps.stopped() ? physical_.stopped() : Status{};
}

Status Scan::session(const FoundSession& session) {
  end_ = std::max(end_, session.page.data_start);
  limit_ = session.limit;
  return walk(session, 0);
}

Status Scan::later(const PhysicalReader& later, const FoundSession& session, std::uint64_t limit) {
  here_ = &later;
  walked_ = 0;
  const Status walked = walk(session, limit);
  here_ = &physical_;
  return walked;
}

Status Scan::walk(const FoundSession& session, std::uint64_t limit_of_later) {
  const auto visit = [this](const format::Frame& frame) { return take(frame); };
  const auto damage = [this](std::uint64_t offset) { lost_frame(offset); };
  if (here_ != &physical_) return walk_later(*here_, session.page, limit_of_later, visit, damage, watch_.go_on);
  return walk_session(physical_, session, visit, damage, watch_.go_on);
}

void Scan::report(const std::string& text) const {
  if (watch_.finding) watch_.finding(fmt::format("'{}': {}", here_->path(), text));
}

// A rank, or the number of a logical file that was added, whose rank is not known here.
static std::string shown(std::uint64_t rank) {
  if (!format::is_added(rank)) return fmt::format("logical file {}", rank);
  return fmt::format("added logical file {}", rank - format::kFirstAdded);
}

void Scan::report_file(std::uint64_t local, const std::string& what) const {
  const bool table = physical_.header().mapping == format::Mapping::table;
  std::uint64_t rank = local;
  if (!format::is_added(local)) rank = table ? ranks_[local] : physical_.header().first_rank + local;
  report(fmt::format("{} {}", shown(rank), what));
}

void Scan::lost_frame(std::uint64_t offset) {
  lost_frames = true;
  report(fmt::format("the frame at offset {} is damaged: the bytes that it described are unknown", offset));
}

void Scan::damaged_piece(const char* what, std::uint64_t rank, std::uint64_t offset) const {
  report(
      fmt::format("{} of {} at offset {}: data contradict their checksum (written after the last sync before the "
                  "machine died, or damaged since)",
                  what, shown(rank), offset));
}

std::uint64_t Scan::bytes_behind(std::uint64_t offset) const {
  return here_->file_bytes() - std::min(here_->file_bytes(), offset);
}

std::uint64_t Scan::local_of(std::uint64_t rank) const {
  if (format::is_added(rank)) return rank;
  const format::FileHeader& header = physical_.header();
  if (header.mapping == format::Mapping::table) {
    const auto found = std::lower_bound(by_rank_.begin(), by_rank_.end(), std::pair(rank, std::uint64_t{0}));
    return found == by_rank_.end() || found->first != rank ? header.n_local : found->second;
  }
  return rank >= header.first_rank && rank - header.first_rank < header.n_local ? rank - header.first_rank
                                                                                : header.n_local;
}

void Scan::add(const FoundPiece& piece) {
  if (pieces.empty() || pieces.back().size() == kRunItems) pieces.emplace_back();
  pieces.back().push_back(piece);
}

Status Scan::take(const format::Frame& frame) {
  walked_ += std::min(frame.extent, here_->file_bytes() - walked_);
  if (watch_.progress && !watch_.progress(walked_, here_->file_bytes()))
    return Status::error(Code::stopped, "recovering '{}': stopped by the caller", physical_.path());
  // A frame that only claims space must not move the index, and with it the end of the file, so far away. Where a repair
  // that did not complete has put an index into that space, the next one puts it there again.
  const bool is_chunk = frame.kind == format::FrameKind::chunk;
  if (here_ == &physical_) end_ = std::max(end_, is_chunk ? frame.end() : std::min(frame.end(), limit_));
  if (frame.kind == format::FrameKind::later) made_later.insert(frame.later);
  if (is_chunk) return chunk(frame);
  return frame.kind == format::FrameKind::pack ? pack(frame) : Status{};
}

// Valid fill slots, the one with more bytes first.
Result<std::vector<FillSlot>> Scan::fill_slots(const format::Frame& frame) {
  std::vector<FillSlot> slots;
  for (const std::uint64_t within : format::kFillSlotOffset) {
    std::array<std::byte, format::kFillSlotBytes> bytes{};
    TW_ASSIGN_OR_RETURN(const std::size_t got, here_->file().read(frame.offset + within, bytes));
    if (got < bytes.size()) continue;
    const auto slot = format::parse_fill(bytes, here_->header().id, frame.offset + within, frame.capacity());
    if (slot && slot->bytes <= format::kMaxOffset - frame.logical_offset) {
      slots.push_back(*slot);
    } else if (!format::all_zero(bytes)) {
      lost_pieces = true;  // a slot lies in one sector, so no death tears it
      report(fmt::format("the fill slot at offset {} is damaged", frame.offset + within));
    }
  }
  std::ranges::sort(slots, std::greater{}, [](const FillSlot& slot) { return std::pair(slot.bytes, slot.count); });
  return slots;
}

// The number of leading granules, at most `granules`, that match the table.
Result<std::uint64_t> Scan::sound_granules(const format::Frame& frame, std::uint64_t granules,
                                           std::vector<std::byte>& buffer) const {
  constexpr std::uint64_t kAtOnce = 1024;  // entries of the table: an extent may claim far more than memory holds
  const std::uint64_t granule = physical_.header().granule;
  const std::uint64_t data = frame.data();
  granules = std::min(granules, bytes_behind(data) / granule);
  std::array<std::byte, kAtOnce * sizeof(std::uint32_t)> table{};
  for (std::uint64_t i = 0; i < granules; ++i) {
    const std::uint64_t within = i % kAtOnce * sizeof(std::uint32_t);
    if (within == 0) {
      const std::uint64_t at = frame.offset + format::kChecksumTableOffset + i * sizeof(std::uint32_t);
      const auto entries = std::span(table).first(std::min(granules - i, kAtOnce) * sizeof(std::uint32_t));
      TW_RETURN_IF_ERROR(read_exactly(here_->file(), at, entries));
    }
    if (i > 0 && watch_.go_on && !watch_.go_on()) return physical_.stopped();
    buffer.resize(granule);
    TW_RETURN_IF_ERROR(read_exactly(here_->file(), data + i * granule, buffer));
    const std::uint32_t seal = format::data_seal(here_->header().checksum, buffer);
    if (seal != load_le<std::uint32_t>(std::span(table).subspan(within))) return i;
  }
  return granules;
}

Result<bool> Scan::tail_matches(const format::Frame& frame, const FillSlot& slot,
                                std::vector<std::byte>& buffer) const {
  const std::uint64_t granule = physical_.header().granule;
  const std::uint64_t start = slot.bytes / granule * granule;
  const std::uint64_t data = frame.data();
  if (slot.bytes > bytes_behind(data)) return false;
  buffer.resize(slot.bytes - start);
  TW_ASSIGN_OR_RETURN(const std::size_t got, here_->file().read(data + start, buffer));
  return got == buffer.size() && format::data_seal(here_->header().checksum, buffer) == slot.tail_seal;
}

// The bytes of the largest slot whose data verify, or of the leading granules that verify if these are more.
Result<std::uint64_t> Scan::sound_bytes(const format::Frame& frame, std::span<const FillSlot> slots) const {
  const std::uint64_t granule = physical_.header().granule;
  std::vector<std::byte> buffer;
  TW_ASSIGN_OR_RETURN(const std::uint64_t sound, sound_granules(frame, slots.front().bytes / granule, buffer));
  for (const FillSlot& slot : slots) {
    if (slot.bytes / granule > sound) continue;
    TW_ASSIGN_OR_RETURN(const bool matches, tail_matches(frame, slot, buffer));
    if (matches) return std::max(slot.bytes, sound * granule);
  }
  return sound * granule;
}

namespace {

// The slot of a sync is kept until the sync has succeeded. A slot with a higher count beside it proves that it did.
const FillSlot* proven_sync(std::span<const FillSlot> slots) {
  for (const FillSlot& slot : slots)
    for (const FillSlot& other : slots)
      if (slot.synced && other.count > slot.count) return &slot;
  return nullptr;
}

}  // namespace

Status Scan::chunk(const format::Frame& frame) {
  const std::uint64_t local = local_of(frame.rank);
  if (local == physical_.header().n_local) {
    lost_frame(frame.offset);
    return {};
  }
  TW_ASSIGN_OR_RETURN(const std::vector<FillSlot> slots, fill_slots(frame));
  FoundPiece piece;
  piece.local = local;
  piece.sequence = frame.sequence;
  piece.end_before = frame.end_before;
  piece.without_fill = slots.empty();
  piece.entry.logical_offset = frame.logical_offset;
  piece.entry.physical_offset = frame.offset;
  piece.entry.later = number_here();
  if (!slots.empty()) {
    TW_ASSIGN_OR_RETURN(piece.sound_bytes, sound_bytes(frame, slots));
    piece.entry.logical_bytes = piece.entry.stored_bytes = slots.front().bytes;
    piece.damaged = piece.sound_bytes < slots.front().bytes;
    if (const FillSlot* const sync = proven_sync(slots)) {
      piece.proves_sync = true;
      piece.synced_bytes = sync->bytes;
    }
  }
  if (piece.damaged) damaged_piece("chunk", frame.rank, frame.offset);
  add(piece);
  return {};
}

Status Scan::pack(const format::Frame& frame) {
  auto entries = read_directory(*here_, frame);
  if (!entries.has_value()) {
    if (entries.error().code() != Code::corrupt_file) return entries.error();
    lost_pieces = true;  // the frame is written after the directory: it was not synced, or was damaged since
    refused_packs.push_back(frame);
    refused_packs.back().later = number_here();
    report(entries.error().message());
    return {};
  }
  std::uint64_t at = frame.data();
  if (here_ == &physical_) end_ = std::max(end_, at + frame.payload_bytes);
  std::vector<std::byte> stored;
  Steps steps(watch_.go_on);
  for (const format::DirectoryEntry& entry : *entries) {
    if (!steps.go_on()) return physical_.stopped();
    FoundPiece piece;
    piece.local = local_of(entry.rank);
    piece.sequence = entry.sequence;
    piece.end_before = entry.end_before;
    piece.entry = {entry.logical_offset,      at,          entry.logical_bytes, entry.stored_bytes, entry.crc,
                   format::PieceKind::packed, entry.codec, number_here()};
    stored.resize(std::min<std::uint64_t>(entry.stored_bytes, bytes_behind(at)));
    TW_ASSIGN_OR_RETURN(const std::size_t got, here_->file().read(at, stored));
    piece.damaged = got < entry.stored_bytes || crc32c(stored) != entry.crc;
    piece.is_name = entry.codec == format::Codec::name;
    if (piece.is_name && !piece.damaged) {
      piece.entry.logical_offset = names.size();
      names.append(reinterpret_cast<const char*>(stored.data()), stored.size());
    }
    if (piece.damaged) damaged_piece(piece.is_name ? "name" : "piece", entry.rank, at);
    at += entry.stored_bytes;
    if (piece.local == physical_.header().n_local) {
      lost_frame(frame.offset);
    } else {
      add(piece);
    }
  }
  return {};
}

}  // namespace thalweg
