// (a) A million logical files: time and memory of opening and closing them, their growth, and opening a single one for
// reading, which must not read the metadata of all.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "multifile/logical.hpp"
#include "multifile/parts.hpp"
#include "support/child.hpp"
#include "support/clock.hpp"

namespace bench {

namespace {

constexpr int kTasks = 4;
constexpr std::size_t kContentBytes = 64;  // per logical file, where one is opened

std::string serial(std::int64_t files) { return count_text(files) + ", serial"; }
std::string by_tasks(std::int64_t files) { return count_text(files) + ", 4 tasks"; }

void add_creation(Comparison& comparison, Bench& bench, std::int64_t files, int tasks) {
  comparison.add(tasks == 0 ? serial(files) : by_tasks(files), [&bench, files, tasks](int) -> std::vector<double> {
    const auto folder = bench.scratch.fresh();
    bench.scratch.settle();
    std::vector<Pattern> empty;
    const double seconds = create_logical(folder, files, tasks, empty);
    const thalweg::Multifile file(multifile_in(folder), TW_READ);
    if (file.summarize().n_logical != files || file.size(files - 1) != 0)
      give_up("the multifile differs from the one created");
    bench.scratch.drop_bytes(folder);
    return {seconds};
  });
}

void measure_memory(Bench& bench, std::int64_t files) {
  for (const int tasks : {0, kTasks}) {
    const auto folder = bench.scratch.fresh();
    const auto text = run_self({"--probe-create", folder.string(), "--probe-files", std::to_string(files),
                                "--probe-tasks", std::to_string(tasks)});
    if (!text) give_up("the measurement of memory failed");
    const auto result = nlohmann::json::parse(*text);
    const double mebibytes = result.at("peak_bytes").get<double>() / (1 << 20);
    const std::string who = tasks == 0 ? "serial" : "all 4 tasks together";
    bench.report.add_fact(
        bench.on("memory for " + count_text(files) + " logical files, " + who), result,
        fmt::format("  memory for {} logical files, {}: {:.1f} MiB", count_text(files), who, mebibytes));
    bench.report.add_target({bench.on(fmt::format("memory for {} logical files, {}", count_text(files), who)),
                             {mebibytes, mebibytes, mebibytes},
                             190,
                             false,
                             "MiB"});
    bench.scratch.drop_bytes(folder);
  }
}

// A multifile of `files` logical files, and the counters of opening single ones.
struct Opening {
  std::filesystem::path folder;
  std::int64_t files;
  ReadCount reads;
};

double open_one(Opening& opening, int repetition) {
  const std::int64_t rank = (opening.files / 7 * 3 + 7919 * (repetition + 2)) % opening.files;
  const Pattern pattern(1, kContentBytes, std::size_t{1} << 20);
  std::vector<std::byte> data(kContentBytes + 1);
  const ReadCount before = reads_so_far();
  std::size_t got = 0;
  const double seconds = seconds_of([&] {
    thalweg::Multifile file(multifile_in(opening.folder), TW_READ,
                            thalweg::Options().ranks(-1, std::span<const std::int64_t>(&rank, 1)));
    got = file.read(data.data(), data.size());
    file.close();
  });
  opening.reads = difference(before, reads_so_far());
  if (got != kContentBytes) give_up("a logical file has a wrong size");
  check_block(pattern, rank, data.data(), Check::all_bytes);
  return seconds;
}

Opening prepare_opening(Bench& bench, std::int64_t files) {
  Opening opening{bench.scratch.fresh(), files, {}};
  std::vector<Pattern> contents;
  for (int task = 0; task < kTasks; ++task) contents.emplace_back(1, kContentBytes, std::size_t{1} << 20);
  create_logical(opening.folder, files, kTasks, contents);
  return opening;
}

void add_opening_targets(Bench& bench, const Comparison& comparison, const Opening& few, const Opening& most) {
  const std::string name = count_text(most.files);
  for (const auto& phase : comparison.phases()) {
    const Spread s = comparison.seconds(name, phase);
    bench.report.add_target({bench.on(fmt::format("open, read, close one of {} logical files, {}", name, phase)),
                             {s.median * 1e3, s.low * 1e3, s.high * 1e3},
                             20,
                             false,
                             "ms"});
  }
  const double growth = static_cast<double>(most.reads.bytes) / static_cast<double>(few.reads.bytes);
  bench.report.add_target(
      {bench.on(fmt::format("bytes read to open one, of {} against of {}", name, count_text(few.files))),
       {growth, growth, growth},
       1.5,
       false,
       "x"});
}

}  // namespace

void bench_growth(Bench& bench) {
  const std::int64_t few = pick(bench.effort, 1 << 10, 1 << 16, 1 << 16);
  const std::int64_t most = pick(bench.effort, 1 << 14, 1 << 20, 1 << 20);
  Comparison comparison("logical files opened and closed, growing", {1, "multifile"}, {"create"});
  add_creation(comparison, bench, few, 0);
  if (bench.effort == Effort::full) add_creation(comparison, bench, 1 << 18, 0);
  add_creation(comparison, bench, most, 0);
  add_creation(comparison, bench, most, kTasks);
  comparison.run(bench.plan(7, true));
  bench.report.add(comparison, bench.scratch.kind());

  for (const auto& variant : {serial(most), by_tasks(most)})
    bench.report.add_target(
        {bench.on("create and close logical files, " + variant), comparison.seconds(variant, "create"), 2, false, "s"});
  const Spread ratio = comparison.speed(serial(few), serial(most), "create");  // time of most / time of few
  const double times = static_cast<double>(most) / static_cast<double>(few);
  bench.report.add_target(
      {bench.on(fmt::format("time per logical file, of {} against of {}", count_text(most), count_text(few))),
       {ratio.median / times, ratio.low / times, ratio.high / times},
       1.2,
       false,
       "x"});
  measure_memory(bench, most);
}

void bench_open_one(Bench& bench) {
  const std::int64_t few = pick(bench.effort, 1 << 10, 1 << 16, 1 << 16);
  const std::int64_t most = pick(bench.effort, 1 << 14, 1 << 20, 1 << 20);
  Opening openings[2] = {prepare_opening(bench, few), prepare_opening(bench, most)};
  std::vector<std::string> phases = {"warm"};
  if (!bench.scratch.in_memory()) phases.emplace_back("cold");
  Comparison comparison("open one logical file, read it, close", {1, "opening"}, phases);
  for (Opening& opening : openings)
    comparison.add(count_text(opening.files), [&bench, &opening](int repetition) -> std::vector<double> {
      std::vector<double> seconds = {open_one(opening, repetition)};
      if (bench.scratch.in_memory()) return seconds;
      drop_cache(opening.folder);
      seconds.push_back(open_one(opening, repetition));
      return seconds;
    });
  comparison.run(bench.plan(9, true));
  for (const Opening& opening : openings)
    comparison.note("reads for one of " + count_text(opening.files),
                    fmt::format("{} bytes in {} calls", opening.reads.bytes, opening.reads.calls));
  bench.report.add(comparison, bench.scratch.kind());
  add_opening_targets(bench, comparison, openings[0], openings[1]);
  for (const Opening& opening : openings) bench.scratch.drop_bytes(opening.folder);
}

void probe_create(const std::string& folder, std::int64_t files, int tasks) {
  std::vector<Pattern> empty;
  reset_peak_memory();
  const std::int64_t before = current_memory();
  const double seconds = create_logical(folder, files, tasks, empty);
  const nlohmann::json result = {{"files", files},
                                 {"tasks", tasks},
                                 {"seconds", seconds},
                                 {"peak_bytes", std::max<std::int64_t>(peak_memory() - before, 0)}};
  fmt::print("{}\n", result.dump());
}

}  // namespace bench
