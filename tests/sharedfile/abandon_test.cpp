// Threads, processes and threads of processes, one of which abandons an open file.
#include "support/files/shared_files.hpp"
// The types inside the library have the names of those of C++: their headers come first.
#include "support/crash/abandoned_cpp.hpp"

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
  template <class Kind>
  void give_up_in_cpp() const {
    const auto body = [&](tw_group* group, int) {
      give_up_in_all_ways<Kind>(group, path(), [&] { EXPECT_EQ(tw_group_barrier(group), TW_OK) << tw_last_error(); });
    };
    on_team(3, body);
    on_processes(2, 2, body);
  }
};

TEST_F(Abandon, AMultifile) { give_up_everywhere<GivenMultifile>(); }
TEST_F(Abandon, AVpfile) { give_up_everywhere<GivenVpfile>(); }
TEST_F(Abandon, ASharedFile) { give_up_everywhere<GivenFile>(); }

TEST_F(Abandon, ACppMultifileByCall) { give_up_in_cpp<GivenCppMultifile<Leave::by_call>>(); }
TEST_F(Abandon, ACppMultifileByException) { give_up_in_cpp<GivenCppMultifile<Leave::by_exception>>(); }
TEST_F(Abandon, ACppVpfileByCall) { give_up_in_cpp<GivenCppVpfile<Leave::by_call>>(); }
TEST_F(Abandon, ACppVpfileByException) { give_up_in_cpp<GivenCppVpfile<Leave::by_exception>>(); }
TEST_F(Abandon, ACppFileByCall) { give_up_in_cpp<GivenCppFile<Leave::by_call>>(); }
TEST_F(Abandon, ACppFileByException) { give_up_in_cpp<GivenCppFile<Leave::by_exception>>(); }

// The end of the request waits for what all have started; then the file is given up.
TEST_F(Abandon, ACppFileByExceptionWhileARequestIsUnderWay) {
  const auto body = [&](tw_group* group, int) {
    const std::int64_t task = tw_group_rank(group);
    const std::string data(100'000, static_cast<char>('a' + task));
    bool thrown = false;
    try {
      const Borrowed borrowed(group);
      v1::File file(borrowed.group, path(), TW_READ | TW_WRITE | TW_CREATE);
      v1::Request request = file.iwrite_at_all(data, task * 100'000);
      if (task == 0) throw std::runtime_error("this task cannot go on");
      EXPECT_EQ(request.wait(), 100'000);
      EXPECT_EQ(status_of_call([&] { file.close(); }), TW_ERR_NOT_CLOSED) << tw_last_error();
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    EXPECT_EQ(thrown, task == 0);
    EXPECT_EQ(tw_group_barrier(group), TW_OK) << tw_last_error();
  };
  on_team(3, body);
  on_processes(3, 1, body);
}

}  // namespace
}  // namespace thalweg::test
