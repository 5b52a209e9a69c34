#include "group/call_check.hpp"

#include <algorithm>

#include "base/vote.hpp"
#include "os/environment.hpp"

namespace thalweg {

namespace {

constexpr std::int64_t kMostHandles = std::int64_t{1} << 20;

struct Compared {
  CallsOfAll calls;
  std::int64_t highest = 0, lowest = 0;  // votes of the number of the handle, and of its complement

  void join(const Compared& next) {
    calls.join(next.calls);
    highest = std::max(highest, next.highest);
    lowest = std::max(lowest, next.lowest);
  }
  bool handles_differ() const { return number_of_vote(highest) + number_of_vote(lowest) != kMostHandles; }
};

}  // namespace

bool asks_for_call_check() {
  static const bool asks = environment("THALWEG_CHECK") == "1";
  return asks;
}

Op<Status> CallCheck::compare(Call call, std::int64_t handle) {
  if (ended_ || !over_.ok()) co_return over_;
  const std::int64_t number = handle % kMostHandles;
  const TaskRank rank = meeting_->rank();
  Compared all{CallsOfAll(call, rank), vote_of(number, rank), vote_of(kMostHandles - number, rank)};
  Compared before;
  const Status met = co_await meeting_->fold(&all, &before, folding_of<Compared>());
  if (!met.ok()) {
    ended_ = abandons(meeting_->leaver().call);
    if (!ended_) over_ = met;
    co_return over_;
  }
  if (all.calls.differ()) {
    over_ = all.calls.later();
    co_return all.calls.now();
  }
  if (all.handles_differ()) {
    over_ = different_handles({rank_of_vote(all.lowest), rank_of_vote(all.highest), name_of(call), name_of(call)});
    co_return over_;
  }
  co_return Status{};
}

}  // namespace thalweg
