// (c) Small records: one call each, by tw_multifile_write and tw_multifile_read and by fwrite and fread on task-local
// files; and as many bytes in calls of 1 MiB, which the kernel only copies. Each task writes its records to a new file,
// closes it, and reads them back.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <vector>

#include "multifile/logical.hpp"
#include "multifile/parts.hpp"
#include "support/tasks.hpp"

namespace bench {

namespace {

const std::string kOurs = "thalweg", kOursPlain = "thalweg, CRC off";
const std::string kCopy = "the kernel's copy alone";
const std::string kStdio = "fwrite, fread", kUnlocked = "fwrite_unlocked, fread_unlocked";
constexpr std::size_t kMaxRecord = 1024;
constexpr std::size_t kHotBytes = std::size_t{1} << 20;  // records come from recently computed memory

struct Records {
  std::vector<Pattern> streams;  // one per task
  std::int64_t per_task;

  std::size_t bytes() const { return streams.front().block_bytes(); }
  int tasks() const { return static_cast<int>(streams.size()); }
  Pattern& of(const Task& task) { return streams[static_cast<std::size_t>(task.rank)]; }
};

double write_ours(const std::filesystem::path& folder, Records& records, const thalweg::Options& config) {
  return time_tasks(records.tasks(), [&](const Task& task) {
    Pattern& stream = records.of(task);
    thalweg::Multifile file(task.group, multifile_in(folder), TW_CREATE | TW_TRUNCATE, config);
    tw_multifile* handle = file.get();
    for (std::int64_t i = 0; i < records.per_task; ++i)
      thalweg::check(tw_multifile_write(handle, stream.block(static_cast<std::uint64_t>(i)), stream.block_bytes()));
    file.close();
  });
}

double read_ours(const std::filesystem::path& folder, Records& records, Check check) {
  return time_tasks(records.tasks(), [&](const Task& task) {
    const Pattern& stream = records.of(task);
    std::array<std::byte, kMaxRecord> record{};
    thalweg::Multifile file(task.group, multifile_in(folder), TW_READ);
    tw_multifile* handle = file.get();
    for (std::int64_t i = 0; i < records.per_task; ++i) {
      std::size_t got = 0;
      thalweg::check(tw_multifile_read(handle, record.data(), stream.block_bytes(), &got));
      if (got != stream.block_bytes()) give_up("a logical file is too short");
      check_block(stream, i, record.data(), check);
    }
    file.close();
  });
}

using Stream = std::unique_ptr<std::FILE, decltype(&std::fclose)>;

Stream open_stdio(const std::filesystem::path& folder, const Task& task, const char* mode) {
  const auto name = (folder / std::to_string(task.rank)).string();
  Stream file(std::fopen(name.c_str(), mode), &std::fclose);
  if (!file) must(-1, "cannot open '" + name + "'");
  return file;
}

template <auto Write>
double write_stdio(const std::filesystem::path& folder, Records& records) {
  return time_tasks(records.tasks(), [&](const Task& task) {
    Pattern& stream = records.of(task);
    Stream file = open_stdio(folder, task, "wb");
    for (std::int64_t i = 0; i < records.per_task; ++i)
      if (Write(stream.block(static_cast<std::uint64_t>(i)), stream.block_bytes(), 1, file.get()) != 1)
        must(-1, "cannot write");
    if (std::fclose(file.release()) != 0) must(-1, "cannot close");
  });
}

template <auto Read>
double read_stdio(const std::filesystem::path& folder, Records& records, Check check) {
  return time_tasks(records.tasks(), [&](const Task& task) {
    const Pattern& stream = records.of(task);
    std::array<std::byte, kMaxRecord> record{};
    Stream file = open_stdio(folder, task, "rb");
    for (std::int64_t i = 0; i < records.per_task; ++i) {
      if (Read(record.data(), stream.block_bytes(), 1, file.get()) != 1) give_up("a file is too short");
      check_block(stream, i, record.data(), check);
    }
  });
}

int open_plain(const std::filesystem::path& folder, const Task& task, int flags) {
  const auto name = (folder / std::to_string(task.rank)).string();
  return must(open(name.c_str(), flags | O_CLOEXEC, 0644), "cannot open '" + name + "'");
}

// The stamps of the records are made as for the others, in memory that stays in the cache; then one call stores them.
double write_copy(const std::filesystem::path& folder, Records& records) {
  return time_tasks(records.tasks(), [&](const Task& task) {
    Pattern& stream = records.of(task);
    const auto in_a_call = static_cast<std::int64_t>(kHotBytes / stream.block_bytes());
    const int fd = open_plain(folder, task, O_WRONLY | O_CREAT | O_TRUNC);
    for (std::int64_t i = 0; i < records.per_task; i += in_a_call) {
      const std::int64_t n = std::min(in_a_call, records.per_task - i);
      const std::byte* first = stream.block(static_cast<std::uint64_t>(i));
      for (std::int64_t k = 1; k < n; ++k) stream.block(static_cast<std::uint64_t>(i + k));
      const auto bytes = static_cast<ssize_t>(n) * static_cast<ssize_t>(stream.block_bytes());
      if (write(fd, first, static_cast<std::size_t>(bytes)) != bytes) must(-1, "cannot write");
    }
    must(close(fd), "cannot close");
  });
}

double read_copy(const std::filesystem::path& folder, Records& records, Check check) {
  return time_tasks(records.tasks(), [&](const Task& task) {
    const Pattern& stream = records.of(task);
    std::vector<std::byte> buffer(kHotBytes);
    const int fd = open_plain(folder, task, O_RDONLY);
    for (std::int64_t i = 0; i < records.per_task;) {
      const ssize_t got = read(fd, buffer.data(), buffer.size());
      if (got <= 0) give_up("a file is too short");
      for (std::size_t at = 0; at < static_cast<std::size_t>(got); at += stream.block_bytes(), ++i)
        check_block(stream, i, buffer.data() + at, check);
    }
    must(close(fd), "cannot close");
  });
}

using Write = std::function<double(const std::filesystem::path&, Records&)>;
using Read = std::function<double(const std::filesystem::path&, Records&, Check)>;

Comparison::Run one_run(Bench& bench, Records& records, Write write, Read read) {
  return [&bench, &records, write = std::move(write), read = std::move(read)](int repetition) -> std::vector<double> {
    bench.scratch.settle();
    auto folder = bench.scratch.fresh();
    write(folder, records);  // rehearsal, as in bandwidth_bench.cpp
    bench.scratch.drop_bytes(folder);
    folder = bench.scratch.fresh();
    const double written = write(folder, records);
    const double was_read = read(folder, records, Check::stamps);
    if (repetition == 0) read(folder, records, Check::all_bytes);
    bench.scratch.drop_bytes(folder);
    return {written, was_read};
  };
}

void compare(Bench& bench, std::size_t record_bytes, int tasks) {
  const double mib = pick(bench.effort, 1.0, record_bytes == 64 ? 64.0 : 32.0, 256.0);
  Records records{{}, static_cast<std::int64_t>(mib * 1024 * 1024 / tasks / static_cast<double>(record_bytes))};
  for (int task = 0; task < tasks; ++task)
    records.streams.emplace_back(static_cast<std::uint64_t>(task) + 1, record_bytes, kHotBytes);
  Comparison comparison(fmt::format("records of {} bytes, {} task{}", record_bytes, tasks, tasks > 1 ? "s" : ""),
                        {static_cast<double>(records.per_task), "record of a task"}, {"write", "read"});
  const auto ours = [](const std::string& checksum) -> Write {
    return [checksum](const std::filesystem::path& folder, Records& what) {
      return write_ours(folder, what, thalweg::Options().hint("checksum", checksum));
    };
  };
  comparison.add(kOurs, one_run(bench, records, ours("crc32c"), read_ours));
  comparison.add(kStdio, one_run(bench, records, write_stdio<std::fwrite>, read_stdio<std::fread>));
  comparison.add(kOursPlain, one_run(bench, records, ours("none"), read_ours));
  if (record_bytes == 64) comparison.add(kCopy, one_run(bench, records, write_copy, read_copy));
  comparison.add(kUnlocked, one_run(bench, records, write_stdio<fwrite_unlocked>, read_stdio<fread_unlocked>));
  comparison.run(bench.plan(record_bytes == 64 ? 7 : 5, false));
  bench.report.add(comparison, bench.scratch.kind());
  if (record_bytes != 64) return;
  for (const std::string phase : {"write", "read"}) {
    const std::string what = fmt::format("{} of 64-byte records, {} task{}", phase, tasks, tasks > 1 ? "s" : "");
    bench.report.add_target({bench.on(what + ", times stdio"), comparison.speed(kOurs, kStdio, phase), 2.0, true, "x"});
    if (!bench.scratch.in_memory()) continue;
    bench.report.add_target(
        {bench.on(what + ", time of the kernel's copy alone"), comparison.speed(kCopy, kOurs, phase), 1.2, false, "x"});
  }
}

}  // namespace

void bench_records(Bench& bench) {
  for (const std::size_t record_bytes : {16, 64, 1024})
    for (const int tasks : {1, 2, 4})
      if (record_bytes == 64 || tasks == 2 || bench.effort == Effort::full) compare(bench, record_bytes, tasks);
}

}  // namespace bench
