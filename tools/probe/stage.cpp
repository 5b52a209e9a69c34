#include "stage.hpp"

#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "caches.hpp"
#include "facts.hpp"
#include "plain_reader.hpp"
#include "stopwatch.hpp"

namespace probe {

Stage::Stage(const Options& options, const Ranks& ranks, const Cell& cell, const MethodInfo& info, Method& method)
    : options_(options), ranks_(ranks), cell_(cell), info_(info), method_(method) {}

void Stage::run(const std::string& scratch, const Turn& turn, Where& where) {
  turn_ = turn;
  if (const std::string unfit = method_.unfit_for(cell_.array); !unfit.empty()) return skip(Phase::write, unfit);
  where_ = &where;
  seed_ = options_.seed + static_cast<std::uint32_t>(turn.repetition);
  folder_ = scratch + "/" + std::string(info_.id);
  Json begin = head("begin");
  where.method = info_.id;
  where.cell = begin["cell"];
  where.phase = nullptr;
  begin["repetition"] = turn.repetition;
  if (ranks_.first()) print_record(begin);
  make_folder(folder_);
  run_phases();
  remove_folder(folder_);
  where = Where{{}, {}, {}, where.rank};
}

void Stage::run_phases() {
  write_phase();
  // Written data is read at least once.
  if (wants(Phase::read) || !wants(Phase::serial)) read_phase();
  if (wants(Phase::restart)) restart_phase();
  if (wants(Phase::serial)) serial_phase();
  if (wants(Phase::merge) && info_.outcome != Outcome::global_array) merge_phase();
  auto* const overlapping = dynamic_cast<OverlappingMethod*>(&method_);
  if (wants(Phase::overlap) && overlapping != nullptr) overlap_phase(*overlapping);
}

Task Stage::task_for(MPI_Comm comm, Block block, std::span<std::byte> memory) const {
  Task task;
  task.comm = comm;
  MPI_Comm_rank(comm, &task.rank);
  MPI_Comm_size(comm, &task.size);
  task.array = &cell_.array;
  task.written_grid = cell_.grid;
  task.block = std::move(block);
  task.pieces = pieces_of(cell_.array, cell_.grid, task.block);
  task.memory = memory.first(static_cast<std::size_t>(task.block.bytes()));
  task.folder = folder_;
  task.direct = options_.cache == Cache::direct && method_.can_direct() && !lives_in_memory(folder_);
  return task;
}

void Stage::enter(Phase phase) { where_->phase = name_of(phase); }

void Stage::make_folder(const std::string& path) const {
  if (ranks_.first() && ::mkdir(path.c_str(), 0777) != 0) fail_errno("make the folder", path);
  ranks_.meet();
}

void Stage::remove_folder(const std::string& path) const {
  ranks_.meet();
  if (ranks_.first() && !options_.keep) std::filesystem::remove_all(path);
  ranks_.meet();
}

// Collective. Returns whether the pages are gone on all nodes.
bool Stage::drop_before_read(const std::string& folder) const {
  if (!options_.drops()) return false;
  ranks_.meet();
  const bool stayed = ranks_.first_of_node() && !drop_pages(folder);
  return ranks_.most(std::int64_t{stayed}) == 0;
}

bool Stage::any_direct() const {
  return !lives_in_memory(folder_) && ranks_.most(std::int64_t{method_.was_direct()}) != 0;
}

Cache Stage::write_cache() const {
  if (options_.cache == Cache::direct && any_direct()) return Cache::direct;
  return options_.syncs() ? Cache::sync : Cache::warm;
}

Cache Stage::read_cache(bool dropped) const {
  if (options_.cache == Cache::direct && any_direct()) return Cache::direct;
  return dropped ? Cache::drop : Cache::warm;
}

Stage::Timed Stage::timed(const std::function<Parts()>& act) const {
  ranks_.start_together();
  const double begin = now();
  const Parts mine = act();
  const double seconds = now() - begin;
  Timed all;
  all.seconds = ranks_.most(seconds);
  all.parts = {ranks_.most(mine.open), ranks_.most(mine.transfer), ranks_.most(mine.close)};
  return all;
}

Stage::Timed Stage::timed_on_first(const std::function<void()>& act) const {
  return timed([&] {
    Lap lap;
    if (ranks_.first()) act();
    return Parts{0, lap(), 0};
  });
}

Json Stage::head(const char* kind) const {
  return {{"kind", kind}, {"method", info_.id}, {"cell", json_of(cell_, ranks_.size(), options_.cache)}};
}

void Stage::record(Phase phase, const Timed& timed, Cache cache, const Json& more) const {
  if (!ranks_.first() || turn_.repetition == 0) return;
  Json out = head("time");
  out.update({{"repetition", turn_.repetition},
              {"phase", name_of(phase)},
              {"seconds", timed.seconds},
              {"parts", {{"open", timed.parts.open}, {"transfer", timed.parts.transfer}, {"close", timed.parts.close}}},
              {"bytes", cell_.array.bytes()},
              {"cache", name_of(cache)}});
  out.update(more);
  print_record(out);
}

void Stage::skip(Phase phase, const std::string& reason) const {
  if (!ranks_.first() || !turn_.is_first) return;
  Json out = head("skipped");
  out.update({{"phase", name_of(phase)}, {"reason", reason}});
  print_record(out);
}

void Stage::write_phase() {
  enter(Phase::write);
  Block block = block_of(cell_.array, cell_.grid, ranks_.rank());
  written_ = Buffer(static_cast<std::size_t>(block.bytes()));
  fill(cell_.array, block, seed_, written_.span());
  const Task task = task_for(ranks_.all(), std::move(block), written_.span());
  std::optional<MemoryGrowth> growth;
  if (turn_.is_first) growth.emplace();
  std::optional<std::int64_t> grown;
  const Timed time = timed([&] {
    Parts parts = method_.write(task);
    if (growth) grown = growth->bytes();
    Lap lap;
    if (options_.syncs()) sync_folder(ranks_, folder_);
    parts.close += lap();
    return parts;
  });
  const Cache cache = write_cache();
  if (wants(Phase::write)) record(Phase::write, time, cache);
  if (!turn_.is_first) return;
  const bool is_known = ranks_.most(std::int64_t{!grown.has_value()}) == 0;
  const std::int64_t most = ranks_.most(grown.value_or(0));
  report_facts(is_known ? most : -1);
}

void Stage::report_facts(std::int64_t memory) const {
  if (!ranks_.first()) return;
  const FolderFacts facts = folder_facts(folder_);
  const std::string plan = method_.plan();
  Json out = head("facts");
  out.update({{"files", facts.files},
              {"folders", facts.folders},
              {"file_bytes", facts.file_bytes},
              {"stored_bytes", facts.stored_bytes}});
  if (memory >= 0) out["memory_bytes"] = memory;
  out["hints"] = Json(method_.hints());
  out["plan"] = plan.empty() ? Json() : Json(plan);
  print_record(out);
}

// Reads and checks. Memory holds no bytes of the array before.
void Stage::read_back(const Task& task, Phase phase, bool is_recorded, const Json& more) {
  const bool takes_part = task.comm != MPI_COMM_NULL;
  const bool dropped = drop_before_read(folder_);
  std::memset(found_.span().data(), 0xFF, found_.size());
  const Timed time = timed([&] { return takes_part ? method_.read(task) : Parts(); });
  const Cache cache = read_cache(dropped);
  if (takes_part) check(cell_.array, task.block, seed_, task.memory);
  if (is_recorded) record(phase, time, cache, more);
}

void Stage::read_phase() {
  enter(Phase::read);
  Block block = block_of(cell_.array, cell_.grid, (ranks_.rank() + 1) % ranks_.size());
  found_ = Buffer(static_cast<std::size_t>(block.bytes()));
  const Task task = task_for(ranks_.all(), std::move(block), found_.span());
  read_back(task, Phase::read, wants(Phase::read), Json::object());
}

void Stage::restart_phase() {
  if (ranks_.size() == 1) return skip(Phase::restart, "a restart on fewer ranks needs at least 2 to begin with");
  enter(Phase::restart);
  const int readers = ranks_.half_size();
  Task task;
  if (ranks_.half() != MPI_COMM_NULL) {
    Block block = block_of(cell_.array, grid_for(readers, cell_.array), ranks_.rank());
    found_ = Buffer(static_cast<std::size_t>(block.bytes()));
    task = task_for(ranks_.half(), std::move(block), found_.span());
  }
  read_back(task, Phase::restart, true, {{"readers", readers}});
}

void Stage::serial_phase() {
  enter(Phase::serial);
  const bool dropped = drop_before_read(folder_);
  const Timed time = timed_on_first([&] { read_plainly(method_, cell_, folder_); });
  if (ranks_.first()) read_plainly(method_, cell_, folder_, seed_);
  record(Phase::serial, time, dropped ? Cache::drop : Cache::warm);
}

void Stage::merge_phase() {
  enter(Phase::merge);
  const std::string path = folder_ + ".merged";
  const bool dropped = drop_before_read(folder_);
  const Timed time = timed_on_first([&] { merge_into(path, method_, cell_, folder_, options_.syncs()); });
  const Cache cache = dropped ? Cache::drop : options_.syncs() ? Cache::sync : Cache::warm;
  if (ranks_.first()) check_merged(path, cell_.array, seed_);
  if (ranks_.first() && !options_.keep) std::filesystem::remove(path);
  record(Phase::merge, time, cache);
}

}  // namespace probe
