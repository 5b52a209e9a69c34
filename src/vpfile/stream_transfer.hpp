// VpTransfer: the bytes that a task moves between the streams of its VPs and memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "access/extent.hpp"
#include "vpfile/format/geometry.hpp"
#include "vpfile/shape.hpp"

namespace thalweg {

struct VpTransfer {
  Direction direction = Direction::read;
  // Memory of the local VPs: the bytes of a VP are items of `item_bytes` bytes, `item_stride` bytes apart.
  std::byte* base = nullptr;  // borrowed; only read by writes
  std::uint64_t item_bytes = 1;
  std::int64_t item_stride = 1;
  // Distance in bytes from a VP to the next one, for each dimension of the task's box. Empty: the bytes of the VPs lie
  // one behind the other, without room for VPs that take no part or move less.
  std::span<const std::int64_t> vp_strides = {};
  std::uint64_t bytes = 0;              // of each VP
  const std::uint64_t* each = nullptr;  // or of every local VP
  const std::uint8_t* mask = nullptr;   // of every local VP: 0, it takes no part. Null: all do
  std::uint64_t* moved = nullptr;       // of every local VP; 0 for those that take no part. May be null
  Status status = {};                   // an error that the caller found before; sent to all tasks

  bool writes() const { return direction == Direction::write; }
  bool items_touch() const { return item_stride == static_cast<std::int64_t>(item_bytes); }
  bool active(std::uint64_t local) const { return mask == nullptr || mask[local] != 0; }
  std::uint64_t bytes_of(std::uint64_t local) const { return each != nullptr ? each[local] : bytes; }
};

// Walks the local VPs in order, with the begin of each one's memory.
class VpWalk {
 public:
  VpWalk(const VpTransfer& what, const LocalVps& vps) : what_(what), counts_(vps.box().count), at_(what.base) {}
  std::uint64_t local() const { return local_; }
  std::byte* memory() const { return at_; }
  void next();

 private:
  const VpTransfer& what_;
  const VpShape& counts_;
  std::array<std::uint64_t, format::kMostDimensions> index_{};  // in the box
  std::uint64_t local_ = 0;
  std::byte* at_;
};

// Whether all VPs lie one behind the other in memory, in order, each with `bytes` bytes without holes.
bool lies_packed(const VpTransfer& what, const LocalVps& vps);

// Visits the bytes [from, from + bytes) of a VP in memory, item by item; the first and the last one may be visited in
// part: act(memory, done, length). `Whole`: bytes of a whole item where the compiler knows them, else 0.
template <std::uint64_t Whole, class Act>
void each_item(const VpTransfer& what, std::byte* memory, std::uint64_t from, std::uint64_t bytes, Act act) {
  const std::uint64_t item = Whole != 0 ? Whole : what.item_bytes;
  std::byte* at = memory + static_cast<std::int64_t>(from / item) * what.item_stride;
  std::uint64_t done = 0;
  if (const std::uint64_t within = from % item; within != 0) {
    done = std::min(item - within, bytes);
    act(at + within, std::uint64_t{0}, done);
    at += what.item_stride;
  }
  for (; done + item <= bytes; done += item, at += what.item_stride) act(at, done, Whole != 0 ? Whole : item);
  if (done < bytes) act(at, done, bytes - done);
}

// As each_item(), but visits all bytes at once where items touch.
template <class Act>
void each_piece(const VpTransfer& what, std::byte* memory, std::uint64_t from, std::uint64_t bytes, Act act) {
  if (what.items_touch()) return act(memory + from, std::uint64_t{0}, bytes);
  if (what.item_bytes == 8) return each_item<8>(what, memory, from, bytes, act);
  if (what.item_bytes == 4) return each_item<4>(what, memory, from, bytes, act);
  return each_item<0>(what, memory, from, bytes, act);
}

// Copies between `bytes` and the memory of one VP, which begins at `memory`, from its byte `from` on: to `bytes` where
// the transfer writes, else from `bytes`.
void copy(const VpTransfer& what, std::byte* memory, std::uint64_t from, std::span<std::byte> bytes);

}  // namespace thalweg
