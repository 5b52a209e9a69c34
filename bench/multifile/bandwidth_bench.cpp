// (b) Bandwidth of large writes and reads compared with task-local files and one sequential stream, the cost of
// checksums, and (e) compression.
//
// Every variant writes new files (so that all allocate page cache in the timed part) in blocks of 1 MiB, from arrays
// larger than a core's cache, and reads them back at once (warm) or after they left the page cache (cold). The files of
// a run are removed before the next run.
#include <fmt/format.h>

#include "multifile/logical.hpp"
#include "multifile/parts.hpp"
#include "support/child.hpp"
#include "support/fio.hpp"

namespace bench {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
const std::string kOff = "thalweg, CRC off", kOn = "thalweg, CRC on";
const std::string kLocal = "task-local files", kStream = "one stream";

// Functions that write and read a load in one way.
struct Way {
  std::function<double(const std::filesystem::path&, Load&)> write;
  std::function<double(const std::filesystem::path&, const Load&, Check)> read;
};

Way multifile_way(const std::string& hints) {
  return {[hints](const std::filesystem::path& folder, Load& load) {
            return write_multifile(folder, load, thalweg::Options().hints(hints));
          },
          read_multifile};
}

// Writes a load and removes it at once, so that the next run finds free page cache memory, in pieces of the right size.
// A virtual machine returns memory that was free for seconds to its host, and the first write to it then takes up to
// ten times as long.
void rehearse(Bench& bench, Load& load, const Way& way) {
  if (bench.effort == Effort::tiny) return;
  const auto folder = bench.scratch.fresh();
  const bool sync = std::exchange(load.sync, false);
  way.write(folder, load);
  load.sync = sync;
  bench.scratch.drop_bytes(folder);
}

// One run: rehearse, write, read back, verify every byte in the first repetition, remove.
Comparison::Run one_run(Bench& bench, Load& load, Way way) {
  return [&bench, &load, way = std::move(way)](int repetition) -> std::vector<double> {
    bench.scratch.settle();
    rehearse(bench, load, way);
    const auto folder = bench.scratch.fresh();
    const double write = way.write(folder, load);
    if (load.sync) drop_cache(folder);
    const double read = way.read(folder, load, Check::stamps);
    if (repetition == 0) way.read(folder, load, Check::all_bytes);
    bench.scratch.drop_bytes(folder);
    return {write, read};
  };
}

void note_limits(Bench& bench, Load& load, Comparison& comparison) {
  const Amount amount{load.bytes(), "byte"};
  comparison.note("limit", "memcpy by the same threads " + rate_text(amount, copy_in_memory(load)));
  auto folder = bench.scratch.fresh();
  if (load.sync) {
    const double direct = write_direct_stream(folder, load);
    if (direct > 0) comparison.note("limit of the device", "one O_DIRECT stream, synced " + rate_text(amount, direct));
  }
  bench.scratch.drop_bytes(folder);
  folder = bench.scratch.fresh();
  comparison.note("thalweg chose", strategy_in(folder, load.tasks()));
  bench.scratch.drop_bytes(folder);
}

// Cost of CRCs in percent, by comparing on with off.
Spread cost_percent(const Comparison& comparison, const std::string& phase) {
  const Spread ratio = comparison.speed(kOff, kOn, phase);  // time on / time off
  return {(ratio.median - 1) * 100, (ratio.low - 1) * 100, (ratio.high - 1) * 100};
}

void add_targets(Bench& bench, const Comparison& comparison, int tasks, bool sync) {
  for (const auto& phase : comparison.phases()) {
    const std::string peer = comparison.fastest({kLocal, kStream}, phase);
    const std::string what = fmt::format("{}{}, {} tasks", phase, sync && phase == "write" ? " and sync" : "", tasks);
    bench.report.add_target(
        {bench.on(what + ", CRC off, of best peer"), comparison.speed(kOff, peer, phase), 0.97, true, "x"});
    bench.report.add_target(
        {bench.on(what + ", CRC on, of best peer"), comparison.speed(kOn, peer, phase), 0.93, true, "x"});
    bench.report.add_target(
        {bench.on(what + ", cost of CRC"), cost_percent(comparison, phase), sync ? 2.0 : 10.0, false, "%"});
  }
}

void compare(Bench& bench, int tasks, bool sync) {
  const double mib = pick(bench.effort, 4.0, 128.0, 1024.0);
  Load load = make_load(tasks, mib * 1024 * 1024, kBlockBytes);
  load.sync = sync;
  Comparison comparison(
      fmt::format("{} MiB{}, {} tasks", mib, sync ? ", synced, read cold" : " in the page cache", tasks),
      {load.bytes(), "byte"}, {"write", sync ? "cold read" : "read"});
  comparison.add(kOff, one_run(bench, load, multifile_way("checksum=none")));
  comparison.add(kLocal, one_run(bench, load, {write_task_local, read_task_local}));
  comparison.add(kOn, one_run(bench, load, multifile_way("checksum=crc32c")));
  comparison.add(kStream, one_run(bench, load, {write_one_stream, read_one_stream}));
  comparison.run(bench.plan(sync ? 5 : 9, false));
  note_limits(bench, load, comparison);
  bench.report.add(comparison, bench.scratch.kind());
  add_targets(bench, comparison, tasks, sync);
}

}  // namespace

void bench_bandwidth(Bench& bench) {
  for (const int tasks : {2, 4}) compare(bench, tasks, false);
  if (bench.scratch.in_memory()) return;  // memory has no device to sync to and no cold state
  for (const int tasks : {2, 4}) compare(bench, tasks, true);
}

// Past the page cache, beside fio with as large transfers and as many in flight. Reads are those of bench_bandwidth.
void bench_direct(Bench& bench) {
  if (bench.scratch.in_memory()) return;
  constexpr std::size_t kTransfer = std::size_t{4} << 20;
  const std::string kDirect = "io=direct,transfer_bytes=4MiB,queue_depth=4,", kFio = "fio";
  const bool has_fio = run_program({"fio", "--version"}).has_value();
  const double mib = pick(bench.effort, 16.0, 256.0, 1024.0);
  for (const int tasks : {2, 4}) {
    Load load = make_load(tasks, mib * 1024 * 1024, kBlockBytes);
    load.sync = true;
    Comparison comparison(fmt::format("{} MiB past the page cache, synced, {} tasks", mib, tasks),
                          {load.bytes(), "byte"}, {"write"});
    const auto add = [&](const std::string& name, const Way& way) {
      comparison.add(name,
                     [run = one_run(bench, load, way)](int repetition) { return std::vector{run(repetition)[0]}; });
    };
    add(kOff, multifile_way(kDirect + "checksum=none"));
    add(kOn, multifile_way(kDirect + "checksum=crc32c"));
    add("thalweg, page cache", multifile_way("checksum=none"));
    add(kLocal, {write_task_local, read_task_local});
    const auto fio = [&](int) -> std::vector<double> {
      const auto folder = bench.scratch.fresh();
      const auto each = static_cast<std::size_t>(load.bytes()) / static_cast<std::size_t>(tasks);
      const auto speed = ask_fio(folder / "fio", {tasks, each, kTransfer, 4});
      bench.scratch.drop_bytes(folder);
      if (!speed) give_up("fio failed");
      return {load.bytes() / *speed};
    };
    if (has_fio) comparison.add(kFio, fio);
    comparison.run(bench.plan(7, false));
    bench.report.add(comparison, bench.scratch.kind());
    for (const std::string& which : {kOff, kOn})
      if (has_fio)
        bench.report.add_target({bench.on(fmt::format("direct writes, {} tasks, {}, of fio", tasks, which)),
                                 comparison.speed(which, kFio, "write"), 0.95, true, "x"});
  }
}

// The number of physical files, from 1 to that of the tasks.
void bench_physical_files(Bench& bench) {
  constexpr int kTasks = 16;
  const double mib = pick(bench.effort, 4.0, 128.0, 1024.0);
  Load load = make_load(kTasks, mib * 1024 * 1024, kBlockBytes / 4);
  Comparison comparison(fmt::format("number of physical files, {} MiB in the page cache, {} tasks", mib, kTasks),
                        {load.bytes(), "byte"}, {"write", "read"});
  for (int n = 1; n <= kTasks; n *= 2)
    comparison.add(fmt::format("{} physical file{}", n, n == 1 ? "" : "s"),
                   one_run(bench, load, multifile_way(fmt::format("checksum=none,physical_files={}", n))));
  comparison.add(kLocal, one_run(bench, load, {write_task_local, read_task_local}));
  comparison.run(bench.plan(5, false));
  bench.report.add(comparison, bench.scratch.kind());
}

// Many tasks in few files: 64 threads beside 4, both in 4 physical files.
void bench_many_tasks(Bench& bench) {
  const double mib = pick(bench.effort, 16.0, 128.0, 1024.0);
  Load many = make_load(64, mib * 1024 * 1024, kBlockBytes / 4), few = make_load(4, mib * 1024 * 1024, kBlockBytes / 4);
  Comparison comparison(fmt::format("many tasks, {} MiB in the page cache, 4 physical files", mib),
                        {many.bytes(), "byte"}, {"write", "read"});
  const std::string kMany = "64 tasks", kFew = "4 tasks";
  comparison.add(kMany, one_run(bench, many, multifile_way("physical_files=4")));
  comparison.add(kFew, one_run(bench, few, multifile_way("physical_files=4")));
  comparison.run(bench.plan(9, false));
  bench.report.add(comparison, bench.scratch.kind());
  for (const auto& phase : comparison.phases())
    bench.report.add_target({bench.on(fmt::format("{}, 64 tasks in 4 files, of 4 in 4", phase)),
                             comparison.speed(kMany, kFew, phase), 0.9, true, "x"});
}

// Tasks take chunks of 257.5 KiB in turn. Where the alignment of chunks is less than a block of the file system, two
// tasks write into one block.
void bench_alignment(Bench& bench) {
  constexpr std::size_t kChunkBytes = 515 * 512;
  const double mib = pick(bench.effort, 4.0, 64.0, 512.0);
  for (const bool sync : {false, true}) {
    if (sync && bench.scratch.in_memory()) return;
    Load load = make_load(4, mib * 1024 * 1024, kChunkBytes);
    load.sync = sync;
    Comparison comparison(fmt::format("alignment of chunks, {} MiB{}, 4 tasks in one physical file", mib,
                                      sync ? ", synced, read cold" : " in the page cache"),
                          {load.bytes(), "byte"}, {"write", sync ? "cold read" : "read"});
    for (const std::string bytes : {"512", "4096", "65536"}) {
      const std::string hints = fmt::format(
          "checksum=none,physical_files=1,chunk_bytes={},buffer_bytes=0,alignment_bytes={}", kChunkBytes, bytes);
      comparison.add("alignment " + bytes, one_run(bench, load, multifile_way(hints)));
    }
    comparison.run(bench.plan(5, false));
    bench.report.add(comparison, bench.scratch.kind());
  }
}

void bench_compression(Bench& bench) {
  const double mib = pick(bench.effort, 2.0, 32.0, 256.0);
  for (const auto& [content, name] : {std::pair{Content::smooth, "smooth field"}, {Content::random, "random bytes"}}) {
    Load load = make_load(2, mib * 1024 * 1024, kBlockBytes, content);
    Comparison comparison(fmt::format("compression of {} MiB, {}, 2 tasks", mib, name), {load.bytes(), "byte"},
                          {"write", "read"});
    for (const std::string codec : {"none", "lz4", "zstd"}) {
      const auto write = [&comparison, codec](const std::filesystem::path& folder, Load& what) {
        const double seconds = write_multifile(folder, what, thalweg::Options().hint("compression", codec));
        const auto stored = static_cast<double>(allocated_bytes(folder));
        comparison.note("bytes with " + codec, fmt::format("{:.1f} % of the data", stored / what.bytes() * 100));
        return seconds;
      };
      comparison.add("thalweg, " + codec, one_run(bench, load, {write, read_multifile}));
    }
    comparison.run(bench.plan(5, false));
    bench.report.add(comparison, bench.scratch.kind());
  }
}

}  // namespace bench
