#include "methods/conclusions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "methods/groups.hpp"
#include "methods/series.hpp"

namespace tool {
namespace {

// Criteria of docs/howto/methods.md.
constexpr double kStay = 0.8;           // (1) share of methods that keep their group
constexpr size_t kFewMethods = 5;       // (1) fewer methods form no groups
constexpr double kGrowth = 1.25;        // (2) limit for bandwidth without growth
constexpr double kWholeArray = 0.9;     // (2) memory of the gathering rank, in arrays
constexpr double kCollapse = 2;         // (3) confirmed from here
constexpr double kNoCollapse = 1.25;    // (3) refuted below
constexpr double kSameLevels = 1.25;    // (4)
constexpr double kOtherLevels = 1.5;    // (4)
constexpr double kNearFiles = 1.5;      // (4)
constexpr double kFarFromFiles = 2;     // (4)
constexpr double kCheapLibrary = 1.25;  // (5)
constexpr double kDearLibrary = 1.5;    // (5)

// Medians by method, phase and cell.
class Medians {
 public:
  explicit Medians(const std::vector<ResultRow>& rows) {
    for (const ResultRow& row : rows) rows_[{row.method, row.phase, row.cell}] = &row;
    for (const ResultRow& row : rows) cells_.insert(row.cell);
  }
  const ResultRow* find(const std::string& method, const std::string& phase, const Cell& cell) const {
    const auto found = rows_.find({method, phase, cell});
    return found == rows_.end() ? nullptr : found->second;
  }
  const std::set<Cell>& cells() const { return cells_; }
  // Median of the fastest of these methods; 0: not measured.
  double best(std::span<const char* const> methods, const std::string& phase, const Cell& cell) const {
    double best = 0;
    for (const char* method : methods) {
      const ResultRow* row = find(method, phase, cell);
      if (row != nullptr && (best == 0 || row->seconds.median < best)) best = row->seconds.median;
    }
    return best;
  }

 private:
  std::map<std::tuple<std::string, std::string, Cell>, const ResultRow*> rows_;
  std::set<Cell> cells_;
};

// Ratios over cells.
struct Ratios {
  int n = 0;
  double sum = 0, least = 0, most = 0;  // sums of logarithms
  void add(double ratio) {
    if (!(ratio > 0) || !std::isfinite(ratio)) return;
    least = n == 0 ? ratio : std::min(least, ratio);
    most = n == 0 ? ratio : std::max(most, ratio);
    sum += std::log(ratio);
    ++n;
  }
  double mean() const { return n == 0 ? 0 : std::exp(sum / n); }
  std::string text() const {
    if (n == 1) return fmt::format("{:.2f} times (1 cell)", mean());
    return fmt::format("{:.2f} times (geometric mean of {} cells, {:.2f} to {:.2f})", mean(), n, least, most);
  }
};

Ratios compare(const Medians& medians, const char* slow, const char* fast, const std::string& phase,
               const std::function<bool(const Cell&)>& counts) {
  Ratios ratios;
  for (const Cell& cell : medians.cells()) {
    const ResultRow *a = medians.find(slow, phase, cell), *b = medians.find(fast, phase, cell);
    if (a != nullptr && b != nullptr && counts(cell)) ratios.add(a->seconds.median / b->seconds.median);
  }
  return ratios;
}

bool has_several_ranks(const Cell& cell) { return cell.ranks > 1; }
bool is_scattered(const Cell& cell) { return cell.ranks > 1 && !is_contiguous(cell); }

std::string of_groups(const Grouping& grouping) {
  std::string text;
  for (const Group group : {Group::efficient, Group::moderate, Group::inefficient}) {
    int count = 0;
    double most = 1;
    for (const GroupedMethod& method : grouping.methods) {
      if (method.group != group) continue;
      ++count;
      most = method.ratio;
    }
    if (count > 0)
      text += fmt::format("{}{} {} (up to {:.2f} times the best)", text.empty() ? "" : ", ", count, group_name(group),
                          most);
  }
  return text;
}

Conclusion groups_stay(const std::vector<ResultRow>& rows) {
  Conclusion c{1,
               "The methods form three groups, efficient, moderate and inefficient, which are stable when the number "
               "of ranks changes.",
               fmt::format("Confirmed: the write times of all cells with 2 ranks or more form three groups, and the "
                           "groups at each single number of ranks contain at least {:.0f} % of the methods alike. "
                           "Refuted: fewer groups, or fewer stable methods.",
                           100 * kStay)};
  std::map<int, std::vector<ResultRow>> by_ranks;
  std::vector<ResultRow> several;
  for (const ResultRow& row : rows) {
    if (row.phase != "write" || row.cell.ranks < 2) continue;
    several.push_back(row);
    by_ranks[row.cell.ranks].push_back(row);
  }
  const Grouping all = group_rows(several, "write");
  if (all.methods.size() < kFewMethods || by_ranks.size() < 2) {
    c.numbers.push_back(fmt::format("The run has {} and {} of 2 ranks or more; {} methods and 2 numbers are needed.",
                                    count_text(static_cast<int64_t>(all.methods.size()), "method"),
                                    count_text(static_cast<int64_t>(by_ranks.size()), "number"), kFewMethods));
    return c;
  }
  c.numbers.push_back(fmt::format("Groups of all cells: {}.", of_groups(all)));
  bool stay = true;
  for (const auto& [ranks, own] : by_ranks) {
    const Grouping here = group_rows(own, "write");
    const auto kept =
        std::ranges::count_if(here.methods, [&](const GroupedMethod& m) { return m.group == all.find(m.id)->group; });
    const double share = static_cast<double>(kept) / static_cast<double>(here.methods.size());
    stay = stay && share >= kStay;
    c.numbers.push_back(
        fmt::format("{} ranks: {} of {} methods in an unchanged group.", ranks, kept, here.methods.size()));
  }
  c.verdict = all.groups() == 3 && stay ? Verdict::confirmed : Verdict::refuted;
  return c;
}

// Bandwidth with most ranks relative to fewest, of every curve.
Ratios growth_of(const std::vector<Series>& series, const Medians& medians, const std::string& method,
                 Conclusion* numbers) {
  Ratios growth;
  for (const Series& curve : series) {
    if (curve.scaling == Scaling::size) continue;
    std::vector<const ResultRow*> rows;
    for (const Cell& cell : curve.cells) {
      const ResultRow* row = medians.find(method, "write", cell);
      if (row != nullptr) rows.push_back(row);
    }
    if (rows.size() < 2 || rows.back()->cell.ranks < 2 * rows.front()->cell.ranks) continue;
    const auto speed = [](const ResultRow& row) { return mib_per_second(row.bytes, row.seconds.median); };
    const double from = speed(*rows.front()), to = speed(*rows.back());
    growth.add(to / from);
    if (numbers == nullptr) continue;
    numbers->numbers.push_back(fmt::format("{} scaling, {}: {:.0f} MiB/s on {}, {:.0f} MiB/s on {} ranks.",
                                           scaling_name(curve.scaling), curve.label, from,
                                           count_text(rows.front()->cell.ranks, "rank"), to, rows.back()->cell.ranks));
  }
  return growth;
}

Conclusion gather_does_not_scale(const Results& results, const Medians& medians) {
  Conclusion c{
      2,
      "Gathering to one rank does not scale: its bandwidth does not grow with ranks, and its rank needs "
      "memory for the whole array.",
      fmt::format(
          "Confirmed: from the fewest to the most ranks (at least twice as many) the bandwidth of 'gather' grows less "
          "than {:.2f} times, and its memory, if measured, grows by at least {:.0f} % of the array. Refuted otherwise.",
          kGrowth, 100 * kWholeArray)};
  const std::vector<Series> series = series_of(results);
  const Ratios growth = growth_of(series, medians, "gather", &c);
  if (growth.n == 0) {
    c.numbers.push_back("No curve of 'gather' covers a factor of 2 in ranks.");
    return c;
  }
  double best = 0;
  std::string best_method;
  for (const MethodFound& method : results.methods) {
    const double other = method.id == "gather" ? 0 : growth_of(series, medians, method.id, nullptr).mean();
    if (other > best) best_method = method.id;
    best = std::max(best, other);
  }
  c.numbers.push_back(fmt::format(
      "It grows {:.2f} times{}.", growth.mean(),
      best_method.empty() ? std::string()
                          : fmt::format("; the largest growth is {1:.2f} times, of '{0}'", best_method, best)));
  Ratios memory;
  for (const FactsRecord& facts : results.facts) {
    if (facts.method == "gather" && facts.cell.ranks > 1 && facts.memory_bytes > 0)
      memory.add(static_cast<double>(facts.memory_bytes) / static_cast<double>(facts.cell.bytes()));
  }
  c.numbers.push_back(memory.n == 0 ? "Its memory was not measured."
                                    : fmt::format("Memory of the writing rank, in arrays: {}.", memory.text()));
  const bool hungry = memory.n == 0 || memory.mean() >= kWholeArray;
  c.verdict = growth.mean() < kGrowth && hungry ? Verdict::confirmed : Verdict::refuted;
  return c;
}

// Verdict for a number with two limits: undecided between them.
Verdict judged(double value, double confirmed_from, double refuted_below) {
  if (value >= confirmed_from) return Verdict::confirmed;
  return value < refuted_below ? Verdict::refuted : Verdict::not_decided;
}

void note(Conclusion& c, const char* what, const Ratios& ratios) {
  if (ratios.n > 0) c.numbers.push_back(fmt::format("{}: {}.", what, ratios.text()));
}

Conclusion offsets_collapse(const Medians& medians) {
  Conclusion c{3,
               "Independent writes at explicit offsets (MPI-IO level 0) are very slow for a global array; collective "
               "calls with a view (level 3) are fast.",
               fmt::format("Ratio of the write times of level 0 and level 3, for cells whose blocks are not contiguous "
                           "in the file. Confirmed from {:.2f} times on, refuted below {:.2f}.",
                           kCollapse, kNoCollapse)};
  const Ratios write = compare(medians, "mpiio-global-0", "mpiio-global-3", "write", is_scattered);
  if (write.n == 0) {
    c.numbers.push_back("No cell with noncontiguous blocks has both methods.");
    return c;
  }
  c.numbers.push_back(fmt::format("Write, level 0 to level 3: {}.", write.text()));
  for (const auto& [method, name] : {std::pair("mpiio-global-1", "Level 1 (collective, no view) to level 3"),
                                     std::pair("mpiio-global-2", "Level 2 (view, not collective) to level 3")})
    note(c, name, compare(medians, method, "mpiio-global-3", "write", is_scattered));
  note(c, "Read, level 0 to level 3", compare(medians, "mpiio-global-0", "mpiio-global-3", "read", is_scattered));
  c.verdict = judged(write.mean(), kCollapse, kNoCollapse);
  return c;
}

Conclusion chunks_are_alike(const Medians& medians) {
  Conclusion c{
      4, "When each rank writes one contiguous chunk, the levels of MPI-IO are equal, and close to a file per task.",
      fmt::format("Write, cells of 2 ranks or more with all four levels. Confirmed: the slowest level takes at "
                  "most {:.2f} times the fastest, and the fastest at most {:.2f} times the better file per "
                  "task. Refuted: more than {:.2f}, or more than {:.2f} times.",
                  kSameLevels, kNearFiles, kOtherLevels, kFarFromFiles)};
  static constexpr const char* kLevels[] = {"mpiio-chunk-0", "mpiio-chunk-1", "mpiio-chunk-2", "mpiio-chunk-3"};
  static constexpr const char* kFiles[] = {"file-per-task", "file-per-task-dirs"};
  Ratios spread, to_files;
  for (const Cell& cell : medians.cells()) {
    double slowest = 0;
    bool all = cell.ranks > 1;
    for (const char* level : kLevels) {
      const ResultRow* row = medians.find(level, "write", cell);
      all = all && row != nullptr;
      if (row != nullptr) slowest = std::max(slowest, row->seconds.median);
    }
    if (!all) continue;
    const double fastest = medians.best(kLevels, "write", cell), files = medians.best(kFiles, "write", cell);
    spread.add(slowest / fastest);
    if (files > 0) to_files.add(fastest / files);
  }
  note(c, "Slowest level to fastest", spread);
  note(c, "Fastest level to a file per task", to_files);
  if (spread.n == 0 || to_files.n == 0) {
    c.numbers.push_back("No cell of 2 ranks or more has all four levels and a file per task.");
    return c;
  }
  if (spread.mean() <= kSameLevels && to_files.mean() <= kNearFiles) c.verdict = Verdict::confirmed;
  if (spread.mean() > kOtherLevels || to_files.mean() > kFarFromFiles) c.verdict = Verdict::refuted;
  return c;
}

Conclusion library_is_cheap(const Medians& medians) {
  Conclusion c{
      5, "A high-level library (parallel HDF5, collective, contiguous) costs little more than the MPI-IO below it.",
      fmt::format("Ratio of the write times of HDF5 (contiguous, collective) and MPI-IO level 3, for cells of 2 ranks "
                  "or more. Confirmed up to {:.2f}, refuted above {:.2f}.",
                  kCheapLibrary, kDearLibrary)};
  const Ratios write = compare(medians, "hdf5-contiguous-collective", "mpiio-global-3", "write", has_several_ranks);
  if (write.n == 0) {
    c.numbers.push_back("No cell of 2 ranks or more has both methods.");
    return c;
  }
  c.numbers.push_back(fmt::format("Write, HDF5 to MPI-IO level 3: {}.", write.text()));
  note(c, "Read, HDF5 to MPI-IO level 3",
       compare(medians, "hdf5-contiguous-collective", "mpiio-global-3", "read", has_several_ranks));
  note(c, "Write, PnetCDF to MPI-IO level 3",
       compare(medians, "pnetcdf", "mpiio-global-3", "write", has_several_ranks));
  if (write.mean() <= kCheapLibrary) c.verdict = Verdict::confirmed;
  if (write.mean() > kDearLibrary) c.verdict = Verdict::refuted;
  return c;
}

}  // namespace

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::confirmed:
      return "confirmed";
    case Verdict::refuted:
      return "refuted";
    default:
      return "not decided";
  }
}

std::vector<Conclusion> conclusions(const Results& results) {
  const std::vector<ResultRow> rows = result_rows(results);
  const Medians medians(rows);
  return {groups_stay(rows), gather_does_not_scale(results, medians), offsets_collapse(medians),
          chunks_are_alike(medians), library_is_cheap(medians)};
}

}  // namespace tool
