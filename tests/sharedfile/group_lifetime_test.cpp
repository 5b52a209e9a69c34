// A group may be freed as soon as an open has returned: the file keeps its own reference.
#include <array>
#include <cstring>
#include <string_view>

#include "support/files/shared_files.hpp"
#include "thalweg/thalweg.hpp"

namespace thalweg::test {
namespace {

class GroupLifetime : public SharedFiles {
 protected:
  // Opens, frees the group, then accesses and closes; every task has 8 bytes in each file.
  void free_first(tw_group* group) const {
    const std::int64_t tasks = tw_group_size(group);
    const std::int64_t rank = tw_group_rank(group);
    tw_multifile* many = nullptr;
    ASSERT_EQ(tw_multifile_open(group, path("m.tw").c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &many), TW_OK)
        << tw_last_error();
    tw_file* shared = nullptr;
    ASSERT_EQ(tw_file_open(group, path("s.dat").c_str(), kNew, nullptr, &shared), TW_OK) << tw_last_error();
    tw_vpfile* streams = nullptr;
    ASSERT_EQ(tw_vpfile_open(group, path("v.vp").c_str(), TW_READ | TW_CREATE | TW_TRUNCATE,
                             OpenWith().shape(1, &tasks), &streams),
              TW_OK)
        << tw_last_error();
    tw_group_free(&group);

    EXPECT_EQ(tw_multifile_write(many, &rank, sizeof rank), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_write_all(shared, &rank, sizeof rank), TW_OK) << tw_last_error();
    tw_request* request = nullptr;
    EXPECT_EQ(tw_file_iwrite_at_all(shared, &rank, sizeof rank, (tasks + rank) * 8, &request), TW_OK)
        << tw_last_error();
    EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
    const tw_vpfile_data data{const_cast<std::int64_t*>(&rank), sizeof rank, 1, nullptr, 0, nullptr};
    EXPECT_EQ(tw_vpfile_write_all(streams, data, nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_close(&streams), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_close(&shared), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_close(&many), TW_OK) << tw_last_error();
  }

  void expect_all_written(std::int64_t tasks) const {
    const thalweg::v1::Multifile many(path("m.tw"), TW_READ);
    for (std::int64_t rank = 0; rank < tasks; ++rank) EXPECT_EQ(many.size(rank), 8) << rank;
    EXPECT_EQ(std::filesystem::file_size(path("s.dat")), static_cast<std::size_t>(16 * tasks));
    const thalweg::v1::vp::File streams(path("v.vp"), "r");
    EXPECT_EQ(streams.size(), tasks);
  }
};

TEST_F(GroupLifetime, OfOneTaskEndsBehindTheOpen) {
  tw_group* self = nullptr;
  ASSERT_EQ(tw_group_self(&self), TW_OK);
  free_first(self);
  expect_all_written(1);
}

TEST_F(GroupLifetime, OfATeamEndsBehindTheOpen) {
  constexpr int kTasks = 3;
  tw_team* team = nullptr;
  ASSERT_EQ(tw_team_create(kTasks, &team), TW_OK);
  std::array<tw_group*, kTasks> groups{};
  for (std::size_t task = 0; task < kTasks; ++task)
    ASSERT_EQ(tw_group_team(team, static_cast<std::int64_t>(task), &groups[task]), TW_OK);
  tw_team_free(&team);

  on_threads(kTasks, [&](std::int64_t task) { free_first(groups[static_cast<std::size_t>(task)]); });
  expect_all_written(kTasks);
}

TEST_F(GroupLifetime, OfProcessesAndThreadsEndsBehindTheOpen) {
  on_processes(2, 2, [&](tw_group* group, int) { free_first(new tw_group{std::move(group->impl)}); });
  expect_all_written(4);
}

// The user data of callbacks lives until the last file is closed.
TEST_F(GroupLifetime, OfCallbacksIsReleasedByTheLastClose) {
  int released = 0;
  tw_transport alone{};
  alone.struct_size = sizeof alone;
  alone.size = 1;
  alone.user = &released;
  alone.send_receive = [](void*, const void*, std::size_t, std::int64_t, void*, std::size_t, std::int64_t) {
    return 1;  // a task alone sends nothing
  };
  alone.release = [](void* user) { ++*static_cast<int*>(user); };
  alone.process_id = alone.node_id = -1;
  tw_group* group = nullptr;
  ASSERT_EQ(tw_group_callbacks(&alone, &group), TW_OK) << tw_last_error();
  tw_multifile* file = nullptr;
  ASSERT_EQ(tw_multifile_open(group, path("m.tw").c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &file), TW_OK)
      << tw_last_error();
  tw_group_free(&group);
  EXPECT_EQ(released, 0);
  EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
  EXPECT_EQ(released, 1);

  released = 0;
  ASSERT_EQ(tw_group_callbacks(&alone, &group), TW_OK) << tw_last_error();
  free_first(group);
  EXPECT_EQ(released, 1);
  expect_all_written(1);
}

TEST_F(GroupLifetime, OfATemporaryOfCppEndsBehindTheOpen) {
  namespace tw = thalweg::v1;
  tw::Multifile many(tw::Group::self(), path("m.tw"), TW_CREATE | TW_TRUNCATE);
  tw::Multifile with_hints(tw::Group::self(), path("h.tw"), TW_CREATE | TW_TRUNCATE,
                           tw::Options().hint("checksum", "none"));
  tw::File shared(tw::Group::self(), path("s.dat"), kNew);
  tw::vp::File streams(tw::Group::self(), path("v.vp"), "w", {1});
  many.write(std::string_view("12345678"));
  with_hints.write(std::string_view("12345678"));
  shared.write_all(std::string_view("1234567890123456"));
  streams.puts_all("12345678");
  streams.close();
  shared.close();
  with_hints.close();
  many.close();
  expect_all_written(1);
}

}  // namespace
}  // namespace thalweg::test
