// VpStream: the stream of one VP of this task, with the meaning that C stdio gives to a stream. Borrows the vpfile.
//
// Independent. Several threads may make calls at once for different VPs.
#pragma once

#include "vpfile/vpfile_parts.hpp"

namespace thalweg {

class VpStream {
 public:
  // `local` is below the number of VPs of this task.
  VpStream(VpParts& parts, std::uint64_t local) : parts_(parts), streams_(*parts.streams), local_(local) {}

  Result<std::uint64_t> read(std::span<std::byte> to);
  Result<std::uint64_t> write(std::span<const std::byte> data);
  Status seek(std::int64_t offset, int whence, std::uint64_t cleared = StreamState::kEof | StreamState::kError);
  Status push_back(std::byte byte);  // ungetc
  bool has_pushed() const {
    const std::lock_guard lock(parts_.mutex);
    return streams_.has_pushed(local_);
  }
  std::uint64_t position() const {
    const std::lock_guard lock(parts_.mutex);
    return streams_.position(local_);
  }
  bool at_eof() const { return has(StreamState::kEof); }
  bool failed() const { return has(StreamState::kError); }
  void clear(std::uint64_t flags = StreamState::kEof | StreamState::kError) {
    const std::lock_guard lock(parts_.mutex);
    streams_.clear(local_, flags);
  }
  Status flush() { return store_blocks(parts_, false); }
  Result<std::uint64_t> size() const;  // bytes
  // Moves the position behind bytes that were never written, and returns their number.
  Result<std::uint64_t> skip_gap();
  // The first VP behind this one that may have bytes outside the lattice, or the end of the run of numbers; the next VP
  // where this one has such bytes. Only in a file that is open for reading alone.
  Result<std::uint64_t> end_of_alike() const;

 private:
  // Runs act(), which moves bytes, under the lock of the handle, and returns its result.
  template <class Act>
  auto locked(Direction direction, Act act) -> decltype(act());
  bool has(std::uint64_t flag) const {
    const std::lock_guard lock(parts_.mutex);
    return streams_.has(local_, flag);
  }
  Result<std::uint64_t> read_pushed(std::span<std::byte> to);
  Status move(Direction direction, std::uint64_t position, Piece piece);
  Result<std::uint64_t> gap_at(std::uint64_t position);
  Status fail(std::uint64_t position, Status why);

  VpParts& parts_;
  StreamTable& streams_;
  std::uint64_t local_;
};

}  // namespace thalweg
