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
  std::uint64_t end_before = 0;    // bytes of the logical file when it was stored
  format::PieceEntry entry;        // stored_bytes 0: a chunk in which nothing counts
  std::uint64_t sound_bytes = 0;   // of a damaged one: what can be read from its front
  bool damaged = false;            // its data contradict their checksum
  bool untold = false;             // a chunk without a valid fill slot
  bool proves_sync = false;        // a sync of the logical file has succeeded since it was placed,
  std::uint64_t synced_bytes = 0;  // when it had so many bytes
};

class Scan {
 public:
  Scan(const Part& part, const std::vector<std::uint64_t>& ranks, const RecoveryWatch& watch)
      : part_(part), ranks_(ranks), watch_(watch), crc_(part.header().checksum == format::Checksum::crc32c) {
    for (std::uint64_t i = 0; i < ranks.size(); ++i) local_of_.emplace(ranks[i], i);
  }

  Status session(const FoundSession& session) {
    end_ = std::max(end_, session.page.data_start);
    const WalkVisitor visitor{[this](const FoundFrame& f) { return frame(f); },
                              [this](std::uint64_t offset) { lost_frame(offset); }};
    return walk_session(part_, session, visitor);
  }

  // Tells that only what was stored up to some moment counts of a logical file.
  void cut(std::uint64_t local, std::uint64_t bytes) const {
    const auto rank =
        part_.header().mapping == format::Mapping::table ? ranks_[local] : part_.header().first_rank + local;
    report("logical file " + std::to_string(rank) + " has " + std::to_string(bytes) +
           " bytes: what was written to it later, and never synced, did not get to the storage whole");
  }

  std::vector<FoundPiece> pieces;
  bool lost_frames = false;  // there may have been pieces of any sequence, also synced ones
  bool lost_pieces = false;  // there were pieces that may have been synced
  std::uint64_t end() const { return end_; }

 private:
  void report(const std::string& text) const {
    if (watch_.finding) watch_.finding("'" + part_.file().path() + "': " + text);
  }
  void lost_frame(std::uint64_t offset) {
    lost_frames = true;
    report("the frame at offset " + std::to_string(offset) + " is damaged: which bytes it told of is unknown");
  }
  std::uint64_t bytes_behind(std::uint64_t offset) const {
    return part_.file_bytes() - std::min(part_.file_bytes(), offset);
  }
  void damaged_piece(const char* what, std::uint64_t rank, std::uint64_t offset) {
    report(std::string(what) + " of logical file " + std::to_string(rank) + " at offset " + std::to_string(offset) +
           ": data contradict their checksum (written after the last sync before the machine died, or damaged since)");
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
  Result<std::uint64_t> sound_bytes(const FoundFrame& found, std::span<const FillSlot> slots);
  Result<std::vector<FillSlot>> fill_slots(const FoundFrame& found);
  Result<bool> tail_matches(const FoundFrame& found, const FillSlot& slot, std::vector<std::byte>& buffer);
  Result<std::uint64_t> sound_granules(const FoundFrame& found, std::uint64_t granules, std::vector<std::byte>& buffer);

  const Part& part_;
  const std::vector<std::uint64_t>& ranks_;
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
    if (slot) {
      slots.push_back(*slot);
    } else if (std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; })) {
      lost_pieces = true;  // a slot lies in one sector: neither death tears it
      report("the fill slot at offset " + std::to_string(found.offset + within) + " is damaged");
    }
  }
  std::sort(slots.begin(), slots.end(), [](const FillSlot& a, const FillSlot& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.count > b.count;
  });
  return slots;
}

// How many of the first `granules` granules match the table, counted up to the first that does not.
Result<std::uint64_t> Scan::sound_granules(const FoundFrame& found, std::uint64_t granules,
                                           std::vector<std::byte>& buffer) {
  constexpr std::uint64_t kAtOnce = 1024;  // entries of the table: an extent may claim far more than memory holds
  const std::uint64_t granule = part_.header().granule;
  const std::uint64_t data = found.offset + found.frame.data_offset;
  granules = std::min(granules, bytes_behind(data) / granule);
  std::array<std::byte, kAtOnce * sizeof(std::uint32_t)> table{};
  for (std::uint64_t i = 0; i < granules; ++i) {
    const std::uint64_t within = i % kAtOnce * sizeof(std::uint32_t);
    if (within == 0) {
      const std::uint64_t at = found.offset + format::kChecksumTableOffset + i * sizeof(std::uint32_t);
      const auto entries = std::span(table).first(std::min(granules - i, kAtOnce) * sizeof(std::uint32_t));
      TW_RETURN_IF_ERROR(read_exactly(part_.file(), at, entries));
    }
    buffer.resize(granule);
    TW_RETURN_IF_ERROR(read_exactly(part_.file(), data + i * granule, buffer));
    if (crc32c(buffer) != load_le<std::uint32_t>(std::span(table).subspan(within))) return i;
  }
  return granules;
}

Result<bool> Scan::tail_matches(const FoundFrame& found, const FillSlot& slot, std::vector<std::byte>& buffer) {
  const std::uint64_t granule = part_.header().granule;
  const std::uint64_t start = slot.bytes / granule * granule;
  const std::uint64_t data = found.offset + found.frame.data_offset;
  if (slot.bytes > bytes_behind(data)) return false;
  buffer.resize(slot.bytes - start);
  TW_ASSIGN_OR_RETURN(const std::size_t got, part_.file().read(data + start, buffer));
  return got == buffer.size() && crc32c(buffer) == slot.tail_crc;
}

// The bytes of the larger slot whose data verify, or of the whole granules that do, if these are more.
Result<std::uint64_t> Scan::sound_bytes(const FoundFrame& found, std::span<const FillSlot> slots) {
  const std::uint64_t granule = part_.header().granule;
  if (!crc_) return std::min(slots.front().bytes, bytes_behind(found.offset + found.frame.data_offset));
  std::vector<std::byte> buffer;
  TW_ASSIGN_OR_RETURN(const std::uint64_t sound, sound_granules(found, slots.front().bytes / granule, buffer));
  for (const FillSlot& slot : slots) {
    if (slot.bytes / granule > sound) continue;
    TW_ASSIGN_OR_RETURN(const bool matches, tail_matches(found, slot, buffer));
    if (matches) return std::max(slot.bytes, sound * granule);
  }
  return sound * granule;
}

// The slot of a sync is kept until the next one has succeeded: one with a higher count beside it proves that it did.
const FillSlot* proven_sync(std::span<const FillSlot> slots) {
  for (const FillSlot& slot : slots)
    for (const FillSlot& other : slots)
      if (slot.synced && other.count > slot.count) return &slot;
  return nullptr;
}

Status Scan::chunk(const FoundFrame& found) {
  const std::uint64_t local = local_of(found.frame.rank);
  if (local == part_.header().n_local) {
    lost_frame(found.offset);
    return {};
  }
  TW_ASSIGN_OR_RETURN(const std::vector<FillSlot> slots, fill_slots(found));
  FoundPiece piece;
  piece.local = local;
  piece.sequence = found.frame.sequence;
  piece.end_before = found.frame.end_before;
  piece.untold = slots.empty();
  piece.entry.logical_offset = found.frame.logical_offset;
  piece.entry.physical_offset = found.offset;
  if (!slots.empty()) {
    TW_ASSIGN_OR_RETURN(piece.sound_bytes, sound_bytes(found, slots));
    piece.entry.logical_bytes = piece.entry.stored_bytes = slots.front().bytes;
    piece.damaged = piece.sound_bytes < slots.front().bytes;
    if (const FillSlot* const sync = proven_sync(slots)) {
      piece.proves_sync = true;
      piece.synced_bytes = sync->bytes;
    }
  }
  if (piece.damaged) damaged_piece("chunk", found.frame.rank, found.offset);
  pieces.push_back(piece);
  return {};
}

Status Scan::superblock(const FoundFrame& found) {
  const std::uint64_t directory_bytes = found.frame.n_pieces * format::kDirectoryEntryBytes;
  std::vector<std::byte> directory(std::min(directory_bytes, part_.file_bytes()));
  TW_ASSIGN_OR_RETURN(std::size_t got, part_.file().read(found.offset + format::kDirectoryOffset, directory));
  directory.resize(got);
  auto entries = format::parse_directory(directory, found.frame, part_.header(), found.offset);
  if (!entries.has_value()) {  // its frame came later and is there: so it was not synced, or was damaged since
    lost_pieces = true;
    report(entries.error().message());
    return {};
  }
  std::uint64_t at = found.offset + found.frame.data_offset;
  std::vector<std::byte> stored;
  for (const format::DirectoryEntry& entry : *entries) {
    FoundPiece piece;
    piece.local = local_of(entry.rank);
    piece.sequence = entry.sequence;
    piece.end_before = entry.end_before;
    piece.entry = {entry.logical_offset,      at,         entry.logical_bytes, entry.stored_bytes, entry.crc,
                   format::PieceKind::packed, entry.codec};
    stored.resize(std::min<std::uint64_t>(entry.stored_bytes, bytes_behind(at)));
    TW_ASSIGN_OR_RETURN(got, part_.file().read(at, stored));
    piece.damaged = got < entry.stored_bytes || (crc_ && crc32c(stored) != entry.crc);
    if (piece.damaged) damaged_piece("piece", entry.rank, at);
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

// The pieces of one logical file, sorted by sequence, become entries of the index.
//
// In each session those count that are flushed: up to the first that is missing, or that did not get to the storage
// whole. Behind a piece that proves a sync, or where frames were lost, all are kept instead and the file is flagged.
class LogicalMerge {
 public:
  LogicalMerge(bool lost_frames, std::vector<format::PieceEntry>& out, format::FileEntry& file)
      : lost_frames_(lost_frames), out_(out), file_(file) {}

  void run(std::span<const FoundPiece> found) {
    while (!found.empty()) {
      const std::uint64_t session = session_of(found.front());
      std::size_t n = 0, proven = 0;
      for (; n < found.size() && session_of(found[n]) == session; ++n)
        if (found[n].proves_sync) proven = n + 1;
      add_session(found.first(n), proven);
      found = found.subspan(n);
    }
    if (damaged_) file_.flags |= format::kFileDamaged;
  }
  bool damaged() const { return damaged_; }  // flushed bytes cannot be read
  bool cut() const { return cut_; }          // pieces were left out because one before them is not whole

 private:
  static std::uint64_t session_of(const FoundPiece& piece) { return piece.sequence / format::kSequencePerSession; }

  // The first `proven` pieces were synced.
  void add_session(std::span<const FoundPiece> found, std::size_t proven) {
    std::uint64_t expected = session_of(found.front()) * format::kSequencePerSession + 1;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const FoundPiece& piece = found[i];
      const bool certain = lost_frames_ || i < proven;
      const bool missing = piece.sequence != expected;     // one before it
      const bool shrunk = piece.end_before > file_.bytes;  // the one before it
      if (certain) {
        damaged_ |= missing || shrunk;
      } else if (missing || shrunk) {
        cut_ |= shrunk && !missing;
        return;
      }
      expected = piece.sequence + 1;
      if (!add(piece, lost_frames_ || i + 1 < proven)) return;
    }
  }

  // False when nothing behind the piece counts.
  bool add(const FoundPiece& piece, bool certain) {
    // A chunk tells what it holds before a later piece is stored: if it does not, its slot died with the machine.
    if (piece.untold) return certain;
    const bool lost_bytes = piece.damaged && (certain || piece.sound_bytes < piece.synced_bytes);
    damaged_ |= lost_bytes;
    format::PieceEntry entry = piece.entry;
    if (piece.damaged && !lost_bytes) entry.logical_bytes = entry.stored_bytes = piece.sound_bytes;
    if (entry.logical_bytes > 0) {
      out_.push_back(entry);
      ++file_.n_pieces;
      file_.bytes = std::max(file_.bytes, entry.logical_offset + entry.logical_bytes);
    }
    cut_ |= piece.damaged && !lost_bytes;
    // A chunk may have grown after later pieces were stored and synced: these count if it reaches as far as they say.
    return certain || lost_bytes || !piece.damaged || piece.entry.kind == format::PieceKind::chunk;
  }

  const bool lost_frames_;
  std::vector<format::PieceEntry>& out_;
  format::FileEntry& file_;
  bool damaged_ = false, cut_ = false;
};

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
  return result;
}

}  // namespace

Status check_whole_index(const Part& part) { return load_index(part).status(); }

namespace {

// Makes the entries of the logical files that have one in the base index, or pieces behind it.
class Merge {
 public:
  Merge(Recovery& recovery, const RecoveredIndex& base, Scan& scan) : recovery_(recovery), base_(base), scan_(scan) {}

  void run() {
    std::sort(scan_.pieces.begin(), scan_.pieces.end(), [](const FoundPiece& a, const FoundPiece& b) {
      return a.local != b.local ? a.local < b.local : a.sequence < b.sequence;
    });
    recovery_.index.names = base_.names;
    recovery_.index.attributes = base_.attributes;
    std::span<const RecoveredIndex::File> old = base_.files;
    std::span<const FoundPiece> found = scan_.pieces;
    while (!old.empty() || !found.empty()) {
      RecoveredIndex::File file;
      if (!old.empty() && (found.empty() || old.front().local <= found.front().local)) {
        file = old.front();
        old = old.subspan(1);
      } else {
        file.local = found.front().local;
      }
      std::size_t n = 0;
      while (n < found.size() && found[n].local == file.local) ++n;
      add(file, found.first(n));
      found = found.subspan(n);
    }
    recovery_.damaged |= scan_.lost_frames || scan_.lost_pieces;
  }

 private:
  void add(RecoveredIndex::File file, std::span<const FoundPiece> found) {
    RecoveredIndex& index = recovery_.index;
    const auto old = std::span(base_.pieces).subspan(file.entry.first_piece, file.entry.n_pieces);
    file.entry.first_piece = index.pieces.size();
    index.pieces.insert(index.pieces.end(), old.begin(), old.end());
    LogicalMerge logical(scan_.lost_frames, index.pieces, file.entry);
    logical.run(found);
    recovery_.damaged_logical += logical.damaged();
    if (logical.cut()) scan_.cut(file.local, file.entry.bytes);
    recovery_.damaged |= logical.damaged() || logical.cut();
    index.files.push_back(file);
  }

  Recovery& recovery_;
  const RecoveredIndex& base_;
  Scan& scan_;
};

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
  if (base.end != 0) {
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
  Merge(recovery, base, scan).run();
  recovery.index.end = align_up(std::max({base.end, scan.end(), part.state().end}), kPageBytes);
  return recovery;
}

}  // namespace thalweg
