// ViewCursor: the runs of a view one after the other, from any position on. To start takes a step for each node on the
// way down (binary search in lists of blocks), to go on a few operations, and at most as many as the tree is deep.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "access/extent.hpp"
#include "access/view.hpp"

namespace thalweg {

// Bytes that lie together in the file.
struct ViewRun {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // 0: there is none
  std::uint64_t end() const { return offset + bytes; }
  bool operator==(const ViewRun&) const = default;
};

// Borrows the view. Memory: 40 bytes for each node on the way down. May throw std::bad_alloc when it is made.
class ViewCursor {
 public:
  // Over the `bytes` bytes from `position` on; position + bytes <= view.size().
  ViewCursor(const View& view, std::uint64_t position, std::uint64_t bytes);
  // The next run, as long as it can be: the one behind it does not touch its end.
  ViewRun next();

 private:
  // A node on the way down to the run.
  struct Level {
    const ViewNode* node;
    std::uint64_t origin;  // of the node
    std::uint64_t base;    // of the copy that is walked
    std::uint64_t left;    // copies behind that one, in its block
    std::size_t block;     // of blocks: which one; of a pair: 0 or 1
  };

  void enter(const ViewNode* node, std::uint64_t origin, std::uint64_t position);
  const ViewNode* enter_copies(Level level, std::uint64_t copies, std::uint64_t& position);
  const ViewNode* enter_block(Level level, std::uint64_t& position);
  const ViewNode* enter_part(Level level);
  const ViewNode* begin_train(std::uint64_t offset, std::uint64_t bytes, std::uint64_t stride, std::uint64_t left);
  void advance();
  bool step();

  std::vector<Level> levels_;  // never more than were reserved
  ViewRun run_;                // the next one to tell, not merged with those behind it
  // The rest of its train: runs at equal distances.
  std::uint64_t train_offset_ = 0;
  std::uint64_t train_bytes_ = 0;
  std::uint64_t train_stride_ = 0;
  std::uint64_t train_left_ = 0;
  std::uint64_t bytes_left_;  // not told yet
};

// Where the bytes of `memory`, one extent behind the other, lie when they begin at `position` of the view: put into
// `placed`, which takes memory for no more than these pieces. The offsets of `memory` are not looked at. Fails with
// invalid_argument (no memory where there are bytes), out_of_range (the view ends before), and may throw.
Status place_in_view(const View& view, std::uint64_t position, std::span<const Extent> memory,
                     std::vector<Extent>& placed);

}  // namespace thalweg
