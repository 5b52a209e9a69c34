// tw_file_access_all() with a group: threads that use a file opened by others.
#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

class OtherGroups : public SharedFiles {
 protected:
  // Opened by one thread alone.
  tw_file* open_alone(const char* name) const {
    tw_team* team = nullptr;
    tw_group* self = nullptr;
    tw_file* file = nullptr;
    EXPECT_EQ(tw_team_create(1, &team), TW_OK);
    EXPECT_EQ(tw_group_team(team, 0, &self), TW_OK);
    EXPECT_EQ(tw_file_open(self, path(name).c_str(), kNew, nullptr, &file), TW_OK) << tw_last_error();
    tw_group_free(&self);
    tw_team_free(&team);
    return file;
  }
};

// A team of threads writes and reads a file of one thread, first all through one handle, then through different ones.
TEST_F(OtherGroups, OfAnyNumberOfThreadsUseAFileOfOneThread) {
  tw_file* file = open_alone("shared.dat");
  for (const int tasks : {1, 2, 3, 5, 8}) {
    on_team(tasks, [&](tw_group* group, int task) {
      const std::string data = text_of(task, 100, tasks);
      const tw_extent extent{const_cast<char*>(data.data()), 100, 0};
      const tw_access write = access_of(TW_ACCESS_WRITE, TW_IN_ORDER, &extent, 1);
      std::size_t moved = 0;
      EXPECT_EQ(tw_file_access_all(file, group, &write, &moved), TW_OK) << tw_last_error();
      EXPECT_EQ(moved, 100);
      tw_request* request = nullptr;
      EXPECT_EQ(tw_file_iaccess_all(file, group, &write, &request), TW_OK);
      EXPECT_EQ(tw_request_wait(&request, &moved), TW_OK) << tw_last_error();
    });
  }
  EXPECT_EQ(tw_file_close(&file), TW_OK);

  std::string expected;
  for (const int tasks : {1, 2, 3, 5, 8})
    for (int twice = 0; twice < 2; ++twice)
      for (int task = 0; task < tasks; ++task) expected += text_of(task, 100, tasks);
  EXPECT_EQ(content(), expected);
}

TEST_F(OtherGroups, UseTheHandlesOfAnotherTeam) {
  tw_file* handles[5] = {};
  on_team(5, [&](tw_group* group, int task) { handles[task] = open(group); });
  on_team(3, [&](tw_group* group, int task) {
    const std::string data = text_of(task, 100);
    const tw_extent extent{const_cast<char*>(data.data()), 100, task * 100};
    const tw_access write = access_of(TW_ACCESS_WRITE, TW_AT_EXTENTS, &extent, 1);
    EXPECT_EQ(tw_file_access_all(handles[task + 1], group, &write, nullptr), TW_OK) << tw_last_error();
  });
  on_threads(5, [&](std::int64_t task) { EXPECT_EQ(tw_file_close(&handles[task]), TW_OK); });
  EXPECT_EQ(content(), text_of(0, 100) + text_of(1, 100) + text_of(2, 100));
}

TEST_F(OtherGroups, HearOfATaskThatHasNoFileOrAnother) {
  tw_file* file = open_alone("shared.dat");
  tw_file* other = open_alone("other.dat");
  on_team(3, [&](tw_group* group, int task) {
    for (int who = 0; who < 3; ++who) {
      for (tw_file* wrong : {static_cast<tw_file*>(nullptr), other}) {
        for (const tw_placement placement : {TW_IN_ORDER, TW_AT_EXTENTS}) {
          char byte = 'x';
          const tw_extent extent{&byte, 1, task};
          const tw_access write = access_of(TW_ACCESS_WRITE, placement, &extent, 1);
          std::size_t moved = 5;
          EXPECT_EQ(tw_file_access_all(task == who ? wrong : file, group, &write, &moved), TW_ERR_INVALID);
          EXPECT_EQ(moved, 0);
          tw_request* request = nullptr;
          EXPECT_EQ(tw_file_iaccess_all(task == who ? wrong : file, group, &write, &request), TW_OK);
          EXPECT_EQ(tw_request_wait(&request, nullptr), TW_ERR_INVALID);
        }
      }
    }
    const tw_access nothing = access_of(TW_ACCESS_READ, TW_IN_ORDER, nullptr, 0);
    EXPECT_EQ(tw_file_access_all(nullptr, group, &nothing, nullptr), TW_ERR_INVALID) << "nobody has a file";
    EXPECT_EQ(tw_file_access_all(file, group, &nothing, nullptr), TW_OK) << tw_last_error();
  });
  EXPECT_EQ(tw_file_close(&file), TW_OK);
  EXPECT_EQ(tw_file_close(&other), TW_OK);
  EXPECT_EQ(content() + content("other.dat"), "");
}

// Two teams at once in one file, beside the threads that opened it: by offsets, and by the shared position.
TEST_F(OtherGroups, SeveralAtOnceDoNotMix) {
  tw_file* file = open_alone("shared.dat");
  on_threads(2, [&](std::int64_t team) {
    on_team(2, [&](tw_group* group, int task) {
      for (int round = 0; round < 50; ++round) {
        const std::string data(10, static_cast<char>('a' + 2 * team + task));
        const tw_extent extent{const_cast<char*>(data.data()), 10, 0};
        const tw_access write = access_of(TW_ACCESS_WRITE, TW_IN_ORDER, &extent, 1);
        EXPECT_EQ(tw_file_access_all(file, group, &write, nullptr), TW_OK) << tw_last_error();
      }
    });
  });
  EXPECT_EQ(tw_file_close(&file), TW_OK);

  const std::string all = content();
  ASSERT_EQ(all.size(), 2u * 50 * 20);
  for (std::size_t i = 0; i < all.size(); i += 20) {
    const std::string pair = all.substr(i, 20);
    EXPECT_TRUE(pair == std::string(10, 'a') + std::string(10, 'b') ||
                pair == std::string(10, 'c') + std::string(10, 'd'))
        << pair;
  }
}

}  // namespace
}  // namespace thalweg::test
