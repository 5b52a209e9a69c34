// (h) Logical files that tasks add by a name, 100 bytes each: their growth in time and memory, a file each in place of
// them, and finding one of very many.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "multifile/logical.hpp"
#include "multifile/parts.hpp"
#include "support/child.hpp"
#include "support/clock.hpp"
#include "support/tasks.hpp"

namespace bench {

namespace {

constexpr int kTasks = 4;
constexpr std::size_t kContentBytes = 100;
constexpr std::int64_t kCheckEach = 997;

std::vector<Pattern> contents() {
  std::vector<Pattern> all;
  for (int task = 0; task < kTasks; ++task)
    all.emplace_back(static_cast<std::uint64_t>(task) + 1, kContentBytes, std::size_t{1} << 20);
  return all;
}

std::string name_of(int task, std::int64_t i) { return fmt::format("task-{}/particle-{:09}", task, i); }

double add_names(const std::filesystem::path& folder, std::int64_t names, std::vector<Pattern>& of_task) {
  return time_tasks(kTasks, [&](const Task& task) {
    Pattern& content = of_task[static_cast<std::size_t>(task.rank)];
    thalweg::Multifile file(task.group, multifile_in(folder), TW_CREATE | TW_TRUNCATE,
                            thalweg::Options().range(0, 0, 0));
    for (std::int64_t i = 0; i < names / kTasks; ++i) {
      file.add(name_of(task.rank, i));
      file.write(content.block(static_cast<std::uint64_t>(i)), kContentBytes);
    }
    file.close();
  });
}

// A folder for each task, so that tasks do not wait for each other in one.
double make_files(const std::filesystem::path& folder, std::int64_t names, std::vector<Pattern>& of_task) {
  for (int task = 0; task < kTasks; ++task) std::filesystem::create_directory(folder / fmt::format("task-{}", task));
  return time_tasks(kTasks, [&](const Task& task) {
    Pattern& content = of_task[static_cast<std::size_t>(task.rank)];
    for (std::int64_t i = 0; i < names / kTasks; ++i) {
      const std::string path = folder / name_of(task.rank, i);
      const int fd = must(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), "cannot create " + path);
      must(static_cast<int>(write(fd, content.block(static_cast<std::uint64_t>(i)), kContentBytes)), "cannot write");
      must(close(fd), "cannot close");
    }
  });
}

void check_names(const std::filesystem::path& folder, std::int64_t names, const std::vector<Pattern>& of_task) {
  thalweg::Multifile file(multifile_in(folder), TW_READ);
  if (file.summarize().n_logical != names / kTasks * kTasks) give_up("the multifile has another number of names");
  std::vector<std::byte> data(kContentBytes + 1);
  for (int task = 0; task < kTasks; ++task)
    for (std::int64_t i = 0; i < names / kTasks; i += kCheckEach) {
      const auto rank = file.find(name_of(task, i));
      if (!rank) give_up("a name is not found");
      file.seek_to(*rank, 0);
      if (file.read(data.data(), data.size()) != kContentBytes) give_up("a logical file has a wrong size");
      check_block(of_task[static_cast<std::size_t>(task)], i, data.data(), Check::all_bytes);
    }
}

void check_files(const std::filesystem::path& folder, std::int64_t names, const std::vector<Pattern>& of_task) {
  std::vector<std::byte> data(kContentBytes + 1);
  for (int task = 0; task < kTasks; ++task)
    for (std::int64_t i = 0; i < names / kTasks; i += kCheckEach) {
      const std::string path = folder / name_of(task, i);
      const int fd = must(open(path.c_str(), O_RDONLY | O_CLOEXEC), "cannot open " + path);
      if (read(fd, data.data(), data.size()) != static_cast<ssize_t>(kContentBytes)) give_up("a file has a wrong size");
      must(close(fd), "cannot close");
      check_block(of_task[static_cast<std::size_t>(task)], i, data.data(), Check::all_bytes);
    }
}

using Make = double (*)(const std::filesystem::path&, std::int64_t, std::vector<Pattern>&);
using Verify = void (*)(const std::filesystem::path&, std::int64_t, const std::vector<Pattern>&);

Comparison::Run one_run(Bench& bench, std::int64_t names, Make make, Verify verify) {
  return [&bench, names, make, verify](int) -> std::vector<double> {
    std::vector<Pattern> of_task = contents();
    const auto folder = bench.scratch.fresh();
    bench.scratch.settle();
    const double seconds = make(folder, names, of_task);
    verify(folder, names, of_task);
    bench.scratch.drop_bytes(folder);
    return {seconds};
  };
}

void compare_with_files(Bench& bench) {
  const std::int64_t names = pick(bench.effort, 1 << 12, 1 << 15, 1 << 18);
  Comparison comparison("names of 100 bytes each, 4 tasks", {static_cast<double>(names), "name"}, {"write"});
  comparison.add("tw_multifile_add", one_run(bench, names, add_names, check_names));
  comparison.add("a file each", one_run(bench, names, make_files, check_files));
  comparison.run(bench.plan(5, false));
  bench.report.add(comparison, bench.scratch.kind());
  bench.report.add_target({bench.on(count_text(names) + " names of 100 bytes against as many files"),
                           comparison.speed("tw_multifile_add", "a file each", "write"), 20, true, "x"});
}

void measure_growth(Bench& bench, std::int64_t few, std::int64_t most) {
  Comparison comparison("names of 100 bytes each, 4 tasks, growing", {1, "multifile"}, {"write"});
  for (const std::int64_t names : {few, most})
    comparison.add(count_text(names), one_run(bench, names, add_names, check_names));
  comparison.run(bench.plan(3, false));
  bench.report.add(comparison, bench.scratch.kind());
  const Spread ratio = comparison.speed(count_text(few), count_text(most), "write");  // time of most / time of few
  const double times = static_cast<double>(most) / static_cast<double>(few);
  bench.report.add_target(
      {bench.on(fmt::format("time per name, of {} against of {}", count_text(most), count_text(few))),
       {ratio.median / times, ratio.low / times, ratio.high / times},
       1.2,
       false,
       "x"});
}

void find_one(Bench& bench, std::int64_t names) {
  const auto folder = bench.scratch.fresh();
  std::vector<Pattern> of_task = contents();
  reset_peak_memory();
  const std::int64_t before = current_memory();
  add_names(folder, names, of_task);
  const double per_name = static_cast<double>(peak_memory() - before) / static_cast<double>(names);
  bench.report.add_fact(
      bench.on("memory of a name"), per_name,
      fmt::format("  memory while {} names are written, all tasks: {:.0f} bytes of each", count_text(names), per_name));
  std::vector<double> times, calls;
  for (int i = 0; i < pick(bench.effort, 2, 9, 21); ++i) {
    const std::string name = name_of(i % kTasks, (names / kTasks / 7 * 3 + 7919 * i) % (names / kTasks));
    if (!bench.scratch.in_memory()) drop_cache(folder);
    const ReadCount reads = reads_so_far();
    times.push_back(1e3 * seconds_of([&] {
                      if (!thalweg::Multifile(multifile_in(folder), TW_READ).find(name)) give_up("a name is not found");
                    }));
    calls.push_back(static_cast<double>(difference(reads, reads_so_far()).calls));
  }
  const std::string what = fmt::format("open and find one of {} names", count_text(names));
  bench.report.add_target({bench.on(what), spread_of(times), 5, false, "ms"});
  bench.report.add_target({bench.on(what + ", reads"), spread_of(calls), 10, false, "reads"});
  bench.scratch.drop_bytes(folder);
}

}  // namespace

void bench_names(Bench& bench) {
  const std::int64_t few = pick(bench.effort, 1 << 12, 1 << 16, 1'000'000);
  compare_with_files(bench);
  measure_growth(bench, few, few * pick(bench.effort, 2, 4, 10));
  find_one(bench, pick(bench.effort, 1 << 12, 1 << 18, 1'000'000));
}

}  // namespace bench
