// sim_campaign refuses large allocations.
#include "support/memory/refuse_memory.hpp"
#include "support/memory/replaced_new.hpp"

namespace thalweg::test {

namespace {

std::uint64_t refused_one = 0;

void begin(std::uint64_t at) {
  refused_one = at;
  Allocations::start(at, Refusal::kMuch);
}
bool end() {
  Allocations::stop();
  return Allocations::count() >= refused_one;
}

}  // namespace

const Refusal* refusal() {
  static const Refusal how{begin, end};
  return &how;
}

}  // namespace thalweg::test
