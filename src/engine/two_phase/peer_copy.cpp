#include "engine/two_phase/peer_copy.hpp"

#include <algorithm>
#include <cstring>

namespace thalweg {

namespace {

// Copies `n` pieces of PieceBytes bytes, or of `bytes` bytes where it is 0. Each begins a step behind the one before.
template <std::size_t PieceBytes>
void copy_each(std::byte* to, std::uint64_t to_step, const std::byte* from, std::uint64_t from_step,
               std::uint64_t bytes, std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i, to += to_step, from += from_step)
    std::memcpy(to, from, PieceBytes != 0 ? PieceBytes : bytes);
}

// The sizes of numbers are copied without a call for each.
auto copier_of(std::uint64_t bytes) {
  if (bytes == 4) return copy_each<4>;
  if (bytes == 8) return copy_each<8>;
  return bytes == 16 ? copy_each<16> : copy_each<0>;
}

}  // namespace

void PeerCopy::add(const ExtentRun& run, std::uint64_t end) {
  if (!status_.ok()) return;
  if (together(run) && run.at(run.count - 1).end() <= end) {
    status_ = move_together(run);
    return;
  }
  for (std::uint64_t i = 0; i < run.count; ++i) {
    Extent extent = run.at(i);
    if (extent.offset >= end) return;
    extent.bytes = std::min(extent.bytes, end - extent.offset);
    add_one(extent);
  }
}

void PeerCopy::add_one(const Extent& extent) {
  if (n_ == kMost) flush();
  here_[n_] = {buffer_ + (extent.offset - begin_), extent.bytes};
  there_[n_++] = {extent.memory, extent.bytes};
}

void PeerCopy::flush() {
  if (n_ > 0 && status_.ok()) status_ = copy_peer(direction_, process_, {here_.data(), n_}, {there_.data(), n_});
  n_ = 0;
}

Status PeerCopy::finish() {
  flush();
  return status_;
}

Status PeerCopy::move_together(const ExtentRun& run) {
  std::array<std::byte, kAtOnce> packed;
  const auto copy = copier_of(run.bytes);
  const std::uint64_t at_once = kAtOnce / run.bytes;
  for (std::uint64_t i = 0; i < run.count; i += at_once) {
    const std::uint64_t n = std::min(at_once, run.count - i);
    std::byte* const spread = buffer_ + (run.at(i).offset - begin_);
    if (direction_ == Direction::write) copy(packed.data(), run.bytes, spread, run.offset_step, run.bytes, n);
    iovec here{packed.data(), n * run.bytes};
    iovec there{run.at(i).memory, n * run.bytes};
    TW_RETURN_IF_ERROR(copy_peer(direction_, process_, {&here, 1}, {&there, 1}));
    if (direction_ == Direction::read) copy(spread, run.offset_step, packed.data(), run.bytes, run.bytes, n);
  }
  return {};
}

}  // namespace thalweg
