// The pieces that the frames of a physical file tell of: the format document, section 7, steps 3 and 4.
#pragma once

#include <unordered_map>

#include "multifile/read/recovery.hpp"
#include "multifile/read/slab_walk.hpp"

namespace thalweg {

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
  // All arguments are borrowed.
  Scan(const PhysicalReader& physical, const std::vector<std::uint64_t>& ranks, const Watch& watch);

  Status session(const FoundSession& session);

  // Tells what became of a logical file.
  void tell(std::uint64_t local, const std::string& what) const;

  std::vector<FoundPiece> pieces;
  bool lost_frames = false;  // there may have been pieces of any sequence, also synced ones
  bool lost_pieces = false;  // there were pieces that may have been synced
  std::uint64_t end() const { return end_; }

 private:
  void report(const std::string& text) const;
  void lost_frame(std::uint64_t offset);
  void damaged_piece(const char* what, std::uint64_t rank, std::uint64_t offset) const;
  std::uint64_t bytes_behind(std::uint64_t offset) const;
  // Local index of a rank, or n_local when it does not belong here.
  std::uint64_t local_of(std::uint64_t rank) const;

  Status frame(const FoundFrame& found);
  Status chunk(const FoundFrame& found);
  Status pack(const FoundFrame& found);
  Result<std::uint64_t> sound_bytes(const FoundFrame& found, std::span<const format::FillSlot> slots) const;
  Result<std::vector<format::FillSlot>> fill_slots(const FoundFrame& found);
  Result<bool> tail_matches(const FoundFrame& found, const format::FillSlot& slot,
                            std::vector<std::byte>& buffer) const;
  Result<std::uint64_t> sound_granules(const FoundFrame& found, std::uint64_t granules,
                                       std::vector<std::byte>& buffer) const;

  const PhysicalReader& physical_;
  const std::vector<std::uint64_t>& ranks_;
  const Watch& watch_;
  std::unordered_map<std::uint64_t, std::uint64_t> local_of_;
  std::uint64_t end_ = 0;
  std::uint64_t walked_ = 0;  // bytes of frames, for the progress
};

}  // namespace thalweg
