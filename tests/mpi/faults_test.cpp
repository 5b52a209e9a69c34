// One task among several processes fails at each step: its transfer fails, its memory is refused, its list is wrong or
// empty, or it comes late. All tasks get one status, none hangs (SIGALRM ends the program), and the next access
// succeeds. Ranks, and threads of ranks; blocking, and in every mode of progress.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <vector>

#include "support/engine/told_transfers.hpp"
#include "support/files/open_options.hpp"
#include "support/groups/process_mpi.hpp"
#include "support/memory/replaced_new.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

constexpr std::int64_t kPiece = 3000;
constexpr std::int64_t kPieces = 50;
constexpr std::uint64_t kBookkeeping = 2049;  // smaller blocks end the program (docs/adr/0016-memory.md)
constexpr int kTransfers = 4;
constexpr std::size_t kMostAccesses = 1 << 16;
constexpr int kThreads = 2;

// The n-th transfer of this process fails; 0: none.
std::atomic<int> transfers_made{0};
std::atomic<int> wrong_transfer{0};

ssize_t told(ssize_t really) {
  if (++transfers_made != wrong_transfer) return really;
  errno = EIO;
  return -1;
}

enum class How { blocking, thread, poll };
constexpr std::int64_t kMany = 5;  // tasks
constexpr std::array kAllWays = {How::blocking, How::thread, How::poll};

char byte_of(std::int64_t task, std::int64_t at) { return static_cast<char>('a' + (task * 5 + at % 1009) % 26); }

// A task with a file that all tasks write interleaved, and its statuses so far.
class Task {
 public:
  Task(tw_group* group, const std::string& path, const char* hints)
      : group_(group), rank_(tw_group_rank(group)), size_(tw_group_size(group)) {
    OpenWith options;
    options.hints(hints);
    EXPECT_EQ(tw_file_open(group, path.c_str(), TW_READ | TW_WRITE | TW_CREATE, options, &file_), TW_OK)
        << tw_last_error();
    data_.resize(static_cast<std::size_t>(kPiece * kPieces));
    heard_.reserve(kMostAccesses);  // also while memory is refused
    how_.reserve(kMostAccesses);
    fill();
    for (std::int64_t i = 0; i < kPieces; ++i)
      list_.push_back({data_.data() + i * kPiece, kPiece, (i * size_ + rank_) * (kPiece + 11)});
  }
  void close() { EXPECT_EQ(tw_file_close(&file_), TW_OK) << tw_last_error(); }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  std::int64_t rank() const { return rank_; }
  std::int64_t size() const { return size_; }
  void meet() const { EXPECT_EQ(tw_group_barrier(group_), TW_OK); }

  tw_status access(How how, bool writes) { return access(how, writes, list_); }
  tw_status access(How how, bool writes, const std::vector<tw_extent>& list) {
    tw_access what{};
    what.struct_size = sizeof what;
    what.direction = writes ? TW_ACCESS_WRITE : TW_ACCESS_READ;
    what.extents = list.data();
    what.n = static_cast<std::int64_t>(list.size());
    what.progress = how == How::thread ? TW_PROGRESS_THREAD : TW_PROGRESS_POLL;
    tw_status status = TW_OK;
    if (how == How::blocking) {
      status = tw_file_access_all(file_, nullptr, &what, nullptr);
    } else {
      tw_request* request = nullptr;
      status = tw_file_iaccess_all(file_, nullptr, &what, &request);
      if (request != nullptr) status = tw_request_wait(&request, nullptr);
    }
    heard_.push_back(status);
    how_.push_back(how);
    return status;
  }
  const std::vector<tw_extent>& list() const { return list_; }
  const std::vector<int>& heard() const { return heard_; }
  // In each tried mode some access failed so; otherwise no fault took effect. With many tasks, the faulty task of a
  // mode may have nothing to transfer.
  void expect_failures_in_each_mode(tw_status of) const {
    if (size_ >= kMany) return;
    std::array<int, kAllWays.size()> tried{};
    std::array<int, kAllWays.size()> failed{};
    for (std::size_t i = 0; i < heard_.size(); ++i) {
      const auto how = static_cast<std::size_t>(how_[i]);
      ++tried[how];
      failed[how] += heard_[i] == of ? 1 : 0;
    }
    for (std::size_t how = 0; how < kAllWays.size(); ++how)
      EXPECT_TRUE(tried[how] == 0 || failed[how] > 0) << "mode " << how << ", of " << tried[how] << " accesses";
  }

  void write_and_read_well(How how) {
    fill();  // a read that failed may have left anything
    EXPECT_EQ(access(how, true), TW_OK) << tw_last_error();
    std::fill(data_.begin(), data_.end(), '#');
    EXPECT_EQ(access(how, false), TW_OK) << tw_last_error();
    const std::string read = data_;
    fill();
    EXPECT_TRUE(read == data_);
  }

 private:
  void fill() {
    for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = byte_of(rank_, static_cast<std::int64_t>(i));
  }

  tw_group* group_;
  std::int64_t rank_, size_;
  tw_file* file_ = nullptr;
  std::string data_;
  std::vector<tw_extent> list_;
  std::vector<int> heard_;
  std::vector<How> how_;  // of each access
};

void expect_transfers_told(Task& task, std::int64_t odd, How how) {
  const bool mine = task.rank() == odd;
  for (const bool writes : {true, false}) {
    for (int n = 1; n <= kTransfers; ++n) {
      if (mine) {
        transfers_made = 0;
        wrong_transfer = n;
      }
      task.meet();
      const tw_status status = task.access(how, writes);
      EXPECT_TRUE(status == TW_OK || status == TW_ERR_IO) << tw_last_error();
      task.meet();
      if (mine) wrong_transfer = 0;
      task.meet();
      task.write_and_read_well(how);
    }
  }
}

void expect_odd_lists_told(Task& task, std::int64_t odd, How how) {
  const bool mine = task.rank() == odd;
  for (const bool writes : {true, false}) {
    std::vector<tw_extent> other = task.list();
    if (mine) other[3].address = nullptr;
    EXPECT_EQ(task.access(how, writes, other), TW_ERR_INVALID);
    if (mine) other.clear();
    EXPECT_EQ(task.access(how, writes, mine ? other : task.list()), TW_OK) << tw_last_error();
    if (mine) ::usleep(20'000);
    EXPECT_EQ(task.access(how, writes), TW_OK) << tw_last_error();
  }
  task.write_and_read_well(how);
}

// Each task is faulty in all ways; among many tasks, some are, in one way each.
template <class Body>
void each_in_turn(const Task& task, const Body& body) {
  const bool many = task.size() >= kMany;
  for (std::int64_t odd = 0; odd < task.size(); odd += many ? 3 : 1) {
    for (const How how : kAllWays) {
      if (many && how != kAllWays[static_cast<std::size_t>(odd) % kAllWays.size()]) continue;
      body(odd, how);
    }
  }
}

class MpiFaults : public testing::TestWithParam<const char*> {
 protected:
  // The statuses of one thread of each rank must be equal.
  void expect_same(const std::vector<int>& mine) const {
    std::vector<int> least = mine;
    std::vector<int> most = mine;
    const int n = static_cast<int>(mine.size());
    MPI_Allreduce(mine.data(), least.data(), n, MPI_INT, MPI_MIN, world_.comm());
    MPI_Allreduce(mine.data(), most.data(), n, MPI_INT, MPI_MAX, world_.comm());
    EXPECT_EQ(least, most);
  }

  const ToldTransfers transfers_{told};
  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
};

TEST_P(MpiFaults, OfARankAreHeardOfByAll) {
  Task task(world_.group(), folder_.path("ranks"), GetParam());
  each_in_turn(task, [&](std::int64_t odd, How how) {
    expect_transfers_told(task, odd, how);
    expect_odd_lists_told(task, odd, how);
  });
  task.close();
  expect_same(task.heard());
  task.expect_failures_in_each_mode(TW_ERR_IO);
}

TEST_P(MpiFaults, OfAThreadOfARankAreHeardOfByAll) {
  std::vector<int> heard[kThreads];
  on_threads_of_ranks(world_, kThreads, [&](tw_group* group) {
    Task task(group, folder_.path("threads"), GetParam());
    each_in_turn(task, [&](std::int64_t odd, How how) {
      expect_transfers_told(task, odd, how);
      expect_odd_lists_told(task, odd, how);
    });
    task.close();
    task.expect_failures_in_each_mode(TW_ERR_IO);
    heard[task.rank() % kThreads] = task.heard();
  });
  EXPECT_EQ(heard[0], heard[1]);
  expect_same(heard[0]);
}

// Refuses each allocation of the calling thread in turn.
TEST_P(MpiFaults, OfMemoryAreHeardOfByAll) {
  Task task(world_.group(), folder_.path("memory"), GetParam());
  for (const std::int64_t odd : {std::int64_t{0}, task.size() - 1}) {
    for (const How how : {How::blocking, How::poll}) {
      std::uint64_t most = 5;
      for (std::uint64_t n = 1; n <= most; n += most > 20 ? 4 : 1) {
        for (const bool writes : {true, false}) {
          if (task.rank() == odd) Allocations::start(n, kBookkeeping);
          const tw_status status = task.access(how, writes);
          Allocations::stop();
          EXPECT_TRUE(status == TW_OK || status == TW_ERR_NO_MEMORY) << tw_last_error();
          std::uint64_t made = Allocations::count();
          MPI_Bcast(&made, 1, MPI_UINT64_T, static_cast<int>(odd), world_.comm());
          most = std::max(most, made);
        }
        task.write_and_read_well(how);
      }
    }
  }
  task.close();
  expect_same(task.heard());
  task.expect_failures_in_each_mode(TW_ERR_NO_MEMORY);
}

INSTANTIATE_TEST_SUITE_P(Methods, MpiFaults,
                         testing::Values("method=direct", "method=aggregate,aggregator_bytes=128KiB"),
                         [](const auto& method) { return method.index == 0 ? "direct" : "aggregate"; });

}  // namespace
}  // namespace thalweg::test
