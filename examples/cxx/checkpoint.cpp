// The program of ../c/checkpoint.c in C++.
//     mpiexec -n 4 example_cxx_checkpoint
#include <mpi.h>

#include <thalweg/group_mpi.h>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <string>
#include <thalweg/thalweg.hpp>
#include <vector>

int main(int argc, char** argv) {
  constexpr int kRows = 256, kColumns = 128;
  int rank = 0, ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string log = "logs/rank" + std::to_string(rank) + ".txt", text = "step 1\n";
  const int first = kRows * rank / ranks, last = kRows * (rank + 1) / ranks;
  std::vector<double> u(static_cast<std::size_t>(last - first) * kColumns), v(u.size());
  for (std::size_t k = 0; k < u.size(); ++k) u[k] = first + static_cast<double>(k) / kColumns;
  {
    const auto group = thalweg::Group::make(tw_group_mpi, MPI_COMM_WORLD);
    thalweg::Multifile out(group, "dump.tw", "w");
    out.write(u);
    out.add(log);
    out.write(text);
    out.close();
    thalweg::Multifile in(group, "dump.tw", "r");
    in.read(v);
    in.close();
  }
  const double mine = std::accumulate(v.begin(), v.end(), 0.0);
  double all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("sum %.1f\n", all);
  MPI_Finalize();
}
