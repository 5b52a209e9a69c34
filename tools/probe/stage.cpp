#include "stage.hpp"

#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace probe {

namespace {

constexpr std::byte kNothing{0xFF};  // in memory before a read

// A line of /proc/self/status, in bytes.
double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  constexpr double kKiB = 1024;
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return kKiB * std::stod(line.substr(name.size() + 1));
  return 0;
}

// Resets the peak of the memory of this process (proc(5)). Freed memory, which would hide new allocations, is returned.
bool reset_peak() {
  ::malloc_trim(0);
  std::ofstream reset("/proc/self/clear_refs");
  return !!(reset << "5" << std::flush);
}

// Runs `turns` iterations of a loop on registers, which uses only a core, in slices; calls `between` after each slice.
Parts compute(std::int64_t turns, const std::function<void()>& between) {
  constexpr std::int64_t kSlices = 256;
  static volatile double result = 0;  // keeps the loop from being optimised away
  double x = result + 0.5;
  for (std::int64_t slice = 0; slice < kSlices; ++slice) {
    const std::int64_t end = turns * (slice + 1) / kSlices;
    for (std::int64_t i = turns * slice / kSlices; i < end; ++i) x = x * 0.999999 + 1e-6;
    between();
  }
  result = x;
  return {};
}

Json json_of(const Cell& cell, int ranks, const std::string& cache) {
  Json out = {{"ranks", ranks},
              {"grid", cell.grid},
              {"shape", cell.array.shape},
              {"order", cell.array.order == Order::c ? "c" : "f"},
              {"cache", cache}};
  if (cell.array.ragged) out["ragged"] = true;
  return out;
}

std::vector<int> grid_for(int ranks, const Array& array) {
  if (array.ragged) return {ranks, 1};
  std::vector<int> grid(array.shape.size());
  must_mpi(MPI_Dims_create(ranks, static_cast<int>(grid.size()), grid.data()), "MPI_Dims_create");
  return grid;
}

class Stage {
 public:
  explicit Stage(const Repetition& now) : now_(now) {
    now_.where = {nullptr, json_of(cell_, ranks_.size(), options_.cache), nullptr};
  }

  void run(const MethodInfo& info, Method& method) {
    info_ = &info;
    method_ = &method;
    now_.where.method = info.id;
    if (const std::string unfit = method.unfit_for(cell_.array); !unfit.empty()) return skip("write", unfit);
    print("begin", {{"repetition", now_.number}});
    folder_ += "/" + std::string(info.id);
    clear_folder(true);
    const Timed wrote = write_phase();
    // Written data is read at least once.
    const std::vector<int> whole(cell_.grid.size(), 1);
    if (wants("read") || !wants("serial")) read_phase("read", {ranks_.all(), cell_.grid, 1});
    if (wants("restart") && ranks_.size() == 1)
      skip("restart", "a restart on fewer ranks needs at least 2 to begin with");
    else if (wants("restart"))
      read_phase("restart", {ranks_.half(), grid_for(ranks_.half_size(), cell_.array)},
                 {{"readers", ranks_.half_size()}});
    if (wants("serial")) read_phase("serial", {ranks_.one(), whole});
    if (wants("merge") && info.outcome != "array") read_phase("merge", {ranks_.one(), whole});
    if (wants("overlap") && info.nonblocking) overlap_phase(wrote.seconds);
    clear_folder(false);
  }

  void measure_limit() {
    const Block block = block_of(cell_.array, cell_.grid, ranks_.rank());
    const Buffer memory(static_cast<std::size_t>(block.bytes()));
    const PosixFile file(folder_ + "/limit." + std::to_string(ranks_.rank()), PosixFile::Use::create);
    fill(cell_.array, block, seed_, memory.span());
    const auto write = [&] {
      file.write(memory.span(), 0);
      if (options_.syncs()) file.sync();
      return Parts();
    };
    write();  // from now on the file has its blocks and pages
    record("limit", "write", timed(write).seconds);
    drop_before_read();
    std::ranges::fill(memory.span(), kNothing);
    record("limit", "read", timed([&] { return file.read(memory.span(), 0), Parts(); }).seconds);
    check(cell_.array, block, seed_, memory.span());
    ranks_.meet();
    std::filesystem::remove(file.path());
  }

 private:
  // Over all ranks.
  struct Timed {
    double seconds = 0;
    Parts parts;
  };
  // The ranks that take part, and their cut of the array.
  struct Cut {
    const Part& ranks;
    std::vector<int> grid;
    int shift = 0;
  };

  bool wants(const std::string& phase) const { return std::ranges::count(options_.phases, phase) > 0; }

  Task task_for(const Cut& cut) const {
    Task task;
    if (cut.ranks.comm == MPI_COMM_NULL) return task;
    task.comm = cut.ranks.comm;
    task.group = &*cut.ranks.group;
    MPI_Comm_rank(task.comm, &task.rank);
    MPI_Comm_size(task.comm, &task.size);
    task.array = &cell_.array;
    task.grid = cut.grid;
    task.shift = cut.shift;
    task.block = task.block_of_rank(task.rank);
    task.pieces = pieces_of(cell_.array, cell_.grid, task.block);
    task.buffer = Buffer(static_cast<std::size_t>(task.block.bytes()));
    task.memory = task.buffer.span();
    task.folder = folder_;
    return task;
  }

  // Collective. Removes the folder of the method, and makes it anew unless this is the end, where --keep leaves it.
  void clear_folder(bool again) const {
    ranks_.meet();
    if (ranks_.first() && (again || !options_.keep)) std::filesystem::remove_all(folder_);
    if (ranks_.first() && again) std::filesystem::create_directory(folder_);
    ranks_.meet();
  }

  // Collective. Returns whether the pages are gone on all nodes.
  bool drop_before_read() const {
    if (!options_.drops()) return false;
    ranks_.meet();
    return ranks_.most(ranks_.first_of_node() && !drop_pages(folder_) ? 1 : 0) == 0;
  }

  std::string written_cache() const { return options_.syncs() ? "sync" : "warm"; }

  Timed timed(const std::function<Parts()>& act) const {
    ranks_.start_together();
    Lap lap;
    const Parts mine = act();
    const double seconds = lap();
    return {ranks_.most(seconds), {ranks_.most(mine.open), ranks_.most(mine.transfer), ranks_.most(mine.close)}};
  }

  // A sync counts as a part of closing.
  Timed timed_write(const Task& task) const {
    return timed([&] {
      Parts parts = method_->move(task);
      if (!options_.syncs()) return parts;
      Lap lap;
      must_mpi(MPI_Barrier(ranks_.all().comm), "MPI_Barrier");  // all files are closed
      sync_folder(task.folder, ranks_.rank(), ranks_.size());
      parts.close += lap();
      return parts;
    });
  }

  void print(const char* kind, const Json& more) const {
    if (!ranks_.first()) return;
    Json out = {{"kind", kind}, {"method", now_.where.method}, {"cell", now_.where.cell}};
    out.update(more);
    print_record(out);
  }

  // A time, unless it is that of the warm-up.
  void record(const char* kind, const std::string& phase, double seconds, const Json& more = Json::object()) const {
    if (now_.number == 0) return;
    Json all = {{"phase", phase}, {"repetition", now_.number}, {"seconds", seconds}, {"bytes", cell_.array.bytes()}};
    all.update(more);
    print(kind, all);
  }

  void record(const std::string& phase, const Timed& timed, const std::string& cache, Json more) const {
    const auto& [open, transfer, close] = timed.parts;
    more.update({{"parts", {{"open", open}, {"transfer", transfer}, {"close", close}}}, {"cache", cache}});
    record("time", phase, timed.seconds, more);
  }

  void skip(const std::string& phase, const std::string& reason) const {
    if (now_.is_first) print("skipped", {{"phase", phase}, {"reason", reason}});
  }

  Timed write_phase() {
    now_.where.phase = "write";
    Task task = task_for({ranks_.all(), cell_.grid});
    task.writes = true;
    fill(cell_.array, task.block, seed_, task.memory);
    const double before = now_.is_first && reset_peak() ? status_bytes("VmRSS") : 0;
    const Timed time = timed_write(task);
    const double grown = before > 0 ? status_bytes("VmHWM") - before : 0;  // 0: the system does not tell it
    if (wants("write")) record("write", time, written_cache(), Json::object());
    if (!now_.is_first) return time;
    const auto memory = static_cast<std::int64_t>(ranks_.most(std::max(0.0, grown)));
    print("facts", {{"memory_bytes", memory}, {"plan", method_->plan().empty() ? Json() : Json(method_->plan())}});
    return time;
  }

  // Reads and checks. Memory holds no bytes of the array before.
  void read_phase(const std::string& phase, const Cut& readers, const Json& more = Json::object()) {
    now_.where.phase = phase;
    const Task task = task_for(readers);
    const bool takes_part = task.comm != MPI_COMM_NULL;
    const bool dropped = drop_before_read();
    if (takes_part) std::ranges::fill(task.memory, kNothing);
    const Timed time = timed([&] { return takes_part ? read(phase, task) : Parts(); });
    if (takes_part) check(cell_.array, task.block, seed_, task.memory);
    const std::string merged = folder_ + ".merged";
    if (takes_part && phase == "merge") {
      std::ranges::fill(task.memory, kNothing);
      PosixFile(merged, PosixFile::Use::read).read(task.memory, 0);
      check(cell_.array, task.block, seed_, task.memory);
      if (!options_.keep) std::filesystem::remove(merged);
    }
    const std::string cache = dropped ? "drop" : phase == "merge" ? written_cache() : "warm";
    if (wants(phase)) record(phase, time, cache, more);
  }

  // One rank reads a file that is the array by read(2), all others by the method. Merging also writes the array to a file.
  Parts read(const std::string& phase, const Task& task) const {
    const bool is_plain = phase == "serial" && info_->outcome == "array" && info_->needs.empty();
    if (!is_plain && phase != "merge") return method_->move(task);
    Lap lap;
    if (is_plain) {
      PosixFile(folder_ + "/array", PosixFile::Use::read).read(task.memory, 0);
    } else {
      method_->move(task);
      PosixFile merged(folder_ + ".merged", PosixFile::Use::create);
      merged.write(task.memory, 0);
      if (options_.syncs()) merged.sync();
      merged.close();
    }
    return {0, lap(), 0};
  }

  // Iterations of the loop that take about `seconds` when all ranks compute.
  std::int64_t turns_for(double seconds) const {
    constexpr std::int64_t kTried = 2'000'000;  // a few milliseconds
    constexpr double kShortest = 1e-3;
    const Timed tried = timed([] { return compute(kTried, [] {}); });
    return static_cast<std::int64_t>(static_cast<double>(kTried) * std::max(kShortest, seconds) / tried.seconds);
  }

  // The part of a write hidden behind computation: the write alone took `alone` seconds, the computation alone takes c,
  // both together t. Hidden: (alone + c - t) / min(alone, c).
  void overlap_phase(double alone) {
    now_.where.phase = "overlap";
    const std::int64_t turns = turns_for(alone);
    const Timed computing = timed([&] { return compute(turns, [] {}); });
    clear_folder(true);
    Task task = task_for({ranks_.all(), cell_.grid});
    fill(cell_.array, task.block, seed_, task.memory);
    task.writes = true;
    task.compute = [&](const auto& between) { compute(turns, between); };
    const Timed both = timed_write(task);
    std::ranges::fill(task.memory, kNothing);
    task.writes = false;
    task.compute = nullptr;
    method_->move(task);
    check(cell_.array, task.block, seed_, task.memory);
    const double saved = alone + computing.seconds - both.seconds;
    const double hidden = std::clamp(saved / std::min(alone, computing.seconds), 0.0, 1.0);
    record("overlap", both, written_cache(), {{"compute_seconds", computing.seconds}, {"hidden", hidden}});
  }

  const Repetition& now_;
  const Options& options_ = now_.options;
  const Ranks& ranks_ = now_.ranks;
  const Cell& cell_ = now_.cell;
  std::string folder_ = now_.folder;
  const std::uint32_t seed_ = 1 + static_cast<std::uint32_t>(now_.number);
  const MethodInfo* info_ = nullptr;
  Method* method_ = nullptr;
};

}  // namespace

void run_stage(const Repetition& repetition, const MethodInfo& info, Method& method) {
  Stage(repetition).run(info, method);
}

void measure_limit(const Repetition& repetition) { Stage(repetition).measure_limit(); }

}  // namespace probe
