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
#include "support/effort.hpp"
#include "support/pattern.hpp"
#include "support/report.hpp"

namespace bench {

namespace {

const std::string kPlain = "thalweg, CRC off", kSealed = "thalweg, CRC on", kSion = "SIONlib";
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kSmallBytes = 1024;
constexpr sion_int32 kBlockOfFileSystem = -1;  // detected by SIONlib

struct Bench {
  Effort effort;
  const Ranks& ranks;
  const thalweg::Group& group;
  Storage& storage;
  Report& report;  // used on rank 0 only

  Plan plan() const { return {pick(effort, 1, 5, 11), 1e9, effort != Effort::tiny}; }
};

void must_sion(bool good, const char* what, const std::string& path) {
  if (!good) give_up(fmt::format("SIONlib cannot {} '{}'", what, path));
}

// ---- A file with a stream of each rank, and the same by one process for all --------------------------------------

// What is written or read at `path`.
struct Location {
  std::string path;
  int files = 1;           // physical files
  std::int64_t bytes = 0;  // of a stream
  bool writes = false;
  bool sealed = false;  // with checksums
};

// n: logical files, all served here; 0: one for each task.
thalweg::Options options_of(const Location& place, std::int64_t n = 0) {
  thalweg::Options options;
  options.hints(fmt::format("physical_files={},checksum={}", place.files, place.sealed ? "crc32c" : "none"));
  if (n > 0 && place.writes) options.range(n, 0, n);
  return options;
}

int flags_of(const Location& place) { return place.writes ? TW_CREATE | TW_TRUNCATE : TW_READ; }

class OurStream {
 public:
  OurStream(const Bench& bench, const Location& place)
      : file_(bench.group, place.path, flags_of(place), options_of(place)), handle_(file_.get()) {}
  void write(const std::byte* data, std::size_t n) { thalweg::check(tw_multifile_write(handle_, data, n)); }
  bool read(std::byte* data, std::size_t n) {
    std::size_t got = 0;
    thalweg::check(tw_multifile_read(handle_, data, n, &got));
    return got == n;
  }
  void close() { file_.close(); }

 private:
  thalweg::Multifile file_;
  tw_multifile* handle_;
};

class SionStream {
 public:
  SionStream(const Bench& bench, const Location& place) : path_(place.path) {
    int files = place.files, rank = bench.ranks.rank();
    MPI_Comm of_file = MPI_COMM_WORLD;
    sion_int64 chunk = place.bytes;
    sion_int32 block = kBlockOfFileSystem;
    sid_ = sion_paropen_mpi(path_.data(), place.writes ? "bw" : "br", &files, MPI_COMM_WORLD, &of_file, &chunk, &block,
                            &rank, nullptr, nullptr);
    must_sion(sid_ >= 0, "open", path_);
  }
  void write(const std::byte* data, std::size_t n) { must_sion(sion_fwrite(data, 1, n, sid_) == n, "write", path_); }
  bool read(std::byte* data, std::size_t n) { return sion_fread(data, 1, n, sid_) == n; }
  void close() { must_sion(sion_parclose_mpi(sid_) == SION_SUCCESS, "close", path_); }

 private:
  std::string path_;
  int sid_;
};

class OurSmall {
 public:
  OurSmall(const Location& place, std::int64_t n)
      : file_(place.path, flags_of(place), options_of(place, n)), handle_(file_.get()) {}
  void write(std::int64_t i, const std::byte* data, std::size_t n) {
    thalweg::check(tw_multifile_seek_to(handle_, i, 0));
    thalweg::check(tw_multifile_write(handle_, data, n));
  }
  bool read(std::int64_t i, std::byte* data, std::size_t n) {
    thalweg::check(tw_multifile_seek_to(handle_, i, 0));
    std::size_t got = 0;
    thalweg::check(tw_multifile_read(handle_, data, n, &got));
    return got == n;
  }
  void close() { file_.close(); }
  static bool read_one(const Location& place, std::int64_t i, std::byte* data, std::size_t n) {
    thalweg::Multifile file(place.path, TW_READ, thalweg::Options().ranks(-1, std::span(&i, 1)));
    const bool whole = file.read(data, n) == n;
    file.close();
    return whole;
  }

 private:
  thalweg::Multifile file_;
  tw_multifile* handle_;
};

class SionSmall {
 public:
  SionSmall(const Location& place, std::int64_t n)
      : path_(place.path), chunks_(static_cast<std::size_t>(n), place.bytes), ranks_(static_cast<std::size_t>(n)) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) ranks_[i] = static_cast<int>(i);
    int tasks = static_cast<int>(n), files = 1;
    sion_int32 block = kBlockOfFileSystem;
    sion_int64* chunks = place.writes ? chunks_.data() : nullptr;
    int* ranks = place.writes ? ranks_.data() : nullptr;
    sid_ = sion_open(path_.data(), place.writes ? "bw" : "br", &tasks, &files, &chunks, &block, &ranks, nullptr);
    must_sion(sid_ >= 0, "open", path_);
  }
  void write(std::int64_t i, const std::byte* data, std::size_t n) {
    seek(i, SION_CURRENT_BLK, SION_CURRENT_POS);  // a new file can be written in no other order
    must_sion(sion_fwrite(data, 1, n, sid_) == n, "write", path_);
  }
  bool read(std::int64_t i, std::byte* data, std::size_t n) {
    seek(i, 0, 0);
    return sion_fread(data, 1, n, sid_) == n;
  }
  void close() { must_sion(sion_close(sid_) == SION_SUCCESS, "close", path_); }
  static bool read_one(const Location& place, std::int64_t i, std::byte* data, std::size_t n) {
    std::string path = place.path;
    int rank = static_cast<int>(i);
    sion_int64 chunk = 0;
    sion_int32 block = kBlockOfFileSystem;
    const int sid = sion_open_rank(path.data(), "br", &chunk, &block, &rank, nullptr);
    must_sion(sid >= 0, "open", path);
    const bool whole = sion_fread(data, 1, n, sid) == n;
    must_sion(sion_close(sid) == SION_SUCCESS, "close", path);
    return whole;
  }

 private:
  void seek(std::int64_t i, int block, sion_int64 position) {
    must_sion(sion_seek(sid_, static_cast<int>(i), block, position) == SION_SUCCESS, "seek in", path_);
  }

  std::string path_;
  std::vector<sion_int64> chunks_;
  std::vector<int> ranks_;
  int sid_;
};

// ---- Comparisons -------------------------------------------------------------------------------------------------

// Adds `run_of(place)` of each library. `run_of` is called with a tag whose type is the library's class.
template <class Run>
void add_both(Together& together, int files, std::int64_t bytes, const Run& run) {
  for (const bool sealed : {false, true})
    together.add(sealed ? kSealed : kPlain, [run, files, bytes, sealed](int repetition) {
      return run(true, Location{"", files, bytes, false, sealed}, repetition);
    });
  together.add(kSion, [run, files, bytes](int repetition) {
    return run(false, Location{"", files, bytes, false, false}, repetition);
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
std::vector<double> write_and_read(const Bench& bench, Location place, Pattern& pattern, int repetition) {
  const auto n = static_cast<std::int64_t>(pattern.block_bytes());
  const std::int64_t blocks = place.bytes / n;
  place.path = bench.storage.fresh_path(static_cast<double>(place.bytes) * bench.ranks.size());
  place.writes = true;
  const double written = bench.ranks.timed([&] {
    Stream file(bench, place);
    for (std::int64_t i = 0; i < blocks; ++i)
      file.write(pattern.block(static_cast<std::uint64_t>(i)), pattern.block_bytes());
    file.close();
  });
  place.writes = false;
  std::vector<std::byte> ring(kRingBytes);
  const auto read_all = [&](bool every_byte) {
    Stream file(bench, place);
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
  bench.storage.drop(place.path);
  return {written, was_read};
}

// Calls of `call_bytes`, `bytes` of each rank.
void compare_streams(Bench& bench, const std::string& what, std::int64_t bytes, std::size_t call_bytes, int files) {
  Pattern pattern(static_cast<std::uint64_t>(bench.ranks.rank()) + 1, call_bytes);
  Together together(bench.ranks, named(bench, what, files), {static_cast<double>(bytes) * bench.ranks.size(), "byte"},
                    {"write", "read"});
  add_both(together, files, bytes, [&](bool ours, const Location& place, int repetition) {
    return ours ? write_and_read<OurStream>(bench, place, pattern, repetition)
                : write_and_read<SionStream>(bench, place, pattern, repetition);
  });
  report(bench, together);
}

// New files one after the other, as one takes less than the ranks need to start at the same time.
template <class Stream>
std::vector<double> create_and_open(const Bench& bench, Location place) {
  const int times = pick(bench.effort, 2, 20, 50);
  const std::string first = bench.storage.fresh_path(0);
  const auto pass = [&](bool writes) {
    place.writes = writes;
    return bench.ranks.timed([&] {
      for (int i = 0; i < times; ++i) {
        place.path = fmt::format("{}.{}", first, i);
        Stream(bench, place).close();
      }
    }) / times;
  };
  const double made = pass(true), opened = pass(false);
  bench.storage.drop(first);
  return {made, opened};
}

void compare_create(Bench& bench, int files) {
  Together together(bench.ranks, named(bench, "open and close", files), {1, "open and close"}, {"new", "for reading"});
  add_both(together, files, kSmallBytes, [&](bool ours, const Location& place, int) {
    return ours ? create_and_open<OurStream>(bench, place) : create_and_open<SionStream>(bench, place);
  });
  report(bench, together);
}

// By rank 0 alone; the others sleep.
template <class Small>
std::vector<double> small_streams(const Bench& bench, Location place, std::int64_t n, Pattern& pattern) {
  place.path = bench.storage.fresh_path(static_cast<double>(n) * 4096);
  std::vector<std::byte> data(pattern.block_bytes());
  const auto timed = [&](const auto& work) {
    return bench.ranks.timed([&] {
      if (bench.ranks.first()) work();
    });
  };
  const auto must_be = [&](std::int64_t i, bool whole) {
    if (!whole || !pattern.equals(static_cast<std::uint64_t>(i), data.data())) give_up("a stream has wrong bytes");
  };
  place.writes = true;
  std::vector<double> seconds = {timed([&] {
    Small file(place, n);
    for (std::int64_t i = 0; i < n; ++i) file.write(i, pattern.block(static_cast<std::uint64_t>(i)), data.size());
    file.close();
  })};
  place.writes = false;
  seconds.push_back(timed([&] {
    Small file(place, n);
    for (std::int64_t i = 0; i < n; ++i) must_be(i, file.read(i, data.data(), data.size()));
    file.close();
  }));
  constexpr int kOpened = 8;
  seconds.push_back(timed([&] {
                      for (std::int64_t k = 0; k < kOpened; ++k) {
                        const std::int64_t i = (n / kOpened * k + 7919 * k) % n;
                        must_be(i, Small::read_one(place, i, data.data(), data.size()));
                      }
                    }) /
                    kOpened);
  bench.storage.drop(place.path);
  return seconds;
}

void compare_small(Bench& bench) {
  const std::int64_t n = pick<std::int64_t>(bench.effort, 1 << 8, 1 << 16, 1 << 16);
  Pattern pattern(1, static_cast<std::size_t>(kSmallBytes));
  const auto measured = [&](bool ours, const Location& place) {
    return ours ? small_streams<OurSmall>(bench, place, n, pattern)
                : small_streams<SionSmall>(bench, place, n, pattern);
  };
  Together all(bench.ranks, fmt::format("{} streams of 1 KiB by one process", n), {static_cast<double>(n), "stream"},
               {"write", "read"});
  add_both(all, 1, kSmallBytes, [&](bool ours, const Location& place, int) { return measured(ours, place); });
  report(bench, all);
  Together one(bench.ranks, fmt::format("one of {} streams", n), {1, "open and read"}, {"read"});
  add_both(one, 1, kSmallBytes,
           [&](bool ours, const Location& place, int) { return std::vector{measured(ours, place)[2]}; });
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
