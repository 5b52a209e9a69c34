// Partial results and errors of system calls below accesses of a team: interrupted, short and busy calls.
#include <atomic>
#include <cerrno>

#include "os/file_ops.hpp"
#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

// The n-th call fails, or each call in turn.
std::atomic<int> calls_made{0};
int wrong_call = 0;
int wrong_errno = 0;
std::size_t most_bytes = SIZE_MAX;

bool goes_wrong() {
  const int n = ++calls_made;
  errno = wrong_errno;
  if (wrong_errno == EINTR || wrong_errno == EAGAIN) return n % 3 == 0;
  return n == wrong_call;
}
std::size_t meagre(std::size_t bytes) { return std::min(bytes, most_bytes); }

ssize_t read_one(int fd, void* data, std::size_t bytes, off_t at) {
  return goes_wrong() ? -1 : ::pread(fd, data, meagre(bytes), at);
}
ssize_t write_one(int fd, const void* data, std::size_t bytes, off_t at) {
  return goes_wrong() ? -1 : ::pwrite(fd, data, meagre(bytes), at);
}
ssize_t read_parts(int fd, const iovec* parts, int n, off_t at) {
  if (most_bytes == SIZE_MAX) return goes_wrong() ? -1 : ::preadv(fd, parts, n, at);
  return read_one(fd, parts[0].iov_base, parts[0].iov_len, at);
}
ssize_t write_parts(int fd, const iovec* parts, int n, off_t at) {
  if (most_bytes == SIZE_MAX) return goes_wrong() ? -1 : ::pwritev(fd, parts, n, at);
  return write_one(fd, parts[0].iov_base, parts[0].iov_len, at);
}

class TransferCallsOfTeams : public SharedFiles {
 protected:
  void SetUp() override {
    SharedFiles::SetUp();
    saved_ = transfer_calls();
  }
  void TearDown() override {
    transfer_calls() = saved_;
    SharedFiles::TearDown();
  }
  static void replace_calls(int err, int call, std::size_t most) {
    wrong_errno = err;
    wrong_call = call;
    most_bytes = most;
    calls_made = 0;
    transfer_calls() = {read_one, read_parts, write_one, write_parts, saved_.sync};
  }

  static std::vector<tw_extent> pieces(std::string& data, int task, int tasks) {
    std::vector<tw_extent> list;
    const auto bytes = static_cast<std::int64_t>(data.size()) / 10;
    for (int i = 0; i < 10; ++i) list.push_back({data.data() + i * bytes, bytes, (i * tasks + task) * (bytes + 3)});
    return list;
  }

  static inline TransferCalls saved_{};
};

TEST_F(TransferCallsOfTeams, InterruptedBusyAndShortOnesAreContinued) {
  for (const int tasks : {1, 2, 3}) {
    for (const char* hints : {"", "method=direct,sieve_writes=off", "method=shared,workers=2", "method=naive",
                              "method=aggregate,aggregators=2"}) {
      for (const int err : {EINTR, EAGAIN}) {
        replace_calls(err, 0, 100);
        on_file(
            tasks,
            [&](tw_file* file, int task) {
              std::string data = text_of(task, 3000);
              const auto list = pieces(data, task, tasks);
              EXPECT_EQ(write_list_all(file, list.data(), 10), TW_OK) << tw_last_error();
              std::string back(3000, '#');
              const auto places = pieces(back, task, tasks);
              std::size_t n = 0;
              EXPECT_EQ(read_list_all(file, places.data(), 10, &n), TW_OK) << tw_last_error();
              EXPECT_EQ(n, 3000);
              EXPECT_TRUE(back == data) << hints << " " << err;
              tw_request* request = nullptr;
              EXPECT_EQ(iread_list_all(file, places.data(), 10, &request), TW_OK);
              EXPECT_EQ(tw_request_wait(&request, &n), TW_OK) << tw_last_error();
              EXPECT_TRUE(back == data) << hints << " " << err;
            },
            kNew, hints);
        transfer_calls() = saved_;
      }
    }
  }
}

TEST_F(TransferCallsOfTeams, OneThatFailsFailsOnAllTasks) {
  for (const int tasks : {1, 2, 3}) {
    for (const int err : {EIO, ENOSPC, EDQUOT}) {
      for (int call = 1; call <= 6; ++call) {
        on_team(tasks, [&](tw_group* group, int task) {
          tw_file* file = open(group, kNew, "method=direct,sieve_writes=off");
          ASSERT_NE(file, nullptr);
          std::string data = text_of(task, 3000);
          const auto list = pieces(data, task, tasks);
          if (task == 0) replace_calls(err, call, SIZE_MAX);
          EXPECT_EQ(tw_group_barrier(group), TW_OK);
          EXPECT_EQ(write_list_all(file, list.data(), 10), err == EIO ? TW_ERR_IO : TW_ERR_NO_SPACE);
          EXPECT_EQ(tw_last_errno(), err);
          EXPECT_EQ(write_list_all(file, list.data(), 10), TW_OK) << tw_last_error();
          EXPECT_EQ(tw_file_close(&file), TW_OK);
        });
        transfer_calls() = saved_;
      }
    }
  }
}

}  // namespace
}  // namespace thalweg::test
