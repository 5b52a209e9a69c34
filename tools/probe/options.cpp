#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <string_view>

namespace probe {

namespace {

const std::vector<std::string> kPhaseNames = {"write", "read", "restart", "serial", "merge", "overlap"};
const std::vector<std::string> kCacheNames = {"warm", "sync", "drop", "direct"};
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;  // of an array: sums of places stay far below 2^63

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(at, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

[[noreturn]] void wrong_cell(const std::string& text, const std::string& what) {
  throw WrongOptions("--cell '" + text + "': " + what + "; an example: shape=4096x4096,grid=2x2,order=c");
}

template <class Number>
std::vector<Number> numbers(const std::string& cell, const std::string& text, Number most) {
  std::vector<Number> out;
  for (const std::string& word : split(text, 'x')) {
    Number value{};
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (failed != std::errc() || end != word.data() + word.size() || value < 1 || value > most)
      wrong_cell(cell, "'" + text + "' is not 1 to 3 whole numbers of at least 1 with x between them");
    out.push_back(value);
  }
  if (out.size() > 3) wrong_cell(cell, "'" + text + "' has more than 3 dimensions");
  return out;
}

Order order_of(const std::string& cell, const std::string& text) {
  if (text != "c" && text != "f") wrong_cell(cell, "the order '" + text + "' is neither c nor f");
  return text == "c" ? Order::c : Order::f;
}

void check_size(const std::string& text, const Array& array) {
  std::int64_t room = kMostBytes / kElement;
  for (const std::int64_t extent : array.shape) {
    if (extent > room) wrong_cell(text, "the array has more than 2^50 bytes");
    room /= extent;
  }
}

Cell cell_of(const std::string& text, int ranks) {
  Cell cell;
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    if (name == "shape")
      cell.array.shape = numbers<std::int64_t>(text, value, kMostBytes);
    else if (name == "grid")
      cell.grid = numbers<int>(text, value, 1 << 20);
    else if (name == "order")
      cell.array.order = order_of(text, value);
    else if (name == "ragged" && (value == "0" || value == "1"))
      cell.array.ragged = value == "1";
    else
      wrong_cell(text, "unknown key '" + name + "' in a cell");
  }
  if (cell.array.shape.empty()) wrong_cell(text, "the shape is missing");
  check_size(text, cell.array);
  if (cell.grid.empty()) cell.grid = grid_for(std::max(1, ranks), cell.array);
  if (cell.array.ragged && (cell.array.shape.size() != 2 || cell.array.order != Order::c || cell.grid.back() != 1))
    wrong_cell(text, "a ragged array has rows and their mean length, order c, and a grid such as 4x1");
  if (cell.grid.size() != cell.array.shape.size())
    wrong_cell(text, "the grid and the shape differ in their number of dimensions");
  std::int64_t parts = 1;
  for (const int part : cell.grid) parts *= part;
  if (ranks > 0 && parts != ranks)
    wrong_cell(text, "the grid is for " + std::to_string(parts) + " ranks, but there are " + std::to_string(ranks));
  return cell;
}

std::vector<std::string> all_ids() {
  std::vector<std::string> ids;
  for (const MethodInfo& info : method_table()) ids.emplace_back(info.id);
  return ids;
}

std::ptrdiff_t place_in(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) - names.begin();
}

void check_folder(const Options& options) {
  if (options.describe || options.network) return;
  if (options.folder.empty()) throw WrongOptions("--dir is missing: name a folder on the storage to measure");
  std::error_code failed;
  if (!std::filesystem::is_directory(options.folder, failed))
    throw WrongOptions("--dir '" + options.folder + "' is not a folder; create it first");
  if (options.cells.empty()) throw WrongOptions("--cell is missing, for example --cell shape=4096x4096");
}

void run_parser(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpWanted(app.help());
  } catch (const CLI::ParseError& error) {
    throw WrongOptions(std::string(error.what()) + "; --help lists the options");
  }
}

}  // namespace

const char* name_of(Phase phase) { return kPhaseNames.at(static_cast<std::size_t>(phase)).c_str(); }
const char* name_of(Cache cache) { return kCacheNames.at(static_cast<std::size_t>(cache)).c_str(); }

bool wants_description(int argc, const char* const* argv) {
  return std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--describe"; });
}

Options parse_options(int argc, const char* const* argv, int ranks) {
  Options options;
  std::vector<std::string> cells;
  std::vector<std::string> phases = kPhaseNames;
  std::string cache = "warm";
  bool cold = false;
  CLI::App app("Measures ways of writing a distributed array. Started by `thalweg methods` under mpiexec.",
               "thalweg-probe");
  app.add_flag("--describe", options.describe, "Print the built methods as JSON, without starting MPI");
  app.add_flag("--network", options.network, "Measure messages only");
  app.footer(
      R"(--predict, alone and without MPI, predicts the accesses of the JSON object on standard input, {"machine":
{...}, "accesses": [{"way": "collective", "direction": "write", "tasks": N, "pieces": N, "piece_bytes": N}]};
docs/design/simulation.md names all members. --storage DIR, alone and without MPI, prints the storage of a folder.)");
  app.add_option("--dir", options.folder, "Existing folder on the storage to measure");
  app.add_option("--cell", cells, "shape=4096x4096[,grid=2x2][,order=c|f][,ragged=1]; may be given again")
      ->allow_extra_args(false);
  app.add_option("--methods", options.methods, "Methods, separated by commas; default: all built ones")
      ->delimiter(',')
      ->check(CLI::IsMember(all_ids()));
  app.add_option("--phases", phases, "Phases, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(kPhaseNames))
      ->capture_default_str();
  app.add_option("--repeat", options.repetitions, "Repetitions")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_flag("--no-warm-up", cold, "Time the first repetition, too");
  app.add_option("--cache", cache, "State of the page cache")->check(CLI::IsMember(kCacheNames))->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of the contents; a repetition adds its number, from 0")
      ->capture_default_str();
  app.add_option("--files-per-folder", options.files_per_folder,
                 "Files in each folder of the method file-per-task-dirs")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_flag("--limit", options.limit,
               "Measure the storage's own limit, too: a file of each rank, in calls of 4 MiB");
  app.add_flag("--keep", options.keep, "Keep the files");
  run_parser(app, argc, argv);
  options.warm_up = !cold;
  options.cache = static_cast<Cache>(place_in(kCacheNames, cache));
  for (const std::string& phase : phases) options.phases.insert(static_cast<Phase>(place_in(kPhaseNames, phase)));
  for (const std::string& cell : cells) options.cells.push_back(cell_of(cell, ranks));
  check_folder(options);
  return options;
}

}  // namespace probe
