#include "engine/naive_engine.hpp"

#include <algorithm>

namespace thalweg {

TransferResult naive_transfer(SharedFile& file, Direction direction, std::span<const ExtentList* const> lists) {
  TransferResult result;
  for (const ExtentList* list : lists) {
    for (const Extent& extent : list->extents()) {
      const Piece piece{extent.memory, extent.bytes};
      const auto moved = or_out_of_memory([&] { return file.stored->transfer(direction, extent.offset, {&piece, 1}); });
      if (!moved.has_value()) {
        result.status = moved.error();
        return result;
      }
      if (moved.value() < extent.bytes)
        result.end_of_file = std::min(result.end_of_file, extent.offset + moved.value());
    }
  }
  return result;
}

}  // namespace thalweg
