// Rows of the lattice: what all VPs move of one record or round, by one collective access; through a buffer of the row
// where it is not moved as a whole.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/shell_word.hpp"
#include "group/agree.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg {

using format::LatticeRow;

namespace {

constexpr std::uint64_t kPartBytes = std::uint64_t{1} << 18;  // worth a call of its own, and fits a core's cache

}  // namespace

void VpFile::extend_lattice(std::uint64_t end) {
  if (geometry_.buffer_bytes == 0)
    geometry_.nb_bytes = std::max(geometry_.nb_bytes, end);
  else if (end > geometry_.nb_bytes)
    geometry_.cb_bytes = std::max(geometry_.cb_bytes, end - geometry_.nb_bytes);
}

// Collective. `packed`: what the VPs of this task have, one behind the other. `mine`: what this task found wrong.
Op<Status> VpFile::move_whole_row(Direction direction, const LatticeRow& row, std::byte* packed, Status mine) {
  Access access;
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
  Outcome outcome = co_await file_->access(std::move(access));
  const bool cut_off = direction == Direction::read && outcome.end_of_file < row.offset_of(geometry_.n);  // all see it
  if (cut_off && outcome.status.ok()) co_return or_out_of_memory([&] { return ends_early(outcome.end_of_file); });
  co_return std::move(outcome.status);
}

// Of a read that met the end of the data file within the lattice, all of which a file has.
Status VpFile::ends_early(std::uint64_t end) const {
  return Status::error(Code::corrupt_file, "'" + path_ + "' ends at " + std::to_string(end) +
                                               ", within the records of its streams; " + repair_command(path_) +
                                               " brings back what is left");
}

Op<Status> VpFile::store_row() {
  if (!row_.dirty) co_return Status{};
  Status status = co_await move_whole_row(Direction::write, row_.place, row_.bytes.data());
  if (status.ok()) row_.dirty = false;
  co_return status;
}

// Makes `row` the one in the buffer. `overwritten`: all of it will be.
Op<Status> VpFile::take_row(const LatticeRow& row, bool overwritten) {
  if (row_.valid && row_.place.file_offset == row.file_offset && row_.place.bytes == row.bytes) co_return Status{};
  Status status = co_await store_row();
  if (!status.ok()) co_return status;
  row_.valid = false;
  row_.place = row;
  status = or_out_of_memory([&] {
    row_.bytes.resize(vps_.count() * row.bytes);
    return Status{};
  });
  const bool stored = row.begin < stored_end();
  if (stored && !overwritten) {
    if (!status.ok()) {
      Access none;  // the others wait for this task
      none.status = std::move(status);
      Outcome outcome = co_await file_->access(std::move(none));
      co_return std::move(outcome.status);
    }
    status = co_await move_whole_row(Direction::read, row, row_.bytes.data());
  } else {
    if (status.ok()) std::fill(row_.bytes.begin(), row_.bytes.end(), std::byte{0});
    status = co_await agree(group(), std::move(status));
  }
  row_.valid = status.ok();
  co_return status;
}

// `bytes` bytes of each VP, at `at` of its stream, which lie in `row`; in memory they begin `done` bytes behind the
// beginning of what the VP moves.
Op<Status> VpFile::move_through_row(const VpTransfer& what, const LatticeRow& row, std::uint64_t at,
                                    std::uint64_t bytes, std::uint64_t done) {
  const bool writes = what.direction == Direction::write;
  Status status = co_await take_row(row, writes && bytes == row.bytes);
  if (!status.ok()) co_return status;
  const std::uint64_t within = at - row.begin;
  VpWalk walk(what, vps_);
  for (std::uint64_t local = 0; local < vps_.count(); ++local, walk.next()) {
    const std::span<std::byte> place = std::span(row_.bytes).subspan(local * row.bytes + within, bytes);
    if (writes)
      copy_out(what.memory, walk.memory(), done, place);
    else
      copy_in(what.memory, walk.memory(), done, place);
  }
  if (!writes) co_return Status{};
  row_.dirty = true;
  extend_lattice(at + bytes);
  if (at + bytes < row.end()) co_return Status{};
  co_return co_await store_row();
}

void VpFile::forget_row(const LatticeRow& row) {
  if (row_.valid && row_.place.file_offset == row.file_offset) row_.valid = row_.dirty = false;
}

// A whole row whose memory is not packed, part after part through memory that stays in the core's cache. Of this task
// alone.
Status VpFile::move_row_in_parts(const VpTransfer& what, const LatticeRow& row) {
  const std::uint64_t most = std::max<std::uint64_t>(kPartBytes / row.bytes, 1);
  const bool writes = what.direction == Direction::write;
  StoredFile& stored = *file_->shared()->stored;
  scratch_.resize(std::max<std::size_t>(scratch_.size(), most * row.bytes));
  VpWalk walk(what, vps_);
  for (std::uint64_t local = 0; local < vps_.count();) {
    const std::uint64_t run_end = (local / vps_.run_length() + 1) * vps_.run_length();
    const std::uint64_t n = std::min(most, run_end - local);
    const std::uint64_t offset = row.offset_of(vps_.number(local));
    const std::span<std::byte> part = std::span(scratch_).first(n * row.bytes);
    if (!writes) {
      TW_ASSIGN_OR_RETURN(const std::size_t got, stored.read(offset, part));
      if (got < part.size()) return ends_early(offset + got);
    }
    for (std::uint64_t i = 0; i < n; ++i, ++local, walk.next()) {
      const std::span<std::byte> place = part.subspan(i * row.bytes, row.bytes);
      if (writes)
        copy_out(what.memory, walk.memory(), 0, place);
      else
        copy_in(what.memory, walk.memory(), 0, place);
    }
    if (writes) TW_RETURN_IF_ERROR(stored.write(offset, part));
  }
  return {};
}

// Collective, all VPs alike: `bytes` bytes of each stream from their position on, which are in the lattice, or extend
// it.
Op<Status> VpFile::move_rows(const VpTransfer& what, const VpFacts& facts, std::uint64_t bytes) {
  const std::uint64_t position = facts.most_position;
  std::uint64_t done = 0;
  while (done < bytes) {
    const std::uint64_t at = position + done;
    const LatticeRow row = row_at(geometry_, at);
    const std::uint64_t part = std::min(row.end() - at, bytes - done);
    Status status;
    const bool whole = part == row.bytes && part == what.bytes;
    if (whole && last_choice_.mode == VpMode::nb) {
      if (what.direction == Direction::read) status = co_await store_row();
      if (!status.ok()) co_return status;
      forget_row(row);
      status = co_await move_whole_row(what.direction, row, what.memory.base);
      if (status.ok() && what.direction == Direction::write) extend_lattice(at + part);
    } else if (whole && !row_.dirty && facts.least_run >= kPartBytes / row.bytes) {
      forget_row(row);
      Status mine = or_out_of_memory([&] { return move_row_in_parts(what, row); });
      status = co_await agree(group(), std::move(mine));
      if (status.ok() && what.direction == Direction::write) extend_lattice(at + part);
    } else {
      status = co_await move_through_row(what, row, at, part, done);
    }
    if (!status.ok()) co_return status;
    done += part;
  }
  co_return Status{};
}

// One VP, by itself. A row that is in the buffer and not stored yet is there only.
Status VpFile::move_lattice_one(Direction direction, std::uint64_t local, std::uint64_t at, Piece piece) {
  while (piece.bytes > 0) {
    const LatticeRow row = row_at(geometry_, at);
    const std::uint64_t part = std::min(row.end() - at, piece.bytes);
    const std::uint64_t within = at - row.begin;
    const bool here = row_.valid && row_.place.file_offset == row.file_offset && row_.place.bytes == row.bytes;
    std::byte* copy = here ? row_.bytes.data() + local * row.bytes + within : nullptr;
    const std::uint64_t offset = row.offset_of(vps_.number(local)) + within;
    StoredFile& stored = *file_->shared()->stored;
    if (direction == Direction::write) {
      if (copy != nullptr) std::memcpy(copy, piece.memory, part);
      if (copy == nullptr || !row_.dirty) TW_RETURN_IF_ERROR(stored.write(offset, {piece.memory, part}));
    } else if (copy != nullptr) {
      std::memcpy(piece.memory, copy, part);
    } else {
      TW_ASSIGN_OR_RETURN(const std::size_t got, stored.read(offset, {piece.memory, part}));
      if (got < part) return ends_early(offset + got);
    }
    at += part;
    piece.memory += part;
    piece.bytes -= part;
  }
  return {};
}

}  // namespace thalweg
