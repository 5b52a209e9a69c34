// Each transfer below an access fails or is short, in every mode of progress: by system calls and, where available, by
// io_uring.
#include <atomic>
#include <cerrno>
#include <vector>

#include "storage/io_queue.hpp"
#include "support/engine/told_transfers.hpp"
#include "support/files/shared_files.hpp"
#include "support/sanitized.hpp"

namespace thalweg::test {
namespace {

constexpr int kPieces = 4;
const std::vector<int> kErrors =
    kWatchesThreads && tries_less() ? std::vector{0, EIO} : std::vector{0, EINTR, EAGAIN, EIO, ENOSPC, EDQUOT};
constexpr int kBlocking = -1;  // instead of a tw_progress

// Result of the n-th transfer: an errno, or with 0 half of its bytes.
std::atomic<int> transfers_made{0};
std::atomic<int> wrong_transfer{0};
std::atomic<int> wrong_errno{0};

ssize_t told(ssize_t really) {
  if (++transfers_made != wrong_transfer) return really;
  if (wrong_errno == 0) return really > 1 ? really / 2 : really;
  errno = wrong_errno;
  return -1;
}

struct Setting {
  int tasks;
  tw_direction direction;
  int progress;
  const char* hints;
  std::int64_t piece;
};
std::ostream& operator<<(std::ostream& out, const Setting& what) {
  return out << what.tasks << " tasks " << (what.direction == TW_ACCESS_READ ? "read" : "write") << " pieces of "
             << what.piece << ", progress " << what.progress << ", " << what.hints;
}

class NthTransfer : public SharedFiles {
 protected:
  void TearDown() override {
    wrong_transfer = 0;
    SharedFiles::TearDown();
  }

  // One task of a setting.
  class Task {
   public:
    Task(const Setting& what, tw_group* group, tw_file* file, int task)
        : what_(what), group_(group), file_(file), task_(task) {}

    void run() {
      const int n = try_with(0, 0);
      EXPECT_GT(n, 0);
      for (int wrong = 1; wrong <= n; wrong += tries_less() ? 5 : 1) {
        for (const int err : kErrors) try_with(wrong, err);
        if (testing::Test::HasFailure()) return;
      }
    }

   private:
    // Makes an access with one faulty transfer, then a good one. Returns the number of transfers of the first.
    int try_with(int wrong, int err) {
      arm(wrong, err);
      const tw_status status = access();
      EXPECT_EQ(tw_group_barrier(group_), TW_OK);
      const int n = transfers_made;
      arm(0, 0);
      const bool hit = wrong > 0 && n >= wrong;
      const bool fails = hit && err != 0 && err != EINTR && err != EAGAIN;
      EXPECT_EQ(status, !fails       ? TW_OK
                        : err == EIO ? TW_ERR_IO
                                     : TW_ERR_NO_SPACE)
          << what_ << ", transfer " << wrong << " of " << n << ", errno " << err << ": " << tw_last_error();
      if (fails) {
        EXPECT_EQ(tw_last_errno(), err);
      } else {
        expect_moved();
      }
      EXPECT_EQ(tw_group_barrier(group_), TW_OK);
      EXPECT_EQ(access(), TW_OK) << what_ << ", after transfer " << wrong << ": " << tw_last_error();
      expect_moved();
      EXPECT_EQ(tw_group_barrier(group_), TW_OK);
      return n;
    }

    void arm(int wrong, int err) const {
      EXPECT_EQ(tw_group_barrier(group_), TW_OK);
      if (task_ == 0) {
        wrong_errno = err;
        transfers_made = 0;
        wrong_transfer = wrong;
      }
      EXPECT_EQ(tw_group_barrier(group_), TW_OK);
    }

    std::int64_t offset_of(int i) const { return (i * what_.tasks + task_) * (what_.piece + 8); }

    // Reads constant data, or writes different bytes each time.
    tw_status access() {
      const bool reads = what_.direction == TW_ACCESS_READ;
      if (!reads) ++round_;
      expected_ = text_of(task_, static_cast<std::size_t>(kPieces * what_.piece), reads ? 0 : round_);
      memory_ = reads ? std::string(expected_.size(), '#') : expected_;
      std::vector<tw_extent> list;
      for (int i = 0; i < kPieces; ++i) list.push_back({memory_.data() + i * what_.piece, what_.piece, offset_of(i)});
      tw_access access = access_of(what_.direction, TW_AT_EXTENTS, list.data(), kPieces);
      if (what_.progress == kBlocking) return tw_file_access_all(file_, nullptr, &access, nullptr);
      access.progress = what_.progress;
      tw_request* request = nullptr;
      EXPECT_EQ(tw_file_iaccess_all(file_, nullptr, &access, &request), TW_OK);
      return tw_request_wait(&request, nullptr);
    }

    // Checks memory, or the file.
    void expect_moved() {
      if (what_.direction == TW_ACCESS_WRITE) {
        memory_.assign(memory_.size(), '#');
        for (int i = 0; i < kPieces; ++i)
          EXPECT_EQ(tw_file_read_at(file_, memory_.data() + i * what_.piece, what_.piece, offset_of(i), nullptr),
                    TW_OK);
      }
      EXPECT_TRUE(memory_ == expected_) << what_;
    }

    const Setting& what_;
    tw_group* const group_;
    tw_file* const file_;
    const int task_;
    int round_ = 0;
    std::string memory_, expected_;
  };

  void run_setting(const Setting& what) {
    std::string before(static_cast<std::size_t>(kPieces * what.tasks * (what.piece + 8)), '.');
    for (int i = 0; i < kPieces * what.tasks; ++i) {
      const std::string text = text_of(i % what.tasks, static_cast<std::size_t>(kPieces * what.piece));
      before.replace(static_cast<std::size_t>(i * (what.piece + 8)), static_cast<std::size_t>(what.piece), text,
                     static_cast<std::size_t>(i / what.tasks * what.piece), static_cast<std::size_t>(what.piece));
    }
    put(before);
    on_team(what.tasks, [&](tw_group* group, int task) {
      tw_file* file = open(group, TW_READ | TW_WRITE, what.hints);
      if (file == nullptr) return;
      Task(what, group, file, task).run();
      EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
    });
  }

  void run_all(int progress) {
    for (const int tasks : {1, 2, 3}) {
      for (const tw_direction direction : {TW_ACCESS_READ, TW_ACCESS_WRITE}) {
        for (const char* hints : {"method=direct", "method=shared,workers=2,sieve_writes=on", "method=aggregate"})
          run_setting({tasks, direction, progress, hints, 500});
        run_setting({tasks, direction, progress, "method=shared,io=direct,queue_depth=2,transfer_bytes=64KiB", 40000});
      }
    }
  }

  const ToldTransfers transfers_{told};
};

TEST_F(NthTransfer, OfABlockingAccess) { run_all(kBlocking); }
TEST_F(NthTransfer, WithAProgressThread) { run_all(TW_PROGRESS_THREAD); }
TEST_F(NthTransfer, PolledFor) { run_all(TW_PROGRESS_POLL); }

}  // namespace
}  // namespace thalweg::test
