// Tasks that make different collective calls on one vpfile at once: all calls fail, none waits, no later call waits for
// a task that has closed, and the file does not count as closed.
#include "support/groups/out_of_step.hpp"

#include "support/files/vp_files.hpp"

namespace thalweg::test {
namespace {

using VpBody = std::function<void(tw_vpfile*, int)>;

class VpOutOfStep : public VpFiles {
 protected:
  static constexpr std::int64_t kVps = 10;

  // Writes of two sizes leave a row in memory that is not stored yet.
  static void write(tw_vpfile* file) {
    const std::string text(16 * kVps, 'x');
    for (const std::size_t bytes : {16, 5})
      EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(text.data(), bytes), nullptr, nullptr), TW_OK)
          << tw_last_error();
  }

  tw_vpfile* written(tw_group* group) const {
    tw_vpfile* file = open_vp(group, "w+", {.shape = {kVps}});
    write(file);
    EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK) << tw_last_error();
    write(file);
    return file;
  }

  void expect_not_closed() const {
    tw_vpfile* file = nullptr;
    EXPECT_EQ(try_open(nullptr, "r", {}, &file), TW_ERR_NOT_CLOSED);
  }

  void refuse_on_processes(int processes, int threads) {
    refuse_all_pairs(processes * threads, calls_on_vpfile(), [&](const VpBody& body) {
      on_processes(processes, threads, [&](tw_group* group, int task) { body(written(group), task); });
      expect_not_closed();
    });
  }
};

TEST_F(VpOutOfStep, CallsOfThreadsAreRefused) {
  for (const int tasks : {2, 3, 5}) {
    refuse_all_pairs(tasks, calls_on_vpfile(), [&](const VpBody& body) {
      on_team(tasks, [&](tw_group* group, int task) { body(written(group), task); });
      expect_not_closed();
    });
  }
}

TEST_F(VpOutOfStep, CallsOfProcessesAreRefused) {
  for (const int tasks : {2, 3, 5}) refuse_on_processes(tasks, 1);
}

TEST_F(VpOutOfStep, CallsOfThreadsOfProcessesAreRefused) { refuse_on_processes(2, 2); }

// Accesses without agreement start differently.
TEST_F(VpOutOfStep, CallsBesideAssumedAccessesAreRefused) {
  refuse_all_pairs(3, calls_on_vpfile(), [&](const VpBody& body) {
    on_processes(3, 1, [&](tw_group* group, int task) {
      body(open_vp(group, "w+", {.shape = {kVps}, .hints = "assume_nb=on"}), task);
    });
    expect_not_closed();
  });
}

// Data flushed before is present after a repair.
TEST_F(VpOutOfStep, FlushedBytesSurvive) {
  on_team(3, [&](tw_group* group, int task) {
    tw_vpfile* file = open_vp(group, "w", {.shape = {kVps}});
    write(file);
    EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK) << tw_last_error();
    EXPECT_EQ(task == 1 ? tw_vpfile_close(&file) : tw_vpfile_sync_all(file), TW_ERR_INVALID);
    if (task != 1) {
      EXPECT_EQ(tw_vpfile_close(&file), TW_ERR_INVALID);
    }
  });
  tw_health health{};
  health.struct_size = sizeof health;
  ASSERT_EQ(tw_vpfile_repair(path().c_str(), 0, 0, nullptr, nullptr, nullptr, nullptr, &health), TW_OK)
      << tw_last_error();
  for (const std::string& stream : streams()) EXPECT_EQ(stream, std::string(21, 'x'));
}

}  // namespace
}  // namespace thalweg::test
