#include "engine/two_phase/peer_copy.hpp"

#include <algorithm>
#include <cstring>

namespace thalweg {

namespace {

// `n` pieces, each of which begins so much behind the one before.
struct Places {
  std::byte* at;
  std::uint64_t step;
};

template <std::size_t kBytes>
void copy_each(Places to, Places from, std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) std::memcpy(to.at + i * to.step, from.at + i * from.step, kBytes);
}

// The sizes of numbers without a call for each.
void copy_each(Places to, Places from, std::uint64_t bytes, std::uint64_t n) {
  if (bytes == 4) return copy_each<4>(to, from, n);
  if (bytes == 8) return copy_each<8>(to, from, n);
  if (bytes == 16) return copy_each<16>(to, from, n);
  for (std::uint64_t i = 0; i < n; ++i) std::memcpy(to.at + i * to.step, from.at + i * from.step, bytes);
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
  if (n_ > 0 && status_.ok()) status_ = copy_peer(access_, process_, {here_.data(), n_}, {there_.data(), n_});
  n_ = 0;
}

Status PeerCopy::finish() {
  flush();
  return status_;
}

Status PeerCopy::move_together(const ExtentRun& run) {
  std::array<std::byte, kAtOnce> packed;
  const std::uint64_t at_once = kAtOnce / run.bytes;
  for (std::uint64_t i = 0; i < run.count; i += at_once) {
    const std::uint64_t n = std::min(at_once, run.count - i);
    const Places spread{buffer_ + (run.at(i).offset - begin_), run.offset_step};
    const Places dense{packed.data(), run.bytes};
    if (access_ == PeerAccess::write) copy_each(dense, spread, run.bytes, n);
    iovec here{packed.data(), n * run.bytes};
    iovec there{run.at(i).memory, n * run.bytes};
    TW_RETURN_IF_ERROR(copy_peer(access_, process_, {&here, 1}, {&there, 1}));
    if (access_ == PeerAccess::read) copy_each(spread, dense, run.bytes, n);
  }
  return {};
}

}  // namespace thalweg
