// thalweg-bench-sion: multifiles beside SIONlib's files. Both are written and read by the same calls of the same ranks,
// in turns, and every byte is verified. SIONlib has no checksums: multifiles are measured with theirs and without.
#include <fmt/format.h>
#include <mpi.h>
#include <sion.h>
#include <thalweg/group_mpi.h>

#include <CLI/CLI.hpp>
#include <thalweg/thalweg.hpp>

#include "collective/launch.hpp"
#include "collective/ranks.hpp"
#include "collective/storage.hpp"
#include "sion/streams.hpp"
#include "support/effort.hpp"
#include "support/pattern.hpp"
#include "support/report.hpp"

namespace bench {

namespace {

const std::string kPlain = "thalweg, CRC off", kSealed = "thalweg, CRC on", kSion = "SIONlib";
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kSmallBytes = 1024;

struct Bench {
  Effort effort;
  const Ranks& ranks;
  const thalweg::Group& group;
  Storage& storage;
  Report& report;  // used on rank 0 only

  Plan plan() const { return {pick(effort, 1, 5, 11), 1e9, effort != Effort::tiny}; }
};

// Adds three variants: run(true, ...) for a multifile without and with checksums, run(false, ...) for SIONlib's file.
template <class Run>
void add_both(Together& together, int files, std::int64_t bytes, const Run& run) {
  for (const bool sealed : {false, true})
    together.add(sealed ? kSealed : kPlain, [run, files, bytes, sealed](int repetition) {
      return run(true, FileUse{"", files, bytes, false, sealed}, repetition);
    });
  together.add(kSion, [run, files, bytes](int repetition) {
    return run(false, FileUse{"", files, bytes, false, false}, repetition);
  });
}

void report(Bench& bench, Together& together) {
  together.run(bench.plan());
  if (!bench.ranks.first()) return;
  const Comparison& results = together.results();
  bench.report.add(results, bench.storage.name());
  for (const std::string& phase : results.phases())
    for (const std::string& ours : {kPlain, kSealed})
      bench.report.add_target(
          {fmt::format("{}: {}, {}, {}, of SIONlib", bench.storage.name(), results.name(), phase, ours),
           results.speed(ours, kSion, phase),
           1,
           true,
           "x",
           {},
           {fmt::format("{}: {}", results.name(), phase),
            fmt::format("{}, {}", bench.storage.name(), ours == kPlain ? "CRC off" : "CRC on"), ""}});
}

std::string named(const Bench& bench, const std::string& what, int files) {
  const int ranks = bench.ranks.size();
  return fmt::format("{}, {} rank{}, {} physical file{}", what, ranks, ranks == 1 ? "" : "s", files,
                     files == 1 ? "" : "s");
}

template <class Stream>
std::vector<double> write_and_read(const Bench& bench, FileUse use, Pattern& pattern, int repetition) {
  const auto n = static_cast<std::int64_t>(pattern.block_bytes());
  const std::int64_t blocks = use.bytes / n;
  use.path = bench.storage.fresh_path(static_cast<double>(use.bytes) * bench.ranks.size());
  use.writes = true;
  const double written = bench.ranks.timed([&] {
    Stream file(bench.group, use);
    for (std::int64_t i = 0; i < blocks; ++i)
      file.write(pattern.block(static_cast<std::uint64_t>(i)), pattern.block_bytes());
    file.close();
  });
  use.writes = false;
  std::vector<std::byte> ring(kRingBytes);
  const auto read_all = [&](bool every_byte) {
    Stream file(bench.group, use);
    for (std::int64_t i = 0; i < blocks; ++i) {
      std::byte* data = ring.data() + static_cast<std::size_t>(i * n) % ring.size();
      if (!file.read(data, pattern.block_bytes())) give_up("a stream is too short");
      const auto number = static_cast<std::uint64_t>(i);
      if (!(every_byte ? pattern.equals(number, data) : pattern.stamped(number, data))) give_up("wrong bytes");
    }
    file.close();
  };
  const double was_read = bench.ranks.timed([&] { read_all(false); });
  if (repetition <= 0) read_all(true);
  bench.storage.drop(use.path);
  return {written, was_read};
}

// Calls of `call_bytes`, `bytes` of each rank.
void compare_streams(Bench& bench, const std::string& what, std::int64_t bytes, std::size_t call_bytes, int files) {
  Pattern pattern(static_cast<std::uint64_t>(bench.ranks.rank()) + 1, call_bytes);
  Together together(bench.ranks, named(bench, what, files), {static_cast<double>(bytes) * bench.ranks.size(), "byte"},
                    {"write", "read"});
  add_both(together, files, bytes, [&](bool ours, const FileUse& use, int repetition) {
    return ours ? write_and_read<OurStream>(bench, use, pattern, repetition)
                : write_and_read<SionStream>(bench, use, pattern, repetition);
  });
  report(bench, together);
}

// New files one after the other, as one takes less than the ranks need to start at the same time.
template <class Stream>
std::vector<double> create_and_open(const Bench& bench, FileUse use) {
  const int times = pick(bench.effort, 2, 20, 50);
  const std::string first = bench.storage.fresh_path(0);
  const auto pass = [&](bool writes) {
    use.writes = writes;
    return bench.ranks.timed([&] {
      for (int i = 0; i < times; ++i) {
        use.path = fmt::format("{}.{}", first, i);
        Stream(bench.group, use).close();
      }
    }) / times;
  };
  const double made = pass(true), opened = pass(false);
  bench.storage.drop(first);
  return {made, opened};
}

void compare_create(Bench& bench, int files) {
  Together together(bench.ranks, named(bench, "open and close", files), {1, "open and close"}, {"new", "for reading"});
  add_both(together, files, kSmallBytes, [&](bool ours, const FileUse& use, int) {
    return ours ? create_and_open<OurStream>(bench, use) : create_and_open<SionStream>(bench, use);
  });
  report(bench, together);
}

// By rank 0 alone; the others sleep.
template <class Small>
std::vector<double> small_streams(const Bench& bench, FileUse use, std::int64_t n, Pattern& pattern) {
  use.path = bench.storage.fresh_path(static_cast<double>(n) * 4096);
  std::vector<std::byte> data(pattern.block_bytes());
  const auto timed = [&](const auto& work) {
    return bench.ranks.timed([&] {
      if (bench.ranks.first()) work();
    });
  };
  const auto must_be = [&](std::int64_t i, bool whole) {
    if (!whole || !pattern.equals(static_cast<std::uint64_t>(i), data.data())) give_up("a stream has wrong bytes");
  };
  use.writes = true;
  std::vector<double> seconds = {timed([&] {
    Small file(use, n);
    for (std::int64_t i = 0; i < n; ++i) file.write(i, pattern.block(static_cast<std::uint64_t>(i)), data.size());
    file.close();
  })};
  use.writes = false;
  seconds.push_back(timed([&] {
    Small file(use, n);
    for (std::int64_t i = 0; i < n; ++i) must_be(i, file.read(i, data.data(), data.size()));
    file.close();
  }));
  constexpr int kOpened = 8;
  seconds.push_back(timed([&] {
                      for (std::int64_t k = 0; k < kOpened; ++k) {
                        const std::int64_t i = (n / kOpened * k + 7919 * k) % n;
                        must_be(i, Small::read_one(use, i, data.data(), data.size()));
                      }
                    }) /
                    kOpened);
  bench.storage.drop(use.path);
  return seconds;
}

void compare_small(Bench& bench) {
  const std::int64_t n = pick<std::int64_t>(bench.effort, 1 << 8, 1 << 16, 1 << 16);
  Pattern pattern(1, static_cast<std::size_t>(kSmallBytes));
  const auto measured = [&](bool ours, const FileUse& use) {
    return ours ? small_streams<OurSmall>(bench, use, n, pattern) : small_streams<SionSmall>(bench, use, n, pattern);
  };
  Together all(bench.ranks, fmt::format("{} streams of 1 KiB by one process", n), {static_cast<double>(n), "stream"},
               {"write", "read"});
  add_both(all, 1, kSmallBytes, [&](bool ours, const FileUse& use, int) { return measured(ours, use); });
  report(bench, all);
  Together one(bench.ranks, fmt::format("one of {} streams", n), {1, "open and read"}, {"read"});
  add_both(one, 1, kSmallBytes,
           [&](bool ours, const FileUse& use, int) { return std::vector{measured(ours, use)[2]}; });
  report(bench, one);
}

void run_all(Bench& bench) {
  const std::int64_t large = pick<std::int64_t>(bench.effort, 2, 64, 256),
                     small = pick<std::int64_t>(bench.effort, 1, 32, 128);
  for (const int files : {1, bench.ranks.size()}) {
    compare_create(bench, files);
    compare_streams(bench, fmt::format("{} MiB each in calls of 1 MiB", large), large * kMiB, kMiB, files);
    if (bench.ranks.size() == 1) break;
  }
  compare_streams(bench, fmt::format("{} MiB each in records of 64 bytes", small), small * kMiB, 64, 1);
  compare_small(bench);
}

struct Options {
  bool quick = false, tiny = false, only_dir = false;
  std::string dir = ".", json;
};

void run(const Options& options) {
  const double started = now();
  const Ranks ranks;
  const thalweg::Group group = thalweg::Group::make(tw_group_mpi, MPI_COMM_WORLD);
  const Effort effort = effort_of(options.tiny, options.quick);
  if (!ranks.alone_on_machine()) give_up("the ranks must run on one machine, as they share a clock and a folder");
  Report report("sion");
  nlohmann::json kinds = nlohmann::json::array();
  std::vector<std::string> folders = {options.dir};
  if (!options.only_dir && file_system_kind("/dev/shm") == "tmpfs") folders.emplace_back("/dev/shm");
  for (const std::string& folder : folders) {
    Storage storage(ranks, folder, false, effort != Effort::tiny);
    kinds.push_back(storage.name());
    Bench bench{effort, ranks, group, storage, report};
    run_all(bench);
  }
  ranks.meet();
  if (!ranks.first()) return;
  report.print_targets();
  int major = 0, minor = 0, patch = 0, format = 0;
  sion_get_version(&major, &minor, &patch, &format);
  const nlohmann::json settings = {{"effort", name_of(effort)},
                                   {"file_systems", kinds},
                                   {"mpi", mpi_name()},
                                   {"ranks", ranks.size()},
                                   {"sionlib", fmt::format("{}.{}.{}", major, minor, patch)},
                                   {"seconds", now() - started}};
  if (!options.json.empty()) report.write_json(options.json, settings);
  fmt::print("{:.0f} s in all\n", now() - started);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options;
  CLI::App app("Compares multifiles with files of SIONlib, on four ranks unless mpiexec starts it.",
               "thalweg-bench-sion");
  app.add_flag("--quick", options.quick, "smaller sizes and fewer repetitions");
  app.add_flag("--tiny", options.tiny, "smoke test: verifies the bytes; times are meaningless");
  app.add_option("--dir", options.dir, "folder on the file system to measure; it must exist")
      ->capture_default_str()
      ->check(CLI::ExistingDirectory);
  app.add_flag("--only-dir", options.only_dir, "leave out /dev/shm");
  app.add_option("--json", options.json, "write all results to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    bench::start_own_ranks(argv);
    bench::clean_up_when_interrupted();
    int level = 0;
    bench::must_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread");
    bench::run(options);
    bench::must_mpi(MPI_Finalize(), "MPI_Finalize");
    return 0;
  } catch (const std::exception& error) {
    bench::give_up(error.what());
  }
}
