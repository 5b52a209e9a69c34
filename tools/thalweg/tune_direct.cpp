// Direct I/O compared with the page cache, through the library and with system calls.
#include <fcntl.h>
#include <fmt/format.h>
#include <thalweg/file.h>
#include <thalweg/group.h>
#include <thalweg/open.hpp>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>

#include "threads.hpp"
#include "tune_measure.hpp"

namespace tool {
namespace {

constexpr int64_t kShareUnit = 64 * 1024;
constexpr int kSmallCalls = 128;
constexpr int64_t kSmallBytes = 4096;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// The share of task `rank` in `bytes` from offset 0, in whole units.
Stretch share_of(int64_t bytes, int64_t rank, int64_t tasks) {
  const int64_t units = bytes / kShareUnit;
  return {units * rank / tasks * kShareUnit, units * (rank + 1) / tasks * kShareUnit, kMiB};
}

// Shared state of the tasks of a run through the library; the failure is that of task 0.
struct LibraryTasks {
  const Workbench& bench;
  const ScratchFile& file;
  const LibraryRun& run;
  Times times;
  tw_status status = TW_OK;
  std::string message;
};

tw_status move_all(const LibraryTasks& all, tw_file* file, int64_t rank) {
  const auto round = static_cast<int64_t>(all.bench.source.size());
  for (int64_t at = 0; at < all.bench.options.bytes; at += round) {
    const Stretch share = share_of(std::min(round, all.bench.options.bytes - at), rank, all.run.tasks);
    const int64_t bytes = share.end - share.begin;
    const tw_status status =
        all.run.writes
            ? tw_file_write_at_all(file, all.bench.source.data() + share.begin, bytes, at + share.begin)
            : tw_file_read_at_all(file, all.bench.target.data() + share.begin, bytes, at + share.begin, nullptr);
    if (status != TW_OK) return status;
  }
  return TW_OK;
}

// Every status is equal on all tasks: none is left waiting.
tw_status open_and_move(LibraryTasks& all, tw_group* group, int64_t rank) {
  const std::string hints = all.run.hints();
  thalweg::Options options;
  options.hints(hints.c_str());
  tw_file* file = nullptr;
  tw_status status =
      tw_file_open(group, all.file.path().c_str(), all.run.writes ? TW_WRITE : TW_READ, options.get(), &file);
  if (status != TW_OK) return status;
  status = tw_group_barrier(group);
  all.times.begin[static_cast<size_t>(rank)] = Clock::now();
  if (status == TW_OK) status = move_all(all, file, rank);
  all.times.end[static_cast<size_t>(rank)] = Clock::now();
  if (rank == 0 && status != TW_OK) all.message = tw_last_error();
  const tw_status closed = tw_file_close(&file);
  return status != TW_OK ? status : closed;
}

void run_task(LibraryTasks& all, const Team& team, int64_t rank) {
  const tw_status status = open_and_move(all, team.group(rank).get(), rank);
  if (rank != 0) return;
  all.status = status;
  if (status != TW_OK && all.message.empty()) all.message = tw_last_error();
}

void run_team(LibraryTasks& all) {
  const Team team(all.run.tasks);
  on_threads(all.run.tasks, [&](int64_t rank, const std::atomic<bool>&) { run_task(all, team, rank); });
  if (all.status != TW_OK) throw Failure(exit_code(all.status), all.message, all.status);
}

// Checks what was written, or read.
void check_run(const Workbench& bench, const ScratchFile& file, bool writes, bool direct) {
  if (!writes) return check_bytes(bench.target, bench.source, bench.target.size());
  check_bytes(file, bench.source, bench.options.bytes);
  file.sync();  // no dirty pages remain during later measurements
  if (direct) file.leave_cache();
}

// The smallest settings that are nearly as good as the best.
const DirectPoint& best_of(std::span<const DirectPoint> points) {
  const auto cost = [](const DirectPoint& point) { return 1 / point.write.median + 1 / point.read.median; };
  double best = cost(points[0]);
  for (const DirectPoint& point : points) best = std::min(best, cost(point));
  return *std::ranges::find_if(points, [&](const DirectPoint& point) { return cost(point) <= best * kClearlyBetter; });
}

std::vector<DirectPoint> try_points(Workbench& bench, std::vector<DirectPoint> points) {
  std::vector<Timed> runs;
  for (const DirectPoint& point : points) {
    for (const bool writes : {true, false})
      runs.emplace_back([&bench, point, writes] {
        return library_run(bench, {writes, false, 1, true, point.depth, point.transfer_bytes});
      });
  }
  const auto seconds = bench.take_turns(runs);
  for (size_t i = 0; i < points.size(); ++i) {
    points[i].write = mib_per_s(seconds[2 * i], bench.options.bytes);
    points[i].read = mib_per_s(seconds[2 * i + 1], bench.options.bytes);
  }
  return points;
}

// The best depth for transfers of 1 MiB, then the best size of transfers at that depth.
void choose_point(Workbench& bench, Measured& found) {
  std::vector<DirectPoint> points;
  for (const int64_t depth : {1, 2, 4, 8, 16, 32}) points.push_back({depth, kMiB, {}, {}});
  found.points = try_points(bench, points);
  found.queue_depth = best_of(found.points).depth;
  points.clear();
  for (const int64_t bytes : {kMiB / 4, kMiB, 4 * kMiB}) points.push_back({found.queue_depth, bytes, {}, {}});
  points = try_points(bench, points);
  found.transfer_bytes = best_of(points).transfer_bytes;
  found.points.insert(found.points.end(), points.begin(), points.end());
}

Contest contest(Workbench& bench, const Measured& found, Contest asked, std::array<Seconds, 3>& seconds) {
  LibraryRun through{asked.writes, asked.fresh, asked.tasks, false, found.queue_depth, found.transfer_bytes};
  LibraryRun past = through;
  past.direct = true;
  std::vector<Timed> runs = {
      [&] { return plain_run(bench, asked.writes, asked.fresh, asked.tasks); },
      [&] { return library_run(bench, through); },
  };
  if (bench.options.has_direct) runs.emplace_back([&] { return library_run(bench, past); });
  const auto all = bench.take_turns(runs);
  asked.plain = mib_per_s(all[0], bench.options.bytes);
  asked.buffered = mib_per_s(all[1], bench.options.bytes);
  seconds = {all[0], all[1], {}};
  if (!bench.options.has_direct) return asked;
  seconds[2] = all[2];
  asked.direct = mib_per_s(all[2], bench.options.bytes);
  Seconds better;
  for (size_t i = 0; i < all[0].size(); ++i) better.push_back(std::min(all[0][i], all[1][i]));
  asked.gain = median_ratio(better, all[2]);
  return asked;
}

// Direct I/O is enabled where it won every contest; buffered writes are not synced.
void hold_contests(Workbench& bench, Measured& found) {
  found.direct_reads = found.direct_writes = bench.options.has_direct;
  Seconds one_writer, all_writers, one_reader, all_readers;
  for (const int64_t tasks : {int64_t{1}, bench.options.tasks}) {
    for (const auto& [writes, fresh] : {std::pair{true, true}, {true, false}, {false, false}}) {
      std::array<Seconds, 3> seconds;
      found.contests.push_back(contest(bench, found, {writes, fresh, tasks, {}, {}, {}, 0}, seconds));
      const bool won = found.contests.back().gain > kClearlyBetter;
      (writes ? found.direct_writes : found.direct_reads) &= won;
      if (writes && !fresh) (tasks == 1 ? one_writer : all_writers) = seconds[2];
      if (!writes) (tasks == 1 ? one_reader : all_readers) = seconds[2];
    }
    if (bench.options.tasks == 1) break;
  }
  if (!bench.options.has_direct) return;
  const auto byte_ns = [&](const Seconds& seconds) {
    return spread_of(seconds).median * 1e9 / static_cast<double>(bench.options.bytes);
  };
  const auto loses = [](const Seconds& one, const Seconds& all) {
    return !all.empty() && median_ratio(one, all) < 0.9;
  };
  found.direct.write_byte_ns = found.direct.staged_write_byte_ns = byte_ns(one_writer);
  found.direct.read_byte_ns = found.direct.staged_read_byte_ns = byte_ns(one_reader);
  found.direct.parallel_writes = loses(one_writer, all_writers) ? 1 : 0;
  found.direct.parallel_reads = loses(one_reader, all_readers) ? 1 : 0;
}

}  // namespace

std::string LibraryRun::hints() const {
  if (!direct) return "io=buffered";
  return fmt::format("io=direct,queue_depth={},transfer_bytes={}", depth, transfer_bytes);
}

double together(int64_t tasks, const std::function<void(int64_t rank)>& work) {
  stop_if_interrupted();
  std::barrier all_there(tasks);
  Times times(tasks);
  on_threads(tasks, [&](int64_t rank, const std::atomic<bool>&) {
    all_there.arrive_and_wait();
    times.begin[static_cast<size_t>(rank)] = Clock::now();
    work(rank);
    times.end[static_cast<size_t>(rank)] = Clock::now();
  });
  return times.seconds();
}

double plain_run(Workbench& bench, bool writes, bool fresh, int64_t tasks) {
  if (writes && fresh) bench.cached.empty();
  if (!writes) bench.target.clear();
  const double seconds = together(tasks, [&](int64_t rank) {
    const Stretch share = share_of(bench.options.bytes, rank, tasks);
    writes ? plain_write(bench.cached, bench.source, share) : plain_read(bench.cached, bench.target, share);
  });
  check_run(bench, bench.cached, writes, false);
  return seconds;
}

double library_run(Workbench& bench, const LibraryRun& run) {
  stop_if_interrupted();
  const ScratchFile& file = run.direct ? bench.past_cache : bench.cached;
  if (run.writes && run.fresh) file.empty();
  if (!run.writes) bench.target.clear();
  LibraryTasks all{bench, file, run, Times(run.tasks), TW_OK, {}};
  run_team(all);
  check_run(bench, file, run.writes, run.direct);
  return all.times.seconds();
}

double small_direct_run(Workbench& bench, bool writes) {
  stop_if_interrupted();
  const thalweg::Group group = thalweg::Group::self();
  thalweg::Options options;
  options.hints("io=direct");
  tw_file* file = nullptr;
  const std::string& path = bench.past_cache.path();
  tw_status status = tw_file_open(group.get(), path.c_str(), writes ? TW_WRITE : TW_READ, options.get(), &file);
  const auto begin = Clock::now();
  for (int64_t i = 0; i < kSmallCalls && status == TW_OK; ++i) {
    const int64_t at = i * 17 % (bench.options.bytes / kSmallBytes) * kSmallBytes;
    const int64_t from = at % static_cast<int64_t>(bench.source.size());
    status = writes ? tw_file_write_at(file, bench.source.data() + from, kSmallBytes, at)
                    : tw_file_read_at(file, bench.target.data() + from, kSmallBytes, at, nullptr);
  }
  const double seconds = seconds_since(begin);
  const std::string message = status == TW_OK ? "" : tw_last_error();
  const tw_status closed = file != nullptr ? tw_file_close(&file) : TW_OK;
  if (status == TW_OK) status = closed;
  if (status != TW_OK) throw Failure(exit_code(status), message, status);
  return seconds / kSmallCalls;
}

void measure_direct(Workbench& bench, Measured& found) {
  plain_run(bench, true, true, 1);  // the data left by the last staged write cannot be verified
  if (bench.options.has_direct) {
    library_run(bench, {true, true, 1, true, found.queue_depth, found.transfer_bytes});
    choose_point(bench, found);
  }
  found.direct = found.buffered;
  hold_contests(bench, found);
  if (!bench.options.has_direct) return;
  const Timed runs[] = {[&] { return small_direct_run(bench, true); }, [&] { return small_direct_run(bench, false); }};
  const auto seconds = bench.take_turns(runs);
  const double slower = std::max(spread_of(seconds[0]).median, spread_of(seconds[1]).median) * 1e9;
  const double bytes_ns = static_cast<double>(kSmallBytes) * found.direct.write_byte_ns;
  found.direct.call_ns = std::max(found.buffered.call_ns, slower - bytes_ns);
}

}  // namespace tool
