// Lattice: the common part of all streams of a vpfile, the records of the NB segment and the rounds of the CB segment.
// A row is the bytes of all VPs in one of these. The lattice grows only in collective calls.
//
// A row that VPs move in pieces stays in a buffer until it is full, so that each row is moved by one collective access.
#pragma once

#include <limits>
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
  // All arguments are borrowed. The lattice extends `geometry`.
  Lattice(PlainFile& file, const LocalVps& vps, format::VpGeometry& geometry)
      : file_(file), vps_(vps), geometry_(geometry) {}

  // Collective, where all VPs are alike: moves `bytes` bytes of each stream from their common position on, within the
  // lattice or extending it.
  Op<Status> move(const VpTransfer& what, const StreamAccess& all, std::uint64_t bytes);
  // Collective: stores the row in the buffer.
  Op<Status> store_row();

  // Collective. Where nodes are not coherent, another one may have stored this task's own bytes with a row; until a sync
  // tasks that move VPs on their own read older bytes, and what they write may reach the servers before the row.
  Op<Status> sync();
  static constexpr std::uint64_t kEverything = std::numeric_limits<std::uint64_t>::max();
  // Whether rows within or around these bytes of streams were stored since the last sync.
  bool has_unsynced(std::uint64_t begin, std::uint64_t end) const {
    return begin < unsynced_end_ && unsynced_begin_ < end;
  }
  // Collective; the arguments, bytes of streams, are equal on all tasks. Precedes each access of rows: where nodes are not
  // coherent it syncs behind own writes of which all tasks have heard, and before a read of rows stored since the last sync.
  Op<Status> prepare(Direction direction, std::uint64_t begin, std::uint64_t end);
  // Collective. Where tasks differ in the row, all fail. `packed`: the bytes of this task's VPs, one behind the other.
  // `mine`: an error that this task found before.
  Op<Status> transfer_row(Direction direction, const format::LatticeRow& row, std::byte* packed, Status mine);
  // Whether this task has written VPs on its own since the last sync.
  bool own_writes() const { return own_writes_; }
  void note_own_writes() { own_writes_ = true; }
  void hear_own_writes() { heard_own_writes_ = true; }  // of any task

  // Independent: moves bytes of one VP.
  Status move_one(Direction direction, std::uint64_t local, std::uint64_t at, Piece piece);
  // Bytes of a stream from `position` on that are in rows of holes, or behind the end of the data file.
  Result<std::uint64_t> gap_at(std::uint64_t local, std::uint64_t position) const;
  // Stores this task's part of the row in the buffer.
  Status store_own_row();
  void forget_row() { row_ = {}; }
  // Begin of the row in the buffer while it is not stored, or not by all tasks.
  std::optional<std::uint64_t> unstored_from() const { return row_dirty_ ? std::optional(row_.begin) : std::nullopt; }
  void extend(std::uint64_t end);
  // The error of a read that met the end of the data file within the lattice.
  Status ends_early(std::uint64_t end) const;

 private:
  StoredFile& data() const { return *file_.shared()->stored; }
  // Collective: prepares, and transfers the row, of which all tasks know.
  Op<Status> move_row(Direction direction, const format::LatticeRow& row, std::byte* packed, Status mine = {});
  Op<Status> move_part(const VpTransfer& what, const format::LatticeRow& row, std::uint64_t at, std::uint64_t bytes,
                       std::uint64_t done);
  Op<Status> take_row(const format::LatticeRow& row, bool overwritten);
  Status move_in_pieces(const VpTransfer& what, const format::LatticeRow& row);
  void forget(const format::LatticeRow& row);

  PlainFile& file_;
  const LocalVps& vps_;
  format::VpGeometry& geometry_;
  format::LatticeRow row_;            // in the buffer; of 0 bytes: none
  std::vector<std::byte> row_bytes_;  // this task's part of row_, VP after VP
  bool row_dirty_ = false;            // equal on all tasks
  // In streams, of the rows stored since the last sync where nodes are not coherent; equal on all tasks.
  std::uint64_t unsynced_begin_ = kEverything, unsynced_end_ = 0;
  bool own_writes_ = false;
  bool heard_own_writes_ = false;  // equal on all tasks
  std::vector<std::byte> scratch_;
};

}  // namespace thalweg
