// The group of MPI ranks may be freed as soon as an open has returned.
#include <gtest/gtest.h>
#include <mpi.h>

#include <string_view>
#include <vector>

#include "support/groups/process_mpi.hpp"
#include "thalweg/thalweg.hpp"

namespace thalweg::test {
namespace {

namespace tw = thalweg::v1;

tw::Group of_ranks(const Comm& comm) { return tw::Group::make(tw_group_mpi, comm.comm()); }

TEST(MpiGroupLifetime, EndsBehindTheOpen) {
  const Comm comm(MPI_COMM_WORLD);
  const SharedFolder folder(comm);
  const std::vector<std::int64_t> mine(1000, comm.rank());
  for (int round = 0; round < 3; ++round) {
    tw::Multifile many(of_ranks(comm), folder.path("m.tw"), TW_CREATE | TW_TRUNCATE);
    tw::File shared(of_ranks(comm), folder.path("s.dat"), TW_READ | TW_WRITE | TW_CREATE);
    tw::vp::File streams(of_ranks(comm), folder.path("v.vp"), "w+", {comm.size()});
    many.write(mine);
    shared.write_all(mine);
    tw::Request request = shared.iwrite_at_all(mine, (comm.size() + comm.rank()) * 8000);
    streams.write_all(mine, 1000);
    EXPECT_EQ(request.wait(), 8000);

    std::vector<std::int64_t> back(1000);
    shared.read_at_all(back, comm.rank() * 8000);
    EXPECT_EQ(back, mine);
    streams.rewind_all();
    streams.read_all(back, 1000);
    EXPECT_EQ(back, mine);
    streams.close();
    shared.close();
    many.close();

    tw::Multifile in(of_ranks(comm), folder.path("m.tw"), TW_READ);
    EXPECT_EQ(in.read(back), 1000u);
    EXPECT_EQ(back, mine);
    in.close();
    comm.barrier();
  }
}

}  // namespace
}  // namespace thalweg::test
