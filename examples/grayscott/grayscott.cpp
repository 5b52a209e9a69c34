// Gray-Scott reaction and diffusion with MPI and OpenMP, checkpointed and restarted through Thalweg: README.md.
#include <getopt.h>
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

#include <thalweg/group_mpi.h>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <thalweg/thalweg.hpp>
#include <vector>

#include "domain.hpp"
#include "model.hpp"
#include "restart.hpp"
#include "task.hpp"

namespace grayscott {
namespace {

constexpr char kUsage[] =
    "usage: mpiexec -n RANKS grayscott [OPTION...]      threads of each rank: OMP_NUM_THREADS\n"
    "  --size N              columns, and rows, of the square (512)\n"
    "  --steps N             run to this step (4000)\n"
    "  --checkpoint-every N  steps between checkpoints (400)\n"
    "  --log-every N         steps between lines of the event logs (100)\n"
    "  --name NAME           write NAME.ckpt.tw, NAME.log.tw and NAME.field (grayscott)\n"
    "  --restart FILE        go on from the newest checkpoint in FILE\n"
    "  --wait-for-disk       wait at each checkpoint until it is on the disk, instead of computing meanwhile\n"
    "  --die-at STEP         a drill: one process dies while the others write the checkpoint of STEP\n";

// A whole number >= 1.
std::int64_t number(const char* text) {
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0' || value < 1) {
    std::fprintf(stderr, "grayscott: '%s' is not a number of at least 1\n%s", text, kUsage);
    std::exit(2);
  }
  return value;
}

Options parse(int argc, char** argv) {
  const option known[] = {{"size", 1, nullptr, 'n'},    {"steps", 1, nullptr, 's'},
                          {"name", 1, nullptr, 'o'},    {"checkpoint-every", 1, nullptr, 'c'},
                          {"restart", 1, nullptr, 'r'}, {"log-every", 1, nullptr, 'l'},
                          {"die-at", 1, nullptr, 'd'},  {"wait-for-disk", 0, nullptr, 'w'},
                          {nullptr, 0, nullptr, 0}};
  Options options;
  for (int which = 0; (which = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
    switch (which) {
      case 'n':
        options.size = number(optarg);
        break;
      case 's':
        options.steps = number(optarg);
        break;
      case 'c':
        options.checkpoint_every = number(optarg);
        break;
      case 'l':
        options.log_every = number(optarg);
        break;
      case 'o':
        options.name = optarg;
        break;
      case 'r':
        options.restart = optarg;
        break;
      case 'w':
        options.waits_for_disk = true;
        break;
      case 'd':
        options.die_at = number(optarg);
        break;
      default:
        std::fputs(kUsage, stderr);
        std::exit(2);
    }
  }
  return options;
}

// Prints the numbers of the processes, which the demo reads in order to kill them. Collective.
void introduce(const Options& options, const Domain& domain, const Catalogue& catalogue) {
  const int mine = static_cast<int>(getpid());
  std::vector<int> all(static_cast<std::size_t>(domain.n_ranks()));
  MPI_Gather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, 0, domain.ranks());
  if (domain.rank() != 0) return;
  std::printf("%d ranks x %d threads, %lld x %lld cells\n", domain.n_ranks(), omp_get_max_threads(),
              static_cast<long long>(options.size), static_cast<long long>(options.size));
  if (!options.restart.empty()) {
    std::printf("step %6lld  taken from %zu logical files of %s\n", static_cast<long long>(catalogue.step),
                catalogue.boxes.size(), options.restart.c_str());
  }
  std::printf("processes:");
  for (const int process : all) std::printf(" %d", process);
  std::printf("\n");
  std::fflush(stdout);
}

// Reads the checkpoint file. Returns what prevents a restart, equal on all ranks; empty: nothing. Collective.
std::string prepare_restart(const Options& options, const Domain& domain, Catalogue& catalogue) {
  const auto group = thalweg::Group::make(tw_group_mpi, domain.ranks());
  const std::string& path = options.restart;
  std::optional<thalweg::Multifile> file;
  try {
    file.emplace(group, path, TW_READ);
  } catch (const thalweg::Error& error) {
    return error.what();
  }
  catalogue = read_catalogue(domain.ranks(), *file);
  file->close();
  if (catalogue.step < 0) return "'" + path + "' holds no whole checkpoint";
  if (catalogue.size != options.size) return "'" + path + "': give --size " + std::to_string(catalogue.size);
  if (catalogue.step > options.steps) return "'" + path + "' is of step " + std::to_string(catalogue.step) + " already";
  return {};
}

int run(const Options& options) {
  const Domain domain(MPI_COMM_WORLD, options.size);
  const Model model(options.size);
  Catalogue catalogue;
  if (!options.restart.empty()) {
    const std::string hindrance = prepare_restart(options, domain, catalogue);
    if (!hindrance.empty()) {
      if (domain.rank() == 0) std::fprintf(stderr, "grayscott: %s\n", hindrance.c_str());
      return 1;
    }
  }
  introduce(options, domain, catalogue);

  const auto ranks = thalweg::Group::make(tw_group_mpi, domain.ranks());
  Run shared{options, domain, model, ranks, catalogue, {Fields(domain.block()), Fields(domain.block())}};
#pragma omp parallel
  try {
    Task(shared).work();
  } catch (const std::exception& error) {
#pragma omp critical
    {
      std::fprintf(stderr, "grayscott: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  domain.write_plain(shared.fields[options.steps % 2], options.name + ".field");
  if (domain.rank() == 0) std::printf("step %6lld  done\n", static_cast<long long>(options.steps));
  return 0;
}

}  // namespace
}  // namespace grayscott

int main(int argc, char** argv) {
  const grayscott::Options options = grayscott::parse(argc, argv);
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int code = 1;
  try {
    code = grayscott::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "grayscott: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
