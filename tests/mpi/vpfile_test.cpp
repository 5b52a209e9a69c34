// The random programs on vpfiles (support/files/vp_program.hpp) on MPI groups: ranks, and all threads of all ranks; and the
// calls of vpfile.h between ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "capi/handles.hpp"
#include "support/files/open_options.hpp"
#include "support/files/vp_program.hpp"
#include "support/groups/process_mpi.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

// Fewer where the nodes have caches to forget.
const std::uint64_t kPrograms = on_several_nodes() ? 4 : 10;

class MpiVpfile : public testing::Test {
 protected:
  void play(tw_group* group) const {
    for (std::uint64_t seed = 1; seed <= kPrograms && !HasFailure(); ++seed) {
      const Status status =
          run(play_vp_program(*group->impl, {seed, posix_backend(), folder_.path("streams"), folder_.path("model")}));
      EXPECT_TRUE(status.ok()) << "seed " << seed << ": " << status.message();
    }
  }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
};

TEST_F(MpiVpfile, RandomProgramsOnRanks) { play(world_.group()); }

TEST_F(MpiVpfile, RandomProgramsOnThreadsOfRanks) {
  on_threads_of_ranks(world_, 1 + world_.rank() % 2, [&](tw_group* group) { play(group); });
}

// An error or a special argument of one rank affects all ranks alike.
TEST_F(MpiVpfile, RanksHearTheSame) {
  const std::int64_t shape[] = {7};
  tw_vpfile* file = nullptr;
  ASSERT_EQ(tw_vpfile_open(world_.group(), folder_.path("f").c_str(), TW_READ | TW_CREATE | TW_TRUNCATE,
                           OpenWith().shape(1, shape), &file),
            TW_OK)
      << tw_last_error();
  tw_vpfile_summary told{};
  told.struct_size = sizeof told;
  ASSERT_EQ(tw_vpfile_summarize(file, &told), TW_OK);
  const std::string data(8 * static_cast<std::size_t>(told.n_local), static_cast<char>('a' + world_.rank()));
  EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(data.data(), 8), nullptr, nullptr), TW_OK) << tw_last_error();
  const bool last = world_.rank() + 1 == world_.size();
  EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(last ? nullptr : data.data(), 8), nullptr, nullptr),
            TW_ERR_INVALID);
  const std::uint8_t mask[7] = {0, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(data.data(), 8), last ? mask : nullptr, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_summarize(file, &told), TW_OK);
  EXPECT_STREQ(told.last_cause, "some take no part");
  EXPECT_EQ(tw_vpfile_close(&file), TW_OK) << tw_last_error();
}

}  // namespace
}  // namespace thalweg::test
