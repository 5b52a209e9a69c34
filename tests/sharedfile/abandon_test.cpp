// Threads, processes and threads of processes, one of which abandons an open file.
#include "support/abandoned.hpp"
#include "support/shared_files.hpp"

namespace thalweg::test {
namespace {

class Abandon : public SharedFiles {
 protected:
  template <class Kind>
  void give_up_everywhere() const {
    const auto body = [&](tw_group* group, int) {
      give_up_in_all_ways<Kind>(group, path(), [&] { EXPECT_EQ(tw_group_barrier(group), TW_OK) << tw_last_error(); });
    };
    for (const int tasks : {2, 3, 5}) on_team(tasks, body);
    for (const int tasks : {2, 3, 5}) on_processes(tasks, 1, body);
    on_processes(2, 2, body);
    on_processes(3, 3, body);
  }
};

TEST_F(Abandon, AMultifile) { give_up_everywhere<GivenMultifile>(); }
TEST_F(Abandon, AVpfile) { give_up_everywhere<GivenVpfile>(); }
TEST_F(Abandon, ASharedFile) { give_up_everywhere<GivenFile>(); }

}  // namespace
}  // namespace thalweg::test
