#include "tune_methods.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <system_error>

#include "advise/validation.hpp"
#include "common.hpp"
#include "json_number.hpp"
#include "methods/array.hpp"
#include "methods/plan.hpp"
#include "methods/records.hpp"
#include "methods/scratch_folder.hpp"
#include "methods/surroundings.hpp"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPatienceS = 30;
constexpr int kNetworkRuns = 3;
constexpr int kMostRanksHere = 16;  // on the cores of this machine during calibration
constexpr double kForcingCallNs = 19'000;

struct OutOfTime {};

// Sets an environment variable inherited by ranks, and restores it at the end.
class ProfileFor {
 public:
  explicit ProfileFor(const std::string& path) {
    const char* old = std::getenv("THALWEG_PROFILE");
    had_ = old != nullptr;
    if (had_) old_ = old;
    setenv("THALWEG_PROFILE", path.c_str(), 1);
  }
  ProfileFor(const ProfileFor&) = delete;
  ProfileFor& operator=(const ProfileFor&) = delete;
  ~ProfileFor() { had_ ? setenv("THALWEG_PROFILE", old_.c_str(), 1) : unsetenv("THALWEG_PROFILE"); }

 private:
  bool had_ = false;
  std::string old_;
};

void write_profile(const std::string& path, const Json& entry) {
  std::ofstream file(path);
  file << Json{{"version", 1}, {"file_systems", Json::array({entry})}}.dump();
  if (!file.flush()) fail_with_errno("write", path);
}

struct Step {
  std::vector<std::string> methods, phases;
  int repetitions = 2;
  LaunchPlan plan;
};

Cell cell(int ranks, std::vector<int64_t> shape, std::vector<int> grid = {}) {
  Cell made;
  made.ranks = ranks;
  made.shape = std::move(shape);
  made.grid = grid.empty() ? methods::grid_for(ranks, made.shape.size()) : std::move(grid);
  return made;
}

// Bytes, ranks and contiguous runs vary independently: a square array, and a narrow one cut along its rows.
LaunchPlan cells_for(int ranks, bool quick) {
  LaunchPlan plan{ranks, {cell(ranks, {256, 256}), cell(ranks, {1024, 1024})}};
  if (ranks > 1) plan.cells.push_back(cell(ranks, {4096, 256}, {1, ranks}));
  if (!quick) plan.cells.push_back(cell(ranks, {724, 724}));
  if (!quick) plan.cells.push_back(cell(ranks, {2048, 2048}));
  return plan;
}

// A collective call per row takes milliseconds when ranks share cores.
bool meets_for_each_row(const std::string& method) { return method == "mpiio-global-1"; }

// Few rows; the last cell has as many bytes as the largest cell of most other methods.
LaunchPlan cells_of_rows_for(int ranks) {
  return {
      ranks,
      {cell(ranks, {64, 64}), cell(ranks, {128, 128}), cell(ranks, {64, 4096}), cell(ranks, {16, 262144}, {1, ranks})}};
}

class Tuner {
 public:
  explicit Tuner(const MethodsTuning& how)
      : how_(how),
        launcher_(find_launcher(how.program, how.mpiexec)),
        scratch_(how.folder),
        runs_in_(scratch_.path() + "/ranks"),
        profile_(scratch_.path() + "/profile.json"),
        until_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(how.seconds))) {
    found_.calibration.mpi = launcher_.description.value("mpi", "");
  }

  MethodsTuned all() {
    try {
      measure_network();
      measure_exchange();
      measure_methods();
    } catch (const OutOfTime&) {
      remark(fmt::format("the time limit of the calibration, {:.0f} s, was reached; the remaining cells are skipped",
                         how_.seconds));
      found_.cut_off = true;
    } catch (const Failure& failure) {  // earlier results are kept
      remark(fmt::format("measurements with ranks ended early: {}", failure.what()));
      found_.cut_off = true;
    }
    fit();
    return std::move(found_);
  }

 private:
  void remark(const std::string& text) { found_.remarks.push_back(text); }
  void stop_if_late() const {
    stop_if_interrupted();
    if (is_late()) throw OutOfTime();
  }
  bool is_late() const { return Clock::now() > until_; }

  // Starts `ranks` ranks with these arguments; returns why it failed, or "". A silent launch ends shortly after the
  // time limit.
  std::string started(int ranks, const std::vector<std::string>& arguments,
                      const std::function<void(std::string_view)>& see) const {
    const double left = std::chrono::duration<double>(until_ - Clock::now()).count();
    const int patience_s = std::clamp(static_cast<int>(std::ceil(left)), 1, kPatienceS);
    const LaunchEnd end = launch(launcher_, ranks, arguments, see, patience_s);
    if (end.silent && is_late()) throw OutOfTime();
    const bool fine = !end.silent && end.exit_code == 0 && end.signal == 0;
    return fine ? std::string() : how_it_ended(launcher_, end, patience_s);
  }

  // ---- Messages -----------------------------------------------------------------------------------------------------

  // The best of several: other load is no property of the machine.
  void measure_network() {
    for (const int ranks : std::set<int>{2, std::max(2, how_.cores)}) {
      Json best;
      for (int i = 0; i < kNetworkRuns; ++i) {
        const Json record = network_of(ranks);
        if (record.is_null()) break;
        if (best.is_null()) best = record;
        for (const char* name : {"barrier_seconds", "latency_seconds"})
          best[name] = std::min(best[name].get<double>(), record[name].get<double>());
        best["bytes_per_second"] =
            std::max(best["bytes_per_second"].get<double>(), record["bytes_per_second"].get<double>());
      }
      if (!best.is_null()) found_.network.push_back(best);
    }
    found_.costs.update(message_costs(found_.network));
  }

  Json network_of(int ranks) {
    stop_if_late();
    Json record;
    const std::string why = started(ranks, {"--network"}, [&](std::string_view line) {
      Json heard = Json::parse(line, nullptr, false);
      if (is_network(heard)) record = std::move(heard);
    });
    if (!record.is_null() && why.empty()) {
      record.erase("kind");
      return record;
    }
    remark(fmt::format("messages of {} could not be measured: {}", count_text(ranks, "rank"),
                       why.empty() ? "nothing was told" : why));
    return {};
  }

  static bool is_network(const Json& heard) {
    if (!heard.is_object() || !heard.contains("kind") || heard["kind"] != "network") return false;
    const auto is_told = [&](const char* name) { return heard.contains(name) && heard[name].is_number(); };
    return std::ranges::all_of(std::array{"ranks", "nodes", "barrier_seconds", "latency_seconds", "bytes_per_second"},
                               is_told);
  }

  // ---- Two-phase I/O ------------------------------------------------------------------------------------------------

  // Where storage operations are very expensive the engine uses aggregators; measures their cost.
  void measure_exchange() {
    Json entry = {{"id", how_.entry["id"]}, {"buffered", how_.entry["buffered"]}};
    for (const char* free : {"round_ns", "exchange_byte_ns", "exchange_piece_ns", "message_ns", "queueing_ns"})
      entry["buffered"][free] = 0;
    entry["buffered"]["call_ns"] = kForcingCallNs;
    write_profile(profile_, entry);
    const ProfileFor forced(profile_);
    Step step{{"tw-collective"}, {"write"}, how_.quick ? 3 : 7, {2, {}}};
    step.plan.cells = {cell(2, {64, 64}, {1, 2}), cell(2, {1024, 1024}, {1, 2}), cell(2, {16384, 64}, {1, 2})};
    Results results;
    run(step, results);
    const bool together = !results.facts.empty() && std::ranges::all_of(results.facts, [](const FactsRecord& facts) {
      return facts.plan.find("aggregat") != std::string::npos;
    });
    std::vector<double> seconds;
    seconds.reserve(step.plan.cells.size());
    for (const Cell& one : step.plan.cells) seconds.push_back(transfer_of(results, one));
    if (!together || std::ranges::min(seconds) <= 0) {
      remark("the cost of two-phase I/O between ranks could not be measured: the defaults stay");
      return;
    }
    const ExchangeTimes times{seconds[0], seconds[1], seconds[2], 4.0 * 1024 * 1024, 2 * 1024, 2 * 16384};
    found_.costs.update(exchange_costs(times, how_.entry["buffered"], how_.cores));
  }

  static double transfer_of(const Results& results, const Cell& which) {
    std::vector<double> seconds;
    for (const TimeRecord& time : results.times)
      if (time.cell == which && time.phase == "write") seconds.push_back(time.transfer);
    return seconds.empty() ? 0
                           : std::ranges::min(seconds);  // the least disturbed run: a cost is no average over a busy
                                                         // machine
  }

  // ---- Methods ------------------------------------------------------------------------------------------------------

  std::vector<std::string> built() const {
    std::vector<std::string> ids;
    for (const Json& method : launcher_.description["methods"])
      if (method.value("built", false)) ids.push_back(method.value("id", ""));
    return ids;
  }

  void measure_methods() {
    Json entry = how_.entry;
    entry["buffered"].update(found_.costs);
    write_profile(profile_, entry);
    const ProfileFor tuned(profile_);
    const std::vector<std::string> phases(kModelPhases.begin(), kModelPhases.end());
    std::vector<std::string> others = built();
    const bool rows = std::erase_if(others, meets_for_each_row) > 0;
    const std::vector<int> all_ranks = calibrated_ranks(how_.cores);
    for (const int ranks : all_ranks) run({others, phases, how_.quick ? 1 : 3, cells_for(ranks, how_.quick)}, results_);
    if (rows)
      for (const int ranks : all_ranks)
        run({{"mpiio-global-1"}, phases, how_.quick || ranks > how_.cores ? 1 : 2, cells_of_rows_for(ranks)}, results_);
    if (how_.quick) return;
    if (how_.cores > 2 && std::ranges::count(all_ranks, how_.cores) == 0)
      run({others, phases, 1, cells_for(how_.cores, false)}, results_);
    run({others, phases, 1, {2, {cell(2, {3456, 3640})}}}, results_);
  }

  // Leaves a failing method out and measures the others again.
  void run(Step step, Results& results) {
    while (!step.methods.empty()) {
      stop_if_late();
      empty_folder();
      Results heard;
      Tried tried;
      try {
        tried = tried_once(step, heard);
      } catch (const OutOfTime&) {
        take(heard, results);
        throw;
      } catch (const Failure& failure) {  // only the rest of this launch is lost
        take(heard, results);
        found_.cut_off = true;
        remark(
            fmt::format("a measurement with {} ended early: {}", count_text(step.plan.ranks, "rank"), failure.what()));
        return;
      }
      if (tried.fine) take(heard, results);
      if (tried.failed.empty() || std::erase(step.methods, tried.failed) == 0) return;
      found_.failed.insert(tried.failed);
    }
  }

  struct Tried {
    bool fine = false;
    std::string failed;  // the method; empty: unknown
  };

  Tried tried_once(const Step& step, Results& heard) {
    Tried tried;
    const auto see = [&](std::string_view line) {
      if (line.starts_with('{')) {  // launchers and libraries print other lines
        add_record(heard, line);
        const Json object = parsed_record(line);
        const Record record(object, "a");
        if (record.text("kind") == "begin") tried.failed = record.word("method");
      }
      stop_if_late();
    };
    std::string why = started(step.plan.ranks, arguments_of(step), see);
    if (why.empty()) return {true, {}};
    for (const Mishap& mishap : heard.mishaps) {
      if (!mishap.failed || mishap.method.empty()) continue;
      tried.failed = mishap.method;
      why = mishap.message;
    }
    remark(fmt::format("{} with {} failed: {}", tried.failed.empty() ? "what was started" : tried.failed,
                       count_text(step.plan.ranks, "rank"), why));
    return tried;
  }

  void empty_folder() const {
    std::error_code error;
    std::filesystem::remove_all(runs_in_, error);
    if (!error) std::filesystem::create_directory(runs_in_, error);
    errno = error.value();
    if (error) fail_with_errno("empty folder", runs_in_);
  }

  static void take(const Results& heard, Results& results) {
    results.times.insert(results.times.end(), heard.times.begin(), heard.times.end());
    results.facts.insert(results.facts.end(), heard.facts.begin(), heard.facts.end());
  }

  std::vector<std::string> arguments_of(const Step& step) const {
    std::vector<std::string> words = {"--dir",   runs_in_, "--repeat", std::to_string(step.repetitions),
                                      "--cache", "warm"};
    words.insert(words.end(), {"--methods", fmt::format("{}", fmt::join(step.methods, ","))});
    words.insert(words.end(), {"--phases", fmt::format("{}", fmt::join(step.phases, ","))});
    for (const Cell& one : step.plan.cells) words.insert(words.end(), {"--cell", cell_argument(one)});
    return words;
  }

  void fit() {
    Json entry = how_.entry;
    entry["buffered"].update(found_.costs);
    const std::string mpi = found_.calibration.mpi;
    found_.calibration = calibrate(results_, how_.cores, primitives_of(entry));
    found_.calibration.mpi = mpi;
    found_.calibration.measured = utc_now();
    entry["methods"] = json_of(found_.calibration);
    found_.calibration.median_error = summary_of(validate(results_, entry, how_.cores)).median_error;
  }

  const MethodsTuning& how_;
  const Launcher launcher_;
  const ScratchFolder scratch_;
  const std::string runs_in_, profile_;
  const Clock::time_point until_;
  Results results_;
  MethodsTuned found_;
};

// The formulas of src/engine/plan/plan.cpp: a round has two exchanges, of a barrier and an allreduce each, times
// the bits of the number of tasks; the engine's own work per round is a default there, measured where messages cost
// almost nothing. A receiver gets a length, a reply to it, and the data.
constexpr double kEngineRoundNs = 20'000;
constexpr double kCollectivesOfRound = 4;
constexpr double kBitsOfTwo = 2;
constexpr double kMessagesOfPartner = 3;

// Rounded to four decimal places, as all costs of a profile.
double kept(double ns, double least, double most) { return std::round(std::clamp(ns, least, most) * 1e4) / 1e4; }

}  // namespace

Json message_costs(const Json& network) {
  for (const Json& record : network) {
    const double latency = number_of(record, "latency_seconds", 0);
    const double barrier = number_of(record, "barrier_seconds", 0);
    if (latency <= 0 || barrier <= 0 || number_of(record, "ranks", 0) != 2) continue;
    const double round_ns = std::max(kEngineRoundNs, kCollectivesOfRound * barrier * 1e9 / kBitsOfTwo);
    return {{"message_ns", kept(kMessagesOfPartner * latency * 1e9, 1, 1e8)}, {"round_ns", kept(round_ns, 1, 1e9)}};
  }
  return Json::object();
}

// Inverts the model of aggregate(): one round with as many aggregators as cores, of two.
Json exchange_costs(const ExchangeTimes& times, const Json& costs, int cores) {
  const double workers = std::clamp(cores, 1, 2);
  const double n_more = times.n_short - times.n_long;
  const double each = std::max(0.0, times.pieces - times.bytes) * 1e9 * workers / n_more;
  const double copy_piece = number_of(costs, "copy_piece_ns", 3);
  const double all = std::max(0.0, times.bytes - times.nothing) * 1e9 * workers - times.n_long * each;
  const double byte =
      all / times.n_bytes - number_of(costs, "copy_byte_ns", 0.09) - number_of(costs, "staged_write_byte_ns", 0.085);
  return {{"exchange_byte_ns", kept(byte, 0.01, 1e3)}, {"exchange_piece_ns", kept(each - copy_piece, 0, 1e6)}};
}

std::vector<int> calibrated_ranks(int cores) {
  const int crowd = std::min(2 * cores, kMostRanksHere);
  if (crowd > 2) return {2, 1, crowd};
  return {2, 1};
}

std::vector<std::string> keep_methods(const Json* before, Json& entry, MethodsTuned& found) {
  if (before == nullptr || found.calibration.empty()) return {};
  const Calibration old = calibration_of(*before);
  const size_t reached = found.calibration.cells.size();
  if (found.cut_off && !old.empty() && reached < old.cells.size()) {
    entry["methods"] = (*before)["methods"];
    found.calibration = {};
    return {fmt::format("kept from the previous profile: methods, of {}; only {} were reached now",
                        count_text(static_cast<int64_t>(old.cells.size()), "cell"), reached)};
  }
  const Calibration& made = found.calibration;
  if (old.mpi != made.mpi || old.cache != made.cache || old.cores != made.cores) return {};
  std::vector<std::string> kept;
  for (const std::string& method : found.failed) {
    if (made.constants.contains(method) || !old.constants.contains(method)) continue;
    entry["methods"][method] = (*before)["methods"][method];
    kept.push_back(fmt::format("kept from the previous profile: {}, which failed now", method));
  }
  return kept;
}

MethodsTuned tune_methods(const MethodsTuning& how) {
  try {
    return Tuner(how).all();
  } catch (const Failure& failure) {
    MethodsTuned nothing;
    nothing.remarks.push_back(fmt::format("no measurements with ranks: {}", failure.what()));
    return nothing;
  }
}

}  // namespace tool
