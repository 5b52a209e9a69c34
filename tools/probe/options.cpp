#include "options.hpp"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "method.hpp"

namespace probe {

namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;  // of an array: sums of places stay far below 2^63

// "": the cell is right, otherwise what is wrong with it. Without a grid the first dimension is cut.
std::string wrong_in(Cell& cell, int ranks) {
  const auto& [shape, order, ragged] = cell.array;
  if (shape.empty() || shape.size() > 3 || std::ranges::min(shape) < 1)
    return "the shape is not 1 to 3 numbers above 0";
  std::int64_t room = kMostBytes / kElement;
  for (const std::int64_t extent : shape) room /= extent;
  if (room == 0) return "the array has more than 2^50 bytes";
  if (cell.grid.empty()) {
    cell.grid.assign(shape.size(), 1);
    cell.grid[0] = std::max(1, ranks);
  }
  if (ragged && (shape.size() != 2 || order != Order::c || cell.grid.back() != 1))
    return "a ragged array has rows and their mean length, order c, and a grid such as [4, 1]";
  if (cell.grid.size() != shape.size() || std::ranges::min(cell.grid) < 1)
    return "the grid has not a number above 0 for each dimension";
  const int parts = ranks_of(cell.grid);
  if (ranks == 0 || parts == ranks) return "";
  return "the grid is for " + std::to_string(parts) + " ranks, but there are " + std::to_string(ranks);
}

// A cell as in records, which may also have other members.
Cell cell_of(const std::string& text, int ranks) {
  Cell cell;
  std::string wrong;
  try {
    const nlohmann::json given = nlohmann::json::parse(text);
    given.at("shape").get_to(cell.array.shape);
    cell.array.order = given.value("order", "c") == "f" ? Order::f : Order::c;
    cell.array.ragged = given.value("ragged", false);
    cell.grid = given.value("grid", cell.grid);
    wrong = wrong_in(cell, ranks);
  } catch (const nlohmann::json::exception& error) {
    wrong = error.what();
  }
  if (wrong.empty()) return cell;
  throw std::runtime_error("--cell '" + text + "': " + wrong +
                           R"(; an example: {"shape": [4096, 4096], "grid": [2, 2], "order": "c"})");
}

}  // namespace

Options parse_options(int argc, const char* const* argv, int ranks) {
  Options options;
  std::vector<std::string> cells, ids;
  for (const MethodInfo& info : method_table()) ids.emplace_back(info.id);
  CLI::App app("Measures ways of writing a distributed array. Started by `thalweg methods` under mpiexec.",
               "thalweg-probe");
  app.footer(
      R"(--predict, alone and without MPI, predicts the accesses of the JSON object on standard input, {"machine":
{...}, "accesses": [{"way": "collective", "direction": "write", "tasks": N, "pieces": N, "piece_bytes": N}]};
docs/design/simulation.md names all members. --storage DIR, alone and without MPI, prints the storage of a folder.)");
  app.set_help_flag("--help", "Print this help message and exit");
  const auto some_of = [](CLI::Option* option, const std::vector<std::string>& names) {
    option->delimiter(',')->check(CLI::IsMember(names));
  };
  app.add_flag("--describe", options.describe, "Print the built methods as JSON, without starting MPI");
  app.add_flag("--network", options.network, "Measure messages only");
  app.add_option("--dir", options.folder, "Existing folder on the storage to measure");
  app.add_option("--cell", cells, R"({"shape": [4096, 4096], "grid": [2, 2], "order": "c"}; may be given again)")
      ->allow_extra_args(false);
  some_of(app.add_option("--methods", options.methods, "Methods, separated by commas; default: all built ones"), ids);
  some_of(app.add_option("--phases", options.phases, "Phases, separated by commas; default: all"), options.phases);
  app.add_option("--repeat", options.repetitions, "Repetitions after the warm-up; default 3")
      ->check(CLI::Range(1, 1000000));
  app.add_flag("--no-warm-up", options.cold, "Time the first repetition, too");
  app.add_option("--cache", options.cache, "State of the page cache; default warm")
      ->check(CLI::IsMember({"warm", "sync", "drop"}));
  app.add_flag("--limit", options.limit, "Measure the storage's own limit, too");
  app.add_flag("--keep", options.keep, "Keep the files");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.help = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    throw std::runtime_error(std::string(error.what()) + "; --help lists the options");
  }
  for (const std::string& cell : cells) options.cells.push_back(cell_of(cell, ranks));
  if (options.describe || options.network) return options;
  if (options.folder.empty()) throw std::runtime_error("--dir is missing: name a folder on the storage to measure");
  if (cells.empty()) throw std::runtime_error(R"(--cell is missing, for example --cell '{"shape": [4096, 4096]}')");
  return options;
}

}  // namespace probe
