// Collects the pieces from the frames of a physical file, and makes an index of them: the format document, section 7,
// steps 3 to 6.
#pragma once

#include <set>

#include "base/sorted_runs.hpp"
#include "multifile/read/recovery.hpp"
#include "multifile/read/slab_walk.hpp"

namespace thalweg {

struct FoundPiece {
  std::uint64_t local = 0;
  std::uint64_t sequence = 0;
  std::uint64_t end_before = 0;    // bytes of the logical file when it was stored
  format::PieceEntry entry;        // stored_bytes 0: a chunk in which nothing counts
  std::uint64_t sound_bytes = 0;   // damaged piece: readable bytes from its front
  bool damaged = false;            // its data contradict their checksum
  bool without_fill = false;       // a chunk without a valid fill slot
  bool is_name = false;            // logical_offset and stored_bytes of the entry are its place in Scan::names
  bool proves_sync = false;        // a sync of the logical file succeeded after it was placed
  std::uint64_t synced_bytes = 0;  // bytes of the logical file at that sync

  bool operator<(const FoundPiece& other) const {
    return local != other.local ? local < other.local : sequence < other.sequence;
  }
};

class Scan {
 public:
  // All arguments are borrowed.
  Scan(const PhysicalReader& physical, const std::vector<std::uint64_t>& ranks, const Watch& watch);

  Status sort_ranks();  // before session()
  Status session(const FoundSession& session);
  // The frames of a session in a later physical file, up to `limit`.
  Status later(const PhysicalReader& later, const FoundSession& session, std::uint64_t limit);

  // Reports a finding about a logical file.
  void report_file(std::uint64_t local, const std::string& what) const;

  std::vector<std::vector<FoundPiece>> pieces;  // in runs of kRunItems, as they were found
  std::uint64_t n_pieces() const { return pieces.empty() ? 0 : (pieces.size() - 1) * kRunItems + pieces.back().size(); }
  std::string names;  // as packs store them, behind their modes
  std::vector<format::Frame> refused_packs;
  std::set<std::uint64_t> made_later;  // the later physical files of which a frame says that they were made
  bool lost_frames = false;            // pieces of any sequence may be lost, including synced ones
  bool lost_pieces = false;            // pieces that may have been synced are lost
  std::uint64_t end() const { return end_; }

 private:
  Status walk(const FoundSession& session, std::uint64_t limit_of_later);
  void report(const std::string& text) const;
  void lost_frame(std::uint64_t offset);
  void damaged_piece(const char* what, std::uint64_t rank, std::uint64_t offset) const;
  std::uint64_t bytes_behind(std::uint64_t offset) const;
  std::uint16_t number_here() const {  // of the later physical file; 0: none
    return static_cast<std::uint16_t>(here_ == &physical_ ? 0 : here_->header().id.physical);
  }
  // Local index of a rank, or n_local when it does not belong here.
  std::uint64_t local_of(std::uint64_t rank) const;

  void add(const FoundPiece& piece);

  Status take(const format::Frame& frame);
  Status chunk(const format::Frame& frame);
  Status pack(const format::Frame& frame);
  Result<std::uint64_t> sound_bytes(const format::Frame& frame, std::span<const format::FillSlot> slots) const;
  Result<std::vector<format::FillSlot>> fill_slots(const format::Frame& frame);
  Result<bool> tail_matches(const format::Frame& frame, const format::FillSlot& slot,
                            std::vector<std::byte>& buffer) const;
  Result<std::uint64_t> sound_granules(const format::Frame& frame, std::uint64_t granules,
                                       std::vector<std::byte>& buffer) const;

  const PhysicalReader& physical_;  // that of the logical files
  const PhysicalReader* here_;      // that of the frames: this one, or a later one
  const std::vector<std::uint64_t>& ranks_;
  const Watch& watch_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_rank_;  // rank and local index; only with Mapping::table
  std::uint64_t end_ = 0;
  std::uint64_t limit_ = 0;   // end of the frames of the session that is walked
  std::uint64_t walked_ = 0;  // bytes of frames, for the progress
};

// Makes the entries of the logical files that have one in the base index, or pieces behind it. Sorts scan.pieces.
Status merge_pieces(const PhysicalReader& physical, const RecoveredIndex& base, Scan& scan, const GoOn& go_on,
                    Recovery& recovery);

}  // namespace thalweg
