#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>

#include "base/size_units.hpp"
#include "os/file_ops.hpp"
#include "os/remaining_parts.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 30;  // the kernel takes 2 GiB less a page
constexpr int kMostBusyTries = 1000;

static_assert(sizeof(off_t) == 8);

std::string action_text(const TransferPlace& place, std::uint64_t bytes) {
  return std::string(place.writes ? "cannot write " : "cannot read ") + std::to_string(bytes) + " bytes at offset " +
         std::to_string(place.offset) + " of '" + place.path + "'";
}

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
  if (count > 1)
    return place.writes ? calls.write_parts(fd, vectors.data(), count, offset)
                        : calls.read_parts(fd, vectors.data(), count, offset);
  const iovec& only = vectors[0];
  return place.writes ? calls.write(fd, only.iov_base, only.iov_len, offset)
                      : calls.read(fd, only.iov_base, only.iov_len, offset);
}

// Direct I/O must continue at a multiple of the alignment: bytes moved beyond the last one are moved again, unless
// the file ends there. Returns true at the end of the file.
template <class Part>
Result<bool> advance_aligned(const FileDescriptor& file, TransferPlace& place, std::uint64_t got,
                             RemainingParts<Part>& remaining) {
  const bool last = got >= remaining.bytes();
  const std::uint64_t whole = last ? got : got - got % place.alignment;
  bool ends = false;
  if (whole < got && !place.writes) {
    TW_ASSIGN_OR_RETURN(const std::uint64_t size, file_size(file, place.path));
    ends = place.offset + got >= size;
  }
  remaining.advance(ends ? got : whole);
  place.offset += ends ? got : whole;
  return ends;
}

template <class Part>
Result<std::uint64_t> transfer_all(const FileDescriptor& file, TransferPlace place, std::span<const Part> parts) {
  RemainingParts<Part> remaining(parts);
  const std::uint64_t asked = remaining.bytes();
  if (place.offset > kMostOffset || asked > kMostOffset - place.offset)
    return Status::error(Code::out_of_range, action_text(place, asked) + ": files end at 2^63-1");
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
        return os_error(EIO, action_text(place, remaining.bytes()));
    } else if (got == 0 && !place.writes) {
      break;  // the end of the file
    } else if (got == 0 || !try_again(err, &busy_tries)) {
      return os_error(err, action_text(place, remaining.bytes()));
    }
  }
  return asked - remaining.bytes();
}

}  // namespace

TransferCalls& transfer_calls() {
  static TransferCalls calls{::pread, ::preadv, ::pwrite, ::pwritev, ::fdatasync};
  return calls;
}

Status write_at(const FileDescriptor& file, const std::string& path, std::uint64_t offset,
                std::span<const ByteView> parts) {
  return transfer_all(file, {path, true, offset}, parts).status();
}

Result<std::size_t> read_at(const FileDescriptor& file, const std::string& path, std::uint64_t offset, ByteSpan data) {
  const iovec part{data.data(), data.size()};
  return transfer_all(file, {path, false, offset}, std::span(&part, 1));
}

Result<std::uint64_t> transfer_at(const FileDescriptor& file, const TransferPlace& place,
                                  std::span<const iovec> parts) {
  return transfer_all(file, place, parts);
}

}  // namespace thalweg
