// thalweg-methods: an MPI program that measures ways of writing a distributed array (docs/design/methods.md). `thalweg
// methods` and `thalweg tune` start it and read the records on its standard output.
#include <mpi.h>
#include <time.h>

#include <cstdio>
#include <exception>
#include <optional>

#include "campaign.hpp"
#include "network.hpp"
#include "yield.hpp"

namespace {

using namespace methods;

constexpr int kWrongOptions = 2;

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
  if (verdict.code > 0 && speaker == rank) std::fprintf(stderr, "thalweg-methods: %s\n", message.c_str());
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

void measure(const Options& options, int thread_level) {
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
  if (verdict.code == 0) measure(*verdict.options, thread_level);
  MPI_Finalize();
  return verdict.code > 0 ? verdict.code : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (!wants_description(argc, argv)) return run(argc, argv);
    parse_options(argc, argv, 0);
    describe();
    return 0;
  } catch (const HelpWanted& help) {
    std::fputs(help.what(), stdout);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "thalweg-methods: %s\n", error.what());
    return kWrongOptions;
  }
}
