#include "access/view_node.hpp"

#include <algorithm>
#include <utility>

namespace thalweg {

namespace {

using NodePtr = std::shared_ptr<ViewNode>;

Status too_large(const char* what) {
  return Status::error(Code::out_of_range, "a view {}; offsets and sizes are below 2^63", what);
}

// The order of at least two copies of a node, `stride` apart.
ViewOrder order_of_copies(const ViewNode& inner, std::uint64_t stride) {
  if (inner.order == ViewOrder::overlapping || stride < inner.first_run) return ViewOrder::overlapping;
  return inner.order == ViewOrder::in_order && stride >= inner.span ? ViewOrder::in_order : ViewOrder::unordered;
}

// Completes a node: a node in order whose size equals its span becomes one run.
PlacedNode finished(NodePtr node, std::uint64_t shift) {
  if (node->size > node->span) node->order = ViewOrder::overlapping;
  if (node->order == ViewOrder::in_order && node->size == node->span) return {bytes_node(node->size).node, shift};
  return {std::move(node), shift};
}

}  // namespace

std::size_t ViewNode::block_of(std::uint64_t position) const {
  const auto behind = std::upper_bound(blocks.begin(), blocks.end(), position,
                                       [](std::uint64_t at, const NodeBlock& block) { return at < block.before; });
  return static_cast<std::size_t>(behind - blocks.begin()) - 1;
}

PlacedNode bytes_node(std::uint64_t n) {
  if (n == 0) return {};
  auto node = std::make_shared<ViewNode>();
  node->size = node->span = node->first_run = n;
  return {std::move(node), 0};
}

Result<PlacedNode> repeat_node(std::uint64_t count, std::uint64_t stride, const PlacedNode& inner) {
  if (count == 0 || inner.node == nullptr) return PlacedNode{};
  if (count == 1) return inner;
  const ViewNode& one = *inner.node;
  std::uint64_t last = 0;
  std::uint64_t end = 0;
  auto node = std::make_shared<ViewNode>();
  if (no_product(count - 1, stride, &last) || no_sum(last, one.span, &node->span) ||
      no_sum(inner.shift, node->span, &end))
    return too_large("ends behind the last offset of a file");
  if (no_product(count, one.size, &node->size)) return too_large("has too many bytes");
  if (one.kind == NodeKind::repeat && one.count * one.stride == stride)
    return repeat_node(count * one.count, one.stride, {one.inner, inner.shift});

  node->kind = NodeKind::repeat;
  node->count = count;
  node->stride = stride;
  node->runs = count * one.runs;
  node->first_run = stride <= one.first_run ? last + one.first_run : one.first_run;
  node->order = order_of_copies(one, stride);
  node->inner = inner.node;
  return finished(std::move(node), inner.shift);
}

Result<PlacedNode> pair_node(const PlacedNode& first, const PlacedNode& second) {
  if (first.node == nullptr) return second;
  if (second.node == nullptr) return first;
  const ViewNode& one = *first.node;
  const ViewNode& two = *second.node;
  auto node = std::make_shared<ViewNode>();
  const std::uint64_t shift = std::min(first.shift, second.shift);
  node->lead = first.shift - shift;
  node->stride = second.shift - shift;
  node->span = std::max(node->lead + one.span, node->stride + two.span);
  if (no_sum(one.size, two.size, &node->size)) return too_large("has too many bytes");

  node->kind = NodeKind::pair;
  node->runs = one.runs + two.runs;
  node->first_run = node->lead == 0 ? one.first_run : two.first_run;
  node->order = std::max(one.order, two.order);
  if (node->stride < node->lead + one.span) node->order = std::max(node->order, ViewOrder::unordered);
  if (node->stride < node->lead + one.first_run && node->lead < node->stride + two.first_run)
    node->order = ViewOrder::overlapping;
  node->inner = first.node;
  node->second = second.node;
  return finished(std::move(node), shift);
}

namespace {

// Whether a part is a pair with more than half of `bytes`.
bool is_heavy(const PlacedNode& part, std::uint64_t bytes) {
  return part.node->kind == NodeKind::pair && part.node->size > bytes / 2;
}

// Appends the part, or what it is made of where it is heavy.
void add_part(const PlacedNode& part, std::uint64_t bytes, std::vector<PlacedNode>& parts) {
  const ViewNode& node = *part.node;
  if (!is_heavy(part, bytes)) return parts.push_back(part);
  add_part({node.inner, part.shift + node.lead}, bytes, parts);
  add_part({node.second, part.shift + node.stride}, bytes, parts);
}

// Pairs of the parts, `bytes` in all: divided as near to the middle of the bytes as the parts allow.
Result<PlacedNode> paired(std::span<const PlacedNode> parts, std::uint64_t bytes) {
  if (parts.size() == 1) return parts.front();
  std::vector<PlacedNode> finer;
  if (std::ranges::any_of(parts, [&](const PlacedNode& part) { return is_heavy(part, bytes); })) {
    for (const PlacedNode& part : parts) add_part(part, bytes, finer);
    parts = finer;
  }
  std::size_t n = 0;
  std::uint64_t before = 0;
  const auto begins = [&] { return before + parts[n].node->size / 2 < bytes / 2; };  // more of it than its rest
  while (n == 0 || (n + 1 < parts.size() && begins())) before += parts[n++].node->size;
  TW_ASSIGN_OR_RETURN(const PlacedNode first, paired(parts.first(n), before));
  TW_ASSIGN_OR_RETURN(const PlacedNode second, paired(parts.subspan(n), bytes - before));
  return pair_node(first, second);
}

}  // namespace

Result<PlacedNode> join_nodes(std::span<const PlacedNode> parts) {
  std::uint64_t bytes = 0;
  for (const PlacedNode& part : parts)
    if (no_sum(bytes, part.node->size, &bytes)) return too_large("has too many bytes");
  return parts.empty() ? PlacedNode{} : paired(parts, bytes);
}

namespace {

// Appends a block of copies of `one` to the node, or extends the last one.
Status add_block(ViewNode& node, const ViewNode& one, std::uint64_t offset, std::uint64_t count) {
  std::uint64_t last = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;
  if (no_product(count - 1, node.stride, &last) || no_sum(offset, last, &end) || no_sum(end, one.span, &end))
    return too_large("ends behind the last offset of a file");
  if (no_product(count, one.size, &bytes) || no_sum(node.size, bytes, &bytes)) return too_large("has too many bytes");
  const bool goes_on =
      !node.blocks.empty() &&
      offset == node.blocks.back().offset + (node.size - node.blocks.back().before) / one.size * node.stride;
  if (!goes_on) node.blocks.push_back({offset, node.size});
  node.size = bytes;
  node.span = std::max(node.span, end);
  return {};
}

// Makes offsets count from the lowest one; returns that.
std::uint64_t take_shift(ViewNode& node) {
  std::uint64_t lowest = View::kMost;
  for (const NodeBlock& block : node.blocks) lowest = std::min(lowest, block.offset);
  for (NodeBlock& block : node.blocks) block.offset -= lowest;
  node.span -= lowest;
  return lowest;
}

// A block: its first run, which is surely covered, and its end.
struct Reach {
  std::uint64_t begin = 0;
  std::uint64_t seen = 0;
  std::uint64_t end = 0;
  bool operator<(const Reach& other) const { return begin < other.begin; }
};

ViewOrder order_of(const ViewNode& node) {
  ViewOrder order = ViewOrder::in_order;
  std::vector<Reach> all;
  all.reserve(node.blocks.size());
  for (std::size_t i = 0; i + 1 < node.blocks.size(); ++i) {
    const std::uint64_t begin = node.blocks[i].offset;
    if (node.inner == nullptr) {
      const std::uint64_t end = begin + node.block_bytes(i);
      all.push_back({begin, end, end});
      continue;
    }
    const std::uint64_t n = node.copies(i);
    all.push_back({begin, begin + node.inner->first_run, begin + (n - 1) * node.stride + node.inner->span});
    order = std::max(order, n > 1 ? order_of_copies(*node.inner, node.stride) : node.inner->order);
  }
  const auto falls = [](const Reach& a, const Reach& b) { return b.begin < a.end; };
  if (std::adjacent_find(all.begin(), all.end(), falls) == all.end()) return order;
  std::sort(all.begin(), all.end());
  std::uint64_t seen = 0;
  for (const Reach& reach : all) {
    if (reach.begin < seen) return ViewOrder::overlapping;
    seen = std::max(seen, reach.seen);
  }
  return std::max(order, ViewOrder::unordered);
}

void summarise_blocks(ViewNode& node) {
  node.blocks.push_back({node.span, node.size});
  node.runs = node.inner == nullptr ? node.blocks.size() - 1 : node.size / node.inner->size * node.inner->runs;
  for (std::size_t i = 0; i + 1 < node.blocks.size(); ++i)
    if (node.blocks[i].offset == 0)
      node.first_run = std::max(node.first_run, node.inner == nullptr ? node.block_bytes(i) : node.inner->first_run);
  node.order = order_of(node);
}

}  // namespace

Result<PlacedNode> blocks_node(std::span<const IndexedBlock> given, std::uint64_t extent, const PlacedNode& inner) {
  if (inner.node == nullptr) return PlacedNode{};
  const ViewNode& one = *inner.node;
  const bool singles = std::ranges::all_of(given, [](const IndexedBlock& block) { return block.count <= 1; });
  auto node = std::make_shared<ViewNode>();
  node->kind = NodeKind::blocks;
  node->stride = singles && one.kind == NodeKind::bytes ? one.size : extent;
  node->blocks.reserve(given.size() + 1);
  for (const IndexedBlock& block : given) {
    if (block.count == 0) continue;
    std::uint64_t offset = 0;
    if (no_sum(block.displacement, inner.shift, &offset)) return too_large("begins behind the last offset");
    TW_RETURN_IF_ERROR(add_block(*node, one, offset, block.count));
  }
  if (node->size == 0) return PlacedNode{};
  const std::uint64_t shift = take_shift(*node);
  if (node->blocks.size() == 1) return repeat_node(node->size / one.size, node->stride, {inner.node, shift});
  const bool as_bytes = one.kind == NodeKind::bytes && node->stride == one.size;
  if (!as_bytes) node->inner = inner.node;
  summarise_blocks(*node);
  return finished(std::move(node), shift);
}

}  // namespace thalweg
