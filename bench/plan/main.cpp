// thalweg-bench-plan: time and memory per extent of analysing an access before any transfer. No byte is read or
// written: the memory of the extents is never allocated.
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <random>
#include <string>
#include <vector>

#include "access/extent_list.hpp"
#include "counting_new.hpp"
#include "engine/plan/file_domains.hpp"
#include "engine/plan/plan.hpp"
#include "engine/plan/runs.hpp"
#include "support/clock.hpp"
#include "support/comparison.hpp"
#include "support/effort.hpp"
#include "support/report.hpp"
#include "support/scratch.hpp"

namespace bench {
namespace {

using thalweg::Direction;
using thalweg::Extent;
using thalweg::ExtentList;

struct Options {
  bool quick = false, tiny = false;
  std::string json;
  std::string dir;  // required of every benchmark; unused
  Effort effort() const { return effort_of(tiny, quick); }
  std::size_t n() const { return pick<std::size_t>(effort(), 10'000, 1'000'000, 10'000'000); }
  int rounds() const { return pick(effort(), 1, 5, 5); }
};

constexpr std::uint64_t kBytes = 64;
constexpr std::uint64_t kDistance = 128;
constexpr double kMostSeconds = 1.5;  // for 10 million extents

enum class Order { sorted, reversed, random };

// `n` extents, each followed by a hole, dealt to `tasks` tasks in turn.
std::vector<std::vector<Extent>> make_lists(std::size_t n, std::size_t tasks, Order order) {
  std::vector<std::vector<Extent>> lists(tasks);
  for (auto& list : lists) list.reserve(n / tasks + 1);
  for (std::size_t i = 0; i < n; ++i) {
    auto* memory = reinterpret_cast<std::byte*>((std::uintptr_t{1} << 32) + i * 2 * kBytes);
    lists[i % tasks].push_back({memory, kBytes, i * (tasks == 1 ? kDistance : kBytes)});
  }
  std::mt19937_64 random(1);
  for (auto& list : lists) {
    if (order == Order::reversed) std::reverse(list.begin(), list.end());
    if (order == Order::random) std::shuffle(list.begin(), list.end(), random);
  }
  return lists;
}

// Nanoseconds per extent of the steps, and peak memory.
struct Measured {
  std::vector<double> list, choose, cut, walk, total;
  double bytes = 0;
};

std::uint64_t walk(const std::vector<const ExtentList*>& lists, const std::vector<thalweg::FileDomain>& domains) {
  std::uint64_t bytes = 0;
  for (const thalweg::FileDomain& domain : domains) {
    thalweg::RunReader runs(lists, domain, Direction::write, {});
    thalweg::Run run;
    while (runs.next(run)) bytes += run.bytes;
  }
  return bytes;
}

void measure_once(const std::vector<std::vector<Extent>>& given, std::size_t n, Measured& out) {
  const auto each = [&](double seconds) { return seconds * 1e9 / static_cast<double>(n); };
  begin_counting();
  const double start = now();
  std::vector<ExtentList> lists;
  std::vector<const ExtentList*> pointers;
  lists.reserve(given.size());
  for (const auto& extents : given) {
    auto list = ExtentList::of(extents);
    if (!list.has_value()) give_up(list.error().message());
    lists.push_back(std::move(list).value());
    pointers.push_back(&lists.back());
  }
  const double listed = now();
  thalweg::GroupAccess access;
  for (const ExtentList& list : lists) {
    thalweg::AccessSummary task;
    task.extents = list.summary();
    access.join(thalweg::GroupAccess(task, static_cast<std::int64_t>(access.tasks)));
  }
  access.shared_memory = true;
  const thalweg::Plan plan = thalweg::choose_plan(access, {});
  const double chosen = now();
  const auto domains = thalweg::cut_domains(pointers, 4, 4096);
  const double cut = now();
  const std::uint64_t bytes = walk(pointers, domains);
  const double walked = now();
  if (bytes != n * kBytes || plan.method == thalweg::Method::nothing) give_up("the runs do not cover all bytes");
  out.list.push_back(each(listed - start));
  out.choose.push_back(each(chosen - listed));
  out.cut.push_back(each(cut - chosen));
  out.walk.push_back(each(walked - cut));
  out.total.push_back(each(walked - start));
  out.bytes = std::max(out.bytes, static_cast<double>(most_bytes()) / static_cast<double>(n));
}

void measure(Report& report, const Options& options, const std::string& name, std::size_t tasks, Order order) {
  const std::size_t n = options.n();
  const auto lists = make_lists(n, tasks, order);
  Measured found;
  for (int round = 0; round < options.rounds(); ++round) measure_once(lists, n, found);
  const auto median = [](const std::vector<double>& values) { return spread_of(values).median; };
  report.add_fact(name,
                  {{"extents", n},
                   {"tasks", tasks},
                   {"list_ns", median(found.list)},
                   {"choose_ns", median(found.choose)},
                   {"cut_ns", median(found.cut)},
                   {"walk_ns", median(found.walk)},
                   {"total_ns", median(found.total)},
                   {"working_bytes", found.bytes}},
                  fmt::format("{:12} {:9} extents: list {:5.1f}  choose {:4.2f}  cut {:4.2f}  walk {:5.1f}  in all "
                              "{:5.1f} ns each, {:4.1f} "
                              "bytes each",
                              name, n, median(found.list), median(found.choose), median(found.cut), median(found.walk),
                              median(found.total), found.bytes));
  if (options.tiny) return;
  report.add_target({name + ": analysis, per extent", spread_of(found.total), kMostSeconds * 1e9 / 1e7, false, "ns"});
  const double most = order == Order::sorted ? 9 : 64;
  report.add_target({name + ": working memory, per extent", spread_of({found.bytes}), most, false, "bytes"});
}

void run(const Options& options) {
  Report report("plan");
  const double started = now();
  measure(report, options, "sorted", 1, Order::sorted);
  measure(report, options, "reversed", 1, Order::reversed);
  measure(report, options, "random", 1, Order::random);
  measure(report, options, "interleaved", 4, Order::sorted);
  report.print_targets();
  if (!options.json.empty())
    report.write_json(options.json, {{"effort", name_of(options.effort())}, {"seconds", now() - started}});
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options;
  CLI::App app("Measures the analysis of an access: time and memory per extent.", "thalweg-bench-plan");
  app.add_flag("--quick", options.quick, "one million extents instead of ten: a few seconds");
  app.add_flag("--tiny", options.tiny, "smoke test; times are meaningless");
  app.add_option("--dir", options.dir, "accepted and unused: nothing is written");
  app.add_option("--json", options.json, "write all results to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    bench::run(options);
    return 0;
  } catch (const std::exception& error) {
    bench::give_up(error.what());
  }
}
