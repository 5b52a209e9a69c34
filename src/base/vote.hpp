// A number and a rank packed into one word, so that a maximum over tasks finds the largest number and, among equals,
// the lowest rank.
#pragma once

#include <cstdint>

namespace thalweg {

inline constexpr std::int64_t kRanksOfVote = std::int64_t{1} << 40;

// `number` must be below 2^22.
constexpr std::int64_t vote_of(std::int64_t number, std::int64_t rank) {
  return number * kRanksOfVote + (kRanksOfVote - 1 - rank);
}
constexpr std::int64_t number_of_vote(std::int64_t vote) { return vote / kRanksOfVote; }
constexpr std::int64_t rank_of_vote(std::int64_t vote) { return kRanksOfVote - 1 - vote % kRanksOfVote; }

}  // namespace thalweg
