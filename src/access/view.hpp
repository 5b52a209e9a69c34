// View: selects and orders the bytes of a file that a task accesses. A tree of a few kinds of nodes that is never
// expanded: its memory depends on the description, not on the number of pieces.
//
// A view has `size` bytes, at positions 0 .. size-1. Byte `position` has the offset locate(position), counted from
// the begin of the view. Copies of a view are `extent` bytes apart. All numbers are below 2^63.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "access/extent.hpp"
#include "base/status.hpp"

namespace thalweg {

struct ViewNode;

// A node and its shift in bytes; a null node has no bytes.
struct PlacedNode {
  std::shared_ptr<const ViewNode> node;
  std::uint64_t shift = 0;
};

// in_order     offsets rise with positions, so that no byte occurs twice
// unordered    offsets do not rise; bytes may occur twice
// overlapping  some byte occurs twice
enum class ViewOrder : std::uint8_t { in_order, unordered, overlapping };

enum class ArrayOrder : std::uint8_t { row_major, column_major };  // the last, or the first, index changes fastest

struct IndexedBlock {
  std::uint64_t displacement = 0;  // bytes
  std::uint64_t count = 0;         // elements
};

// One dimension of an array, of which the part is a block.
struct SubarrayDimension {
  std::uint64_t size = 0;  // size of the whole array
  std::uint64_t part = 0;
  std::uint64_t start = 0;
};

enum class Distribution : std::uint8_t { none, block, cyclic };

// One dimension of an array that is distributed over a grid of tasks.
struct DistributedDimension {
  std::uint64_t size = 0;
  Distribution distribution = Distribution::none;
  std::uint64_t block = 0;  // indices per block; 0: the fewest that suffice (block), 1 (cyclic)
  std::uint64_t parts = 1;  // size of the grid
};

// Bytes of a view that are contiguous in the file.
struct ViewRun {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t end() const { return offset + bytes; }
  bool operator==(const ViewRun&) const = default;
};

// Immutable, so any number of threads may use one; copies are cheap. Factories fail with invalid_argument or
// out_of_range, and may throw std::bad_alloc.
class View {
 public:
  static constexpr std::uint64_t kMost = (std::uint64_t{1} << 63) - 1;

  View() = default;  // no bytes, extent 0
  static Result<View> bytes(std::uint64_t n);
  // `count` copies of `inner`, one behind the other.
  static Result<View> contiguous(std::uint64_t count, const View& inner);
  // `count` blocks of `block` copies each; blocks begin `stride` bytes apart.
  static Result<View> strided(std::uint64_t count, std::uint64_t block, std::uint64_t stride, const View& inner);
  static Result<View> indexed(std::span<const IndexedBlock> blocks, const View& inner);
  // Block i has copies of elements[i]; positions follow the blocks as they are listed, in any order of displacements.
  static Result<View> structure(std::span<const IndexedBlock> blocks, std::span<const View* const> elements);
  static Result<View> subarray(std::span<const SubarrayDimension> dimensions, ArrayOrder order, const View& inner);
  // The part of task `rank` of the grid. The last dimension of the grid changes fastest, independent of `order`.
  static Result<View> distributed(std::span<const DistributedDimension> dimensions, std::uint64_t rank,
                                  ArrayOrder order, const View& inner);
  // This view with another extent.
  Result<View> resized(std::uint64_t extent) const;
  // Copies of the view from `displacement` on, as many as keep offsets and positions below 2^63.
  Result<View> repeated_from(std::uint64_t displacement) const;

  std::uint64_t size() const;
  std::uint64_t extent() const { return extent_; }
  ViewOrder order() const;
  std::uint64_t locate(std::uint64_t position) const;  // position < size()
  // Upper bound of the runs that hold the `bytes` bytes from `position` on; neighbours may touch. Logarithmic.
  std::uint64_t runs(std::uint64_t position, std::uint64_t bytes) const;  // position + bytes <= size()
  // Calls visit(run) for the runs of the `bytes` bytes from `position` on, in the order of positions; runs that touch
  // are one. Starting is logarithmic, each run takes a few operations. position + bytes <= size().
  void for_each_run(std::uint64_t position, std::uint64_t bytes, const std::function<void(ViewRun)>& visit) const;
  // Number of bytes below `offset` of a view in order. Logarithmic.
  std::uint64_t bytes_below(std::uint64_t offset) const;

 private:
  View(PlacedNode placed, std::uint64_t extent) : placed_(std::move(placed)), extent_(extent) {}

  PlacedNode placed_;
  std::uint64_t extent_ = 0;
};

// Places the bytes of `memory`, one extent behind the other, from `position` of the view on: puts their extents into
// `placed`, which takes memory for no more than these. The offsets of `memory` are not looked at. Fails with
// invalid_argument (no memory where there are bytes) or out_of_range (the view ends before), and may throw.
Status place_in_view(const View& view, std::uint64_t position, std::span<const Extent> memory,
                     std::vector<Extent>& placed);
// Places the bytes of a view of memory, which begins at `data`: its byte i belongs to position + i of `file`. What lies
// together in both is one extent; there are fewer of these than runs of both. Fails and throws as place_in_view().
Status place_memory(const View& file, std::uint64_t position, const View& memory, std::byte* data,
                    std::vector<Extent>& placed);

}  // namespace thalweg
