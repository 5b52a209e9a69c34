// Parts of arrays on ranks, and on all threads of all ranks, against a model of loops over indices.
#include <gtest/gtest.h>
#include <mpi.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/groups/process_mpi.hpp"
#include "support/models/array_model.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

constexpr int kSeeds = 10;

std::string text_of(std::int64_t task, std::size_t n) {
  std::string text(n, ' ');
  for (std::size_t i = 0; i < n; ++i)
    text[i] = static_cast<char>('a' + (i * 3 + static_cast<std::size_t>(task) * 7) % 26);
  return text;
}

class MpiArrays : public testing::Test {
 protected:
  // Every task draws the parts of all; it writes its own, then reads another one that overlaps those of others.
  void write_and_read(tw_group* group, const std::string& path, int seed) const {
    const auto task = tw_group_rank(group), tasks = tw_group_size(group);
    std::mt19937 random(static_cast<unsigned>(seed));
    const ArrayCase what = draw_array(random, 1 + seed % 4);
    const std::vector<Part> parts = deal_array(random, what, static_cast<int>(tasks));
    std::string expected;
    for (std::int64_t other = 0; other < tasks; ++other) {
      const Part& part = parts[static_cast<std::size_t>(other)];
      write_part(what, part, text_of(other, memory_bytes(what, part)), expected);
    }
    tw_file* file = nullptr;
    ASSERT_EQ(tw_file_open(group, path.c_str(), TW_READ | TW_WRITE | TW_CREATE, nullptr, &file), TW_OK)
        << tw_last_error();
    const Part& mine = parts[static_cast<std::size_t>(task)];
    const std::string data = text_of(task, memory_bytes(what, mine));
    tw_request* request = nullptr;
    if (seed % 2 == 0) {
      EXPECT_EQ(
          tw_file_write_array(file, data.data(), what.item_bytes, what.n_dims(), mine.data(), what.order, what.offset),
          TW_OK)
          << tw_last_error();
    } else {
      EXPECT_EQ(tw_file_iwrite_array(file, data.data(), what.item_bytes, what.n_dims(), mine.data(), what.order,
                                     what.offset, &request),
                TW_OK);
      EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
    }
    EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error();
    for (std::int64_t skip = 0; skip < task; ++skip) (void)draw_part(random, what);
    const Part part = draw_part(random, what);
    std::string memory(memory_bytes(what, part), '#'), wanted = memory;
    read_part(what, part, expected, wanted);
    std::size_t nread = 0;
    EXPECT_EQ(tw_file_read_array(file, memory.data(), what.item_bytes, what.n_dims(), part.data(), what.order,
                                 what.offset, &nread),
              TW_OK)
        << tw_last_error();
    EXPECT_EQ(nread, part_bytes(what, part)) << seed;
    EXPECT_TRUE(memory == wanted) << seed;
    const tw_dim wrong{4, 3, 2, 0, 0}, right{4, 0, 0, 0, 0};
    EXPECT_EQ(tw_file_write_array(file, nullptr, 1, 1, task == tasks - 1 ? &wrong : &right, TW_ROW_MAJOR, 0),
              TW_ERR_INVALID);
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
};

TEST_F(MpiArrays, OfRanksAreThoseOfTheModel) {
  for (int seed = 0; seed < kSeeds; ++seed)
    write_and_read(world_.group(), folder_.path("ranks" + std::to_string(seed)), seed);
}

TEST_F(MpiArrays, OfThreadsOfRanksAreThoseOfTheModel) {
  on_threads_of_ranks(world_, 2, [&](tw_group* group) {
    for (int seed = 0; seed < kSeeds; ++seed)
      write_and_read(group, folder_.path("threads" + std::to_string(seed)), seed);
  });
}

}  // namespace
}  // namespace thalweg::test
