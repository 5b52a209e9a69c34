// Plan: how a group's access is carried out. A value: chosen by the cost model, executed by the engine, printable.
#pragma once

#include <cstdint>
#include <string>

#include "engine/plan/runs.hpp"

namespace thalweg {

//   nothing  no bytes are moved
//   direct   each task transfers its own extents
//   shared   the whole is cut into file domains, a worker for each; needs shared memory
//   aggregate  some tasks, the aggregators, have a file domain each and transfer what lies there for all: two-phase I/O
//   naive    task 0 transfers everything in rank order; never chosen, the oracle of tests
enum class Method { nothing, direct, shared, aggregate, naive };
const char* method_name(Method method);

struct Plan {
  Method method = Method::nothing;
  std::size_t workers = 1;  // shared: ranks 0 .. workers-1 transfer; aggregate: so many aggregators
  bool pack = false;        // small pieces go through staging: one piece per call instead of many
  bool sieve = false;       // holes are read, or read and written back, within windows of staging_bytes
  std::uint64_t staging_bytes = 0;
  double expected_ns = 0;   // by the cost model
  const char* reason = "";  // static text: what decided; describe(Pattern) has the numbers
  bool past_cache = false;  // transfers go past the page cache
};

// "shared by 2 workers, packed (<reason>; expected 1.2 ms)"
std::string describe(const Plan& plan);

}  // namespace thalweg
