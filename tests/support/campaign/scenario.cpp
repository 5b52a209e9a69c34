#include "support/campaign/scenario.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "support/campaign/random.hpp"

namespace thalweg::test {

namespace {

Case draw_access(std::uint64_t seed, TaskRank tasks, Random& random) {
  Case what = draw_case(seed, tasks);
  const std::uint64_t scales[] = {1, 1, 1, 7, 7, 64};  // larger factors need several rounds
  what.scale = scales[below(random, tasks > 24 ? 3 : tasks > 6 ? 5 : 6)];
  if (what.layout == Layout::sparse) what.scale = std::min<std::uint64_t>(what.scale, 7);
  return what;
}

FaultRule draw_fault(Random& random) {
  FaultRule rule;
  const std::uint64_t kind = below(random, 4);
  if (kind == 0) rule.kind = CallKind::write;
  if (kind == 1) rule.kind = CallKind::read;
  rule.at = 1 + below(random, std::uint64_t{1} << below(random, 7));
  rule.lasting = below(random, 4) == 0;
  rule.partial = below(random, 3) == 0;
  rule.os_errno = below(random, 2) == 0 ? EIO : ENOSPC;
  return rule;
}

// A task without memory for its list fails before the shared position moves, other tasks afterwards, so the position is
// undefined and no access uses it.
void starve(Scenario& scenario, std::uint64_t at) {
  scenario.starves_at = at;
  for (Batch& batch : scenario.batches)
    for (Case& access : batch.accesses)
      if (access.placement == Placement::in_order) access.placement = Placement::at_offset;
}

// The caller of a sieving write guarantees that no other write goes into its holes; between processes no lock enforces
// it.
void keep_promises(Scenario& scenario) {
  constexpr std::string_view kSieves = "sieve_writes=on,";
  if (scenario.world.tasks <= scenario.world.tasks_per_process) return;
  const auto at_once = [](const Batch& batch) { return !batch.blocking && batch.accesses.size() > 1; };
  if (std::none_of(scenario.batches.begin(), scenario.batches.end(), at_once)) return;
  if (const auto at = scenario.hints.find(kSieves); at != std::string::npos) scenario.hints.erase(at, kSieves.size());
}

}  // namespace

Scenario draw_scenario(std::uint64_t seed) {
  Random random = random_of(seed, 11);
  Scenario scenario;
  scenario.seed = seed;
  scenario.world.seed = seed;
  scenario.world.closed = true;
  const std::uint64_t most[] = {4, 4, 8, 8, 16, 16, 24, 64};
  scenario.world.tasks = 1 + static_cast<TaskRank>(below(random, most[below(random, 8)]));
  scenario.world.tasks_per_process = below(random, 2) == 0 ? 1 : 1 + static_cast<TaskRank>(below(random, 8));
  scenario.world.processes_per_node = 1 + static_cast<std::int64_t>(below(random, 4));
  if (below(random, 3) == 0)
    scenario.world.late = static_cast<TaskRank>(below(random, static_cast<std::uint64_t>(scenario.world.tasks)));
  scenario.hints = draw_hints(random());
  scenario.queue_depth = 1 + below(random, 4);
  const std::uint64_t n = 1 + below(random, 3);
  for (std::uint64_t i = 0; i < n; ++i) {
    Batch batch;
    batch.direction = below(random, 2) == 0 ? Direction::read : Direction::write;
    batch.blocking = below(random, 3) == 0;
    const std::uint64_t accesses = 1 + below(random, below(random, 4) == 0 ? 6 : 2);
    for (std::uint64_t k = 0; k < accesses; ++k)
      batch.accesses.push_back(draw_access(random() % 1000000, scenario.world.tasks, random));
    if (below(random, 12) == 0)
      batch.wrong_task = static_cast<TaskRank>(below(random, static_cast<std::uint64_t>(scenario.world.tasks)));
    scenario.batches.push_back(std::move(batch));
  }
  keep_promises(scenario);
  if (below(random, 2) == 0) scenario.fault = draw_fault(random);
  if (below(random, 4) == 0) starve(scenario, 1 + below(random, 4));
  return scenario;
}

std::ostream& operator<<(std::ostream& out, const Scenario& what) {
  out << "seed " << what.seed << ": " << what.world.tasks << " tasks, " << what.world.tasks_per_process
      << " to a process, " << what.world.processes_per_node << " processes to a node, late: " << what.world.late
      << ", queue of " << what.queue_depth << ", hints '" << what.hints << "'\n";
  for (const Batch& batch : what.batches) {
    out << (batch.direction == Direction::read ? "  reads" : "  writes") << (batch.blocking ? " in turn" : " at once");
    if (batch.wrong_task >= 0) out << ", the first one wrong on task " << batch.wrong_task;
    out << '\n';
    for (const Case& access : batch.accesses) out << "    " << access << '\n';
  }
  if (what.fault.has_value()) {
    out << "  fault: call " << what.fault->at;
    if (what.fault->kind.has_value()) out << (*what.fault->kind == CallKind::read ? " of reads" : " of writes");
    out << ", errno " << what.fault->os_errno << (what.fault->lasting ? ", and all behind it" : "")
        << (what.fault->partial ? ", half of a write takes effect" : "") << '\n';
  }
  if (what.starves_at > 0) out << "  request " << what.starves_at << " for much memory is refused\n";
  return out;
}

}  // namespace thalweg::test
