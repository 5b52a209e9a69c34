// A number above a rank, in one word: a maximum over tasks finds the largest number, and of those who have it the
// lowest rank.
#pragma once

#include <cstdint>

namespace thalweg {

inline constexpr std::int64_t kRanksOfVote = std::int64_t{1} << 40;

// `number` is below 2^22.
constexpr std::int64_t vote_of(std::int64_t number, std::int64_t rank) {
  return number * kRanksOfVote + (kRanksOfVote - 1 - rank);
}
constexpr std::int64_t number_of_vote(std::int64_t vote) { return vote / kRanksOfVote; }
constexpr std::int64_t rank_of_vote(std::int64_t vote) { return kRanksOfVote - 1 - vote % kRanksOfVote; }

}  // namespace thalweg
