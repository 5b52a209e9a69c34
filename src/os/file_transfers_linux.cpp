#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>

#include "base/checked_math.hpp"
#include "base/size_units.hpp"
#include "os/file_ops.hpp"
#include "os/pieces.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 30;  // the kernel takes 2 GiB less a page
constexpr int kMostBusyTries = 1000;

static_assert(sizeof(off_t) == 8);

// Whether to repeat a transfer call that failed with `err`. Some network and FUSE file systems answer EAGAIN on
// ordinary files when they are busy.
bool try_again(int err, int* busy_tries) {
  if (err == EINTR) return true;
  if (err != EAGAIN || ++*busy_tries > kMostBusyTries) return false;
  sleep_for(std::chrono::milliseconds(1));
  return true;
}

// One call of the kernel.
ssize_t transfer_once(int fd, const TransferPlace& place, std::span<const iovec> vectors) {
  const TransferCalls& calls = transfer_calls();
  const auto offset = static_cast<off_t>(place.offset);
  const auto count = static_cast<int>(vectors.size());
  const bool writes = place.direction == Direction::write;
  if (count > 1)
    return writes ? calls.write_parts(fd, vectors.data(), count, offset)
                  : calls.read_parts(fd, vectors.data(), count, offset);
  const iovec& only = vectors[0];
  return writes ? calls.write(fd, only.iov_base, only.iov_len, offset)
                : calls.read(fd, only.iov_base, only.iov_len, offset);
}

// Direct I/O must continue at a multiple of the alignment: bytes moved beyond the last one are moved again, unless
// the file ends there. Returns true at the end of the file.
Result<bool> advance_aligned(const FileDescriptor& file, TransferPlace& place, std::uint64_t got,
                             RemainingPieces& remaining) {
  const bool last = got >= remaining.bytes();
  const std::uint64_t whole = last ? got : got - got % place.alignment;
  bool ends = false;
  if (whole < got && place.direction == Direction::read) {
    TW_ASSIGN_OR_RETURN(const std::uint64_t size, file_size(file, place.path));
    ends = place.offset + got >= size;
  }
  remaining.advance(ends ? got : whole);
  place.offset += ends ? got : whole;
  return ends;
}

}  // namespace

TransferCalls& transfer_calls() {
  static TransferCalls calls{::pread, ::preadv, ::pwrite, ::pwritev, ::fdatasync};
  return calls;
}

Status transfer_error(int err, const TransferPlace& place, std::uint64_t bytes) {
  return os_error(err, "cannot {} {} bytes at offset {} of '{}'",
                  place.direction == Direction::write ? "write" : "read", bytes, place.offset, place.path);
}

Result<std::uint64_t> transfer_at(const FileDescriptor& file, TransferPlace place, std::span<const Piece> pieces) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t asked, bytes_of(pieces, place.offset, place.path));
  RemainingPieces remaining(pieces);
  std::array<iovec, IOV_MAX> room;
  int busy_tries = 0;
  while (remaining.bytes() > 0) {
    const ssize_t got = transfer_once(file.get(), place, remaining.next(room, kMostAtOnce));
    // A write that moves 0 bytes, or too few to continue at an aligned offset, would loop for ever.
    const int err = got == 0 ? EIO : got > 0 ? EAGAIN : errno;
    if (got > 0) {
      const std::uint64_t before = remaining.bytes();
      TW_ASSIGN_OR_RETURN(const bool ends, advance_aligned(file, place, static_cast<std::uint64_t>(got), remaining));
      if (ends) break;
      if (remaining.bytes() == before && !try_again(err, &busy_tries))
        return transfer_error(EIO, place, remaining.bytes());
    } else if (got == 0 && place.direction == Direction::read) {
      break;  // the end of the file
    } else if (got == 0 || !try_again(err, &busy_tries)) {
      return transfer_error(err, place, remaining.bytes());
    }
  }
  return asked - remaining.bytes();
}

Result<std::uint64_t> bytes_of(std::span<const Piece> pieces, std::uint64_t offset, const std::string& path) {
  std::uint64_t sum = 0;
  bool too_many = false;
  for (const Piece& piece : pieces) too_many |= add_overflow(sum, piece.bytes, &sum);
  if (!too_many && offset <= kMostOffset && sum <= kMostOffset - offset) return sum;
  return Status::error(Code::out_of_range, "cannot reach {} bytes at offset {} of '{}': files end at 2^63-1",
                       too_many ? "2^64 or more" : std::to_string(sum), offset, path);
}

Status check_direct(std::span<const Piece> pieces, std::uint64_t offset, std::uint32_t alignment,
                    const std::string& path) {
  if (alignment == 0) return Status::error(Code::invalid_argument, "'{}' cannot be reached past the page cache", path);
  const auto is_aligned = [&](std::uint64_t number) { return number % alignment == 0; };
  const auto misfit = [&](const char* what, std::uint64_t value) {
    return Status::error(Code::invalid_argument,
                         "cannot go past the page cache of '{}': the {} {} is not a multiple of {}", path, what, value,
                         alignment);
  };
  if (!is_aligned(offset)) return misfit("offset", offset);
  for (const Piece& piece : pieces) {
    if (!is_aligned(piece.bytes)) return misfit("length", piece.bytes);
    if (const auto address = reinterpret_cast<std::uintptr_t>(piece.memory); piece.bytes > 0 && !is_aligned(address))
      return misfit("address", address);
  }
  return {};
}

RemainingPieces::RemainingPieces(std::span<const Piece> pieces) : pieces_(pieces) {
  for (const Piece& piece : pieces) bytes_ += piece.bytes;
  skip_done();
}

void RemainingPieces::advance(std::uint64_t bytes) {
  bytes_ -= bytes;
  done_ += bytes;
  skip_done();
}

std::span<iovec> RemainingPieces::next(std::span<iovec> room, std::uint64_t most_bytes) const {
  std::size_t count = 0;
  std::uint64_t skip = done_;
  for (const Piece& piece : pieces_) {
    if (count == room.size() || most_bytes == 0) break;
    const std::uint64_t bytes = std::min(piece.bytes - skip, most_bytes);
    if (bytes > 0) room[count++] = {piece.memory + skip, bytes};
    most_bytes -= bytes;
    skip = 0;
  }
  return room.first(count);
}

void RemainingPieces::skip_done() {
  while (!pieces_.empty() && done_ >= pieces_.front().bytes) {
    done_ -= pieces_.front().bytes;
    pieces_ = pieces_.subspan(1);
  }
}

}  // namespace thalweg
