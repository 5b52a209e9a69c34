#include "vpfile/vp_transfer.hpp"

#include <algorithm>
#include <cstring>

namespace thalweg {

void VpWalk::next() {
  if (what_.memory.vp_strides.empty()) {
    if (what_.active(local_)) at_ += what_.bytes_of(local_);
    ++local_;
    return;
  }
  ++local_;
  const auto strides = what_.memory.vp_strides;
  for (std::size_t i = counts_.size(); i-- > 0;) {
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

// The items of [from, from + bytes), which may begin and end within one: act(memory, done, length). `Whole`: bytes of a
// whole item where that is known when this is compiled, else 0.
template <std::uint64_t Whole, class Act>
void each_item(const VpMemory& layout, std::byte* memory, std::uint64_t from, std::uint64_t bytes, Act act) {
  const std::uint64_t item = Whole != 0 ? Whole : layout.item_bytes;
  std::byte* at = memory + static_cast<std::int64_t>(from / item) * layout.item_stride;
  std::uint64_t done = 0;
  if (const std::uint64_t within = from % item; within != 0) {
    done = std::min(item - within, bytes);
    act(at + within, std::uint64_t{0}, done);
    at += layout.item_stride;
  }
  for (; done + item <= bytes; done += item, at += layout.item_stride) act(at, done, Whole != 0 ? Whole : item);
  if (done < bytes) act(at, done, bytes - done);
}

template <class Act>
void each_stretch(const VpMemory& layout, std::byte* memory, std::uint64_t from, std::uint64_t bytes, Act act) {
  if (layout.items_touch()) return act(memory + from, std::uint64_t{0}, bytes);
  if (layout.item_bytes == 8) return each_item<8>(layout, memory, from, bytes, act);
  if (layout.item_bytes == 4) return each_item<4>(layout, memory, from, bytes, act);
  return each_item<0>(layout, memory, from, bytes, act);
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
