// Starting a benchmark of MPI ranks without mpiexec.
#ifndef BENCH_COLLECTIVE_LAUNCH_HPP
#define BENCH_COLLECTIVE_LAUNCH_HPP

namespace bench {

// Restarts the program on four ranks of its own unless an mpiexec has started it.
void start_own_ranks(char** argv);

}  // namespace bench

#endif
