// The nodes that views are made of, and how they are joined. Private to this room.
//
// A node has at least one byte, its lowest offset is 0, and its properties are computed once, when it is made. Four
// kinds serve all views:
//
//   bytes    one run
//   repeat   `count` copies of `inner`, `stride` apart
//   blocks   copies of `inner` at listed places, `stride` apart within a block; no inner: blocks of bytes
//   pair     `inner`, and `second` moved by `stride`
//
// A node of copies has at least twice the bytes of one copy, or is that copy, and bytes are fewer than 2^63: so a tree
// is never deeper than some 120 nodes, however many views were put into one another.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "access/view.hpp"

namespace thalweg {

enum class NodeKind : std::uint8_t { bytes, repeat, blocks, pair };

struct NodeBlock {
  std::uint64_t offset = 0;
  std::uint64_t before = 0;  // bytes of all earlier blocks
};

struct ViewNode {
  NodeKind kind = NodeKind::bytes;
  ViewOrder order = ViewOrder::in_order;
  std::uint64_t size = 0;       // bytes seen
  std::uint64_t span = 0;       // highest end of them
  std::uint64_t runs = 1;       // without merging what touches; never more than size
  std::uint64_t first_run = 0;  // bytes from offset 0 on that are surely seen
  std::uint64_t count = 0;
  std::uint64_t stride = 0;
  std::shared_ptr<const ViewNode> inner;
  std::shared_ptr<const ViewNode> second;
  std::vector<NodeBlock> blocks;  // and one more, whose `before` is the end of the last

  // Copies of inner in block i.
  std::uint64_t copies(std::size_t i) const { return (blocks[i + 1].before - blocks[i].before) / inner->size; }
  std::uint64_t block_bytes(std::size_t i) const { return blocks[i + 1].before - blocks[i].before; }
  std::size_t block_of(std::uint64_t position) const;  // which one holds it
};

PlacedNode bytes_node(std::uint64_t n);
// Fail with out_of_range. A node without holes, in order, becomes one run.
Result<PlacedNode> repeat_node(std::uint64_t count, std::uint64_t stride, const PlacedNode& inner);
Result<PlacedNode> pair_node(const PlacedNode& first, const PlacedNode& second);  // the second not below the first
// `extent`: how far copies of inner are apart within a block.
Result<PlacedNode> blocks_node(std::span<const IndexedBlock> given, std::uint64_t extent, const PlacedNode& inner);

}  // namespace thalweg
