// The naive engine: one task writes or reads everything, extent by extent, in rank order. The oracle that every faster
// way is tested against; chosen only by the hint method=naive.
#pragma once

#include <span>

#include "engine/transfer/transfer.hpp"

namespace thalweg {

TransferResult naive_transfer(SharedFile& file, Direction direction, std::span<const ExtentList* const> lists);

}  // namespace thalweg
