#include "vpfile/independent_segment.hpp"

#include <algorithm>
#include <cstring>

namespace thalweg {

using format::BlockRun;

IndependentSegment::IndependentSegment(const Setup& setup)
    : block_(setup.superblocks.geometry.block_bytes),
      stored_(setup.stored),
      superblocks_(setup.superblocks),
      directory_(setup.directory) {}

Status IndependentSegment::load(VpState& state, std::uint64_t vp) {
  if (state.has(VpState::kLoaded)) return {};
  if (stored_) {
    TW_ASSIGN_OR_RETURN(const auto stored, directory_.stored(vp));
    state.bytes = stored.bytes;
    state.last = stored.last;
  }
  state.set(VpState::kLoaded);
  return {};
}

Result<BlockRun> IndependentSegment::find(VpState& state, std::uint64_t vp, std::uint64_t index) {
  std::uint64_t cursor = state.cursor();
  TW_ASSIGN_OR_RETURN(const BlockRun run, directory_.find(vp, index, cursor));
  state.set_cursor(cursor);
  return run;
}

Status IndependentSegment::read(VpState& state, std::uint64_t vp, std::uint64_t from, std::span<std::byte> to) {
  while (!to.empty()) {
    const std::uint64_t within = from % block_;
    TW_ASSIGN_OR_RETURN(BlockRun run, find(state, vp, from / block_));
    run.blocks = std::min(run.blocks, blocks_for(within + to.size()));
    const std::uint64_t bytes = std::min<std::uint64_t>(run.blocks * block_ - within, to.size());
    if (run.is_hole()) {
      std::memset(to.data(), 0, bytes);
    } else {
      TW_ASSIGN_OR_RETURN(const std::byte* memory, superblocks_.blocks(run, false));
      std::memcpy(to.data(), memory + within, bytes);
    }
    from += bytes;
    to = to.subspan(bytes);
  }
  return {};
}

// Blocks that nobody wrote, between the last one and that of `from`.
Status IndependentSegment::skip_to(VpState& state, std::uint64_t vp, std::uint64_t from) {
  const std::uint64_t there = blocks_for(state.bytes);
  const std::uint64_t wanted = from / block_;
  if (wanted <= there) return {};
  TW_RETURN_IF_ERROR(directory_.append(vp, {0, wanted - there}, state.last));
  state.bytes = wanted * block_;
  state.set(VpState::kChanged);
  return {};
}

// Makes new blocks of those of `run`, or of as many of them as there is room for, with the same content.
Result<std::byte*> IndependentSegment::renew(VpState& state, std::uint64_t vp, std::uint64_t index, BlockRun& run) {
  old_.assign(run.blocks * block_, std::byte{0});
  if (!run.is_hole()) {
    TW_ASSIGN_OR_RETURN(const std::byte* memory, superblocks_.blocks(run, false));
    std::memcpy(old_.data(), memory, old_.size());
  }
  const std::uint64_t bytes = std::min<std::uint64_t>(old_.size(), state.bytes - index * block_);
  TW_ASSIGN_OR_RETURN(const auto room, superblocks_.take(vp, index, run.blocks, bytes));
  run = room.run;
  std::memcpy(room.memory, old_.data(), run.blocks * block_);
  TW_RETURN_IF_ERROR(directory_.replace(vp, index, run, state.last));
  state.set_cursor(0);  // entries may have moved
  return room.memory;
}

Status IndependentSegment::overwrite(VpState& state, std::uint64_t vp, std::uint64_t from,
                                     std::span<const std::byte> data) {
  while (!data.empty()) {
    const std::uint64_t within = from % block_;
    const std::uint64_t index = from / block_;
    TW_ASSIGN_OR_RETURN(BlockRun run, find(state, vp, index));
    run.blocks = std::min(run.blocks, blocks_for(within + data.size()));
    std::byte* memory = nullptr;
    if (!run.is_hole() && superblocks_.may_change(run)) {
      TW_ASSIGN_OR_RETURN(memory, superblocks_.blocks(run, true));
    } else {
      TW_ASSIGN_OR_RETURN(memory, renew(state, vp, index, run));
    }
    const std::uint64_t bytes = std::min<std::uint64_t>(run.blocks * block_ - within, data.size());
    std::memcpy(memory + within, data.data(), bytes);
    from += bytes;
    data = data.subspan(bytes);
  }
  return {};
}

Status IndependentSegment::append(VpState& state, std::uint64_t vp, std::uint64_t from,
                                  std::span<const std::byte> data) {
  std::uint64_t within = from % block_;
  std::uint64_t index = from / block_;
  while (!data.empty()) {
    const std::uint64_t bytes_wanted = within + data.size();
    TW_ASSIGN_OR_RETURN(const auto room, superblocks_.take(vp, index, blocks_for(bytes_wanted), bytes_wanted));
    const std::uint64_t bytes = std::min<std::uint64_t>(room.run.blocks * block_ - within, data.size());
    std::memset(room.memory, 0, within);
    std::memcpy(room.memory + within, data.data(), bytes);
    std::memset(room.memory + within + bytes, 0, room.run.blocks * block_ - within - bytes);
    TW_RETURN_IF_ERROR(directory_.append(vp, room.run, state.last));
    state.bytes = index * block_ + within + bytes;
    state.set(VpState::kChanged);
    index += room.run.blocks;
    data = data.subspan(bytes);
    within = 0;
  }
  return {};
}

Status IndependentSegment::write(VpState& state, std::uint64_t vp, std::uint64_t from,
                                 std::span<const std::byte> data) {
  if (data.empty()) return {};
  const std::uint64_t before = state.bytes;
  const Status status = write_parts(state, vp, from, data);
  added_ += state.bytes - before;
  return status;
}

Status IndependentSegment::write_parts(VpState& state, std::uint64_t vp, std::uint64_t from,
                                       std::span<const std::byte> data) {
  TW_RETURN_IF_ERROR(skip_to(state, vp, from));
  const std::uint64_t there = blocks_for(state.bytes) * block_;
  const std::uint64_t end = from + data.size();
  const std::uint64_t kept = from < there ? std::min(there, end) - from : 0;
  if (kept > 0) {
    TW_RETURN_IF_ERROR(overwrite(state, vp, from, data.first(kept)));
    if (from + kept > state.bytes) {
      state.bytes = from + kept;
      state.set(VpState::kGrown);
      state.set(VpState::kChanged);
    }
  }
  return append(state, vp, from + kept, data.subspan(kept));
}

Status IndependentSegment::flush(std::vector<VpState>& states, const LocalVps& vps) {
  for (std::uint64_t local = 0; local < states.size(); ++local) {
    VpState& state = states[local];
    if (!state.has(VpState::kGrown)) continue;
    TW_RETURN_IF_ERROR(superblocks_.tell(vps.number(local), state.bytes));
    state.clear(VpState::kGrown);
  }
  return superblocks_.flush();
}

Status IndependentSegment::finish(std::vector<VpState>& states, const LocalVps& vps) {
  TW_RETURN_IF_ERROR(flush(states, vps));
  for (std::uint64_t local = 0; local < states.size(); ++local) {
    VpState& state = states[local];
    if (!state.has(VpState::kChanged)) continue;
    TW_RETURN_IF_ERROR(directory_.set_bytes(vps.number(local), state.bytes));
    state.clear(VpState::kChanged);
  }
  return directory_.flush();
}

}  // namespace thalweg
