// The nodes of views, and their constructors. Private to src/access.
//
// A node has at least one byte, its lowest offset is 0, and its properties are computed once, when it is made. Four
// kinds serve all views:
//
// bytes    one run
// repeat   `count` copies of `inner`, `stride` apart
// blocks   copies of `inner` at listed places, `stride` apart within a block; no inner: blocks of bytes
// pair     `inner` moved by `lead`, and `second` moved by `stride`; one of them is moved by 0
//
// A node of copies is that one copy or has at least twice its bytes, and pairs are balanced (join_nodes()): two levels
// of them have at most half of the bytes, or end at a node that is no pair. There are fewer than 2^63 bytes: so a tree
// is at most about 200 nodes deep, even for nested views.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "access/view.hpp"
#include "base/checked_math.hpp"

namespace thalweg {

enum class NodeKind : std::uint8_t { bytes, repeat, blocks, pair };

struct NodeBlock {
  std::uint64_t offset = 0;
  std::uint64_t before = 0;  // bytes of all earlier blocks
};

struct ViewNode {
  NodeKind kind = NodeKind::bytes;
  ViewOrder order = ViewOrder::in_order;
  std::uint64_t size = 0;       // bytes of the view
  std::uint64_t span = 0;       // highest end
  std::uint64_t runs = 1;       // without merging runs that touch; never more than size
  std::uint64_t first_run = 0;  // bytes that are surely covered from offset 0 on
  std::uint64_t count = 0;
  std::uint64_t stride = 0;
  std::uint64_t lead = 0;
  std::shared_ptr<const ViewNode> inner;
  std::shared_ptr<const ViewNode> second;
  std::vector<NodeBlock> blocks;  // and one more, whose `before` is the sum of all

  // Copies of inner in block i.
  std::uint64_t copies(std::size_t i) const { return (blocks[i + 1].before - blocks[i].before) / inner->size; }
  std::uint64_t block_bytes(std::size_t i) const { return blocks[i + 1].before - blocks[i].before; }
  std::size_t block_of(std::uint64_t position) const;  // number of the block that holds the position
};

// Stores a + b, or a * b, into *result; true when it exceeds the largest offset.
inline bool no_sum(std::uint64_t a, std::uint64_t b, std::uint64_t* result) {
  return add_overflow(a, b, result) || *result > View::kMost;
}
inline bool no_product(std::uint64_t a, std::uint64_t b, std::uint64_t* result) {
  return mul_overflow(a, b, result) || *result > View::kMost;
}

PlacedNode bytes_node(std::uint64_t n);
// Fail with out_of_range. A node without holes, in order, becomes one run.
Result<PlacedNode> repeat_node(std::uint64_t count, std::uint64_t stride, const PlacedNode& inner);
Result<PlacedNode> pair_node(const PlacedNode& first, const PlacedNode& second);
// The parts, one after the other in their order; none is null.
Result<PlacedNode> join_nodes(std::span<const PlacedNode> parts);
// `extent`: distance of copies of inner within a block.
Result<PlacedNode> blocks_node(std::span<const IndexedBlock> given, std::uint64_t extent, const PlacedNode& inner);

}  // namespace thalweg
