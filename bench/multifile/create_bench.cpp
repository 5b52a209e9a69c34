// (a) Creating many files: N logical files of one multifile compared with N separate files in one folder and in
// sub-folders of 1000, by 4 tasks and serially; empty, and of 1 KiB each.
//
// The peer of a target is the faster of both layouts with an equal number of tasks (a quick run omits some layouts and
// uses the fastest measured one). Sub-folders are created outside the timed part. On ext4 separate files are removed
// only at the end of the program: see support/scratch.hpp.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "multifile/logical.hpp"
#include "multifile/parts.hpp"
#include "support/clock.hpp"
#include "support/tasks.hpp"

namespace bench {

namespace {

constexpr int kTasks = 4;
constexpr std::size_t kSmallBytes = 1024;
constexpr std::int64_t kPerFolder = 1000;
constexpr std::int64_t kSampleEvery = 61;
constexpr std::int64_t kQuickFiles = 1 << 14;  // most separate files of a quick run

const std::string kOurs = "thalweg, 4 tasks", kOursSerial = "thalweg, serial", kStream = "one stream";

// N files to create, and their folder.
struct Creation {
  Bench& bench;
  std::int64_t files;
  std::vector<Pattern> contents;  // one per task; none: the files stay empty
  std::int64_t scale = 1;         // separate files: only one in `scale` is created, and the time multiplied

  // Bytes of page cache that separate files need; multifiles and streams need less.
  double page_cache() const { return contents.empty() ? 0 : static_cast<double>(files) * 4096; }
};

std::string file_name(const std::filesystem::path& folder, bool sub_folders, std::int64_t i) {
  if (sub_folders) return fmt::format("{}/{}/f{:07}", folder.native(), i / kPerFolder, i);
  return fmt::format("{}/f{:07}", folder.native(), i);
}

void make_one(const std::string& name, std::int64_t i, Pattern* contents) {
  const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (fd < 0) must(fd, "cannot make '" + name + "'");
  if (contents != nullptr &&
      write(fd, contents->block(static_cast<std::uint64_t>(i)), kSmallBytes) != static_cast<ssize_t>(kSmallBytes))
    give_up("cannot write '" + name + "'");
  if (close(fd) != 0) must(-1, "cannot close '" + name + "'");
}

double make_separate(Creation& creation, const std::filesystem::path& folder, bool sub_folders, int tasks) {
  const std::int64_t files = creation.files / creation.scale;
  if (sub_folders)
    for (std::int64_t i = 0; i < files; i += kPerFolder)
      std::filesystem::create_directory(folder / std::to_string(i / kPerFolder));
  const double scale = static_cast<double>(creation.scale);
  return scale * time_tasks(std::max(tasks, 1), [&](const Task& task) {
           const Share share = share_of(files, task.rank, task.size);
           Pattern* contents =
               creation.contents.empty() ? nullptr : &creation.contents[static_cast<std::size_t>(task.rank)];
           for (std::int64_t i = share.first; i < share.first + share.count; ++i)
             make_one(file_name(folder, sub_folders, i), i, contents);
         });
}

void check_separate(const Creation& creation, const std::filesystem::path& folder, bool sub_folders) {
  std::vector<std::byte> data(kSmallBytes + 1);
  for (std::int64_t i = creation.files / creation.scale - 1; i >= 0; i -= kSampleEvery) {
    const std::string name = file_name(folder, sub_folders, i);
    const int fd = static_cast<int>(must(open(name.c_str(), O_RDONLY), "cannot open '" + name + "'"));
    const auto got = must(read(fd, data.data(), data.size()), "cannot read '" + name + "'");
    close(fd);
    if (got != static_cast<std::int64_t>(creation.contents.empty() ? 0 : kSmallBytes))
      give_up("'" + name + "' has a wrong size");
    if (got > 0) check_block(creation.contents.front(), i, data.data(), Check::all_bytes);
  }
}

// Verifies every logical file in the first repetition, samples in the others.
void check_logical(const Creation& creation, const std::filesystem::path& folder, int repetition) {
  thalweg::Multifile file(multifile_in(folder), TW_READ);
  if (file.summarize().n_logical != creation.files) give_up("the multifile has a wrong number of logical files");
  std::vector<std::byte> data(kSmallBytes + 1);
  const std::int64_t step = repetition == 0 ? 1 : kSampleEvery;
  for (std::int64_t rank = 0; rank < creation.files; rank += step) {
    const std::size_t expected = creation.contents.empty() ? 0 : kSmallBytes;
    file.seek_to(rank, 0);
    if (file.read(data.data(), data.size()) != expected) give_up("a logical file has a wrong size");
    if (expected > 0) check_block(creation.contents.front(), rank, data.data(), Check::all_bytes);
  }
}

// One creation in a folder of its own, verified.
double create_once(Creation& creation, int tasks, int repetition) {
  Scratch& scratch = creation.bench.scratch;
  const auto folder = scratch.fresh();
  const double seconds = create_logical(folder, creation.files, tasks, creation.contents);
  check_logical(creation, folder, repetition);
  scratch.drop_bytes(folder);
  return seconds;
}

// A creation that takes milliseconds, where separate files take seconds, is sensitive to interruptions. So each run of
// it is the median of five after a warm-up, or of fewer when they take long.
template <class Once>
std::vector<double> median_of_some(Effort effort, int repetition, Once&& once) {
  constexpr std::size_t kTimes = 5;
  constexpr double kLong = 0.5;
  std::vector<double> seconds = {once(repetition)};
  if (effort == Effort::tiny) return seconds;
  const double start = now();
  seconds.clear();
  while (seconds.size() < kTimes && now() - start < kLong) seconds.push_back(once(-1));
  return {spread_of(seconds).median};
}

void add_logical(Comparison& comparison, Creation& creation, int tasks) {
  comparison.add(tasks == 0 ? kOursSerial : kOurs, [&creation, tasks](int repetition) {
    return median_of_some(creation.bench.effort, repetition,
                          [&](int which) { return create_once(creation, tasks, which); });
  });
}

// Which ways of creating separate files are measured. Sub-folders and several tasks are usually faster.
enum class Ways { all, sub_folders, fastest };

// Adds these ways; appends their names to `names`.
void add_separate(Comparison& comparison, Creation& creation, Ways ways, std::vector<std::string>& names) {
  for (const bool sub_folders : {true, false}) {
    for (const int tasks : {kTasks, 0}) {
      if (ways != Ways::all && !sub_folders) continue;
      if (ways == Ways::fastest && tasks == 0) continue;
      const std::string note =
          creation.scale > 1 ? fmt::format("{} x {} ", creation.scale, count_text(creation.files / creation.scale))
                             : "";
      names.push_back(fmt::format("{}separate files, {}, {}", note, sub_folders ? "sub-folders" : "one folder",
                                  tasks == 0 ? "serial" : "4 tasks"));
      comparison.add(names.back(), [&creation, sub_folders, tasks](int) -> std::vector<double> {
        Scratch& scratch = creation.bench.scratch;
        const auto folder = scratch.fresh_for_many_files();
        scratch.claim_memory(creation.page_cache(), 4096);
        const double seconds = make_separate(creation, folder, sub_folders, tasks);
        check_separate(creation, folder, sub_folders);
        scratch.drop_tree(folder);
        return {seconds};
      });
    }
  }
}

// The data as one stream, in blocks of 1 MiB.
void add_stream(Comparison& comparison, Bench& bench, Load& load) {
  const auto once = [&bench, &load](int repetition) {
    const auto folder = bench.scratch.fresh();
    const double seconds = write_one_stream(folder, load);
    read_one_stream(folder, load, repetition == 0 ? Check::all_bytes : Check::stamps);
    bench.scratch.drop_bytes(folder);
    return seconds;
  };
  comparison.add(kStream, [&bench, once](int repetition) { return median_of_some(bench.effort, repetition, once); });
}

bool has_room(const Bench& bench, std::int64_t files) {
  constexpr std::int64_t kBytesPerFile = 8192;  // a block and an inode, rounded up
  return bench.scratch.free_inodes() > 8 * files && bench.scratch.free_bytes() > 8 * files * kBytesPerFile;
}

// The fastest way of creating separate files with as many tasks as `ours`; if there is none, the fastest of all.
std::string peer_of(const Comparison& comparison, const std::vector<std::string>& separate, const std::string& ours) {
  const std::string tasks = ours == kOurs ? "4 tasks" : "serial";
  std::vector<std::string> alike;
  for (const std::string& name : separate)
    if (name.ends_with(tasks)) alike.push_back(name);
  return comparison.fastest(alike.empty() ? separate : alike, "create");
}

void add_create_targets(Bench& bench, const Comparison& comparison, const std::vector<std::string>& separate,
                        const std::string& what) {
  for (const std::string& ours : {kOurs, kOursSerial})
    bench.report.add_target({bench.on(fmt::format("{}, {}, times separate files", what, ours.substr(9))),
                             comparison.speed(ours, peer_of(comparison, separate, ours), "create"), 50, true, "x"});
}

void add_small_targets(Bench& bench, const Comparison& comparison, const std::vector<std::string>& separate,
                       const std::string& what) {
  for (const std::string& ours : {kOurs, kOursSerial}) {
    const std::string row = fmt::format("{}, {}", what, ours.substr(9));
    bench.report.add_target({bench.on(row + ", times separate files"),
                             comparison.speed(ours, peer_of(comparison, separate, ours), "create"), 20, true, "x"});
    bench.report.add_target(
        {bench.on(row + ", of one stream"), comparison.speed(ours, kStream, "create"), 0.6, true, "x"});
  }
}

std::int64_t scale_of(const Bench& bench, std::int64_t files) {
  return bench.effort == Effort::full ? 1 : std::max<std::int64_t>(files / kQuickFiles, 1);
}

void create_empty(Bench& bench, std::int64_t files, bool is_target) {
  if (!has_room(bench, files)) return;
  Creation creation{bench, files, {}, scale_of(bench, files)};
  std::vector<std::string> separate;
  Comparison comparison("create and close " + count_text(files) + " empty files", {static_cast<double>(files), "file"},
                        {"create"});
  add_logical(comparison, creation, kTasks);
  add_separate(comparison, creation, Ways::all, separate);
  add_logical(comparison, creation, 0);
  comparison.run(bench.plan(3, false));
  bench.report.add(comparison, bench.scratch.kind());
  if (is_target) add_create_targets(bench, comparison, separate, "create " + count_text(files) + " files");
}

void create_small(Bench& bench, std::int64_t files, Ways ways) {
  if (!has_room(bench, files)) return;
  Creation creation{bench, files, {}, scale_of(bench, files)};
  for (int task = 0; task < kTasks; ++task) creation.contents.emplace_back(1, kSmallBytes, std::size_t{1} << 20);
  Load stream = make_load(1, static_cast<double>(files) * kSmallBytes, std::size_t{1} << 20);
  std::vector<std::string> separate;
  Comparison comparison("write " + count_text(files) + " files of 1 KiB", {static_cast<double>(files), "file"},
                        {"create"});
  add_logical(comparison, creation, kTasks);
  add_separate(comparison, creation, ways, separate);
  add_stream(comparison, bench, stream);
  add_logical(comparison, creation, 0);
  comparison.run(bench.plan(ways == Ways::fastest ? 1 : 3, false));
  bench.report.add(comparison, bench.scratch.kind());
  add_small_targets(bench, comparison, separate, count_text(files) + " files of 1 KiB");
}

}  // namespace

void bench_create(Bench& bench) {
  bench.scratch.settle();  // not between runs: files that never reached the device are fast to remove
  const auto sizes =
      pick<std::vector<std::int64_t>>(bench.effort, {1 << 10}, {1 << 16}, {1 << 10, 1 << 14, 1 << 16, 1 << 18});
  const std::int64_t target = pick(bench.effort, 1 << 10, 1 << 16, 1 << 16);
  for (const std::int64_t files : sizes) create_empty(bench, files, files == target);
}

void bench_small(Bench& bench) {
  const auto sizes = pick<std::vector<std::int64_t>>(bench.effort, {1 << 10}, {1 << 16, 1 << 18}, {1 << 16, 1 << 18});
  const bool full = bench.effort == Effort::full;
  for (const std::int64_t files : sizes)
    create_small(bench, files, full ? Ways::all : files < (1 << 18) ? Ways::sub_folders : Ways::fastest);
}

}  // namespace bench
