// A collective access in which the VPs go different ways: each for itself, what of it is in the lattice together. All
// agree at the end.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/size_units.hpp"
#include "engine/transfer/queues.hpp"
#include "group/agree.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg {

using format::LatticeRow;

namespace {

constexpr std::size_t kExtentsAtOnce = std::size_t{1} << 15;

// The stretches of memory of one VP, from byte `from` of it on, as extents of the file behind `offset`.
void add_extents(const VpMemory& layout, std::byte* memory, std::uint64_t from, std::uint64_t bytes,
                 std::uint64_t offset, std::vector<Extent>& extents) {
  if (layout.items_touch()) {
    extents.push_back({memory + from, bytes, offset});
    return;
  }
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t item = (from + done) / layout.item_bytes;
    const std::uint64_t within = (from + done) % layout.item_bytes;
    const std::uint64_t part = std::min(layout.item_bytes - within, bytes - done);
    extents.push_back({memory + static_cast<std::int64_t>(item) * layout.item_stride + within, part, offset + done});
    done += part;
  }
}

}  // namespace

// What the VP does: moves its position on and says how much it moves; what of it is in the lattice is only put down.
Status VpFile::begin_apart(const VpTransfer& what, std::uint64_t local, std::byte* memory, std::vector<Extent>& extents,
                           std::uint64_t* moved) {
  VpState& state = states_[local];
  const bool writes = what.direction == Direction::write;
  if (writes && appends_) state.position = end_of(local);
  std::uint64_t bytes = what.bytes_of(local);
  std::uint64_t done = 0;
  if (!writes) {
    if (!pushed_.empty()) TW_RETURN_IF_ERROR(give_pushed(what.memory, local, memory, bytes, &done));
    const std::uint64_t end = end_of(local);
    const std::uint64_t there = state.position < end ? end - state.position : 0;
    if (bytes - done > there) state.set(VpState::kEof);
    bytes = std::min(bytes, done + there);
  } else {
    drop_pushed(local);
    if (bytes > kMostStream || state.position > kMostStream - bytes) return too_long(local);
  }
  const std::uint64_t lattice = geometry_.lattice_bytes();
  while (done < bytes && state.position < lattice) {
    const LatticeRow row = row_at(geometry_, state.position);
    const std::uint64_t part = std::min({row.end() - state.position, lattice - state.position, bytes - done});
    const std::uint64_t offset = row.offset_of(vps_.number(local)) + (state.position - row.begin);
    add_extents(what.memory, memory, done, part, offset, extents);
    state.position += part;
    done += part;
  }
  if (done < bytes) TW_RETURN_IF_ERROR(move_independent(what, local, memory, done, bytes - done));
  *moved = bytes;
  return {};
}

// What lies behind the lattice.
Status VpFile::move_independent(const VpTransfer& what, std::uint64_t local, std::byte* memory, std::uint64_t done,
                                std::uint64_t bytes) {
  VpState& state = states_[local];
  const std::uint64_t from = state.position - geometry_.lattice_bytes();
  const std::uint64_t vp = vps_.number(local);
  const bool writes = what.direction == Direction::write;
  std::span<std::byte> piece;
  if (what.memory.items_touch()) {
    piece = {memory + done, bytes};
  } else {
    scratch_.resize(std::max<std::size_t>(scratch_.size(), bytes));
    piece = std::span(scratch_).first(bytes);
    if (writes) copy_out(what.memory, memory, done, piece);
  }
  TW_RETURN_IF_ERROR(writes ? segment_->write(state, vp, from, piece) : segment_->read(state, vp, from, piece));
  if (!writes && !what.memory.items_touch()) copy_in(what.memory, memory, done, piece);
  state.position += bytes;
  return {};
}

// What was put down: this task's alone.
Op<Status> VpFile::move_extents(Direction direction, std::vector<Extent>& extents) {
  if (extents.empty()) co_return Status{};
  Access access;
  access.direction = direction;
  access.extents = extents;
  Outcome outcome = co_await access_one(*file_->shared(), std::move(access), blocking_io());
  Status status = std::move(outcome.status);
  const bool cut_off = direction == Direction::read && outcome.end_of_file < kMostOffset;
  if (cut_off && status.ok()) status = or_out_of_memory([&] { return ends_early(outcome.end_of_file); });
  extents.clear();
  co_return status;
}

// Of most VPs, when all move at once: what lies behind the lattice in one piece, and needs nothing but what is at hand.
bool VpFile::move_at_hand(const VpTransfer& what, std::uint64_t local, std::byte* memory) {
  VpState& state = states_[local];
  const std::uint64_t lattice = geometry_.lattice_bytes();
  const std::uint64_t bytes = what.bytes_of(local);
  if (state.position < lattice) return false;
  if (!state.has(VpState::kLoaded) && !segment_->load_at_hand(state, vps_.number(local))) return false;
  const std::uint64_t from = state.position - lattice;
  if (what.direction == Direction::write) {
    if (from != state.bytes || bytes > kMostStream || state.position > kMostStream - bytes) return false;
    if (!segment_->append_at_hand(state, vps_.number(local), {memory, bytes})) return false;
  } else {
    if (from > state.bytes || bytes > state.bytes - from) return false;
    if (!segment_->read_at_hand(state, vps_.number(local), from, {memory, bytes})) return false;
  }
  state.position += bytes;
  if (what.moved != nullptr) what.moved[local] = bytes;
  return true;
}

Op<Status> VpFile::move_each(const VpTransfer& what) {
  std::vector<Extent> extents;
  std::vector<Begun> begun;  // whose extents were only put down
  VpWalk walk(what, vps_);
  const bool plain = segment_ != nullptr && what.memory.items_touch() && pushed_.empty() && !appends_;
  for (std::uint64_t local = 0; local < vps_.count(); ++local, walk.next()) {
    if (!what.active(local) || what.bytes_of(local) == 0) continue;
    if (plain && move_at_hand(what, local, walk.memory())) continue;
    const Begun here{local, states_[local].position};
    Status status = or_out_of_memory([&] {
      begun.push_back(here);
      std::uint64_t moved = 0;
      TW_RETURN_IF_ERROR(load(local));
      TW_RETURN_IF_ERROR(begin_apart(what, local, walk.memory(), extents, &moved));
      if (what.moved != nullptr) what.moved[local] = moved;
      return Status{};
    });
    if (!status.ok()) take_back(what, here);
    if (extents.empty()) begun.clear();
    if (status.ok() && extents.size() < kExtentsAtOnce) continue;
    Status put_down = co_await move_begun(what, extents, begun);
    if (status.ok()) status = std::move(put_down);
    if (!status.ok()) co_return status;
  }
  co_return co_await move_begun(what, extents, begun);
}

// What was put down; where that fails, none of these VPs has moved.
Op<Status> VpFile::move_begun(const VpTransfer& what, std::vector<Extent>& extents, std::vector<Begun>& begun) {
  Status status = co_await move_extents(what.direction, extents);
  if (!status.ok())
    for (const Begun& one : begun) take_back(what, one);
  begun.clear();
  co_return status;
}

void VpFile::take_back(const VpTransfer& what, const Begun& begun) {
  states_[begun.local].position = begun.position;
  states_[begun.local].set(VpState::kError);
  if (what.moved != nullptr) what.moved[begun.local] = 0;
}

// Where no VP could begin. Where there is no memory to tell them apart, others are flagged, too.
void VpFile::flag_all(const VpTransfer& what) {
  const Status flagged = or_out_of_memory([&] {
    for (std::uint64_t local = 0; local < vps_.count(); ++local)
      if (what.active(local) && what.bytes_of(local) > 0) states_[local].set(VpState::kError);
    return Status{};
  });
  if (!flagged.ok()) states_.untouched().set(VpState::kError);
}

// Each VP for itself; what of it is in the lattice goes through the engine, many VPs at a time. All agree at the end.
Op<Status> VpFile::move_apart(const VpTransfer& what) {
  const bool writes = what.direction == Direction::write;
  Status status = or_out_of_memory([&] {
    TW_RETURN_IF_ERROR(go_apart());
    states_.make([&](std::uint64_t local) { return what.active(local) && what.bytes_of(local) > 0; });
    return writes || geometry_.has_ib() ? make_segment() : Status{};
  });
  if (writes) row_.valid = false;
  if (status.ok())
    status = co_await move_each(what);
  else if (apart_)
    flag_all(what);
  else
    error_ = true;
  come_together();
  co_return co_await agree(group(), std::move(status));
}

}  // namespace thalweg
