#include "vpfile/stream.hpp"

#include <algorithm>
#include <cstdio>

#include "vpfile/vpfile.hpp"

namespace thalweg {

// Ends a failed read or write: the stream has not moved.
Status VpStream::fail(std::uint64_t position, Status why) {
  streams_[local_].position = position;
  streams_[local_].set(StreamState::kError);
  return why;
}

Status VpStream::move(Direction direction, std::uint64_t position, Piece piece) {
  StreamState& state = streams_[local_];
  const std::uint64_t lattice = parts_.geometry.lattice_bytes();
  const std::uint64_t part = position < lattice ? std::min(lattice - position, piece.bytes) : 0;
  if (part > 0) TW_RETURN_IF_ERROR(parts_.lattice->move_one(direction, local_, position, {piece.memory, part}));
  const Piece rest{piece.memory + part, piece.bytes - part};
  if (rest.bytes == 0) return {};
  return parts_.blocks->move(direction, state, parts_.vps.number(local_), position + part - lattice, rest);
}

template <class Act>
auto VpStream::locked(Direction direction, Act act) -> decltype(act()) {
  TW_RETURN_IF_ERROR(parts_.check_mode(direction));
  const std::lock_guard lock(parts_.mutex);
  TW_RETURN_IF_ERROR(parts_.check_record());
  return or_out_of_memory(act);
}

Result<std::uint64_t> VpStream::read(std::span<std::byte> to) {
  return locked(Direction::read, [&]() -> Result<std::uint64_t> {
    streams_.go_apart();
    const std::uint64_t before = streams_[local_].position;
    auto read = or_out_of_memory([&] { return read_pushed(to); });
    if (!read.has_value()) return fail(before, read.error());
    return read;
  });
}

// Reads bytes that were pushed back first.
Result<std::uint64_t> VpStream::read_pushed(std::span<std::byte> to) {
  std::uint64_t done = 0;
  while (done < to.size() && streams_.take_pushed(local_, [&](std::byte byte) { to[done] = byte; })) ++done;
  StreamState& state = streams_[local_];
  TW_RETURN_IF_ERROR(parts_.load(local_));
  const std::uint64_t end = parts_.end_of(local_), left = state.position < end ? end - state.position : 0;
  const std::uint64_t got = std::min<std::uint64_t>(to.size() - done, left);
  TW_RETURN_IF_ERROR(move(Direction::read, state.position, {to.data() + done, got}));
  state.position += got;
  if (done + got < to.size()) state.set(StreamState::kEof);
  return done + got;
}

Result<std::uint64_t> VpStream::write(std::span<const std::byte> data) {
  return locked(Direction::write, [&]() -> Result<std::uint64_t> {
    if (data.empty()) return std::uint64_t{0};
    TW_RETURN_IF_ERROR(parts_.check_alone());
    streams_.go_apart();
    streams_.drop_pushed(local_);
    StreamState& state = streams_[local_];
    const Status status = or_out_of_memory([&]() -> Status {
      TW_RETURN_IF_ERROR(parts_.load(local_));
      const std::uint64_t at = parts_.appends ? parts_.end_of(local_) : state.position;
      if (data.size() > kMostStream || at > kMostStream - data.size()) return parts_.too_long(local_);
      if (at + data.size() > parts_.geometry.lattice_bytes()) TW_RETURN_IF_ERROR(parts_.need_blocks());
      TW_RETURN_IF_ERROR(move(Direction::write, at, {const_cast<std::byte*>(data.data()), data.size()}));
      state.position = at + data.size();
      return {};
    });
    if (!status.ok()) return fail(state.position, status);
    return data.size();
  });
}

Status VpStream::push_back(std::byte byte) {
  const std::lock_guard lock(parts_.mutex);
  if (streams_.position(local_) == 0)
    return Status::error(Code::invalid_argument, "'{}': nothing can be pushed back at the beginning of a stream",
                         parts_.path);
  streams_.push_back(local_, byte);
  return {};
}

Result<std::uint64_t> VpStream::size() const {
  const std::lock_guard lock(parts_.mutex);
  TW_RETURN_IF_ERROR(parts_.load(local_));
  return parts_.end_of(local_);
}

Result<std::uint64_t> VpStream::end_of_alike() const {
  if (parts_.may_write) return Status::error(Code::wrong_mode, "'{}' is open for writing", parts_.path);
  const std::lock_guard lock(parts_.mutex);
  const std::uint64_t run_length = parts_.vps.run_length();
  const std::uint64_t run_end = (local_ / run_length + 1) * run_length;
  if (!parts_.geometry.has_ib()) return run_end;
  TW_RETURN_IF_ERROR(parts_.need_blocks());
  const std::uint64_t number = parts_.vps.number(local_);
  TW_ASSIGN_OR_RETURN(const std::uint64_t next, parts_.blocks->next_stream(number));
  return std::min(run_end, local_ + std::max<std::uint64_t>(next - number, 1));
}

Result<std::uint64_t> VpStream::gap_at(std::uint64_t position) {
  const std::uint64_t lattice = parts_.geometry.lattice_bytes();
  if (position < lattice) return parts_.lattice->gap_at(local_, position);
  StreamState& state = streams_[local_];
  const std::uint64_t from = position - lattice;
  if (!parts_.geometry.has_ib() || from >= state.bytes) return std::uint64_t{0};
  TW_ASSIGN_OR_RETURN(const std::uint64_t gap, parts_.blocks->gap_at(state, parts_.vps.number(local_), from));
  return std::min(gap, state.bytes - from);
}

Result<std::uint64_t> VpStream::skip_gap() {
  if (!parts_.may_read || parts_.may_write)
    return Status::error(Code::wrong_mode, "'{}' is not open for reading alone", parts_.path);
  const std::lock_guard lock(parts_.mutex);
  TW_RETURN_IF_ERROR(parts_.check_record());
  streams_.go_apart();
  TW_RETURN_IF_ERROR(parts_.load(local_));
  if (streams_.has_pushed(local_)) return std::uint64_t{0};
  TW_ASSIGN_OR_RETURN(const std::uint64_t gap, gap_at(streams_[local_].position));
  streams_[local_].position += gap;
  return gap;
}

// Target of a seek of VP `local`. For SEEK_END its stream must be loaded.
static Result<std::uint64_t> seek_target(const VpParts& parts, std::uint64_t local, std::int64_t offset, int whence) {
  std::uint64_t base = 0;
  if (whence == SEEK_CUR) {
    base = parts.streams->position(local);
  } else if (whence == SEEK_END) {
    base = parts.end_of(local);
  } else if (whence != SEEK_SET) {
    return Status::error(Code::invalid_argument, "whence is {}; SEEK_SET, SEEK_CUR or SEEK_END", whence);
  }
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(static_cast<std::int64_t>(base), offset, &sum) && sum >= 0)
    return static_cast<std::uint64_t>(sum);
  const LocalVps& vps = parts.vps;
  return Status::error(Code::invalid_argument, "'{}': cannot seek by {} from {} in the stream of virtual processor {}",
                       parts.path, offset, base, vps.count() > local ? vps.number(local) : 0);
}

Status VpStream::seek(std::int64_t offset, int whence, std::uint64_t cleared) {
  const std::lock_guard lock(parts_.mutex);
  if (whence == SEEK_END) TW_RETURN_IF_ERROR(parts_.load(local_));
  TW_ASSIGN_OR_RETURN(const std::uint64_t target, seek_target(parts_, local_, offset, whence));
  streams_.go_apart();
  streams_[local_].position = target;
  streams_[local_].clear(cleared);
  streams_.drop_pushed(local_);
  return {};
}

Status VpFile::seek(const std::int64_t* offsets, std::int64_t offset, int whence, const std::uint8_t* mask) {
  StreamTable& streams = *parts_.streams;
  const bool ends_differ = whence == SEEK_END && parts_.geometry.has_ib();
  if (offsets == nullptr && mask == nullptr && !ends_differ && !streams.apart()) {
    TW_ASSIGN_OR_RETURN(streams.all().position, seek_target(parts_, 0, offset, whence));
    streams.all().clear(StreamState::kEof | StreamState::kError);
    return {};
  }
  std::vector<std::uint64_t> targets(vps().count());
  const auto takes_part = [&](std::uint64_t local) { return mask == nullptr || mask[local] != 0; };
  streams.make(takes_part);
  for (std::uint64_t local = 0; local < vps().count(); ++local) {
    if (!takes_part(local)) continue;
    if (whence == SEEK_END) TW_RETURN_IF_ERROR(parts_.load(local));
    TW_ASSIGN_OR_RETURN(targets[local],
                        seek_target(parts_, local, offsets != nullptr ? offsets[local] : offset, whence));
  }
  streams.go_apart();
  for (std::uint64_t local = 0; local < vps().count(); ++local) {
    if (!takes_part(local)) continue;
    streams[local].position = targets[local];
    streams[local].clear(StreamState::kEof | StreamState::kError);
    streams.drop_pushed(local);
  }
  streams.come_together();
  return {};
}

}  // namespace thalweg
