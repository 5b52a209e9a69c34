#include "vpfile/stream_transfer.hpp"

#include <cstring>

namespace thalweg {

void VpWalk::next() {
  const std::uint64_t local = local_++;
  const auto strides = what_.vp_strides;
  if (strides.empty()) {
    if (what_.active(local)) at_ += what_.bytes_of(local);
    return;
  }
  for (std::size_t i = counts_.size(); i-- > 0;) {
    at_ += strides[i];
    if (++index_[i] < counts_[i]) return;
    at_ -= strides[i] * static_cast<std::int64_t>(counts_[i]);
    index_[i] = 0;
  }
}

bool lies_packed(const VpTransfer& what, const LocalVps& vps) {
  if (!what.items_touch() && what.bytes > what.item_bytes) return false;
  auto packed = static_cast<std::int64_t>(what.bytes);
  for (std::size_t i = what.vp_strides.size(); i-- > 0;) {
    const std::uint64_t count = vps.box().count[i];
    if (count > 1 && what.vp_strides[i] != packed) return false;
    packed *= static_cast<std::int64_t>(count);
  }
  return true;
}

void copy(const VpTransfer& what, std::byte* memory, std::uint64_t from, std::span<std::byte> bytes) {
  if (what.writes())
    each_piece(what, memory, from, bytes.size(), [&](const std::byte* at, std::uint64_t done, std::uint64_t n) {
      std::memcpy(bytes.data() + done, at, n);
    });
  else
    each_piece(what, memory, from, bytes.size(),
               [&](std::byte* at, std::uint64_t done, std::uint64_t n) { std::memcpy(at, bytes.data() + done, n); });
}

}  // namespace thalweg
