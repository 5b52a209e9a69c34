#include "vpfile/streams/independent_segment.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/size_units.hpp"
#include "vpfile/vp_states.hpp"

namespace thalweg {

using format::BlockRun;

IndependentSegment::IndependentSegment(const Setup& setup)
    : block_(setup.superblocks.geometry.block_bytes),
      block_shift_(std::countr_zero(block_)),
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

bool IndependentSegment::load_at_hand(VpState& state, std::uint64_t vp) {
  if (stored_ && directory_.at_hand(vp, 0, false).empty()) return false;
  return load(state, vp).ok();
}

// What one entry leads to.
bool IndependentSegment::read_at_hand(VpState& state, std::uint64_t vp, std::uint64_t from, std::span<std::byte> to) {
  const auto entry = directory_.at_hand(vp, state.cursor(), false);
  if (entry.empty()) return false;
  const format::EntryView view(entry);
  std::uint64_t index = state.cursor() == 0 ? 0 : view.amount();
  if (index_of(from) < index) return false;
  for (std::uint32_t slot = 0; slot < view.used(); ++slot) {
    const BlockRun run = view.run(slot);
    const std::uint64_t begin = index;
    index += run.blocks;
    if (index_of(from) >= index) continue;
    if (run.is_hole()) return false;
    const std::uint64_t skipped = index_of(from) - begin;
    const std::uint64_t there = ((run.blocks - skipped) << block_shift_) - within(from);
    const std::uint64_t bytes = std::min<std::uint64_t>(there, to.size());
    const std::byte* memory = superblocks_.blocks_at_hand({run.address + skipped, blocks_for(within(from) + bytes)});
    if (memory == nullptr) return false;
    std::memcpy(to.data(), memory + within(from), bytes);
    from += bytes;
    to = to.subspan(bytes);
    if (to.empty()) return true;
  }
  return false;
}

// Behind a stream that ends with a block.
bool IndependentSegment::append_blocks_at_hand(VpState& state, std::uint64_t vp, std::span<const std::byte> data) {
  if (within(state.bytes) != 0) return false;
  const auto entry = directory_.at_hand(vp, state.last, true);
  if (entry.empty()) return false;
  format::EntryView tail(entry);
  if (!directory_.has_room(tail)) return false;
  if (stored_ && !BlockDirectory::ends_at(tail, state.last, index_of(state.bytes))) return false;
  const std::uint64_t blocks = blocks_for(data.size());
  BlockRun run;
  std::byte* memory = superblocks_.take_at_hand(vp, index_of(state.bytes), blocks, data.size(), run);
  if (memory == nullptr) return false;
  std::memcpy(memory, data.data(), data.size());
  std::memset(memory + data.size(), 0, blocks * block_ - data.size());
  const std::uint64_t bytes = state.bytes + data.size();
  directory_.append_to(tail, run);
  if (state.last == 0) tail.set_amount(bytes);
  grew(state, bytes);
  added_ += data.size();
  return true;
}

// Into the rest of the last block, and behind it.
bool IndependentSegment::append_at_hand(VpState& state, std::uint64_t vp, std::span<const std::byte> data) {
  const std::uint64_t skipped = within(state.bytes);
  if (skipped == 0) return append_blocks_at_hand(state, vp, data);
  if (stored_) return false;  // a chain may have more blocks than its stream
  const auto entry = directory_.at_hand(vp, state.last, true);
  if (entry.empty()) return false;
  format::EntryView tail(entry);
  const std::uint32_t used = tail.used();
  const BlockRun last = used > 0 ? tail.run(used - 1) : BlockRun{};
  if (last.is_hole()) return false;
  std::byte* block = superblocks_.block_to_change_at_hand(last.address + last.blocks - 1);
  if (block == nullptr) return false;
  const std::size_t kept = std::min<std::size_t>(block_ - skipped, data.size());
  const std::uint64_t before = state.bytes;
  state.bytes += kept;
  if (kept < data.size() && !append_blocks_at_hand(state, vp, data.subspan(kept))) {
    state.bytes = before;
    return false;
  }
  std::memcpy(block + skipped, data.data(), kept);
  added_ += kept;
  if (kept < data.size()) return true;  // a row tells it
  state.set(VpState::kGrown);
  if (state.last == 0)
    tail.set_amount(state.bytes);
  else
    state.set(VpState::kChanged);
  return true;
}

Result<BlockRun> IndependentSegment::find(VpState& state, std::uint64_t vp, std::uint64_t index) {
  std::uint64_t cursor = state.cursor();
  TW_ASSIGN_OR_RETURN(const BlockRun run, directory_.find(vp, index, cursor));
  state.set_cursor(cursor);
  return run;
}

Result<std::uint64_t> IndependentSegment::gap_at(VpState& state, std::uint64_t vp, std::uint64_t from) {
  std::uint64_t cursor = state.cursor();
  TW_ASSIGN_OR_RETURN(const std::uint64_t blocks, directory_.gap_at(vp, index_of(from), cursor));
  state.set_cursor(cursor);
  return blocks == 0 ? 0 : std::min(blocks, kMostOffset >> block_shift_) * block_ - within(from);
}

Status IndependentSegment::read(VpState& state, std::uint64_t vp, std::uint64_t from, std::span<std::byte> to) {
  while (!to.empty()) {
    const std::uint64_t skipped = within(from);
    TW_ASSIGN_OR_RETURN(BlockRun run, find(state, vp, index_of(from)));
    run.blocks = std::min(run.blocks, blocks_for(skipped + to.size()));
    const std::uint64_t bytes = std::min<std::uint64_t>(run.blocks * block_ - skipped, to.size());
    if (run.is_hole()) {
      std::memset(to.data(), 0, bytes);
    } else {
      TW_ASSIGN_OR_RETURN(const std::byte* memory, superblocks_.blocks(run, false));
      std::memcpy(to.data(), memory + skipped, bytes);
    }
    from += bytes;
    to = to.subspan(bytes);
  }
  return {};
}

// Blocks that nobody wrote, between the last one and that of `from`.
Status IndependentSegment::skip_to(VpState& state, std::uint64_t vp, std::uint64_t from) {
  const std::uint64_t there = blocks_for(state.bytes);
  const std::uint64_t wanted = index_of(from);
  if (wanted <= there) return {};
  TW_RETURN_IF_ERROR(directory_.append(vp, {0, wanted - there}, there, wanted * block_, state.last));
  grew(state, wanted * block_);
  return {};
}

// What was appended; the directory may know already how much there is now.
void IndependentSegment::grew(VpState& state, std::uint64_t bytes) {
  state.bytes = bytes;
  state.clear(VpState::kGrown);  // the row of the last block tells it
  if (state.last != 0) state.set(VpState::kChanged);
}

// Makes new blocks of those of `run`, or of as many of them as there is room for, with the same content.
Result<std::byte*> IndependentSegment::renew(VpState& state, std::uint64_t vp, std::uint64_t index, BlockRun& run) {
  old_.assign(run.blocks * block_, std::byte{0});
  if (!run.is_hole()) {
    TW_ASSIGN_OR_RETURN(const std::byte* memory, superblocks_.blocks(run, false));
    std::memcpy(old_.data(), memory, old_.size());
  }
  const std::uint64_t bytes = std::min<std::uint64_t>(old_.size(), state.bytes - index * block_);
  TW_ASSIGN_OR_RETURN(const auto room, superblocks_.find_room(run.blocks));
  run = room.run;
  std::memcpy(room.memory, old_.data(), run.blocks * block_);
  state.set_cursor(0);  // entries move
  TW_RETURN_IF_ERROR(directory_.replace(vp, index, run, state.last));
  superblocks_.take(room, vp, index, bytes);
  return room.memory;
}

Status IndependentSegment::overwrite(VpState& state, std::uint64_t vp, std::uint64_t from,
                                     std::span<const std::byte> data) {
  while (!data.empty()) {
    const std::uint64_t skipped = within(from);
    const std::uint64_t index = index_of(from);
    TW_ASSIGN_OR_RETURN(BlockRun run, find(state, vp, index));
    run.blocks = std::min(run.blocks, blocks_for(skipped + data.size()));
    std::byte* memory = nullptr;
    if (!run.is_hole() && superblocks_.may_change(run)) {
      TW_ASSIGN_OR_RETURN(memory, superblocks_.blocks(run, true));
    } else {
      TW_ASSIGN_OR_RETURN(memory, renew(state, vp, index, run));
    }
    const std::uint64_t bytes = std::min<std::uint64_t>(run.blocks * block_ - skipped, data.size());
    std::memcpy(memory + skipped, data.data(), bytes);
    from += bytes;
    data = data.subspan(bytes);
  }
  return {};
}

Status IndependentSegment::append(VpState& state, std::uint64_t vp, std::uint64_t from,
                                  std::span<const std::byte> data) {
  while (!data.empty()) {
    const std::uint64_t skipped = within(from);
    const std::uint64_t wanted = skipped + data.size();
    TW_ASSIGN_OR_RETURN(const auto room, superblocks_.find_room(blocks_for(wanted)));
    const std::uint64_t taken = room.run.blocks * block_;
    const std::uint64_t bytes = std::min<std::uint64_t>(taken - skipped, data.size());
    if (skipped > 0) std::memset(room.memory, 0, skipped);
    std::memcpy(room.memory + skipped, data.data(), bytes);
    std::memset(room.memory + skipped + bytes, 0, taken - skipped - bytes);
    TW_RETURN_IF_ERROR(directory_.append(vp, room.run, index_of(from), from + bytes, state.last));
    superblocks_.take(room, vp, index_of(from), wanted);
    from += bytes;
    data = data.subspan(bytes);
    grew(state, from);
  }
  return {};
}

Status IndependentSegment::write(VpState& state, std::uint64_t vp, std::uint64_t from,
                                 std::span<const std::byte> data) {
  if (data.empty()) return {};
  const std::uint64_t before = state.bytes;
  const Status status = or_out_of_memory([&] { return write_parts(state, vp, from, data); });
  if (!status.ok() && state.bytes != before) state.set(VpState::kGrown);  // what is left of it may be a gap
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

Status IndependentSegment::flush(VpStates& states, const LocalVps& vps) {
  const auto tell = [&](std::uint64_t local, VpState& state) -> Status {
    if (!state.has(VpState::kGrown)) return {};
    TW_RETURN_IF_ERROR(superblocks_.tell(vps.number(local), state.bytes));
    state.clear(VpState::kGrown);
    return {};
  };
  TW_RETURN_IF_ERROR(states.each(tell));
  return superblocks_.flush();
}

Status IndependentSegment::finish(VpStates& states, const LocalVps& vps) {
  TW_RETURN_IF_ERROR(flush(states, vps));
  const auto set = [&](std::uint64_t local, VpState& state) -> Status {
    if (!state.has(VpState::kChanged)) return {};
    TW_RETURN_IF_ERROR(directory_.set_bytes(vps.number(local), state.bytes));
    state.clear(VpState::kChanged);
    return {};
  };
  TW_RETURN_IF_ERROR(states.each(set));
  return directory_.flush();
}

}  // namespace thalweg
