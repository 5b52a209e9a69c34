// Lists of several tasks and rules: the access is summarised, planned, cut and carried out on a model, and each byte is
// compared with the request. Lists with arbitrary offsets and lengths are walked without data.
#include <algorithm>
#include <limits>
#include <optional>

#include "engine/plan/plan.hpp"
#include "fuzz_support.hpp"
#include "support/models/extent_model.hpp"

namespace thalweg::fuzz {
namespace {

constexpr std::uint64_t kLargest = (std::uint64_t{1} << 63) - 1;

struct Choices {
  Direction direction = Direction::write;
  bool far = false;  // offsets and lengths of 64 bits
  std::size_t tasks = 1;
  bool shared_memory = false;
  bool may_sieve_writes = true;
  std::size_t most_aggregators = 0;
  Strategy strategy;
  model::Rules rules;
};

Choices choices_from(Input& input) {
  Choices choices;
  const auto flags = input.number<std::uint8_t>();
  choices.direction = flags & 1 ? Direction::read : Direction::write;
  choices.shared_memory = (flags & 2) != 0;
  choices.may_sieve_writes = choices.strategy.sieve_writes = (flags & 4) != 0;
  choices.far = (flags & 8) != 0;
  choices.tasks = 1 + (flags >> 4) % 5;
  choices.rules.workers = input.number<std::uint8_t>() % 9;
  choices.rules.block = std::uint64_t{1} << input.number<std::uint8_t>() % 14;
  (void)input.number<std::uint8_t>();  // unused; kept for the stored corpus
  choices.rules.limits.most_pieces = 1 + input.number<std::uint8_t>() % 16;
  choices.rules.limits.most_bytes = 1 + input.number<std::uint8_t>();
  const auto asked = input.number<std::uint8_t>();
  choices.strategy.costs.parallel_reads = choices.strategy.costs.parallel_writes = asked % 9;
  constexpr std::optional<Method> kAsked[] = {{}, Method::direct, Method::shared, Method::naive};
  choices.strategy.method = kAsked[choices.shared_memory ? asked / 9 % 4 : asked / 9 % 2];
  choices.strategy.workers = asked / 36;
  choices.most_aggregators = asked % 4;
  choices.strategy.aggregators = asked % 4 == 0 ? 0 : asked / 4 % (asked % 4);
  return choices;
}

// Properties of every plan, for any costs.
void try_plan(const std::vector<ExtentSummary>& summaries, const Choices& choices) {
  GroupAccess access;
  for (const ExtentSummary& extents : summaries) {
    AccessSummary task;
    task.extents = extents;
    task.direction = choices.direction;
    access.join(GroupAccess(task, static_cast<std::int64_t>(access.tasks)));
  }
  access.shared_memory = choices.shared_memory;
  access.may_sieve_writes = choices.may_sieve_writes;
  access.most_aggregators = choices.most_aggregators;
  const Plan plan = choose_plan(access, choices.strategy);
  FUZZ_REQUIRE(access.density() >= 0 && access.density() <= 1 && access.largest_share() <= 1);
  FUZZ_REQUIRE((access.shape() == Shape::empty) == (access.bytes == 0));
  FUZZ_REQUIRE((plan.method == Method::nothing) == (access.bytes == 0));
  FUZZ_REQUIRE(plan.method != Method::shared || choices.shared_memory);
  FUZZ_REQUIRE(plan.workers >= 1 && plan.workers <= choices.tasks);
  FUZZ_REQUIRE(!plan.sieve || choices.direction == Direction::read || choices.may_sieve_writes);
  FUZZ_REQUIRE(plan.expected_ns >= 0 && !describe(plan).empty() && !describe(access).empty());
}

void try_near(Input& input, Choices& choices) {
  std::vector<std::vector<model::Place>> tasks(choices.tasks);
  while (input.left() > 0) {
    const auto task = input.number<std::uint8_t>();
    const auto offset = input.number<std::uint16_t>() % 4096u;
    const auto bytes = input.number<std::uint8_t>();
    tasks[(task & 127) % tasks.size()].push_back({offset, bytes, (task & 128) != 0});
  }
  model::Access access(tasks, choices.direction);
  const std::string problem = access.check(choices.rules);
  if (!problem.empty()) std::fprintf(stderr, "%s\n", problem.c_str());
  FUZZ_REQUIRE(problem.empty());
  std::vector<ExtentSummary> summaries;
  for (const auto& list : access.lists()) summaries.push_back(summarise(list).value());
  try_plan(summaries, choices);
}

// Every byte of lists without overlap is in one run; no run leaves the file.
void walk(const std::vector<const ExtentList*>& lists, const Choices& choices) {
  const auto domains = cut_domains(lists, choices.rules.workers, choices.rules.block);
  FUZZ_REQUIRE(domains.size() == choices.rules.workers);
  std::uint64_t bytes = 0;
  std::uint64_t last_end = 0;
  for (const FileDomain& domain : domains) {
    RunReader runs(lists, domain, choices.direction, {16, std::numeric_limits<std::uint64_t>::max()});
    Run run;
    while (runs.next(run)) {
      FUZZ_REQUIRE(run.offset >= domain.begin && run.bytes <= domain.end - run.offset);
      FUZZ_REQUIRE(choices.direction == Direction::read || run.offset >= last_end);
      last_end = run.offset + run.bytes;
      bytes += run.bytes;
    }
  }
  if (lists.size() == 1 && choices.direction == Direction::write && !domains.empty()) {
    FUZZ_REQUIRE(bytes == lists[0]->bytes_before(kLargest));
  }
}

void try_far(Input& input, Choices& choices) {
  std::vector<std::vector<Extent>> given(choices.tasks);
  auto* const memory = reinterpret_cast<std::byte*>(std::uintptr_t{64});  // never accessed
  while (input.left() > 0) {
    const auto task = input.number<std::uint8_t>();
    const auto bytes = input.number<std::uint64_t>();
    const auto offset = input.number<std::uint64_t>();
    given[(task & 127) % given.size()].push_back({(task & 128) != 0 ? nullptr : memory, bytes, offset});
  }
  std::vector<ExtentList> lists;
  std::vector<ExtentSummary> summaries;
  for (const auto& extents : given) {
    auto list = ExtentList::of(extents);
    if (!list.has_value()) continue;
    summaries.push_back(list.value().summary());
    lists.push_back(std::move(list).value());
  }
  std::vector<const ExtentList*> pointers;
  for (const ExtentList& list : lists) pointers.push_back(&list);
  choices.tasks = std::max<std::size_t>(1, lists.size());
  try_plan(summaries, choices);
  walk(pointers, choices);
}

void run(Input& input) {
  Choices choices = choices_from(input);
  if (choices.far) {
    try_far(input, choices);
  } else if (choices.rules.workers > 0) {
    try_near(input, choices);
  }
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  thalweg::fuzz::Input input(data, size);
  thalweg::fuzz::run(input);
  return 0;
}
