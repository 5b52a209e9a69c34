// Lattice: what all streams of a vpfile have in common, the records of the NB segment and the rounds of the CB segment.
// A row is what all VPs have of one of these. Its length changes in collective calls only.
//
// A row that VPs move in pieces stays in a buffer until it is full, so that each row is moved by one collective access.
#pragma once

#include <optional>
#include <vector>

#include "sharedfile/plain_file.hpp"
#include "vpfile/access_mode.hpp"
#include "vpfile/format/geometry.hpp"
#include "vpfile/shape.hpp"
#include "vpfile/stream_transfer.hpp"

namespace thalweg {

class Lattice {
 public:
  // All are borrowed. `geometry` is what the lattice extends.
  Lattice(PlainFile& file, const LocalVps& vps, format::VpGeometry& geometry)
      : file_(file), vps_(vps), geometry_(geometry) {}

  // Collective, where all VPs are alike: `bytes` bytes of each stream from their position on, which are in the lattice
  // or extend it. `mode`: NB or CB.
  Op<Status> move(const VpTransfer& what, const StreamAccess& all, VpMode mode, std::uint64_t bytes);
  // Collective. `packed`: what the VPs of this task have, one behind the other. `mine`: what this task found wrong.
  Op<Status> move_row(Direction direction, const format::LatticeRow& row, std::byte* packed, Status mine = {});
  // Collective: the row in the buffer is stored.
  Op<Status> store_row();

  // Independent. One VP, by itself.
  Status move_one(Direction direction, std::uint64_t local, std::uint64_t at, Piece piece);
  // Bytes of a stream from `position` on that are in rows of holes, or behind the end of the data file.
  Result<std::uint64_t> gap_at(std::uint64_t local, std::uint64_t position) const;
  // This task's part of the row in the buffer is stored.
  Status store_own_row();
  void forget_row() { row_ = {}; }
  // Where the row begins that is in the buffer and not stored, or not by all tasks.
  std::optional<std::uint64_t> unstored_from() const { return row_dirty_ ? std::optional(row_.begin) : std::nullopt; }
  void extend(std::uint64_t end);
  // A read met the end of the data file within the lattice, all of which a file has.
  Status ends_early(std::uint64_t end) const;

 private:
  StoredFile& data() const { return *file_.shared()->stored; }
  Op<Status> move_part(const VpTransfer& what, const format::LatticeRow& row, std::uint64_t at, std::uint64_t bytes,
                       std::uint64_t done);
  Op<Status> take_row(const format::LatticeRow& row, bool overwritten);
  Status move_in_pieces(const VpTransfer& what, const format::LatticeRow& row);
  void forget(const format::LatticeRow& row);

  PlainFile& file_;
  const LocalVps& vps_;
  format::VpGeometry& geometry_;
  format::LatticeRow row_;            // in the buffer; of 0 bytes: none
  std::vector<std::byte> row_bytes_;  // what the VPs of this task have of it, one behind the other
  bool row_dirty_ = false;            // the same on all tasks
  std::vector<std::byte> scratch_;
};

}  // namespace thalweg
