// Writes, opens and closes a multifile and a shared file with limited memory, started by memory_limit_test.py as
// `mpi_memory_limit KIB FOLDER WHO`. A limited rank gets KIB more of address space than it has after MPI_Init. WHO is
// limited: `all`, the `last` rank, or `late`: all, after MPI has connected them. Exit status: 0 when all ranks got
// equal statuses from all calls, 3 when they differ.
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "group/mpi/mpi_transfers.hpp"
#include "support/engine/accesses.hpp"
#include "thalweg/group_mpi.h"
#include "thalweg/thalweg.h"

using namespace thalweg::test;

namespace {

constexpr int kMostCalls = 96;
constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr int kRounds = 4;

// Statuses of this rank. Fixed memory, as everything here.
std::array<int, kMostCalls> told;
int n_told = 0;
std::array<char, kMostBytes> data;
std::array<tw_extent, 64> list;

tw_status hear(tw_status status) { return told[static_cast<std::size_t>(n_told++)] = status; }

void use_multifile(tw_group* group, const char* path, std::size_t bytes) {
  tw_multifile* file = nullptr;
  if (hear(tw_multifile_open(group, path, TW_CREATE | TW_TRUNCATE, nullptr, &file)) != TW_OK) return;
  (void)tw_multifile_write(file, data.data(), bytes);
  (void)tw_multifile_flush(file);
  (void)tw_multifile_write(file, data.data(), 10);
  if (hear(tw_multifile_close(&file)) != TW_OK) return;
  if (hear(tw_multifile_open(group, path, TW_READ, nullptr, &file)) != TW_OK) return;
  std::size_t got = 0;
  (void)tw_multifile_read(file, data.data(), bytes, &got);
  hear(tw_multifile_close(&file));
}

void use_file(tw_group* group, const char* path, std::size_t bytes) {
  const std::int64_t piece = static_cast<std::int64_t>(bytes / list.size());
  const std::int64_t stride = piece * tw_group_size(group);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    list[i] = {data.data() + at * piece, piece, at * stride + tw_group_rank(group) * piece};
  }
  tw_file* file = nullptr;
  if (hear(tw_file_open(group, path, TW_READ | TW_WRITE | TW_CREATE, nullptr, &file)) != TW_OK) return;
  hear(write_list_all(file, list.data(), list.size()));
  tw_request* request = nullptr;
  tw_status started = iwrite_list_all(file, list.data(), list.size(), &request);
  if (started == TW_OK) started = tw_request_wait(&request, nullptr);
  hear(started);
  hear(read_list_all(file, list.data(), list.size(), nullptr));
  hear(tw_file_sync(file));
  hear(tw_file_close(&file));
}

// Sets the soft limit only, which is raised again before the verdict.
bool allow_more(rlim_t bytes) {
  std::FILE* statm = std::fopen("/proc/self/statm", "r");
  unsigned long long pages = 0;
  const bool read = statm != nullptr && std::fscanf(statm, "%llu", &pages) == 1;
  if (statm != nullptr) (void)std::fclose(statm);
  if (!read) return false;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0) return false;
  const auto page = static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  limit.rlim_cur = static_cast<rlim_t>(pages) * page + bytes;
  return ::setrlimit(RLIMIT_AS, &limit) == 0;
}

bool allow_all() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0) return false;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_AS, &limit) == 0;
}

int verdict() {
  std::array<int, kMostCalls> least{}, most{};
  MPI_Allreduce(told.data(), least.data(), kMostCalls, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(told.data(), most.data(), kMostCalls, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return least == most ? 0 : 3;
}

// Makes MPI create its connections and first buffers.
void connect_all() {
  constexpr int kEach = 1 << 14;
  MPI_Alltoall(data.data(), kEach, MPI_BYTE, data.data() + kMostBytes / 2, kEach, MPI_BYTE, MPI_COMM_WORLD);
}

bool is_poor(const char* whom) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return std::strcmp(whom, "last") != 0 || rank == size - 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  const std::string multifile = std::string(argv[2]) + "/multi.tw";
  const std::string file = std::string(argv[2]) + "/shared.dat";
  const auto extra = static_cast<rlim_t>(std::strtoull(argv[1], nullptr, 10)) << 10;
  tw_group* group = nullptr;
  thalweg::MpiWait::shorten_vain_waits(20);
  if (std::strcmp(argv[3], "late") == 0) connect_all();
  if (is_poor(argv[3]) && !allow_more(extra)) return 2;
  if (hear(tw_group_mpi(MPI_COMM_WORLD, &group)) == TW_OK) {
    for (int round = 1; round <= kRounds; ++round) {
      const std::size_t bytes = kMostBytes >> (3 * (kRounds - round));
      use_multifile(group, multifile.c_str(), bytes);
      use_file(group, file.c_str(), bytes);
    }
    tw_group_free(&group);
  }
  if (!allow_all()) return 2;
  const int result = verdict();
  if (result != 0) (void)std::fputs("ranks were told different things\n", stderr);
  if (result == 0) std::printf("%d calls, the last %d\n", n_told, told[static_cast<std::size_t>(n_told - 1)]);
  MPI_Finalize();
  return result;
}
