#include "testing/fault_file.hpp"

#include <algorithm>
#include <cerrno>

#include "os/pieces.hpp"
#include "testing/fault_journal.hpp"

namespace thalweg {

namespace {

std::vector<Piece> first_bytes(std::span<const Piece> pieces, std::uint64_t bytes) {
  std::vector<Piece> first;
  for (const Piece& piece : pieces) {
    first.push_back({piece.memory, std::min(piece.bytes, bytes)});
    bytes -= first.back().bytes;
  }
  return first;
}

}  // namespace

// A shortened transfer need not be aligned any more and uses the buffered path.
Result<std::uint64_t> FaultFile::transfer_some(Manner manner, std::uint64_t offset, std::span<const Piece> pieces) {
  const bool reads = manner.direction == Direction::read;
  TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, bytes_of(pieces, offset, path()));
  const auto move = [&](std::uint64_t n) {
    if (n < bytes) return inner().transfer(manner.direction, offset, first_bytes(pieces, n));
    return manner.direct ? inner().transfer_direct(manner.direction, offset, pieces)
                         : inner().transfer(manner.direction, offset, pieces);
  };
  if (reads) {
    TW_RETURN_IF_ERROR(check_readable());
    return owner_.perform_read({CallKind::read, path(), offset, bytes}, move);
  }
  TW_RETURN_IF_ERROR(owner_.perform_write({CallKind::write, path(), offset, bytes}, inner(),
                                          [&](std::uint64_t n) { return move(n).status(); }));
  return bytes;
}

Status FaultFile::check_readable() const {
  if (readable_) return {};
  return Status::error(Code::wrong_mode, "cannot read '{}': it is open for writing only", path());
}

Result<std::uint64_t> FaultFile::size() {
  Result<std::uint64_t> got(std::uint64_t{0});
  TW_RETURN_IF_ERROR(owner_.perform({CallKind::size, path()}, [&] {
    got = inner().size();
    return got.status();
  }));
  return got;
}

Status FaultFile::truncate(std::uint64_t bytes) {
  return owner_.perform({CallKind::truncate, path(), bytes}, [&] {
    if (owner_.journal_) TW_RETURN_IF_ERROR(owner_.journal_->before_truncation(inner(), bytes));
    TW_RETURN_IF_ERROR(inner().truncate(bytes));
    if (owner_.space_) owner_.space_->truncated(path(), bytes);
    return Status{};
  });
}

Status FaultFile::preallocate(std::uint64_t offset, std::uint64_t bytes) {
  return owner_.perform({CallKind::preallocate, path(), offset, bytes}, [&] {
    if (owner_.space_ && owner_.space_->take(path(), offset, bytes) < bytes) {
      return os_error(ENOSPC, "fault script: cannot reserve {} bytes of '{}'", bytes, path());
    }
    if (owner_.journal_) TW_RETURN_IF_ERROR(owner_.journal_->before_change(inner(), offset, 0));
    return inner().preallocate(offset, bytes);
  });
}

Status FaultFile::release(std::uint64_t offset, std::uint64_t bytes) {
  return owner_.perform({CallKind::release, path(), offset, bytes}, [&] {
    if (owner_.space_) owner_.space_->released(path(), offset, bytes);
    return inner().release(offset, bytes);
  });
}

Status FaultFile::sync() {
  const Status status = owner_.perform({CallKind::sync, path()}, [&] {
    TW_RETURN_IF_ERROR(failed_sync());
    TW_RETURN_IF_ERROR(inner().sync());
    if (owner_.journal_) owner_.journal_->synced(path());
    return Status{};
  });
  const std::lock_guard lock(mutex_);
  if (failed_sync_.ok()) failed_sync_ = status;
  return status;
}

Result<std::uint64_t> FaultFile::next_data(std::uint64_t offset) {
  Result<std::uint64_t> got(std::uint64_t{0});
  TW_RETURN_IF_ERROR(owner_.perform({CallKind::next_data, path(), offset}, [&] {
    got = inner().next_data(offset);
    return got.status();
  }));
  return got;
}

Status FaultFile::close() {
  return owner_.perform({CallKind::close, path()}, [&] { return inner().close(); });
}

Status FaultFile::failed_sync() {
  const std::lock_guard lock(mutex_);
  return failed_sync_;
}

}  // namespace thalweg
