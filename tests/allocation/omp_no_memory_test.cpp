// Each allocation in turn fails once, in every kind of call: each call reports the failure on all threads or succeeds,
// none hangs, no file stays open, and with memory again the next calls work.
#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "omp_file/omp_file_support.hpp"
#include "support/memory/counting_new.hpp"

namespace omp_file_test {
namespace {

using thalweg::test::Allocations;

// Smaller blocks that are refused end the program (docs/adr/0016-memory.md).
constexpr std::uint64_t kBookkeeping = 2049;
constexpr int kPieces = 40;
constexpr int kBytes = 30;
constexpr int kCalls = 9;

// State of one thread. Fixed memory: no allocation is allowed while allocations fail.
struct Part {
  char memory[kPieces * kBytes] = {};
  iovec list[kPieces];
  off_t offsets[kPieces];
  int errors[kCalls] = {};  // errno of each call; 0: it succeeded
  Part(int rank, int threads) {
    for (int i = 0; i < kPieces; ++i) {
      list[i] = {memory + i * kBytes, kBytes};
      offsets[i] = static_cast<off_t>((kPieces - 1 - i) * threads + rank) * (kBytes + 5);
    }
  }
};

int error_of(int returned) { return returned == 0 ? 0 : errno; }

int finished(int started, omp_file_request* request) { return started == 0 ? omp_file_wait_all(request) : started; }

class OmpNoMemory : public OmpFile {
 protected:
  static void SetUpTestSuite() { setenv("THALWEG_PROGRESS", "poll", 1); }

  static std::ptrdiff_t open_descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  }

  static void call_all(const char* name, Part& part, int& fd) {
    omp_file_request request = OMP_FILE_REQUEST_NULL;
    off_t size = 0;
    int* error = part.errors;
    *error++ = error_of(omp_file_open_all(&fd, name, O_RDWR | O_CREAT | O_APPEND, 0600));
    if (part.errors[0] != 0) return;
    *error++ = error_of(omp_file_write_list_at_all(part.list, part.offsets, kPieces, fd, 0));
    *error++ = error_of(omp_file_write_all(part.memory, 100, fd, 0));
    *error++ =
        error_of(finished(omp_file_iwrite_list_at_all(part.list, part.offsets, kPieces, fd, 0, &request), &request));
    *error++ = error_of(finished(omp_file_iread_at_all(part.memory, 100, 0, fd, 0, &request), &request));
    *error++ = error_of(omp_file_seek_all(fd, 0, SEEK_SET, nullptr));
    *error++ = error_of(omp_file_size_all(fd, &size));
    *error++ = error_of(omp_file_sync_all(fd));
    *error++ = error_of(omp_file_close_all(fd));
  }

  // Opens per-process state once: the ring of requests.
  void warm_up() const {
    Part part(0, 1);
    int fd = -1;
    call_all(path().c_str(), part, fd);
  }

  // A call that fails before its threads meet changes no state.
  static void close_if_open(int fd) {
    off_t size = 0;
    if (fd >= 0 && omp_file_size_all(fd, &size) == 0) {
      EXPECT_EQ(omp_file_close_all(fd), 0);
    }
  }

  void run_all(int threads, std::uint64_t least) {
    warm_up();
    const std::ptrdiff_t before = open_descriptors();
    std::uint64_t most = 0;
    for (std::uint64_t k = 1; k <= std::max<std::uint64_t>(most, 20) && !HasFailure(); ++k) {
      std::vector<Part> parts;
      for (int rank = 0; rank < threads; ++rank) parts.emplace_back(rank, threads);
      for (Part& part : parts)
        for (int i = 0; i < kPieces; ++i) part.list[i].iov_base = part.memory + i * kBytes;
      const std::string name = path();
      int fd = -1;
      Allocations::start(k, least);
      Allocations::stop();
      on_team(threads, [&](int rank) {
        Allocations::join();
        call_all(name.c_str(), parts[static_cast<std::size_t>(rank)], fd);
        Allocations::stop();
      });
      most = std::max(most, Allocations::count());
      for (const Part& part : parts) {
        for (int i = 0; i < kCalls; ++i) {
          EXPECT_TRUE(part.errors[i] == 0 || part.errors[i] == ENOMEM) << "call " << i << ": " << part.errors[i];
          EXPECT_EQ(part.errors[i], parts[0].errors[i]) << threads << " threads, allocation " << k << ", call " << i;
        }
      }
      close_if_open(fd);
      EXPECT_EQ(open_descriptors(), before) << threads << " threads, allocation " << k;
      const int again = open_file();
      EXPECT_EQ(results_on(threads, [&](int) { return omp_file_write_all("x", 1, again, 0); }), all_ok(threads));
      EXPECT_EQ(omp_file_close_all(again), 0);
    }
    EXPECT_GT(most, 0U);
  }
};

TEST_F(OmpNoMemory, OfOneThread) { run_all(1, kBookkeeping); }
TEST_F(OmpNoMemory, OfOneOfTwoThreads) { run_all(2, kBookkeeping); }
TEST_F(OmpNoMemory, OfOneOfThreeThreads) { run_all(3, kBookkeeping); }

// Teams are kept, so each test uses a new size.
TEST_F(OmpNoMemory, ToMeetForTheFirstTime) {
  const int fd = open_file();
  std::uint64_t all = 8;
  int n_refused = 0;
  for (int k = 1; k <= static_cast<int>(std::min<std::uint64_t>(all, 40)); ++k) {
    const int threads = 12 + k;  // whose slots are no bookkeeping
    std::vector<int> errors(static_cast<std::size_t>(threads), -1);
    Allocations::start(static_cast<std::uint64_t>(k), kBookkeeping);
    Allocations::stop();
    on_team(threads, [&](int rank) {
      off_t size = 0;
      Allocations::join();
      const int error = error_of(omp_file_size_all(fd, &size));
      Allocations::stop();
      errors[static_cast<std::size_t>(rank)] = error;
    });
    all = std::max(all, Allocations::count());
    EXPECT_EQ(errors, std::vector<int>(static_cast<std::size_t>(threads), errors[0])) << k;
    EXPECT_TRUE(errors[0] == 0 || errors[0] == ENOMEM) << errors[0];
    n_refused += errors[0] == ENOMEM ? 1 : 0;
    off_t size = -1;
    EXPECT_EQ(results_on(threads, [&](int) { return omp_file_size_all(fd, &size); }), all_ok(threads));
  }
  EXPECT_GT(n_refused, 0);
  EXPECT_EQ(omp_file_close_all(fd), 0);
}

}  // namespace
}  // namespace omp_file_test
