#include "access/view_cursor.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "access/view_node.hpp"

namespace thalweg {

ViewCursor::ViewCursor(const View& view, std::uint64_t position, std::uint64_t bytes) : bytes_left_(bytes) {
  if (bytes == 0) return;
  const PlacedNode& top = view.placed();
  levels_.reserve(top.node->depth);
  enter(top.node.get(), top.shift, position);
}

ViewRun ViewCursor::next() {
  if (bytes_left_ == 0) return {};
  ViewRun told = run_;
  while (told.bytes < bytes_left_) {
    advance();
    if (run_.offset != told.end()) break;
    told.bytes += run_.bytes;
  }
  told.bytes = std::min(told.bytes, bytes_left_);
  bytes_left_ -= told.bytes;
  return told;
}

// There is a byte behind run_.
void ViewCursor::advance() {
  if (train_left_ > 0) {
    --train_left_;
    train_offset_ += train_stride_;
    run_ = {train_offset_, train_bytes_};
    return;
  }
  while (!step()) {
  }
}

// To the next copy of the lowest node, or to its next block, and down from there. A node that has no more is left:
// false.
bool ViewCursor::step() {
  Level& level = levels_.back();
  const ViewNode& node = *level.node;
  if (level.left > 0) {
    --level.left;
    level.base += node.stride;
    enter(node.inner.get(), level.base, 0);
    return true;
  }
  if (level.block + 1 >= node.parts()) {
    levels_.pop_back();
    return false;
  }
  ++level.block;
  level.base = level.origin;
  if (node.kind == NodeKind::blocks && node.inner == nullptr) {
    begin_train(level.origin + node.blocks[level.block].offset, node.block_bytes(level.block), 0, 0);
    return true;
  }
  const Level next = level;
  levels_.pop_back();  // entering puts it back
  std::uint64_t position = 0;
  const ViewNode* below = node.kind == NodeKind::pair ? enter_part(next) : enter_block(next, position);
  if (below != nullptr) enter(below, levels_.back().base, 0);
  return true;
}

// Down to the run that holds `position` of the node.
void ViewCursor::enter(const ViewNode* node, std::uint64_t origin, std::uint64_t position) {
  while (node != nullptr) {
    Level level{node, origin, origin, 0, 0};
    switch (node->kind) {
      case NodeKind::bytes:
        node = begin_train(origin, node->size, 0, 0);
        break;
      case NodeKind::repeat:
        node = enter_copies(level, node->count, position);
        break;
      case NodeKind::blocks:
        level.block = node->block_of(position);
        position -= node->blocks[level.block].before;
        node = enter_block(level, position);
        break;
      case NodeKind::pair:
        level.block = position < node->inner->size ? 0 : 1;
        position -= level.block == 0 ? 0 : node->inner->size;
        node = enter_part(level);
        break;
    }
    if (node != nullptr) origin = levels_.back().base;
  }
  run_.offset += position;
  run_.bytes -= position;
}

// These enter a part of a node, and give the node to go on with; or none, when a train has begun. `position` is made
// that within the copy that holds it.

const ViewNode* ViewCursor::enter_copies(Level level, std::uint64_t copies, std::uint64_t& position) {
  const ViewNode& node = *level.node;
  const ViewNode* inner = node.inner.get();
  const std::uint64_t copy = position < inner->size ? 0 : position / inner->size;
  position -= copy * inner->size;
  level.base += copy * node.stride;
  level.left = copies - 1 - copy;
  if (inner->kind != NodeKind::bytes) {
    levels_.push_back(level);
    return inner;
  }
  const std::uint64_t left = std::exchange(level.left, 0);
  if (node.kind == NodeKind::blocks) levels_.push_back(level);
  return begin_train(level.base, inner->size, node.stride, left);
}

const ViewNode* ViewCursor::enter_block(Level level, std::uint64_t& position) {
  const ViewNode& node = *level.node;
  level.base += node.blocks[level.block].offset;
  if (node.inner != nullptr) return enter_copies(level, node.copies(level.block), position);
  levels_.push_back(level);
  return begin_train(level.base, node.block_bytes(level.block), 0, 0);
}

const ViewNode* ViewCursor::enter_part(Level level) {
  const ViewNode& node = *level.node;
  if (level.block == 1) level.base += node.stride;
  levels_.push_back(level);
  return level.block == 0 ? node.inner.get() : node.second.get();
}

const ViewNode* ViewCursor::begin_train(std::uint64_t offset, std::uint64_t bytes, std::uint64_t stride,
                                        std::uint64_t left) {
  run_ = {offset, bytes};
  train_offset_ = offset;
  train_bytes_ = bytes;
  train_stride_ = stride;
  train_left_ = left;
  return nullptr;
}

namespace {

Status check_memory(std::span<const Extent> memory, std::uint64_t* bytes) {
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory[i].bytes == 0) continue;
    if (memory[i].memory == nullptr)
      return Status::error(Code::invalid_argument, "extent " + std::to_string(i) + " of " +
                                                       std::to_string(memory[i].bytes) +
                                                       " bytes has no memory; only one of 0 bytes may have none");
    if (memory[i].bytes > View::kMost - *bytes)
      return Status::error(Code::out_of_range, "extent " + std::to_string(i) + " of " +
                                                   std::to_string(memory[i].bytes) + " bytes and the " +
                                                   std::to_string(*bytes) + " before it are more than 2^63-1 bytes");
    *bytes += memory[i].bytes;
  }
  return {};
}

}  // namespace

Status place_in_view(const View& view, std::uint64_t position, std::span<const Extent> memory,
                     std::vector<Extent>& placed) {
  std::uint64_t bytes = 0;
  TW_RETURN_IF_ERROR(check_memory(memory, &bytes));
  placed.clear();
  if (bytes == 0) return {};
  if (position > view.size() || bytes > view.size() - position)
    return Status::error(Code::out_of_range, std::to_string(bytes) + " bytes from position " +
                                                 std::to_string(position) +
                                                 " on are more than the view has: " + std::to_string(view.size()));
  const std::uint64_t most = view.runs(position, bytes) + memory.size();
  if (most > placed.max_size()) return out_of_memory();
  placed.reserve(static_cast<std::size_t>(most));
  ViewCursor cursor(view, position, bytes);
  ViewRun run;
  for (Extent left : memory) {
    while (left.bytes > 0) {
      if (run.bytes == 0) run = cursor.next();
      const std::uint64_t n = std::min(left.bytes, run.bytes);
      placed.push_back({left.memory, n, run.offset});
      left.memory += n;
      left.bytes -= n;
      run = {run.offset + n, run.bytes - n};
    }
  }
  return {};
}

}  // namespace thalweg
