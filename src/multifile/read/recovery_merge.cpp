// The pieces that a Scan found become an index.
#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "multifile/read/recovery_scan.hpp"

namespace thalweg {

namespace {

// The pieces of one logical file, sorted by sequence, become entries of the index.
//
// In each session the pieces count up to the first one that is missing or not whole. Pieces before one that proves a
// sync, or in a session with lost frames, are all kept instead and the logical file is flagged. A piece that is not
// whole and not proven to be synced shows the bytes under it.
class LogicalMerge {
 public:
  // `names` are those of the scan, which begin at `names_begin` among those of the index.
  LogicalMerge(const Scan& scan, std::uint64_t names_begin, Steps& steps, std::vector<format::PieceEntry>& out,
               format::FileEntry& file)
      : lost_frames_(scan.lost_frames),
        names_(scan.names),
        names_begin_(names_begin),
        steps_(steps),
        out_(out),
        file_(file) {}

  void run(std::span<const FoundPiece> found) {
    while (!found.empty() && steps_.go_on()) {
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

  // The first `proven` pieces are proven to be synced.
  void add_session(std::span<const FoundPiece> found, std::size_t proven) {
    std::uint64_t expected = session_of(found.front()) * format::kSequencePerSession + 1;
    for (std::size_t i = 0; i < found.size() && steps_.go_on(); ++i) {
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
      if (!add(piece, i + 1 < proven)) return;
    }
  }

  // Returns false where no piece behind this one counts.
  bool add(const FoundPiece& piece, bool proven) {
    // A chunk is published before a later piece is stored. Without a slot, its slot did not reach the storage.
    if (piece.without_fill) return proven || lost_frames_;
    const std::uint64_t synced = proven ? piece.entry.logical_bytes : piece.synced_bytes;
    const bool lost_bytes = piece.damaged && (piece.sound_bytes < synced || (piece.is_name && proven));
    damaged_ |= lost_bytes || (piece.damaged && lost_frames_);
    format::PieceEntry entry = piece.entry;
    if (piece.is_name && !piece.damaged) take_name(entry);
    if (piece.damaged && !proven) entry.logical_bytes = entry.stored_bytes = std::max(piece.sound_bytes, synced);
    if (entry.logical_bytes > 0 && !piece.is_name) {
      out_.push_back(entry);
      ++file_.n_pieces;
      file_.bytes = std::max(file_.bytes, entry.logical_offset + entry.logical_bytes);
    }
    cut_ |= piece.damaged && !lost_bytes;
    // A chunk may grow after later pieces were stored and synced. They count if it reaches their `end before`.
    return proven || lost_frames_ || lost_bytes || !piece.damaged || piece.entry.kind == format::PieceKind::chunk;
  }

  // A name that is no legal one was written by a faulty program: the logical file stays without.
  void take_name(const format::PieceEntry& entry) {
    const auto stored = std::string_view(names_).substr(entry.logical_offset, entry.stored_bytes);
    if (!format::name_is_legal(stored.substr(format::kNameModeBytes))) return;
    file_.mode = load_le<std::uint32_t>(std::as_bytes(std::span(stored)));
    file_.name_offset = names_begin_ + entry.logical_offset + format::kNameModeBytes;
    file_.name_bytes = static_cast<std::uint32_t>(stored.size() - format::kNameModeBytes);
  }

  const bool lost_frames_;
  const std::string& names_;
  const std::uint64_t names_begin_;
  Steps& steps_;
  std::vector<format::PieceEntry>& out_;
  format::FileEntry& file_;
  bool damaged_ = false, cut_ = false;
};

// Adds a logical file of the base index, or a new one, with the pieces found of it.
void add_file(const RecoveredIndex& base, const Scan& scan, RecoveredIndex::File file,
              std::span<const FoundPiece> found, Steps& steps, Recovery& recovery) {
  RecoveredIndex& index = recovery.index;
  const auto old = std::span(base.pieces).subspan(file.entry.first_piece, file.entry.n_pieces);
  const std::uint64_t sound_before = (file.entry.flags & format::kFileDamaged) == 0 ? file.entry.bytes : 0;
  std::vector<format::PieceEntry> fresh;
  LogicalMerge logical(scan, base.names.size(), steps, fresh, file.entry);
  logical.run(found);
  recovery.damaged |= logical.damaged() || logical.cut();
  if (logical.cut())
    scan.report_file(
        file.local,
        fmt::format("has {} bytes: what was written to it later, and never synced, did not get to the storage whole",
                    file.entry.bytes));
  const bool incomplete = file.recorded_bytes > file.entry.bytes;  // than the damaged index recorded
  if (incomplete) {
    scan.report_file(file.local, fmt::format("had {} bytes when it was closed; of the last {} nothing is found",
                                             file.recorded_bytes, file.recorded_bytes - file.entry.bytes));
    file.entry.bytes = file.recorded_bytes;
  }
  if (incomplete || file.doubted) {
    recovery.damaged = true;
    file.entry.flags |= format::kFileDamaged;
  }
  file.entry.first_piece = index.pieces.size();
  // Readers refuse the gaps of a damaged file. Gaps from before the damage are known to be zeros and stay readable.
  const bool newly_damaged = (file.entry.flags & format::kFileDamaged) != 0 && sound_before > 0;
  if (newly_damaged) {
    index.pieces.push_back({.logical_bytes = sound_before, .kind = format::PieceKind::zeros});
    ++file.entry.n_pieces;
  }
  index.pieces.insert(index.pieces.end(), old.begin(), old.end());
  index.pieces.insert(index.pieces.end(), fresh.begin(), fresh.end());
  // One that was added gets its name with its first flush.
  const format::FileEntry& made = file.entry;
  const bool flushed = !format::is_added(file.local) || made.name_bytes != 0 || made.n_pieces != 0 || made.flags != 0;
  if (flushed) index.files.push_back(file);
}

}  // namespace

Status merge_pieces(const PhysicalReader& physical, const RecoveredIndex& base, Scan& scan, const GoOn& go_on,
                    Recovery& recovery) {
  Steps steps(go_on);
  SortedRuns<FoundPiece> sorted;
  for (std::vector<FoundPiece>& run : scan.pieces)
    if (steps.go_on_now()) sorted.add(run);
  recovery.index.names = base.names + scan.names;
  recovery.index.attributes = base.attributes;
  recovery.index.added = base.added;
  // A list that grows copies all of its items at once.
  recovery.index.files.reserve(base.files.size() + scan.n_pieces());
  recovery.index.pieces.reserve(base.pieces.size() + base.files.size() + scan.n_pieces());
  std::span<const RecoveredIndex::File> old = base.files;
  const FoundPiece* next = sorted.next();
  std::vector<FoundPiece> found;  // of one logical file
  while ((!old.empty() || next != nullptr) && steps.go_on()) {
    RecoveredIndex::File file;
    if (!old.empty() && (next == nullptr || old.front().local <= next->local)) {
      file = old.front();
      old = old.subspan(1);
    } else {
      file.local = next->local;
    }
    for (found.clear(); next != nullptr && next->local == file.local && steps.go_on(); next = sorted.next())
      found.push_back(*next);
    add_file(base, scan, file, found, steps, recovery);
  }
  recovery.damaged |= scan.lost_frames || scan.lost_pieces;
  return steps.stopped() ? physical.stopped() : Status{};
}

}  // namespace thalweg
