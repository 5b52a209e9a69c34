// The parts of the benchmark of collectives between ranks. Each adds its comparisons and targets to the report of rank
// 0.
#ifndef BENCH_COLLECTIVE_PARTS_HPP
#define BENCH_COLLECTIVE_PARTS_HPP

#include <functional>
#include <string>
#include <vector>

#include "collective/layout.hpp"
#include "collective/ranks.hpp"
#include "collective/storage.hpp"
#include "collective/ways.hpp"
#include "support/effort.hpp"
#include "support/report.hpp"

namespace bench {

struct Bench {
  Effort effort;
  const Ranks& ranks;
  tw_group* group;  // of the ranks
  Storage& storage;
  Report& report;  // used on rank 0 only
  bool largest;    // also run the largest array that fits
  std::string mpi = mpi_name();

  // A repetition of more variants takes longer.
  Plan plan(std::size_t variants) const {
    const auto many = static_cast<double>(variants);
    if (effort == Effort::tiny) return {1, 0, false};
    if (effort == Effort::quick) return {5, 1.0 * many, true, 3, 5.0 * many};
    return {9, 8.0 * many, true, 5, 30.0 * many};
  }
  // "MPICH 4.0.2, 4 ranks, ext4: coll_perf 512^3"; on several nodes "MPICH 4.0.2, 2 x 2 ranks, ext4: ..."
  std::string named(const std::string& what) const;
  bool is_mpich() const { return mpi.rfind("MPICH", 0) == 0; }
  bool is_ompio() const { return mpi.find("OMPIO") != std::string::npos; }

  // Prints a note where MPI has no counterpart: the ROMIO inside Open MPI 4 ends the program in MPI_File_iwrite_all.
  bool lacks_nonblocking_peer() const;

  void say(Together& together) const;
  // Adds a target: the speed-up over a peer. bound 0: for information only.
  void ask(Together& together, const std::string& ours, const std::string& peer, const std::string& phase,
           double bound) const;
};

void bench_memory(Bench& bench);       // (g), first: freed memory stays with the allocator
void bench_coll_perf(Bench& bench);    // (a), (a2)
void bench_overlap(Bench& bench);      // (b)
void bench_outstanding(Bench& bench);  // (c)
void bench_small(Bench& bench);        // (d)
void bench_rows(Bench& bench);         // (e)
void bench_hybrid(Bench& bench);       // (f)
void bench_particles(Bench& bench);    // (h)
void bench_trace(Bench& bench);        // (i)
void bench_nodes(Bench& bench);        // (j)

// A share of the file, and memory with its bytes.
struct Block {
  const Layout& layout;
  Memory& memory;
};

// One variant of a comparison with the phases kWriteAndRead: the file is new at "new"; its pages are in the page cache
// when it is overwritten at "write" and read at "read". Only the call is timed, without open and sync. Every byte is
// verified after each phase: `judge` gets what wrong_in_file() returns on this rank, and the name of the phase.
extern const std::vector<std::string> kWriteAndRead;
using Judge = std::function<void(std::int64_t wrong, const std::string& after)>;
Comparison::Run write_and_read(const Bench& bench, const std::string& name, const OpenFile& open,
                               const std::vector<Block>& shares, const Access& access,
                               const Judge& judge = must_be_right);
inline Comparison::Run write_and_read(const Bench& bench, const std::string& name, const OpenFile& open,
                                      const Block& share, const Judge& judge = must_be_right) {
  return write_and_read(bench, name, open, {share}, whole_of(share.layout, share.memory), judge);
}
// Adds the plans among which the cost model chooses, each forced by a hint, to judge the choice.
void add_plans(Together& together, const Bench& bench, const Block& share);
// All ranks verify a file of theirs (wrong_in_file). Where a node may see old sizes for a second (GlusterFS), they wait,
// and only in the first repetition.
std::int64_t wrong_on_all(const Bench& bench, const std::string& path, std::int64_t bytes, std::uint32_t seed,
                          int repetition);
// Differs between calls and is equal on all ranks, so that bytes of an earlier run are wrong.
std::uint32_t next_seed();
// Limits: a concurrent copy of the bytes in memory by these ranks; one rank that writes everything as one stream.
Comparison::Run copy_in_memory(const Bench& bench, const Block& share);
Comparison::Run one_stream(const Bench& bench, const Block& share);

}  // namespace bench

#endif
