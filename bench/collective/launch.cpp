#include "collective/launch.hpp"

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "collective/storage.hpp"

namespace bench {

namespace {

constexpr unsigned kRanks = 4;

bool has_launcher() {
  for (const char* name : {"PMI_RANK", "PMI_FD", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"})
    if (std::getenv(name) != nullptr) return true;  // NOLINT(concurrency-mt-unsafe): there is one thread
  return false;
}

void set_unless_set(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 0);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

void start_own_ranks(char** argv) {
  if (has_launcher()) return;
  const bool crowded = std::thread::hardware_concurrency() < kRanks;
  std::vector<std::string> words = {TW_MPIEXEC};
  if (std::string(TW_MPI_KIND) == "openmpi") {
    words.insert(words.end(), {"--oversubscribe", "--bind-to", "none"});
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) set_unless_set(name, "1");
    if (crowded) set_unless_set("OMPI_MCA_mpi_yield_when_idle", "1");
  } else {
    set_unless_set("HYDRA_LAUNCHER", "fork");
  }
  words.insert(words.end(), {"-n", std::to_string(kRanks)});
  if (std::string(TW_MPI_KIND) == "mpich" && crowded)
    words.insert(words.end(), {"env", "LD_PRELOAD=" + find_module("bench_yield.so").string()});
  words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  for (char** argument = argv + 1; *argument != nullptr; ++argument) pointers.push_back(*argument);
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  std::fprintf(stderr, "%s: cannot start %s; start this program with the mpiexec of its MPI\n",
               program_invocation_short_name, TW_MPIEXEC);
  std::exit(1);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace bench
