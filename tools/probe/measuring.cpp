// Measures ways of writing a distributed array, on the ranks of an MPI program.
#include "measuring.hpp"

#include <mpi.h>
#include <thalweg/group_mpi.h>
#include <time.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "campaign.hpp"
#include "network.hpp"
#include "yield.hpp"

namespace probe {

namespace {

// Result of parsing the options on one rank; the first rank reports, as all have equal options.
struct Verdict {
  std::optional<Options> options;
  int code = 0;
};

Verdict read_options(int argc, const char* const* argv, int rank, int ranks) {
  Verdict verdict;
  std::string message;
  try {
    verdict.options = parse_options(argc, argv, ranks);
  } catch (const HelpWanted& help) {
    if (rank == 0) std::fputs(help.what(), stdout);
    verdict.code = -1;
  } catch (const std::exception& error) {
    message = error.what();
    verdict.code = kWrongOptions;
  }
  // The folder may be missing on some nodes only.
  int worst = 0;
  int speaker = verdict.code > 0 ? rank : ranks;
  MPI_Allreduce(&verdict.code, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (verdict.code > 0 && speaker == rank) std::fprintf(stderr, "thalweg-probe: %s\n", message.c_str());
  if (worst > 0) verdict.code = worst;
  return verdict;
}

// Other ranks may wait in a collective, so all ranks end. The delay lets the line reach its reader.
[[noreturn]] void give_up(const Where& where, const std::string& message) {
  print_record(failure_record(where, message));
  const timespec time{0, 200'000'000};
  ::nanosleep(&time, nullptr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void measure_all(const Options& options, int thread_level) {
  Where where;
  MPI_Comm_rank(MPI_COMM_WORLD, &where.rank);
  try {
    const Ranks ranks;
    if (ranks.on_this_node() > ranks.cores_of_node()) yield_while_waiting();
    ranks.start_together();
    const Launch launch{thread_level, yields()};
    if (options.network)
      measure_network(ranks);
    else
      run_campaign(options, ranks, launch, where);
  } catch (const std::exception& error) {
    give_up(where, error.what());
  }
}

int run(int argc, char** argv) {
  int thread_level = MPI_THREAD_SINGLE;
  int rank = 0;
  int ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Verdict verdict = read_options(argc, argv, rank, ranks);
  if (verdict.code == 0) measure_all(*verdict.options, thread_level);
  MPI_Finalize();
  return verdict.code > 0 ? verdict.code : 0;
}

}  // namespace

int measure(int argc, char** argv) {
  if (!wants_description(argc, argv)) return run(argc, argv);
  parse_options(argc, argv, 0);
  describe();
  return 0;
}

int on_ranks(const std::function<int(const thalweg::Group&)>& use) {
  int thread_level = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &thread_level);
  const int code = use(thalweg::Group::make(tw_group_mpi, MPI_COMM_WORLD));
  MPI_Finalize();
  return code;
}

}  // namespace probe
