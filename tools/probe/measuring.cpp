// Measures ways of writing a distributed array, on the ranks of an MPI program: all repetitions of all cells and methods,
// interleaved: for each repetition each cell, for each cell each method, in an order that is drawn anew.
#include "measuring.hpp"

#include <mpi.h>
#include <thalweg/group_mpi.h>
#include <thalweg/version.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <random>
#include <string_view>
#include <thread>

#include "stage.hpp"
#include "stopwatch.hpp"

namespace probe {

namespace {

using Chosen = std::pair<MethodInfo, std::unique_ptr<Method>>;

std::string missing(const MethodInfo& info) {
  return "not built: " + std::string(info.needs) +
         " was not found when this program was built; install it for the same MPI and configure again";
}

// `method`: null where it is not built.
Json json_of(const MethodInfo& info, const Method* method) {
  const bool is_built = method != nullptr;
  return {{"id", info.id},
          {"number", info.number},
          {"title", info.title},
          {"outcome", info.outcome},
          {"collective", info.collective},
          {"nonblocking", info.nonblocking},
          {"needs", info.needs},
          {"built", is_built},
          {"library", is_built && !method->library().empty() ? Json(method->library()) : Json()},
          {"reason", is_built ? Json() : Json(missing(info))}};
}

// Prints all methods; returns those that can be measured.
std::vector<Chosen> choose(const Options& options, const Ranks& ranks) {
  std::vector<Chosen> chosen;
  for (const MethodInfo& info : method_table()) {
    std::unique_ptr<Method> method = make_method(info);
    Json record = {{"kind", "method"}};
    record.update(json_of(info, method.get()));
    if (ranks.first()) print_record(record);
    const bool is_asked = std::ranges::find(options.methods, info.id) != options.methods.end();
    if (is_asked && method == nullptr) throw Failed(std::string(info.id) + " is " + missing(info));
    if (method != nullptr && (is_asked || options.methods.empty())) chosen.emplace_back(info, std::move(method));
  }
  return chosen;
}

// A new folder in that of the user.
std::string make_scratch(const std::string& folder, const Ranks& ranks) {
  std::string path = folder + "/thalweg-probe-XXXXXX";
  if (ranks.first() && ::mkdtemp(path.data()) == nullptr) fail_errno("create a folder in", folder);
  must_mpi(MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, ranks.all().comm), "MPI_Bcast");
  return path;
}

// Prints all records from `launch` to `end`. Throws the failure; `where` says at which step.
void run_campaign(const Options& options, const Ranks& ranks, Where& where) {
  Lap lap;
  if (ranks.first())
    print_record({{"kind", "launch"},
                  {"mpi", mpi_name()},
                  {"ranks", ranks.size()},
                  {"nodes", ranks.nodes()},
                  {"yields", ranks.yields()}});
  std::vector<Chosen> chosen = choose(options, ranks);
  const std::string scratch = make_scratch(options.folder, ranks);
  // After-effects of a method, such as dirty pages, must not always affect the same next method.
  std::mt19937 draw(1);  // equal on all ranks
  const int first = options.cold ? 1 : 0;
  for (int repetition = first; repetition <= options.repetitions; ++repetition) {
    std::ranges::shuffle(chosen, draw);
    for (std::size_t c = 0; c < options.cells.size(); ++c) {
      const std::string folder = scratch + "/" + std::to_string(repetition) + "." + std::to_string(c);
      if (ranks.first()) std::filesystem::create_directory(folder);
      ranks.meet();
      const Repetition now{options, ranks, options.cells[c], repetition, repetition == first, folder, where};
      if (options.limit) measure_limit(now);
      for (const auto& [info, method] : chosen) run_stage(now, info, *method);
      where = {};
      if (ranks.first() && !options.keep) std::filesystem::remove_all(folder);
    }
  }
  ranks.meet();
  if (ranks.first() && !options.keep) std::filesystem::remove_all(scratch);
  if (ranks.first()) print_record({{"kind", "end"}, {"complete", true}, {"seconds", lap()}});
}

// Prints one JSON object that lists the built methods. Without MPI_Init.
void describe() {
  Json methods = Json::array();
  for (const MethodInfo& info : method_table()) methods.push_back(json_of(info, make_method(info).get()));
  print_record({{"version", tw_version_string()},
                {"mpi", mpi_name()},
                {"kind", TW_MPI_KIND},
                {"mpiexec", TW_MPIEXEC},
                {"methods", methods}});
}

// Calls `use` between MPI_Init and MPI_Finalize.
int with_mpi(const std::function<int()>& use) {
  int thread_level = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &thread_level);
  const int code = use();
  MPI_Finalize();
  return code;
}

int measure_all(const Options& options, int rank) {
  Where where;
  try {
    const Ranks ranks;
    ranks.start_together();
    if (options.network)
      measure_network(ranks);
    else
      run_campaign(options, ranks, where);
  } catch (const std::exception& error) {
    print_record({{"kind", "failure"},
                  {"method", where.method},
                  {"cell", where.cell},
                  {"phase", where.phase},
                  {"message", error.what()},
                  {"rank", rank}});
    // Other ranks may wait in a collective, so all ranks end. The delay lets the line reach its reader.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}

}  // namespace

int measure(int argc, char** argv) {
  const auto is_told = [](std::string_view word) { return word == "--describe" || word == "--help"; };
  if (std::any_of(argv, argv + argc, is_told)) {  // without MPI_Init
    const Options options = parse_options(argc, argv, 0);
    if (options.help.empty())
      describe();
    else
      std::puts(options.help.c_str());
    return 0;
  }
  return with_mpi([&] {
    int rank = 0, ranks = 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Options options;
    try {
      options = parse_options(argc, argv, ranks);
    } catch (const std::exception& error) {  // equal on all ranks
      if (rank == 0) std::fprintf(stderr, "thalweg-probe: %s\n", error.what());
      return kWrongOptions;
    }
    return measure_all(options, rank);
  });
}

int on_ranks(const std::function<int(const thalweg::Group&)>& use) {
  return with_mpi([&] { return use(thalweg::Group::make(tw_group_mpi, MPI_COMM_WORLD)); });
}

}  // namespace probe
