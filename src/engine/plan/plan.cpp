#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "engine/plan/aggregators.hpp"
#include "engine/plan/plan.hpp"
#include "engine/plan/runs.hpp"
#include "engine/plan/stripe_order.hpp"

namespace thalweg {

namespace {

// Below this density the windows of sieving would be nearly empty: if runs lie in clusters, or the file is not cached,
// the estimate is off by more than a call could cost.
constexpr double kLeastDensity = 1.0 / 64;
constexpr RunReader::Limits kOneCall{};
// Added to each call of processes that take turns at a file: the file changes cores, and pages where it grows.
constexpr double kTurnNs = 2000;
constexpr double kStagingNs = 150;           // to take a staging buffer and give it back
constexpr std::uint64_t kSmallPiece = 1024;  // for the words of the reason only

enum class Style { plain, pack, sieve };

// Nanoseconds of one actor that does everything. The storage takes transfers of `at_once` actors at a time; while they
// wait for it, the others copy.
struct Work {
  double transfer_ns = 0;
  double copy_ns = 0;
  double common_ns = 0;  // of a server that all workers have in common
  double sum() const { return transfer_ns + copy_ns; }
  // Elapsed time when no actor does more than `share` of the work.
  double elapsed(double share, double at_once) const {
    return std::max({std::max(share, 1 / at_once) * transfer_ns, share * sum(), common_ns});
  }
};

class Model {
 public:
  Model(const GroupAccess& access, const Strategy& strategy, bool past_cache)
      : access_(access),
        strategy_(strategy),
        costs_(past_cache ? strategy.direct_costs : strategy.costs),
        past_cache_(past_cache),
        shape_(access.shape()),
        bytes_(static_cast<double>(access.bytes)),
        range_(static_cast<double>(access.end - access.begin)),
        runs_(static_cast<double>(access.runs)),
        pieces_(static_cast<double>(access.pieces)),
        tasks_(std::max<std::uint64_t>(access.tasks, 1)) {
    const std::size_t gain = reading() ? costs_.parallel_reads : costs_.parallel_writes;
    most_workers_ = gain == 0 ? tasks_ : std::min(gain, tasks_);
    // Threads of one process are planned for as they were measured, with as many cores as there were then.
    const std::size_t cores = strategy.cores_of_node * std::max<std::size_t>(access.nodes, 1);
    cores_ = access.shared_memory || cores == 0 ? tasks_ : std::min(cores, tasks_);
    if (costs_.call_ns < kSleepsNs) most_workers_ = std::min(most_workers_, cores_);
  }

  // The cheapest plan, or the cheapest one of the method that the hint asks for; among equals the simplest.
  Plan choose() const {
    if (must_aggregate()) {
      Plan chosen = cheapest_aggregate_by(most_aggregators());  // each has the pages that it has in every access
      chosen.reason = "nodes must not write parts of one page of this file system";
      return chosen;
    }
    const std::optional<Method> asked = method_of_hint();
    if (!asked.has_value()) {
      Plan best = cheapest_direct();
      if (may_aggregate()) take_cheaper(best, cheapest_aggregate());
      if (access_.shared_memory && tasks_ > 1) take_cheaper(best, cheapest_shared());
      best.reason = reason_of(best);
      return best;
    }
    Plan chosen = *asked == Method::shared ? cheapest_shared() : cheapest_direct();
    if (*asked == Method::aggregate && access_.most_aggregators > 0) chosen = cheapest_aggregate();
    if (*asked == Method::naive) chosen = plan(Method::naive, Style::plain, 1, plain(own_runs(), bytes_).sum());
    chosen.reason = "the hint 'method' says so";
    return chosen;
  }

 private:
  Plan cheapest_direct() const {
    Plan best = direct(Style::plain);
    for (const Style style : {Style::pack, Style::sieve})
      if (may(Method::direct, style)) take_cheaper(best, direct(style));
    return best;
  }
  Plan cheapest_shared() const {
    const std::size_t asked = std::min(strategy_.workers, tasks_);
    Plan best = shared(Style::plain, std::max<std::size_t>(asked, 1));
    for (const Style style : {Style::plain, Style::pack, Style::sieve}) {
      if (!may(Method::shared, style)) continue;
      if (asked > 0) {
        take_cheaper(best, shared(style, asked));
        continue;
      }
      for (const std::size_t workers : about_best_workers(style)) {
        take_cheaper(best, shared(style, workers));
        if (workers < tasks_) take_cheaper(best, shared(style, workers + 1));
      }
    }
    return best;
  }
  Plan cheapest_aggregate() const {
    const std::size_t most = most_aggregators();
    if (strategy_.aggregators > 0) return cheapest_aggregate_by(most);
    if (const std::size_t targets = strategy_.stripe_count; targets > 1) {
      Plan best = cheapest_aggregate_by(most_suiting(std::min(most, targets), targets));
      if (most > targets) take_cheaper(best, cheapest_aggregate_by(most_suiting(most, targets)));
      return best;
    }
    Plan best = cheapest_aggregate_by(most);
    for (std::size_t n = 1; n < most; n *= 2) take_cheaper(best, cheapest_aggregate_by(n));
    return best;
  }
  std::size_t most_aggregators() const {
    const std::size_t most = std::min(access_.most_aggregators, tasks_);
    return strategy_.aggregators > 0 ? std::min(strategy_.aggregators, most) : most;
  }
  Plan cheapest_aggregate_by(std::size_t n) const {
    Plan best = aggregate(Style::plain, n);
    if (!reading() && may(Method::aggregate, Style::sieve)) take_cheaper(best, aggregate(Style::sieve, n));
    return best;
  }
  static void take_cheaper(Plan& best, const Plan& other) {
    if (other.expected_ns < best.expected_ns) best = other;
  }

  // Only direct and aggregated transfers work between processes; a hint for another method is passed over there.
  std::optional<Method> method_of_hint() const {
    const auto method = strategy_.method;
    const bool between = method == Method::direct || method == Method::aggregate;
    return access_.shared_memory || between ? method : std::nullopt;
  }
  // A common access is moved by one task, or by one of each process.
  bool may_aggregate() const {
    return !access_.shared_memory && tasks_ > 1 && access_.most_aggregators > 0 && !access_.common();
  }
  // Aggregators have whole pages.
  bool must_aggregate() const { return !access_.is_coherent && !access_.whole_blocks && !reading() && may_aggregate(); }
  bool reading() const { return access_.reads(); }

  // Whether no task's windows reach over bytes of another one.
  bool tasks_apart() const {
    return tasks_ == 1 || shape_ == Shape::contiguous || shape_ == Shape::strided || shape_ == Shape::sparse;
  }

  // Two tasks that write back windows over each other's bytes would undo each other's writes; domains are disjoint, and
  // tasks of different processes have no lock in common.
  bool may(Method method, Style style) const {
    if (style == Style::plain) return true;
    if (strategy_.staging_bytes == 0) return false;
    if (style == Style::pack) return true;
    if (access_.density() < kLeastDensity || shape_ == Shape::contiguous) return false;
    if (reading()) return true;
    if (!access_.may_sieve_writes || !strategy_.sieve_writes) return false;
    if (method == Method::aggregate) return !past_cache_ && access_.is_coherent;  // what is read may be old
    return method != Method::direct || tasks_ == 1 || (access_.shared_memory && tasks_apart());
  }

  // A list that is not in file order may seem to have more runs than it has.
  double own_runs() const { return shape_ == Shape::contiguous ? std::min(runs_, static_cast<double>(tasks_)) : runs_; }
  // Runs that are left when those of all tasks are merged. How often runs of different tasks touch is not known: they
  // are taken to lie at random, so that a hole follows a run as often as a byte is one of a hole.
  double merged_runs() const {
    switch (shape_) {
      case Shape::contiguous:
        return 1;
      case Shape::interleaved:
        return std::max(1.0, runs_ * (1 - access_.density()));
      case Shape::overlapping:
        return reading() ? runs_ : std::max(1.0, runs_ * (1 - access_.density()));
      default:
        return runs_;
    }
  }

  double byte_ns() const { return reading() ? costs_.read_byte_ns : costs_.write_byte_ns; }
  double staged_byte_ns() const { return reading() ? costs_.staged_read_byte_ns : costs_.staged_write_byte_ns; }
  double common_ns(double bytes) const { return bytes * costs_.common_byte_ns; }
  double copies_ns() const { return pieces_ * costs_.copy_piece_ns + bytes_ * costs_.copy_byte_ns; }

  Work plain(double runs, double bytes) const {
    const double calls = std::max(
        {runs, pieces_ / static_cast<double>(kOneCall.most_pieces), bytes / static_cast<double>(kOneCall.most_bytes)});
    return {calls * costs_.call_ns + pieces_ * costs_.piece_ns + bytes * byte_ns(), 0, common_ns(bytes)};
  }
  Work packed(double runs, double bytes) const {
    const double calls = std::max(runs, bytes / static_cast<double>(strategy_.staging_bytes));
    return {calls * (costs_.call_ns + costs_.piece_ns) + bytes * staged_byte_ns(), copies_ns() + kStagingNs,
            common_ns(bytes)};
  }
  // A window is read, and written back.
  Work sieved(double range, double least_windows) const {
    const double windows = std::max(least_windows, range / static_cast<double>(strategy_.staging_bytes));
    const double calls = reading() ? windows : 2 * windows;
    const double window_byte_ns = costs_.staged_read_byte_ns + (reading() ? 0 : costs_.staged_write_byte_ns);
    return {calls * (costs_.call_ns + costs_.piece_ns) + range * window_byte_ns, copies_ns(),
            common_ns(reading() ? range : 2 * range)};
  }

  // Windows of aggregators, run by run.
  Work merged(double calls) const {
    const double bytes = std::min(bytes_, range_);
    return {calls * costs_.call_ns + bytes * staged_byte_ns(), 0, common_ns(bytes)};
  }

  Work direct_work(Style style) const {
    if (style == Style::plain) return plain(own_runs(), bytes_);
    if (style == Style::pack) return packed(own_runs(), bytes_);
    return sieved_alone();
  }
  // Tasks stop at holes that are not short, or go through all of theirs: which is better depends on the storage, and
  // they decide hole by hole (engine/steps).
  Work sieved_alone() const {
    const Work near = sieved(static_cast<double>(access_.close_bytes), static_cast<double>(access_.close_runs));
    const auto tasks = static_cast<double>(tasks_);
    const Work far = sieved(tasks_apart() ? range_ : range_ * tasks, tasks);
    const auto ns = [](const Work& work) { return std::max(work.sum(), work.common_ns); };
    return ns(near) < ns(far) ? near : far;
  }
  Work shared_work(Style style, std::size_t workers) const {
    const auto n = static_cast<double>(workers);
    const double runs = std::max(n, merged_runs());
    const double bytes = reading() ? bytes_ : std::min(bytes_, range_);  // each byte is written once
    if (style == Style::plain) return plain(runs, bytes);
    if (style == Style::pack) return packed(runs, bytes);
    return sieved(range_, n);
  }

  Plan direct(Style style) const {
    Work work = direct_work(style);
    const bool in_turns = !reading() && !access_.shared_memory && tasks_ > most_workers_;
    if (in_turns && costs_.call_ns < kSleepsNs) work.transfer_ns += own_runs() * kTurnNs;
    const double share = std::max(access_.largest_share(), 1 / static_cast<double>(tasks_));
    const auto at_once = static_cast<double>(most_workers_);
    const double queueing = std::max(0.0, static_cast<double>(tasks_) - at_once) * costs_.queueing_ns;
    return plan(Method::direct, style, 1, work.elapsed(share, at_once) + (share < 1 ? queueing : 0));
  }
  Plan shared(Style style, std::size_t workers) const {
    const auto n = static_cast<double>(workers);
    const auto at_once = static_cast<double>(most_workers_);
    const double queueing = std::max(0.0, n - at_once) * costs_.queueing_ns;
    return plan(Method::shared, style, workers,
                shared_work(style, workers).elapsed(1 / n, at_once) + n * costs_.handover_ns + queueing);
  }

  // Where tasks are more than cores, each step of a meeting waits for tasks that wait for a core (8 ranks on 2 cores:
  // 1.4 ms for each round). Those that wait for storage leave it to them.
  double meeting_ns() const {
    const bool crowded = tasks_ > cores_ && costs_.call_ns < kSleepsNs;
    const double crowd = crowded ? 4 * static_cast<double>(tasks_) / static_cast<double>(cores_) : 1;
    return costs_.round_ns * static_cast<double>(std::bit_width(tasks_)) * crowd;
  }

  // Runs of all tasks that touch are one there. Windows of one round are exchanged while those before are moved, so
  // that the slower of the two counts; the first and the last are not hidden.
  Plan aggregate(Style style, std::size_t aggregators) const {
    const auto n = static_cast<double>(aggregators);
    const auto window = static_cast<double>(AggregatorBudget(strategy_.aggregator_bytes).window);
    const double bytes = std::min(bytes_, range_);
    // A window has bytes in it: where runs are far apart it has one of them.
    const double rounds = std::max(1.0, std::min(range_ / window, std::max(merged_runs(), bytes / window)) / n);
    const bool by_stripes = strategy_.stripe_count > 1 && n > 1 && suits_targets(aggregators, strategy_.stripe_count);
    const double at_most = by_stripes ? std::min(window, static_cast<double>(strategy_.stripe_bytes)) : window;
    const Work storage =
        style == Style::sieve ? sieved(range_, n) : merged(std::max({merged_runs(), n, bytes / at_most}));
    const double transfer_ns = storage.transfer_ns;
    const double copy_ns =
        copies_ns() + storage.copy_ns + pieces_ * costs_.exchange_piece_ns + bytes_ * costs_.exchange_byte_ns;
    const double at_once = std::min(n, static_cast<double>(most_workers_));
    const double by_cores = (transfer_ns + copy_ns) / std::min(n, static_cast<double>(cores_));
    const double meetings = rounds * meeting_ns();
    const double queueing = std::max(0.0, n - static_cast<double>(most_workers_)) * costs_.queueing_ns;
    return plan(Method::aggregate, style, aggregators,
                std::max({transfer_ns / at_once, by_cores, storage.common_ns}) + meetings + queueing);
  }

  // Where work / n + n * handover is lowest, between `least` and `most`, rounded down.
  std::size_t lowest_point(double work_ns, std::size_t least, std::size_t most) const {
    if (costs_.handover_ns <= 0) return most;
    const double best = std::sqrt(work_ns / costs_.handover_ns);
    if (!(best < static_cast<double>(most))) return most;
    return std::max(least, static_cast<std::size_t>(best));
  }
  // As many workers as the storage takes at once, or more that copy meanwhile.
  std::array<std::size_t, 2> about_best_workers(Style style) const {
    const double work = shared_work(style, 1).sum();
    return {lowest_point(work, 1, most_workers_), lowest_point(work, 1, tasks_)};
  }

  Plan plan(Method method, Style style, std::size_t workers, double expected_ns) const {
    Plan plan;
    plan.method = method;
    plan.workers = workers;
    plan.pack = style == Style::pack;
    plan.sieve = style == Style::sieve;
    plan.expected_ns = expected_ns;
    return plan;
  }
  const char* reason_of(const Plan& plan) const {
    if (plan.method == Method::aggregate && plan.sieve)
      return "extents of different processes lie close together, and moving the holes too is cheaper than a call for "
             "each";
    if (plan.method == Method::aggregate)
      return "extents of different processes make up longer transfers, and that saves more than the exchange costs";
    if (plan.sieve) return "moving the holes too is cheaper than a call for each run";
    if (plan.pack && access_.bytes < access_.pieces * kSmallPiece)
      return "pieces are so small that copying them is cheaper";
    if (plan.pack) return "writes from staging that is in cache are quicker, and tasks copy while one writes";
    if (plan.method == Method::shared) {
      if (merged_runs() < own_runs()) return "extents of different tasks make up longer transfers";
      return plan.workers < tasks_ ? "this storage gains nothing from more workers"
                                   : "the tasks' own shares are uneven";
    }
    if (tasks_ == 1) return "there is one task";
    return access_.shared_memory ? "each task's own transfers are cheapest" : "the tasks do not share memory";
  }

  const GroupAccess& access_;
  const Strategy& strategy_;
  const StorageCosts& costs_;
  const bool past_cache_;
  const Shape shape_;
  const double bytes_, range_, runs_, pieces_;
  const std::size_t tasks_;
  std::size_t most_workers_ = 1;
  std::size_t cores_ = 1;
};

// Whether no block of the file is written by one task past the page cache while another one writes a part of it through
// the cache, which could put back what was there before.
bool blocks_are_apart(const GroupAccess& access, const Plan& plan) {
  if (access.reads() || plan.method == Method::shared || plan.method == Method::aggregate || access.tasks == 1)
    return true;
  const Shape shape = access.shape();
  return shape == Shape::contiguous || shape == Shape::strided || shape == Shape::sparse || access.common() ||
         access.whole_blocks;
}

}  // namespace

// Where both ways are allowed the cheaper one is taken; of equals the way through the page cache.
Plan choose_plan(const GroupAccess& access, const Strategy& strategy) {
  if (access.bytes == 0) {
    Plan plan;
    plan.reason = "no task moves a byte";
    return plan;
  }
  Plan cached = Model(access, strategy, false).choose();
  if (!strategy.wants_direct(access.reads())) return cached;
  cached.cached_as = kNoDirectIo;
  if (!access.may_bypass_cache) return cached;
  Plan direct = Model(access, strategy, true).choose();
  direct.past_cache = direct.method != Method::naive;
  if (!direct.past_cache) direct.cached_as = "the method 'naive' always goes there";
  const bool allowed = !direct.past_cache || blocks_are_apart(access, direct);
  if (allowed && !strategy.direct_where_cheaper) return direct;
  cached.cached_as = allowed ? "direct I/O would be slower for this access" : "tasks write parts of the same blocks";
  return allowed && direct.expected_ns < cached.expected_ns ? direct : cached;
}

}  // namespace thalweg
