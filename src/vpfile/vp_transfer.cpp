#include "vpfile/vp_transfer.hpp"

#include <algorithm>
#include <cstring>

namespace thalweg {

void VpWalk::next() {
  if (index_.empty()) {
    if (what_.active(local_)) at_ += what_.bytes_of(local_);
    ++local_;
    return;
  }
  ++local_;
  const auto strides = what_.memory.vp_strides;
  for (std::size_t i = index_.size(); i-- > 0;) {
    at_ += strides[i];
    if (++index_[i] < counts_[i]) return;
    at_ -= strides[i] * static_cast<std::int64_t>(counts_[i]);
    index_[i] = 0;
  }
}

bool lies_packed(const VpTransfer& what, const LocalVps& vps) {
  const VpMemory& memory = what.memory;
  if (!memory.items_touch() && what.bytes > memory.item_bytes) return false;
  if (memory.vp_strides.empty()) return true;
  auto packed = static_cast<std::int64_t>(what.bytes);
  for (std::size_t i = memory.vp_strides.size(); i-- > 0;) {
    const std::uint64_t count = vps.box().count[i];
    if (count > 1 && memory.vp_strides[i] != packed) return false;
    packed *= static_cast<std::int64_t>(count);
  }
  return true;
}

namespace {

// The stretches of [from, from + bytes) that lie in one piece, in order: act(memory, done, length).
template <class Act>
void each_stretch(const VpMemory& layout, std::byte* memory, std::uint64_t from, std::uint64_t bytes, Act act) {
  if (layout.items_touch()) return act(memory + from, std::uint64_t{0}, bytes);
  std::uint64_t done = 0;
  while (done < bytes) {
    const std::uint64_t item = (from + done) / layout.item_bytes;
    const std::uint64_t within = (from + done) % layout.item_bytes;
    const std::uint64_t length = std::min(layout.item_bytes - within, bytes - done);
    act(memory + static_cast<std::int64_t>(item) * layout.item_stride + within, done, length);
    done += length;
  }
}

}  // namespace

void copy_out(const VpMemory& layout, const std::byte* memory, std::uint64_t from, std::span<std::byte> to) {
  each_stretch(layout, const_cast<std::byte*>(memory), from, to.size(),
               [&](const std::byte* at, std::uint64_t done, std::uint64_t n) { std::memcpy(to.data() + done, at, n); });
}

void copy_in(const VpMemory& layout, std::byte* memory, std::uint64_t from, std::span<const std::byte> bytes) {
  each_stretch(layout, memory, from, bytes.size(),
               [&](std::byte* at, std::uint64_t done, std::uint64_t n) { std::memcpy(at, bytes.data() + done, n); });
}

}  // namespace thalweg
