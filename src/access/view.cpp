#include "access/view.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "access/view_node.hpp"

namespace thalweg {

namespace {

Status extent_too_large() { return Status::error(Code::out_of_range, "the extent of a view passes 2^63-1"); }

// The offset of byte `position` of a node. *run: the number of its run, which is that of the runs that begin before it.
std::uint64_t locate_in(const ViewNode* node, std::uint64_t position, std::uint64_t* run) {
  std::uint64_t offset = 0;
  *run = 0;
  while (node->kind != NodeKind::bytes) {
    const ViewNode* inner = node->inner.get();
    if (node->kind == NodeKind::pair) {
      const bool behind = position >= inner->size;
      offset += behind ? node->stride : node->lead;
      if (behind) {
        position -= inner->size;
        *run += inner->runs;
      }
      node = behind ? node->second.get() : inner;
      continue;
    }
    if (inner != nullptr) *run += position / inner->size * inner->runs;  // copies have equally many, in every block
    if (node->kind == NodeKind::blocks) {
      const std::size_t i = node->block_of(position);
      offset += node->blocks[i].offset;
      position -= node->blocks[i].before;
      if (inner == nullptr) {
        *run += i;
        break;
      }
    }
    offset += position / inner->size * node->stride;
    position %= inner->size;
    node = inner;
  }
  return offset + position;
}

// Merges runs that touch before they are visited.
struct MergedRuns {
  const std::function<void(ViewRun)>& visit;
  ViewRun run;
  void add(std::uint64_t offset, std::uint64_t bytes) {
    if (run.bytes > 0 && run.end() == offset) {
      run.bytes += bytes;
      return;
    }
    if (run.bytes > 0) visit(run);
    run = {offset, bytes};
  }
};

void walk(const ViewNode& node, std::uint64_t origin, std::uint64_t from, std::uint64_t to, MergedRuns& runs);

// Visits the bytes from `from` to `to` of copies of the inner node, the first one at `base`.
void walk_copies(const ViewNode& node, std::uint64_t base, std::uint64_t from, std::uint64_t to, MergedRuns& runs) {
  const ViewNode& inner = *node.inner;
  std::uint64_t skip = from % inner.size;
  for (std::uint64_t offset = base + from / inner.size * node.stride; from < to; offset += node.stride, skip = 0) {
    const std::uint64_t n = std::min(inner.size - skip, to - from);
    if (inner.kind == NodeKind::bytes) {
      runs.add(offset + skip, n);
    } else {
      walk(inner, offset, skip, skip + n, runs);
    }
    from += n;
  }
}

// Visits the bytes from `from` to `to` of a node at `origin`. A tree is at most about 200 nodes deep.
void walk(const ViewNode& node, std::uint64_t origin, std::uint64_t from, std::uint64_t to, MergedRuns& runs) {
  switch (node.kind) {
    case NodeKind::bytes:
      return runs.add(origin + from, to - from);
    case NodeKind::repeat:
      return walk_copies(node, origin, from, to, runs);
    case NodeKind::pair: {
      const std::uint64_t middle = node.inner->size;
      if (from < middle) walk(*node.inner, origin + node.lead, from, std::min(to, middle), runs);
      if (to > middle) walk(*node.second, origin + node.stride, std::max(from, middle) - middle, to - middle, runs);
      return;
    }
    case NodeKind::blocks:
      for (std::size_t i = node.block_of(from); from < to; ++i) {
        const NodeBlock& block = node.blocks[i];
        const std::uint64_t end = std::min(to, node.blocks[i + 1].before);
        if (node.inner == nullptr) {
          runs.add(origin + block.offset + (from - block.before), end - from);
        } else {
          walk_copies(node, origin + block.offset, from - block.before, end - block.before, runs);
        }
        from = end;
      }
  }
}

}  // namespace

Result<View> View::bytes(std::uint64_t n) {
  if (n > kMost) return extent_too_large();
  return View(bytes_node(n), n);
}

Result<View> View::contiguous(std::uint64_t count, const View& inner) {
  std::uint64_t extent = 0;
  if (no_product(count, inner.extent_, &extent)) return extent_too_large();
  TW_ASSIGN_OR_RETURN(PlacedNode placed, repeat_node(count, inner.extent_, inner.placed_));
  return View(std::move(placed), extent);
}

Result<View> View::strided(std::uint64_t count, std::uint64_t block, std::uint64_t stride, const View& inner) {
  TW_ASSIGN_OR_RETURN(const View one, contiguous(block, inner));
  if (count == 0 || block == 0) return View();
  std::uint64_t extent = 0;
  if (no_product(count - 1, stride, &extent) || no_sum(extent, one.extent_, &extent)) return extent_too_large();
  TW_ASSIGN_OR_RETURN(PlacedNode placed, repeat_node(count, stride, one.placed_));
  return View(std::move(placed), extent);
}

namespace {

// Extends the extent of a view by a block, whose elements have extent `each`.
Status add_extent(const IndexedBlock& block, std::uint64_t each, std::uint64_t& extent) {
  std::uint64_t end = 0;
  if (block.count == 0) return {};
  if (no_product(block.count, each, &end) || no_sum(block.displacement, end, &end)) return extent_too_large();
  extent = std::max(extent, end);
  return {};
}

}  // namespace

Result<View> View::indexed(std::span<const IndexedBlock> blocks, const View& inner) {
  std::uint64_t extent = 0;
  for (const IndexedBlock& block : blocks) TW_RETURN_IF_ERROR(add_extent(block, inner.extent_, extent));
  TW_ASSIGN_OR_RETURN(PlacedNode placed, blocks_node(blocks, inner.extent_, inner.placed_));
  return View(std::move(placed), extent);
}

// Neighbours in the list with one element become one node, and so do neighbours that are runs of bytes.
Result<View> View::structure(std::span<const IndexedBlock> blocks, std::span<const View* const> elements) {
  TW_ASSIGN_OR_RETURN(const View byte, bytes(1));
  std::uint64_t extent = 0;
  std::vector<PlacedNode> parts;
  std::vector<IndexedBlock> alike;
  const View* of = &byte;  // what the blocks alike are made of
  const auto end_part = [&]() -> Status {
    TW_ASSIGN_OR_RETURN(PlacedNode part, blocks_node(std::exchange(alike, {}), of->extent_, of->placed_));
    if (part.node != nullptr) parts.push_back(std::move(part));
    return {};
  };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    IndexedBlock block = blocks[i];
    const View* element = elements[i];
    TW_RETURN_IF_ERROR(add_extent(block, element->extent_, extent));
    if (block.count == 0 || element->size() == 0) continue;
    const PlacedNode& one = element->placed_;
    const bool is_run = one.node->kind == NodeKind::bytes && (block.count == 1 || element->extent_ == one.node->size);
    if (is_run && element != of) {
      element = &byte;
      if (no_sum(block.displacement, one.shift, &block.displacement) ||
          no_product(block.count, one.node->size, &block.count))
        return extent_too_large();
    }
    if (element != of) TW_RETURN_IF_ERROR(end_part());
    of = element;
    alike.push_back(block);
  }
  TW_RETURN_IF_ERROR(end_part());
  TW_ASSIGN_OR_RETURN(PlacedNode placed, join_nodes(parts));
  return View(std::move(placed), extent);
}

Result<View> View::resized(std::uint64_t extent) const {
  if (extent > kMost) return extent_too_large();
  return View(placed_, extent);
}

Result<View> View::repeated_from(std::uint64_t displacement) const {
  if (placed_.node == nullptr) return View();
  std::uint64_t end = 0;
  if (no_sum(displacement, placed_.shift, &end) || no_sum(end, placed_.node->span, &end))
    return Status::error(Code::out_of_range, "a view from displacement {} on ends above 2^63-1", displacement);
  const std::uint64_t most = kMost / placed_.node->size;
  const std::uint64_t count = extent_ == 0 ? most : std::min((kMost - end) / extent_ + 1, most);
  TW_ASSIGN_OR_RETURN(PlacedNode all, repeat_node(count, extent_, {placed_.node, displacement + placed_.shift}));
  return View(std::move(all), extent_);
}

std::uint64_t View::size() const { return placed_.node == nullptr ? 0 : placed_.node->size; }

ViewOrder View::order() const { return placed_.node == nullptr ? ViewOrder::in_order : placed_.node->order; }

std::uint64_t View::locate(std::uint64_t position) const {
  std::uint64_t run = 0;
  return placed_.shift + locate_in(placed_.node.get(), position, &run);
}

std::uint64_t View::runs(std::uint64_t position, std::uint64_t bytes) const {
  if (bytes == 0) return 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  locate_in(placed_.node.get(), position, &first);
  locate_in(placed_.node.get(), position + bytes - 1, &last);
  return last - first + 1;
}

std::uint64_t View::bytes_below(std::uint64_t offset) const {
  const auto is_below = [&](std::uint64_t position) { return locate(position) < offset; };
  return *std::ranges::partition_point(std::views::iota(std::uint64_t{0}, size()), is_below);
}

void View::for_each_run(std::uint64_t position, std::uint64_t bytes, const std::function<void(ViewRun)>& visit) const {
  if (bytes == 0) return;
  MergedRuns runs{visit, {}};
  walk(*placed_.node, placed_.shift, position, position + bytes, runs);
  visit(runs.run);
}

namespace {

Status check_memory(std::span<const Extent> memory, std::uint64_t* bytes) {
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory[i].bytes == 0) continue;
    if (memory[i].memory == nullptr)
      return Status::error(Code::invalid_argument,
                           "extent {} of {} bytes has no memory; only one of 0 bytes may have none", i,
                           memory[i].bytes);
    if (memory[i].bytes > View::kMost - *bytes)
      return Status::error(Code::out_of_range, "extent {} of {} bytes and the {} before it are more than 2^63-1 bytes",
                           i, memory[i].bytes, *bytes);
    *bytes += memory[i].bytes;
  }
  return {};
}

// Takes memory for the extents of `bytes` bytes from `position` of a view on, whose memory has so many pieces.
Status reserve_extents(const View& view, std::uint64_t position, std::uint64_t bytes, std::uint64_t pieces,
                       std::vector<Extent>& placed) {
  placed.clear();
  if (bytes == 0) return {};
  if (position > view.size() || bytes > view.size() - position)
    return Status::error(Code::out_of_range, "{} bytes from position {} on are more than a file or its view has: {}",
                         bytes, position, view.size());
  const std::uint64_t most = view.runs(position, bytes) + pieces - 1;
  if (most > placed.max_size()) return out_of_memory();
  placed.reserve(static_cast<std::size_t>(most));
  return {};
}

// Places extents of memory from `position` of a view on; returns the position behind them.
std::uint64_t place_extents(const View& view, std::uint64_t position, std::span<const Extent> memory,
                            std::vector<Extent>& placed) {
  std::uint64_t bytes = 0;
  for (const Extent& extent : memory) bytes += extent.bytes;
  const Extent* next = memory.data();
  Extent left;
  view.for_each_run(position, bytes, [&](ViewRun run) {
    while (run.bytes > 0) {
      while (left.bytes == 0) left = *next++;
      const std::uint64_t n = std::min(left.bytes, run.bytes);
      placed.push_back({left.memory, n, run.offset});
      left.memory += n;
      left.bytes -= n;
      run = {run.offset + n, run.bytes - n};
    }
  });
  return position + bytes;
}

}  // namespace

Status place_in_view(const View& view, std::uint64_t position, std::span<const Extent> memory,
                     std::vector<Extent>& placed) {
  std::uint64_t bytes = 0;
  TW_RETURN_IF_ERROR(check_memory(memory, &bytes));
  TW_RETURN_IF_ERROR(reserve_extents(view, position, bytes, memory.size(), placed));
  place_extents(view, position, memory, placed);
  return {};
}

Status place_memory(const View& file, std::uint64_t position, const View& memory, std::byte* data,
                    std::vector<Extent>& placed) {
  const Extent all{data, memory.size(), 0};
  std::uint64_t bytes = 0;
  TW_RETURN_IF_ERROR(check_memory({&all, 1}, &bytes));
  TW_RETURN_IF_ERROR(reserve_extents(file, position, bytes, memory.runs(0, bytes), placed));
  std::array<Extent, 64> some;  // the walk of the file begins anew for so many runs of memory
  std::size_t n = 0;
  memory.for_each_run(0, bytes, [&](ViewRun run) {
    some[n++] = {data + run.offset, run.bytes, 0};
    if (n == some.size()) position = place_extents(file, position, some, placed), n = 0;
  });
  place_extents(file, position, std::span(some).first(n), placed);
  return {};
}

}  // namespace thalweg
