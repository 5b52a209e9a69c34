// OneCall: a whole access that is one call of one worker. Few bytes in few pieces, one behind the other: to arrange
// such a transfer as steps (engine/transfer/steps.hpp) would take longer than the transfer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/plan/file_domains.hpp"
#include "engine/plan/plan.hpp"
#include "engine/shown.hpp"

namespace thalweg {

class OneCall {
 public:
  static constexpr std::size_t kMostTasks = 16;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 10;

  // Nothing when the access is more than that, or `plan` does more than transfer it.
  static std::optional<OneCall> of(const Whole& whole, const Plan& plan);

  FileDomain range() const { return range_; }
  std::span<const Piece> pieces() const { return {pieces_.data(), n_pieces_}; }

 private:
  bool add(const ExtentSummary& extent, const void* memory);

  FileDomain range_;
  std::array<Piece, kMostTasks> pieces_;
  std::size_t n_pieces_ = 0;
};

}  // namespace thalweg
