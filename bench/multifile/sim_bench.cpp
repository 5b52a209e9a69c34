// (f) Time and memory of the collectives for many tasks, by simulation: the code of real tasks, in one thread. Each
// number of tasks has a process of its own, because peak memory is measured per process.
#include <fmt/format.h>

#include <thalweg/thalweg.hpp>

#include "multifile/parts.hpp"
#include "sim/simulate.hpp"
#include "support/child.hpp"

namespace bench {

namespace {

constexpr std::int64_t kTasksPerProcess = 64;
constexpr std::int64_t kBytesPerFile = 64;
constexpr std::int64_t kMostMemory = std::int64_t{4} << 30;
constexpr std::uint64_t kSeed = 20091114;

std::string line_of(const nlohmann::json& result) {
  const auto n = result.at("tasks").get<double>();
  const auto each = [&](const char* key) { return time_text(result.at(key).get<double>() / n); };
  const auto bytes_each = [&](const char* key) { return result.at(key).get<double>() / n; };
  return fmt::format(
      "  {:>5} tasks, for each: create {}, close {}, open {}; metadata in the files {:.1f} B; open handle {} B; "
      "peak memory of everything {:.0f} B",
      count_text(result.at("tasks").get<std::int64_t>()), each("create_seconds"), each("close_seconds"),
      each("open_seconds"), bytes_each("metadata_bytes"), result.at("bytes_per_task").get<std::int64_t>(),
      bytes_each("peak_bytes"));
}

}  // namespace

void bench_simulation(Effort effort, Report& report) {
  fmt::print("\n== simulated tasks, {} to a process, {} bytes each, in memory\n", kTasksPerProcess, kBytesPerFile);
  const std::int64_t most = pick<std::int64_t>(effort, 1 << 12, 1 << 13, 1 << 20);
  for (std::int64_t tasks = 1024; tasks <= most; tasks *= pick(effort, 4, 8, 4)) {
    const auto text = run_self({"--probe-simulate", std::to_string(tasks)});
    if (!text) {
      fmt::print("  {:>5} tasks: did not fit into {} MiB, or half of the free memory\n", count_text(tasks),
                 kMostMemory >> 20);
      break;
    }
    const auto result = nlohmann::json::parse(*text);
    report.add_fact("simulated " + count_text(tasks) + " tasks", result, line_of(result));
  }
}

void probe_simulate(std::int64_t tasks) {
  limit_memory(kMostMemory);
  thalweg::SimulationReport result;
  if (const auto status = thalweg::simulate_multifile({tasks, kTasksPerProcess, kBytesPerFile, kSeed, {}}, result);
      !status.ok())
    throw std::runtime_error(status.message());
  const nlohmann::json all = {{"tasks", tasks},
                              {"tasks_per_process", kTasksPerProcess},
                              {"bytes_per_file", kBytesPerFile},
                              {"create_seconds", result.create_seconds},
                              {"close_seconds", result.close_seconds},
                              {"open_seconds", result.open_seconds},
                              {"metadata_bytes", result.metadata_bytes},
                              {"bytes_per_task", result.bytes_per_task},
                              {"peak_bytes", result.peak_bytes}};
  fmt::print("{}\n", all.dump());
}

}  // namespace bench
