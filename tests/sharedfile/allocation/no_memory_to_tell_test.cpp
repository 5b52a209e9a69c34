// A transfer fails while memory for the error handling or for the message is refused: the access fails for either
// reason, and the next one works.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "storage/io_queue.hpp"
#include "storage/uring_seam.hpp"
#include "support/counting_new.hpp"
#include "support/shared_files.hpp"
#include "support/told_transfers.hpp"

namespace thalweg::test {
namespace {

constexpr int kPieces = 20;
constexpr std::int64_t kBytes = 3000;

std::atomic<int> wrong_errno{0};  // 0: no failure

ssize_t told(ssize_t really) {
  if (wrong_errno == 0) return really;
  errno = wrong_errno;
  return -1;
}
int never_by_ring(int) { return -EOPNOTSUPP; }

class NoMemoryToTell : public SharedFiles {
 protected:
  // Without a progress thread this thread itself allocates for its requests.
  static void SetUpTestSuite() { ::setenv("THALWEG_PROGRESS", "poll", 1); }
  void TearDown() override {
    wrong_errno = 0;
    SharedFiles::TearDown();
  }

  struct Way {
    const char* hints;
    bool blocking;
    tw_direction direction;
  };

  tw_status access(const Way& way, tw_file* file) {
    tw_access access = access_of(way.direction, TW_AT_EXTENTS, list_.data(), kPieces);
    if (way.blocking) return tw_access_all(file, nullptr, &access, nullptr);
    access.progress = TW_PROGRESS_POLL;
    tw_request* request = nullptr;
    const tw_status started = tw_iaccess_all(file, nullptr, &access, &request);
    return started == TW_OK ? tw_wait(&request, nullptr) : started;
  }

  // Refuses each allocation of an access in turn while its transfers fail with `err`. 0: transfers succeed.
  void run_all(const Way& way, int err) {
    for (int i = 0; i < kPieces; ++i)
      list_[static_cast<std::size_t>(i)] = {memory_ + i * kBytes, kBytes, i * (kBytes + 9)};
    put(std::string(kPieces * (kBytes + 9), 'o'));
    on_file(
        1,
        [&](tw_file* file, int) {
          EXPECT_EQ(access(way, file), TW_OK) << tw_last_error();
          for (std::uint64_t k = 1, all = 1; k <= all && !HasFailure(); ++k) {
            wrong_errno = err;
            Allocations::start(k);
            const tw_status status = access(way, file);
            Allocations::stop();
            wrong_errno = 0;
            all = std::max(all, Allocations::count());
            const bool good = err == 0 ? status == TW_OK : status == TW_ERR_NO_SPACE;
            EXPECT_TRUE(good || status == TW_ERR_NO_MEMORY) << status << ", allocation " << k << ", " << way.hints;
            EXPECT_EQ(access(way, file), TW_OK) << tw_last_error();
          }
        },
        TW_FILE_READ | TW_FILE_WRITE, way.hints);
  }

  static std::vector<Way> ways() {
    std::vector<Way> all;
    for (const char* hints : {"method=direct", "method=shared,sieve_writes=on", "method=naive", "io=direct"})
      for (const bool blocking : {true, false})
        for (const tw_direction direction : {TW_ACCESS_READ, TW_ACCESS_WRITE})
          all.push_back({hints, blocking, direction});
    return all;
  }

  const ToldTransfers transfers_{told};
  std::vector<tw_extent> list_ = std::vector<tw_extent>(kPieces);
  char memory_[kPieces * kBytes] = {};
};

TEST_F(NoMemoryToTell, OfAFailureOfStorage) {
  for (const Way& way : ways()) run_all(way, ENOSPC);
}

TEST_F(NoMemoryToTell, OfWhatTheRingLeavesToTheFile) {
  if (!uring_available()) GTEST_SKIP() << "no io_uring here";
  uring_seam().answer = never_by_ring;
  for (const Way& way : ways()) {
    run_all(way, 0);
    run_all(way, ENOSPC);
  }
}

}  // namespace
}  // namespace thalweg::test
