#include "vpfile/lattice.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/shell_word.hpp"
#include "group/agree.hpp"

namespace thalweg {

using format::LatticeRow;

namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 18;  // worth a call of its own, and fits a core's cache

}  // namespace

void Lattice::extend(std::uint64_t end) {
  if (geometry_.buffer_bytes == 0)
    geometry_.nb_bytes = std::max(geometry_.nb_bytes, end);
  else if (end > geometry_.nb_bytes)
    geometry_.cb_bytes = std::max(geometry_.cb_bytes, end - geometry_.nb_bytes);
}

Op<Status> Lattice::move_row(Direction direction, const LatticeRow& row, std::byte* packed, Status mine) {
  mine = mine.or_else(co_await prepare(direction, row.begin, row.end()));
  co_return co_await transfer_row(direction, row, packed, std::move(mine));
}

Op<Status> Lattice::transfer_row(Direction direction, const LatticeRow& row, std::byte* packed, Status mine) {
  TaskAccess access;
  access.direction = direction;
  std::vector<Extent> extents;
  access.status = or_out_of_memory([&] {
    if (!mine.ok()) return mine;
    extents.reserve(vps_.n_runs());
    for (std::uint64_t run = 0; run < vps_.n_runs(); ++run)
      extents.push_back({packed + run * vps_.run_length() * row.bytes, vps_.run_length() * row.bytes,
                         row.offset_of(vps_.run_begin(run))});
    return Status{};
  });
  access.extents = extents;
  Outcome outcome = co_await file_.access(std::move(access));
  const bool cut_off = direction == Direction::read && outcome.end_of_file < row.offset_of(geometry_.n);  // all see it
  if (cut_off && outcome.status.ok()) co_return ends_early(outcome.end_of_file);
  co_return std::move(outcome.status);
}

Op<Status> Lattice::sync() {
  Status synced = co_await file_.sync();
  if (!synced.ok()) co_return synced;
  unsynced_begin_ = kEverything;
  unsynced_end_ = 0;
  own_writes_ = heard_own_writes_ = false;
  co_return synced;
}

// Writes of one row need no order: each page has the same aggregator in all of them.
Op<Status> Lattice::prepare(Direction direction, std::uint64_t begin, std::uint64_t end) {
  if (file_.shared()->is_coherent) co_return Status{};
  const bool reads = direction == Direction::read;
  if (heard_own_writes_ || (reads && has_unsynced(begin, end))) TW_CO_RETURN_IF_ERROR(co_await sync());
  if (reads) co_return Status{};
  unsynced_begin_ = std::min(unsynced_begin_, begin);
  unsynced_end_ = std::max(unsynced_end_, end);
  co_return Status{};
}

Status Lattice::ends_early(std::uint64_t end) const {
  return Status::error(Code::corrupt_file,
                       "'{}' ends at {}, within the records of its streams; {} brings back what is left", data().path(),
                       end, repair_command(data().path()));
}

Op<Status> Lattice::store_row() {
  if (!row_dirty_) co_return Status{};
  Status status = co_await move_row(Direction::write, row_, row_bytes_.data());
  if (status.ok()) row_dirty_ = false;
  co_return status;
}

// Makes `row` the row in the buffer. `overwritten`: all of it will be, so it is not read.
Op<Status> Lattice::take_row(const LatticeRow& row, bool overwritten) {
  if (row_ == row) co_return Status{};
  TW_CO_RETURN_IF_ERROR(co_await store_row());
  row_ = {};
  Status status = or_out_of_memory([&] { row_bytes_.resize(vps_.count() * row.bytes); });
  if (!overwritten && row.begin < geometry_.lattice_bytes()) {
    status = co_await move_row(Direction::read, row, row_bytes_.data(), std::move(status));
  } else {
    if (status.ok()) std::fill(row_bytes_.begin(), row_bytes_.end(), std::byte{0});
    status = co_await agree(file_.group(), std::move(status));
  }
  if (status.ok()) row_ = row;
  co_return status;
}

// Moves `bytes` bytes of each VP from `at` of its stream on, which lie in `row`; in memory they begin at byte `done` of
// the VP's transfer.
Op<Status> Lattice::move_part(const VpTransfer& what, const LatticeRow& row, std::uint64_t at, std::uint64_t bytes,
                              std::uint64_t done) {
  const bool writes = what.writes();
  TW_CO_RETURN_IF_ERROR(co_await take_row(row, writes && bytes == row.bytes));
  const std::uint64_t within = at - row.begin;
  VpWalk walk(what, vps_);
  for (std::uint64_t local = 0; local < vps_.count(); ++local, walk.next()) {
    copy(what, walk.memory(), done, std::span(row_bytes_).subspan(local * row.bytes + within, bytes));
  }
  if (!writes) co_return Status{};
  row_dirty_ = true;
  extend(at + bytes);
  if (at + bytes < row.end()) co_return Status{};
  co_return co_await store_row();
}

void Lattice::forget(const LatticeRow& row) {
  if (row_.file_offset != row.file_offset) return;
  row_ = {};
  row_dirty_ = false;
}

// Independent: moves this task's part of a whole row whose memory is not packed, in pieces, through memory that stays
// in the core's cache.
Status Lattice::move_in_pieces(const VpTransfer& what, const LatticeRow& row) {
  const std::uint64_t most = std::max<std::uint64_t>(kPieceBytes / row.bytes, 1);
  const bool writes = what.writes();
  scratch_.resize(std::max<std::size_t>(scratch_.size(), most * row.bytes));
  VpWalk walk(what, vps_);
  for (std::uint64_t local = 0; local < vps_.count();) {
    const std::uint64_t run_end = (local / vps_.run_length() + 1) * vps_.run_length();
    const std::uint64_t n = std::min(most, run_end - local);
    const std::uint64_t offset = row.offset_of(vps_.number(local));
    const std::span<std::byte> part = std::span(scratch_).first(n * row.bytes);
    if (!writes) {
      TW_ASSIGN_OR_RETURN(const std::size_t got, data().read(offset, part));
      if (got < part.size()) return ends_early(offset + got);
    }
    for (std::uint64_t i = 0; i < n; ++i, ++local, walk.next())
      copy(what, walk.memory(), 0, part.subspan(i * row.bytes, row.bytes));
    if (writes) TW_RETURN_IF_ERROR(data().write(offset, part));
  }
  return {};
}

Op<Status> Lattice::move(const VpTransfer& what, const StreamAccess& all, std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t at = all.most_position + done;
    const LatticeRow row = row_at(geometry_, at);
    const std::uint64_t part = std::min(row.end() - at, bytes - done);
    const bool whole = part == row.bytes && part == what.bytes;
    const bool packed = whole && all.strided == 0;
    const bool may_go_alone = !what.writes() || file_.shared()->is_coherent;  // parts of pages go through aggregators
    const bool in_pieces = whole && !packed && !row_dirty_ && may_go_alone && all.least_run >= kPieceBytes / row.bytes;
    // A row in the buffer that is not stored is kept until it is stored, or written over with success.
    if (packed && (!what.writes() || row_ != row)) TW_CO_RETURN_IF_ERROR(co_await store_row());
    if ((packed && !row_dirty_) || in_pieces) forget(row);
    Status status;
    if (packed) {
      status = co_await move_row(what.direction, row, what.base);
      if (status.ok()) forget(row);
    } else if (in_pieces) {
      Status mine = co_await prepare(what.direction, row.begin, row.end());
      if (mine.ok()) mine = or_out_of_memory([&] { return move_in_pieces(what, row); });
      status = co_await agree(file_.group(), std::move(mine));
    } else {
      status = co_await move_part(what, row, at, part, done);
    }
    if (!status.ok()) co_return status;
    if (what.writes()) extend(at + part);
    done += part;
  }
  co_return Status{};
}

// While a row in the buffer is not stored, it is read and written only there.
Status Lattice::move_one(Direction direction, std::uint64_t local, std::uint64_t at, Piece piece) {
  while (piece.bytes > 0) {
    const LatticeRow row = row_at(geometry_, at);
    const std::uint64_t part = std::min(row.end() - at, piece.bytes);
    const std::uint64_t within = at - row.begin;
    std::byte* copy = row_ == row ? row_bytes_.data() + local * row.bytes + within : nullptr;
    const std::uint64_t offset = row.offset_of(vps_.number(local)) + within;
    const bool stores = direction == Direction::write && (copy == nullptr || !row_dirty_);
    if ((stores || copy == nullptr) && has_unsynced(at, at + part))
      return Status::error(
          Code::unsafe,
          "'{}': collective writes since the last sync have stored bytes at or around {} of this virtual "
          "processor, which other nodes may not see yet; first call tw_vpfile_sync_all() on all tasks",
          data().path(), at);
    own_writes_ |= stores;
    if (direction == Direction::write) {
      if (copy != nullptr) std::memcpy(copy, piece.memory, part);
      if (stores) TW_RETURN_IF_ERROR(data().write(offset, {piece.memory, part}));
    } else if (copy != nullptr) {
      std::memcpy(piece.memory, copy, part);
    } else {
      TW_ASSIGN_OR_RETURN(const std::size_t got, data().read(offset, {piece.memory, part}));
      if (got < part) return ends_early(offset + got);
    }
    at += part;
    piece.memory += part;
    piece.bytes -= part;
  }
  return {};
}

Result<std::uint64_t> Lattice::gap_at(std::uint64_t local, std::uint64_t position) const {
  const LatticeRow row = row_at(geometry_, position);
  const std::uint64_t offset = row.offset_of(vps_.number(local)) + (position - row.begin);
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, data().size());
  const std::uint64_t segment_end = position < geometry_.nb_bytes ? geometry_.nb_bytes : geometry_.lattice_bytes();
  if (offset >= size) return segment_end - position;
  TW_ASSIGN_OR_RETURN(const std::uint64_t next, data().next_data(offset));
  const std::uint64_t rows = (next - offset) / (row.bytes * geometry_.n);
  const std::uint64_t bytes = rows > 0 ? rows * row.bytes : std::min(next - offset, row.end() - position);
  return std::min(bytes, segment_end - position);
}

Status Lattice::store_own_row() {
  if (!row_dirty_) return {};
  const std::uint64_t run_bytes = vps_.run_length() * row_.bytes;
  for (std::uint64_t run = 0; run < vps_.n_runs(); ++run) {
    const std::span<const std::byte> part = std::span(row_bytes_).subspan(run * run_bytes, run_bytes);
    TW_RETURN_IF_ERROR(data().write(row_.offset_of(vps_.run_begin(run)), part));
  }
  return {};
}

}  // namespace thalweg
