// What one VP does by itself, and what all VPs of a task do without asking other tasks: positions and flags.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/size_units.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg {

Status VpFile::check_local(std::uint64_t local) const {
  if (local < vps_.count()) return {};
  return Status::error(Code::invalid_argument, "'" + path_ + "': this task has " + std::to_string(vps_.count()) +
                                                   " virtual processors, and none with local number " +
                                                   std::to_string(local));
}

// Of an array without NAME.meta: no VP can tell by itself how long its records are.
Status VpFile::check_record() const {
  if (geometry_.record_bytes != 0 || geometry_.nb_bytes == 0) return {};
  return Status::error(Code::invalid_argument,
                       "'" + path_ +
                           "' has no NAME.meta, so the first access of all tells the size of its records; "
                           "make that first, or give the hint record_bytes");
}

Status VpFile::too_long(std::uint64_t local) const {
  return Status::error(Code::out_of_range, "'" + path_ + "': the stream of virtual processor " +
                                               std::to_string(vps_.count() > local ? vps_.number(local) : 0) +
                                               " would be longer than it may");
}

Status VpFile::go_apart() {
  if (apart_) return {};
  VpState all;
  all.position = position_;
  if (eof_) all.set(VpState::kEof);
  if (error_) all.set(VpState::kError);
  const auto take = [&all](std::uint64_t, VpState& state) {
    state.position = all.position;
    state.clear(VpState::kEof);
    state.clear(VpState::kError);
    state.cursor_and_flags |= all.cursor_and_flags;
    return Status{};
  };
  if (states_.empty()) {
    states_.assign(vps_.count(), all);
  } else {
    TW_RETURN_IF_ERROR(states_.each(take));
    TW_RETURN_IF_ERROR(take(0, states_.untouched()));
  }
  apart_ = true;
  return {};
}

void VpFile::come_together() {
  if (!apart_ || states_.empty() || !pushed_.empty()) return;
  const VpState first = states_.look(0);
  const bool alike = states_.all([&](const VpState& state) {
    return state.position == first.position && !state.has(VpState::kEof) && !state.has(VpState::kError);
  });
  if (!alike) return;
  position_ = first.position;
  eof_ = error_ = apart_ = false;
}

Status VpFile::load(std::uint64_t local) {
  VpState& state = states_[local];
  if (state.has(VpState::kLoaded)) return {};
  if (!geometry_.has_ib()) return {};  // there may be one later
  TW_RETURN_IF_ERROR(make_segment());
  return segment_->load(state, vps_.number(local));
}

std::uint64_t VpFile::end_of(std::uint64_t local) const {
  return geometry_.lattice_bytes() + (states_.empty() ? 0 : states_.look(local).bytes);
}

Status VpFile::give_pushed(const VpMemory& layout, std::uint64_t local, std::byte* memory, std::uint64_t bytes,
                           std::uint64_t* done) {
  const auto pushed = pushed_.find(local);
  if (pushed == pushed_.end()) return {};
  std::string& waiting = pushed->second;
  for (; *done < bytes && !waiting.empty(); ++*done) {
    const auto byte = static_cast<std::byte>(waiting.back());
    copy_in(layout, memory, *done, {&byte, 1});
    waiting.pop_back();
    ++states_[local].position;
  }
  if (waiting.empty()) pushed_.erase(pushed);
  return {};
}

Status VpFile::move_alone(Direction direction, std::uint64_t local, Piece piece) {
  VpState& state = states_[local];
  const std::uint64_t lattice = geometry_.lattice_bytes();
  const std::uint64_t part = state.position < lattice ? std::min(lattice - state.position, piece.bytes) : 0;
  if (part > 0) {
    TW_RETURN_IF_ERROR(move_lattice_one(direction, local, state.position, {piece.memory, part}));
    state.position += part;
  }
  const std::span<std::byte> rest{piece.memory + part, piece.bytes - part};
  if (rest.empty()) return {};
  const std::uint64_t vp = vps_.number(local);
  const std::uint64_t from = state.position - lattice;
  TW_RETURN_IF_ERROR(direction == Direction::write ? segment_->write(state, vp, from, rest)
                                                   : segment_->read(state, vp, from, rest));
  state.position += rest.size();
  return {};
}

Result<std::uint64_t> VpFile::read_one(std::uint64_t local, std::span<std::byte> to) {
  TW_RETURN_IF_ERROR(check_local(local));
  if (!may_read_) return Status::error(Code::wrong_mode, "'" + path_ + "' is not open for reading");
  const std::lock_guard lock(mutex_);
  TW_RETURN_IF_ERROR(check_record());
  TW_RETURN_IF_ERROR(go_apart());
  const std::uint64_t before = states_[local].position;
  auto read = read_alone(local, to);
  if (!read.has_value()) fail_alone(local, before);
  return read;
}

Result<std::uint64_t> VpFile::read_alone(std::uint64_t local, std::span<std::byte> to) {
  TW_RETURN_IF_ERROR(load(local));
  VpState& state = states_[local];
  std::uint64_t done = 0;
  if (!pushed_.empty()) TW_RETURN_IF_ERROR(give_pushed(VpMemory{}, local, to.data(), to.size(), &done));
  const std::uint64_t end = end_of(local);
  const std::uint64_t there = state.position < end ? end - state.position : 0;
  const std::uint64_t bytes = std::min<std::uint64_t>(to.size() - done, there);
  if (to.size() - done > there) state.set(VpState::kEof);
  TW_RETURN_IF_ERROR(move_alone(Direction::read, local, {to.data() + done, bytes}));
  return done + bytes;
}

Result<std::uint64_t> VpFile::write_one(std::uint64_t local, std::span<const std::byte> data) {
  TW_RETURN_IF_ERROR(check_local(local));
  if (!may_write_) return Status::error(Code::wrong_mode, "'" + path_ + "' is not open for writing");
  const std::lock_guard lock(mutex_);
  TW_RETURN_IF_ERROR(check_record());
  if (data.empty()) return std::uint64_t{0};
  TW_RETURN_IF_ERROR(go_apart());
  const std::uint64_t before = states_[local].position;
  const Status status = write_alone(local, data);
  if (status.ok()) return data.size();
  fail_alone(local, before);
  return status;
}

// Nothing has moved.
void VpFile::fail_alone(std::uint64_t local, std::uint64_t position) {
  states_[local].position = position;
  states_[local].set(VpState::kError);
}

Status VpFile::write_alone(std::uint64_t local, std::span<const std::byte> data) {
  TW_RETURN_IF_ERROR(load(local));
  VpState& state = states_[local];
  drop_pushed(local);
  if (appends_) state.position = end_of(local);
  if (data.size() > kMostStream || state.position > kMostStream - data.size()) return too_long(local);
  if (state.position + data.size() > geometry_.lattice_bytes()) TW_RETURN_IF_ERROR(make_segment());
  return move_alone(Direction::write, local, {const_cast<std::byte*>(data.data()), data.size()});
}

Status VpFile::push_back(std::uint64_t local, unsigned char byte) {
  TW_RETURN_IF_ERROR(check_local(local));
  const std::lock_guard lock(mutex_);
  TW_RETURN_IF_ERROR(go_apart());
  VpState& state = states_[local];
  if (state.position == 0)
    return Status::error(Code::invalid_argument,
                         "'" + path_ + "': nothing can be pushed back at the beginning of a stream");
  pushed_[local].push_back(static_cast<char>(byte));
  --state.position;
  state.clear(VpState::kEof);
  return {};
}

std::uint64_t VpFile::position(std::uint64_t local) {
  const std::lock_guard lock(mutex_);
  return apart_ ? states_.look(local).position : position_;
}

bool VpFile::flag(std::uint64_t local, VpState::Flag which) {
  const std::lock_guard lock(mutex_);
  if (!apart_) return which == VpState::kEof ? eof_ : error_;
  return states_.look(local).has(which);
}

void VpFile::clear_flags(std::uint64_t local) {
  const std::lock_guard lock(mutex_);
  if (!apart_ && !eof_ && !error_) return;
  if (!go_apart().ok()) return;
  const VpState& state = states_.look(local);
  if (!state.has(VpState::kEof) && !state.has(VpState::kError)) return;
  states_[local].clear(VpState::kEof);
  states_[local].clear(VpState::kError);
}

void VpFile::clear_eof(std::uint64_t local) {
  const std::lock_guard lock(mutex_);
  if (apart_ && states_.look(local).has(VpState::kEof)) states_[local].clear(VpState::kEof);
}

void VpFile::clear_flags(const std::uint8_t* mask) {
  if (mask == nullptr && !apart_) {
    eof_ = error_ = false;
    return;
  }
  for (std::uint64_t local = 0; local < vps_.count(); ++local)
    if (mask == nullptr || mask[local] != 0) clear_flags(local);
  come_together();
}

Result<std::uint64_t> VpFile::size_of(std::uint64_t local) {
  TW_RETURN_IF_ERROR(check_local(local));
  const std::lock_guard lock(mutex_);
  if (!geometry_.has_ib()) return geometry_.lattice_bytes();
  if (states_.empty()) {
    const bool apart = apart_;
    TW_RETURN_IF_ERROR(go_apart());
    if (!apart) come_together();
  }
  TW_RETURN_IF_ERROR(load(local));
  return end_of(local);
}

Result<std::uint64_t> VpFile::end_of_alike(std::uint64_t local) {
  TW_RETURN_IF_ERROR(check_local(local));
  if (may_write_) return Status::error(Code::wrong_mode, "'" + path_ + "' is open for writing");
  const std::lock_guard lock(mutex_);
  const std::uint64_t run_end = (local / vps_.run_length() + 1) * vps_.run_length();
  if (!geometry_.has_ib()) return run_end;
  TW_RETURN_IF_ERROR(make_segment());
  const std::uint64_t number = vps_.number(local);
  TW_ASSIGN_OR_RETURN(const std::uint64_t next, segment_->next_entry(number));
  return std::min(run_end, local + std::max<std::uint64_t>(next - number, 1));
}

// Rows of holes, or what is behind the end of the data file.
Result<std::uint64_t> VpFile::gap_in_lattice(std::uint64_t local, std::uint64_t position) const {
  StoredFile& data = *file_->shared()->stored;
  const format::LatticeRow row = row_at(geometry_, position);
  const std::uint64_t offset = row.offset_of(vps_.number(local)) + (position - row.begin);
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, data.size());
  const std::uint64_t segment_end = position < geometry_.nb_bytes ? geometry_.nb_bytes : geometry_.lattice_bytes();
  if (offset >= size) return segment_end - position;
  TW_ASSIGN_OR_RETURN(const std::uint64_t next, data.next_data(offset));
  const std::uint64_t rows = (next - offset) / (row.bytes * geometry_.n);
  const std::uint64_t bytes = rows > 0 ? rows * row.bytes : std::min(next - offset, row.end() - position);
  return std::min(bytes, segment_end - position);
}

Result<std::uint64_t> VpFile::gap_at(std::uint64_t local, std::uint64_t position) {
  const std::uint64_t lattice = geometry_.lattice_bytes();
  if (position < lattice) return gap_in_lattice(local, position);
  VpState& state = states_[local];
  const std::uint64_t from = position - lattice;
  if (!geometry_.has_ib() || from >= state.bytes) return std::uint64_t{0};
  TW_ASSIGN_OR_RETURN(const std::uint64_t gap, segment_->gap_at(state, vps_.number(local), from));
  return std::min(gap, state.bytes - from);
}

Result<std::uint64_t> VpFile::skip_gap(std::uint64_t local) {
  TW_RETURN_IF_ERROR(check_local(local));
  if (!may_read_ || may_write_) return Status::error(Code::wrong_mode, "'" + path_ + "' is not open for reading alone");
  const std::lock_guard lock(mutex_);
  TW_RETURN_IF_ERROR(check_record());
  TW_RETURN_IF_ERROR(go_apart());
  TW_RETURN_IF_ERROR(load(local));
  if (pushed_.count(local) != 0) return std::uint64_t{0};
  TW_ASSIGN_OR_RETURN(const std::uint64_t gap, gap_at(local, states_[local].position));
  states_[local].position += gap;
  return gap;
}

// Of a state that is loaded where its end is asked for.
Result<std::uint64_t> VpFile::target(std::uint64_t local, std::int64_t offset, int whence) {
  std::uint64_t base = 0;
  if (whence == SEEK_CUR) {
    base = apart_ ? states_.look(local).position : position_;
  } else if (whence == SEEK_END) {
    base = end_of(local);
  } else if (whence != SEEK_SET) {
    return Status::error(Code::invalid_argument,
                         "whence is " + std::to_string(whence) + "; SEEK_SET, SEEK_CUR or SEEK_END");
  }
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(static_cast<std::int64_t>(base), offset, &sum) && sum >= 0)
    return static_cast<std::uint64_t>(sum);
  return Status::error(Code::invalid_argument, "'" + path_ + "': cannot seek by " + std::to_string(offset) + " from " +
                                                   std::to_string(base) + " in the stream of virtual processor " +
                                                   std::to_string(vps_.count() > local ? vps_.number(local) : 0));
}

Status VpFile::seek_one(std::uint64_t local, std::int64_t offset, int whence) {
  TW_RETURN_IF_ERROR(check_local(local));
  const std::lock_guard lock(mutex_);
  TW_RETURN_IF_ERROR(go_apart());
  if (whence == SEEK_END) TW_RETURN_IF_ERROR(load(local));
  TW_ASSIGN_OR_RETURN(states_[local].position, target(local, offset, whence));
  states_[local].clear(VpState::kEof);
  drop_pushed(local);
  return {};
}

Status VpFile::seek(const std::int64_t* offsets, std::int64_t offset, int whence, const std::uint8_t* mask) {
  const bool ends_differ = whence == SEEK_END && geometry_.has_ib();
  if (offsets == nullptr && mask == nullptr && !ends_differ && !apart_) {
    TW_ASSIGN_OR_RETURN(position_, target(0, offset, whence));
    eof_ = false;
    return {};
  }
  TW_RETURN_IF_ERROR(go_apart());
  std::vector<std::uint64_t> targets(vps_.count());
  const auto takes_part = [&](std::uint64_t local) { return mask == nullptr || mask[local] != 0; };
  states_.make(takes_part);
  for (std::uint64_t local = 0; local < vps_.count(); ++local) {
    if (!takes_part(local)) continue;
    if (whence == SEEK_END) TW_RETURN_IF_ERROR(load(local));
    TW_ASSIGN_OR_RETURN(targets[local], target(local, offsets != nullptr ? offsets[local] : offset, whence));
  }
  for (std::uint64_t local = 0; local < vps_.count(); ++local) {
    if (!takes_part(local)) continue;
    states_[local].position = targets[local];  // takes no memory any more
    states_[local].clear(VpState::kEof);
    drop_pushed(local);
  }
  come_together();
  return {};
}

}  // namespace thalweg
