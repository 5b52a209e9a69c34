// Measures ways of writing a distributed array, on the ranks of an MPI program.
#include "measuring.hpp"

#include <mpi.h>
#include <thalweg/group_mpi.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <thread>

#include "campaign.hpp"

namespace probe {

namespace {

// Other ranks may wait in a collective, so all ranks end. The delay lets the line reach its reader.
[[noreturn]] void give_up(const Where& where, const char* message, int rank) {
  print_record({{"kind", "failure"},
                {"method", where.method},
                {"cell", where.cell},
                {"phase", where.phase},
                {"message", message},
                {"rank", rank}});
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
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
    give_up(where, error.what(), rank);
  }
  return 0;
}

}  // namespace

int measure(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--describe") != 0) continue;
    parse_options(argc, argv, 0);
    return describe(), 0;
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
      const bool is_help = dynamic_cast<const HelpWanted*>(&error) != nullptr;
      if (rank == 0) std::fprintf(is_help ? stdout : stderr, "%s%s\n", is_help ? "" : "thalweg-probe: ", error.what());
      return is_help ? 0 : kWrongOptions;
    }
    return measure_all(options, rank);
  });
}

int on_ranks(const std::function<int(const thalweg::Group&)>& use) {
  return with_mpi([&] { return use(thalweg::Group::make(tw_group_mpi, MPI_COMM_WORLD)); });
}

}  // namespace probe
