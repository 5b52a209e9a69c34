// Plan: how the access of a group is carried out. A value: chosen by the cost model, executed by the engine, printable.
#pragma once

#include <cstdint>
#include <string>

#include "engine/plan/group_access.hpp"
#include "engine/plan/strategy.hpp"

namespace thalweg {

struct Plan {
  Method method = Method::nothing;
  std::size_t workers = 1;     // shared: ranks 0 .. workers-1 transfer; aggregate: the number of aggregators
  bool pack = false;           // small pieces go through staging: one piece per call instead of many
  bool sieve = false;          // holes are read, or read and written back, within windows of Strategy::staging_bytes
  double expected_ns = 0;      // by the cost model
  const char* reason = "";     // static text: what decided; describe(GroupAccess) has the numbers
  bool past_cache = false;     // transfers go past the page cache
  const char* cached_as = "";  // static text: why they do not, although the strategy asks for it
};
inline constexpr const char* kNoDirectIo = "this file system has no direct I/O";

// "shared by 2 workers, packed (<reason>; through the page cache: <why>; expected 1.2 ms)"
std::string describe(const Plan& plan);

// The cheapest plan, past the page cache or through it; among equals the simplest. Total and deterministic: tasks that
// have the same access and strategy choose the same plan.
Plan choose_plan(const GroupAccess& access, const Strategy& strategy);

}  // namespace thalweg
