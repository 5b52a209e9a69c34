#include "base/call.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/vote.hpp"

namespace thalweg {

namespace {

constexpr const char* kCalls[] = {"",
#define TW_CALL_NAME(name) #name,
                                  TW_COLLECTIVE_CALLS(TW_CALL_NAME)
#undef TW_CALL_NAME
};

constexpr const char* kPrimitives[] = {"",         "barrier",          "broadcast", "gather",
                                       "scatter",  "allgather",        "allreduce", "fold",
                                       "exchange", "share_in_process", "duplicate", "leave"};

constexpr std::int64_t kCallsOfClass = 256;

std::int64_t vote_for(std::int64_t of_class, Call call, std::int64_t rank) {
  return vote_of(of_class * kCallsOfClass + static_cast<std::int64_t>(call), rank);
}
Call call_of(std::int64_t vote) { return static_cast<Call>(number_of_vote(vote) % kCallsOfClass); }

std::string is_in(std::int64_t task, const char* verb, const char* call) {
  return fmt::format("task {}{}{}", task, verb, *call != '\0' ? call : "another call");
}

Status refused(const TwoCalls& calls, const char* what) {
  return or_out_of_memory([&] {
    return Status::error(Code::invalid_argument, "{}{}, {}; all tasks of a group make the same calls in the same order",
                         what, is_in(calls.first, " is in ", calls.of_first),
                         is_in(calls.second, " is in ", calls.of_second));
  });
}

}  // namespace

const char* name_of(Call call) { return kCalls[static_cast<std::size_t>(call)]; }
const char* name_of(Primitive primitive) { return kPrimitives[static_cast<std::size_t>(primitive)]; }

Status different_calls(const TwoCalls& calls) { return refused(calls, "different collective calls at once: "); }

Status different_handles(const TwoCalls& calls) {
  return refused(calls, "collective calls on different handles at once: ");
}

Status out_of_step(const TwoCalls& calls, bool left) {
  return or_out_of_memory([&] {
    const std::string both =
        is_in(calls.second, " was in ", calls.of_second) + " while " + is_in(calls.first, " was in ", calls.of_first);
    const std::string what =
        left ? fmt::format("task {} has left: {}", calls.second, both) : "the tasks are out of step since " + both;
    return Status::error(Code::invalid_argument, "{}; no collective call of theirs can succeed any more", what);
  });
}

Status gone_without(std::int64_t rank) {
  return or_out_of_memory([&] {
    return Status::error(
        Code::invalid_argument,
        "task {} has left: it has freed its handle of the group and makes no further collective call on it", rank);
  });
}

Status has_left(const Leaver& leaver) {
  return or_out_of_memory([&] {
    const std::string task = fmt::format("task {}", leaver.task);
    if (abandons(leaver.call))
      return Status::error(Code::not_closed,
                           "{} has abandoned it ({}), so that no collective call on it can succeed any more", task,
                           name_of(leaver.call));
    return Status::error(
        Code::invalid_argument,
        "different collective calls at once: {}; all tasks of a group make the same calls in the same order",
        is_in(leaver.task, " is in ", name_of(leaver.call)));
  });
}

CallsOfAll::CallsOfAll(Call call, std::int64_t rank)
    : highest_(vote_for(static_cast<std::int64_t>(class_of(call)), call, rank)),
      lowest_(vote_for(kCallsOfClass - 1 - static_cast<std::int64_t>(class_of(call)), call, rank)) {}

void CallsOfAll::join(const CallsOfAll& other) {
  highest_ = std::max(highest_, other.highest_);
  lowest_ = std::max(lowest_, other.lowest_);
}

bool CallsOfAll::differ() const { return class_of(call_of(highest_)) != class_of(call_of(lowest_)); }

Leaver CallsOfAll::highest() const { return {rank_of_vote(highest_), call_of(highest_)}; }

// The highest call is named second: a call that ends its handle is always the highest.
TwoCalls CallsOfAll::two() const {
  return {rank_of_vote(lowest_), rank_of_vote(highest_), name_of(call_of(lowest_)), name_of(call_of(highest_))};
}

Status CallsOfAll::now() const {
  if (abandons(highest().call)) return has_left(highest());
  TwoCalls calls = two();
  if (calls.second < calls.first) {
    std::swap(calls.first, calls.second);
    std::swap(calls.of_first, calls.of_second);
  }
  return different_calls(calls);
}

Status CallsOfAll::later() const {
  if (abandons(highest().call)) return has_left(highest());
  return out_of_step(two(), ends_handle(call_of(highest_)));
}

}  // namespace thalweg
