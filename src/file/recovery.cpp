#include "file/recovery.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/crc32c.hpp"
#include "base/endian.hpp"
#include "file/slab_walk.hpp"

namespace thalweg {

namespace {

using format::align_up;
using format::FillSlot;
using format::kPageBytes;

struct FoundPiece {
  std::uint64_t local = 0;
  std::uint64_t sequence = 0;
  format::PieceEntry entry;  // stored_bytes 0: a chunk in which nothing counts
  bool damaged = false;
  bool untold = false;  // a chunk without a valid fill slot
};

class Scan {
 public:
  Scan(const Part& part, const std::vector<std::uint64_t>& ranks, const RecoveryWatch& watch)
      : part_(part), watch_(watch), crc_(part.header().checksum == format::Checksum::crc32c) {
    for (std::uint64_t i = 0; i < ranks.size(); ++i) local_of_.emplace(ranks[i], i);
  }

  Status session(const FoundSession& session) {
    end_ = std::max(end_, session.page.data_start);
    const WalkVisitor visitor{[this](const FoundFrame& f) { return frame(f); },
                              [this](std::uint64_t offset) { lost_frame(offset); }};
    return walk_session(part_, session, visitor);
  }

  std::vector<FoundPiece> pieces;
  bool lost_frames = false;
  std::uint64_t end() const { return end_; }

 private:
  void report(const std::string& text) const {
    if (watch_.finding) watch_.finding("'" + part_.file().path() + "': " + text);
  }
  void lost_frame(std::uint64_t offset) {
    lost_frames = true;
    report("the frame at offset " + std::to_string(offset) + " is damaged: which bytes it told of is unknown");
  }
  // Local index of a rank, or n_local when it does not belong here.
  std::uint64_t local_of(std::uint64_t rank) const {
    const format::FileHeader& header = part_.header();
    if (header.mapping == format::Mapping::table) {
      const auto found = local_of_.find(rank);
      return found == local_of_.end() ? header.n_local : found->second;
    }
    return rank >= header.first_rank && rank - header.first_rank < header.n_local ? rank - header.first_rank
                                                                                  : header.n_local;
  }

  Status frame(const FoundFrame& found) {
    if (watch_.progress) watch_.progress(std::min(found.offset, part_.file_bytes()), part_.file_bytes());
    end_ = std::max(end_, found.offset + found.frame.extent);
    switch (found.frame.kind) {
      case format::FrameKind::chunk:
        return chunk(found);
      case format::FrameKind::superblock:
        return superblock(found);
      default:
        return {};
    }
  }

  Status chunk(const FoundFrame& found);
  Status superblock(const FoundFrame& found);
  Result<std::uint64_t> sound_bytes(const FoundFrame& found, std::span<const FillSlot> slots, bool& damaged);
  Result<std::vector<FillSlot>> fill_slots(const FoundFrame& found);
  Result<bool> tail_matches(const FoundFrame& found, const FillSlot& slot, std::vector<std::byte>& buffer);
  Result<std::uint64_t> sound_granules(const FoundFrame& found, std::uint64_t granules, std::vector<std::byte>& buffer);

  const Part& part_;
  const RecoveryWatch& watch_;
  const bool crc_;
  std::unordered_map<std::uint64_t, std::uint64_t> local_of_;
  std::uint64_t end_ = 0;
};

// Valid fill slots, the one with more bytes first.
Result<std::vector<FillSlot>> Scan::fill_slots(const FoundFrame& found) {
  std::vector<FillSlot> slots;
  for (const std::uint64_t within : format::kFillSlotOffset) {
    std::array<std::byte, format::kFillSlotBytes> bytes{};
    TW_ASSIGN_OR_RETURN(const std::size_t got, part_.file().read(found.offset + within, bytes));
    if (got < bytes.size()) continue;
    const auto slot = format::parse_fill(bytes, part_.header().id, found.offset + within, found.frame.capacity());
    if (slot) slots.push_back(*slot);
  }
  std::sort(slots.begin(), slots.end(), [](const FillSlot& a, const FillSlot& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.count > b.count;
  });
  return slots;
}

// How many of the first `granules` granules match the table, counted up to the first that does not.
Result<std::uint64_t> Scan::sound_granules(const FoundFrame& found, std::uint64_t granules,
                                           std::vector<std::byte>& buffer) {
  const std::uint64_t granule = part_.header().granule;
  std::vector<std::byte> table(granules * sizeof(std::uint32_t));
  TW_ASSIGN_OR_RETURN(const std::size_t in_table,
                      part_.file().read(found.offset + format::kChecksumTableOffset, table));
  buffer.resize(granule);
  for (std::uint64_t i = 0; i < granules; ++i) {
    TW_ASSIGN_OR_RETURN(const std::size_t got,
                        part_.file().read(found.offset + found.frame.data_offset + i * granule, buffer));
    const bool known = (i + 1) * sizeof(std::uint32_t) <= in_table && got == granule;
    if (!known || crc32c(buffer) != load_le<std::uint32_t>(std::span(table).subspan(i * sizeof(std::uint32_t))))
      return i;
  }
  return granules;
}

Result<bool> Scan::tail_matches(const FoundFrame& found, const FillSlot& slot, std::vector<std::byte>& buffer) {
  const std::uint64_t granule = part_.header().granule;
  const std::uint64_t start = slot.bytes / granule * granule;
  buffer.resize(slot.bytes - start);
  TW_ASSIGN_OR_RETURN(const std::size_t got, part_.file().read(found.offset + found.frame.data_offset + start, buffer));
  return got == buffer.size() && crc32c(buffer) == slot.tail_crc;
}

// The bytes of the larger slot that verifies; when none does, `damaged` and the larger number.
Result<std::uint64_t> Scan::sound_bytes(const FoundFrame& found, std::span<const FillSlot> slots, bool& damaged) {
  if (slots.empty()) return std::uint64_t{0};
  const std::uint64_t granule = part_.header().granule;
  if (!crc_) return slots.front().bytes;
  std::vector<std::byte> buffer;
  TW_ASSIGN_OR_RETURN(const std::uint64_t sound, sound_granules(found, slots.front().bytes / granule, buffer));
  for (const FillSlot& slot : slots) {
    if (slot.bytes / granule > sound) continue;
    TW_ASSIGN_OR_RETURN(const bool matches, tail_matches(found, slot, buffer));
    if (matches) return slot.bytes;
  }
  damaged = true;
  return slots.front().bytes;
}

Status Scan::chunk(const FoundFrame& found) {
  const std::uint64_t local = local_of(found.frame.rank);
  if (local == part_.header().n_local) {
    lost_frame(found.offset);
    return {};
  }
  TW_ASSIGN_OR_RETURN(const std::vector<FillSlot> slots, fill_slots(found));
  FoundPiece piece{local, found.frame.sequence, {}, false, slots.empty()};
  TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, sound_bytes(found, slots, piece.damaged));
  if (piece.damaged)
    report("chunk of logical file " + std::to_string(found.frame.rank) + " at offset " + std::to_string(found.offset) +
           ": data contradict their checksum");
  piece.entry.logical_offset = found.frame.logical_offset;
  piece.entry.physical_offset = found.offset;
  piece.entry.logical_bytes = piece.entry.stored_bytes = bytes;
  pieces.push_back(piece);
  return {};
}

Status Scan::superblock(const FoundFrame& found) {
  const std::uint64_t directory_bytes = found.frame.n_pieces * format::kDirectoryEntryBytes;
  std::vector<std::byte> directory(std::min(directory_bytes, part_.file_bytes()));
  TW_ASSIGN_OR_RETURN(std::size_t got, part_.file().read(found.offset + format::kDirectoryOffset, directory));
  directory.resize(got);
  auto entries = format::parse_directory(directory, found.frame, part_.header(), found.offset);
  if (!entries.has_value()) {
    lost_frame(found.offset);
    return {};
  }
  std::uint64_t at = found.offset + found.frame.data_offset;
  std::vector<std::byte> stored;
  for (const format::DirectoryEntry& entry : *entries) {
    FoundPiece piece{local_of(entry.rank), entry.sequence, {}, false, false};
    piece.entry = {entry.logical_offset,      at,         entry.logical_bytes, entry.stored_bytes, entry.crc,
                   format::PieceKind::packed, entry.codec};
    stored.resize(entry.stored_bytes);
    TW_ASSIGN_OR_RETURN(got, part_.file().read(at, stored));
    piece.damaged = got < stored.size() || (crc_ && crc32c(stored) != entry.crc);
    if (piece.damaged)
      report("piece of logical file " + std::to_string(entry.rank) + " at offset " + std::to_string(at) +
             ": data contradict their checksum");
    at += entry.stored_bytes;
    if (piece.local == part_.header().n_local) {
      lost_frame(found.offset);
    } else {
      pieces.push_back(piece);
    }
  }
  return {};
}

// ---- From pieces to an index ------------------------------------------------------------------------------------

// Whether the piece after one with sequence `last` (0: none) is the next one of its session.
bool follows(std::uint64_t last, std::uint64_t next) {
  const bool same_session = last / format::kSequencePerSession == next / format::kSequencePerSession && last != 0;
  return same_session ? next == last + 1 : next % format::kSequencePerSession == 1;
}

// Adds the pieces of one logical file (sorted by sequence) to the index; true when flushed bytes are damaged.
bool add_logical(std::span<const FoundPiece> found, bool lost_frames, std::vector<format::PieceEntry>& out,
                 format::FileEntry& file) {
  bool damaged = false;
  std::uint64_t last = 0;
  for (const FoundPiece& piece : found) {
    if (!follows(last, piece.sequence)) {
      if (!lost_frames) break;  // what is missing was never flushed, so neither was what follows
      damaged = true;
    }
    last = piece.sequence;
    damaged |= piece.damaged;
    // A chunk tells what it holds before a later piece is stored: if it does not, its slot died with the machine.
    if (piece.untold && !lost_frames) break;
    if (piece.entry.logical_bytes == 0) continue;
    out.push_back(piece.entry);
    ++file.n_pieces;
    file.bytes = std::max(file.bytes, piece.entry.logical_offset + piece.entry.logical_bytes);
  }
  if (damaged) file.flags |= format::kFileDamaged;
  return damaged;
}

// The index named by a state slot, whole, into memory.
Result<RecoveredIndex> load_index(const Part& part) {
  format::StateSlot closed = part.state();
  closed.state = format::FileState::closed;
  closed.end = closed.index_offset + closed.index_bytes;
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
  for (std::uint64_t i = 0; i < index.n_local; ++i) {
    TW_ASSIGN_OR_RETURN(const auto entry,
                        format::parse_file_entry(
                            std::span(files).subspan(i * format::kFileEntryBytes, format::kFileEntryBytes), index));
    result.files.push_back(entry);
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
  return result;
}

}  // namespace

Status check_whole_index(const Part& part) { return load_index(part).status(); }

namespace {

// Base entries (may be none) and found pieces, one logical file after the other.
void merge(Recovery& recovery, const RecoveredIndex& base, std::vector<FoundPiece>& found, bool lost_frames,
           std::uint64_t n_local) {
  std::sort(found.begin(), found.end(), [](const FoundPiece& a, const FoundPiece& b) {
    return a.local != b.local ? a.local < b.local : a.sequence < b.sequence;
  });
  RecoveredIndex& index = recovery.index;
  index.names = base.names;
  index.attributes = base.attributes;
  index.files.resize(n_local);
  std::size_t next = 0;
  for (std::uint64_t local = 0; local < n_local; ++local) {
    format::FileEntry& file = index.files[local];
    if (local < base.files.size()) file = base.files[local];
    const auto old = std::span(base.pieces).subspan(file.first_piece, file.n_pieces);
    file.first_piece = index.pieces.size();
    index.pieces.insert(index.pieces.end(), old.begin(), old.end());
    const std::size_t first = next;
    while (next < found.size() && found[next].local == local) ++next;
    const bool damaged = add_logical(std::span(found).subspan(first, next - first), lost_frames, index.pieces, file);
    recovery.damaged_logical += damaged;
    recovery.damaged |= damaged;
  }
  recovery.damaged |= lost_frames;
}

// Whether a page was written as it stands: what it says may be wrong, but it is not missing.
bool is_sealed_page(const Part& part, std::uint64_t offset) {
  std::vector<std::byte> page(kPageBytes);
  if (!read_exactly(part.file(), offset, page).ok()) return false;
  const auto body = std::span<const std::byte>(page).first(kPageBytes - sizeof(std::uint32_t));
  return load_le<std::uint32_t>(std::span<const std::byte>(page).subspan(body.size())) ==
         format::bound_crc(part.header().id, offset, body);
}

// The sessions whose frames must be walked, oldest first; `base` is the index that covers those before them.
Result<std::vector<FoundSession>> sessions_to_walk(const Part& part, RecoveredIndex& base, bool& damaged,
                                                   const RecoveryWatch& watch) {
  const bool has_state = part.state().session_offset != 0;
  if (has_state && part.state().index_offset != 0) {
    auto loaded = load_index(part);
    if (loaded.has_value()) {
      base = std::move(loaded).value();
    } else {
      damaged = true;
      if (watch.finding) watch.finding(loaded.error().message() + "; names and attributes are lost");
    }
  }
  const std::uint64_t last = has_state ? part.state().session_offset : part.header().session_offset;
  const auto newest = read_session(part, last);
  if (!newest.has_value() && !is_sealed_page(part, last)) {
    // A session page that never reached the storage: then nothing of that session did, or at least none of it was
    // synced.
    if (watch.finding) watch.finding(newest.error().message());
    if (base.end != 0) return std::vector<FoundSession>{};
    return find_sessions(part, part.header().session_offset);
  }
  TW_ASSIGN_OR_RETURN(std::vector<FoundSession> sessions, find_sessions(part, last));
  if (!base.files.empty() || (part.header().n_local == 0 && base.end != 0)) {
    // The index covers all sessions but an open one.
    std::erase_if(sessions, [&](const FoundSession& s) { return s.offset < base.end; });
  }
  // A session that began behind a complete index although the state slot that tells of it is damaged.
  const std::uint64_t behind = base.end;
  if (behind != 0 && (sessions.empty() || sessions.back().offset < behind)) {
    auto later = read_session(part, behind);
    if (later.has_value()) sessions.push_back(*later);
  }
  return sessions;
}

}  // namespace

Result<Recovery> recover_part(const Part& part, const std::vector<std::uint64_t>& ranks, const RecoveryWatch& watch) {
  Recovery recovery;
  RecoveredIndex base;
  TW_ASSIGN_OR_RETURN(const auto sessions, sessions_to_walk(part, base, recovery.damaged, watch));
  Scan scan(part, ranks, watch);
  recovery.session = part.state().session;
  recovery.session_offset = part.state().session_offset;
  for (const FoundSession& session : sessions) {
    if (const Status walked = scan.session(session); !walked.ok()) {
      // As with the session page: of a session that was synced everything is there.
      if (walked.code() != Code::corrupt_file || (base.end == 0 && session.page.session == 0)) return walked;
      if (watch.finding) watch.finding(walked.message());
      continue;
    }
    recovery.session = session.page.session;
    recovery.session_offset = session.offset;
  }
  merge(recovery, base, scan.pieces, scan.lost_frames, part.header().n_local);
  recovery.index.end = align_up(std::max({base.end, scan.end(), part.state().end}), kPageBytes);
  return recovery;
}

}  // namespace thalweg
