// Each allocation in turn fails once, in collective and independent accesses, with and without requests. Each call
// reports the failure or succeeds, each collective returns one status on all tasks, none hangs, and with memory again
// the next access works.
#include <gtest/gtest.h>

#include <array>

#include "support/files/shared_files.hpp"
#include "support/memory/counting_new.hpp"
#include "support/sanitized.hpp"

namespace thalweg::test {
namespace {

// Smaller blocks that are refused end the program (docs/adr/0016-memory.md).
constexpr std::uint64_t kBookkeeping = 2049;
constexpr std::int64_t kPieces = 200;
constexpr std::int64_t kBytes = 30;
constexpr int kCalls = 15;
constexpr bool is_independent(int call) { return call == 5 || call == 6 || call == 11; }

// Statuses of one task. Fixed memory: no allocation is allowed while allocations fail.
struct Told {
  tw_status of[kCalls] = {};
};

class NoMemoryForFiles : public SharedFiles {
 protected:
  // Without a progress thread the tasks themselves allocate for their requests.
  static void SetUpTestSuite() { ::setenv("THALWEG_PROGRESS", "poll", 1); }

  // Unsorted lists that interleave with those of the other tasks: ordering and planning need memory.
  struct Data {
    char memory[kPieces * kBytes];
    tw_extent list[kPieces];
    tw_extent back[kPieces];
    char read[kPieces * kBytes];
    tw_view* view = nullptr;
  };
  static void prepare(Data& data, int task, int tasks) {
    for (std::int64_t i = 0; i < kPieces; ++i) {
      const std::int64_t offset = ((kPieces - 1 - i) * tasks + task) * (kBytes + 5);
      data.list[i] = {data.memory + i * kBytes, kBytes, offset};
      data.back[i] = {data.read + i * kBytes, kBytes, offset};
    }
    for (std::size_t i = 0; i < sizeof data.memory; ++i)
      data.memory[i] = static_cast<char>('a' + (i + static_cast<std::size_t>(task)) % 26);
    EXPECT_EQ(tw_view_strided(kPieces, 1, 3, nullptr, &data.view), TW_OK);
  }

  static tw_status finished(tw_status started, tw_request** request) {
    return started == TW_OK ? tw_request_wait(request, nullptr) : started;
  }

  // Makes the calls, collective ones first.
  static void call_all(tw_file* file, Data& data, Told& told) {
    tw_request* request = nullptr;
    told.of[0] = write_list_all(file, data.list, kPieces);
    told.of[1] = read_list_all(file, data.back, kPieces, nullptr);
    told.of[2] = tw_file_write_all(file, data.memory, 100);
    told.of[3] = finished(iwrite_list_all(file, data.list, kPieces, &request), &request);
    told.of[4] = finished(tw_file_iread_all(file, data.read, 100, &request), &request);
    told.of[5] = write_list(file, data.list, kPieces);
    told.of[6] = finished(iread_list(file, data.back, kPieces, &request), &request);
    std::int64_t size = 0;
    told.of[7] = tw_file_size(file, &size);
    told.of[8] = tw_file_set_view(file, 7, data.view);
    told.of[9] = tw_file_write_view_all(file, data.memory, 100);
    told.of[10] = finished(tw_file_iread_view_all(file, data.read, 100, &request), &request);
    told.of[11] = tw_file_read_view(file, data.read, 100, nullptr);
    told.of[12] = tw_file_set_view(file, 0, nullptr);
    const tw_dim rows[] = {{kPieces, 0, kPieces, 0, 0}, {kBytes, 0, kBytes / 2, 0, kBytes / 2}};
    told.of[13] = tw_file_read_array(file, data.read, 1, 2, rows, TW_ROW_MAJOR, 0, nullptr);
    told.of[14] = finished(tw_file_iread_array(file, data.read, 1, 2, rows, TW_ROW_MAJOR, 0, &request), &request);
  }

  static void expect_good(const std::vector<Told>& all) {
    for (const Told& told : all) {
      for (int i = 0; i < kCalls; ++i) {
        EXPECT_TRUE(told.of[i] == TW_OK || told.of[i] == TW_ERR_NO_MEMORY) << "call " << i << ": " << told.of[i];
        if (!is_independent(i)) {
          EXPECT_EQ(told.of[i], all[0].of[i]) << "call " << i;
        }
      }
    }
  }

  // One run of the calls by a team or by tasks of several processes; allocation number `k` of at least `least` bytes
  // fails.
  void run_once(int tasks, int processes, std::uint64_t k, std::uint64_t least, const char* hints) {
    std::vector<Told> told(static_cast<std::size_t>(tasks));
    std::vector<Data> all(static_cast<std::size_t>(tasks));
    const auto body = [&](tw_group* group, int task) {
      tw_file* file = open(group, kNew, hints);
      if (file == nullptr) return;
      Data& data = all[static_cast<std::size_t>(task)];
      prepare(data, task, tasks);
      EXPECT_EQ(tw_file_write_all(file, nullptr, 0), TW_OK);  // all tasks are in step
      if (task == 0) {
        Allocations::start(k, least);
        Allocations::stop();
      }
      EXPECT_EQ(tw_file_write_all(file, nullptr, 0), TW_OK);
      Allocations::join();
      call_all(file, data, told[static_cast<std::size_t>(task)]);
      Allocations::stop();
      EXPECT_EQ(write_list_all(file, data.list, kPieces), TW_OK) << tw_last_error();
      EXPECT_EQ(read_list_all(file, data.back, kPieces, nullptr), TW_OK) << tw_last_error();
      EXPECT_TRUE(std::equal(std::begin(data.memory), std::end(data.memory), data.read));
      EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
    };
    if (processes == 1) {
      on_team(tasks, body);
    } else {
      on_processes(processes, tasks / processes, body);
    }
    for (Data& data : all) tw_view_free(&data.view);
    expect_good(told);
  }

  void run_all(int tasks, std::uint64_t least, const char* hints, int processes = 1) {
    std::uint64_t most = 20;
    for (std::uint64_t k = 1; k <= most && !HasFailure(); ++k) {
      SCOPED_TRACE(std::to_string(tasks) + " tasks, allocation " + std::to_string(k) + ", " + hints);
      run_once(tasks, processes, k, least, hints);
      most = std::max(most, Allocations::count());
    }
    EXPECT_GT(most, 4u);
  }
};

// A failed open reports on all tasks, leaves no file open, and succeeds with memory again.
class NoMemoryToOpen : public SharedFiles {
 protected:
  void open_all(int tasks, std::uint64_t least, const char* hints) {
    std::uint64_t most = 20;
    for (std::uint64_t k = 1; k <= most && !HasFailure(); ++k) {
      SCOPED_TRACE(std::to_string(tasks) + " tasks, allocation " + std::to_string(k) + ", " + hints);
      std::vector<tw_status> said(static_cast<std::size_t>(tasks));
      on_team(tasks, [&](tw_group* group, int task) {
        if (task == 0) {
          Allocations::start(k, least);
          Allocations::stop();
        }
        EXPECT_EQ(tw_group_barrier(group), TW_OK);
        OpenWith options;
        options.hints(hints);
        tw_file* file = nullptr;
        const std::string name = path();
        Allocations::join();
        const tw_status opened = tw_file_open(group, name.c_str(), kNew | TW_APPEND, options, &file);
        Allocations::stop();
        said[static_cast<std::size_t>(task)] = opened;
        EXPECT_EQ(file != nullptr, opened == TW_OK);
        EXPECT_EQ(tw_file_close(&file), opened == TW_OK ? TW_OK : TW_ERR_INVALID);
        file = open(group);
        EXPECT_EQ(tw_file_write_all(file, "x", 1), TW_OK) << tw_last_error();
        EXPECT_EQ(tw_file_close(&file), TW_OK);
      });
      for (const tw_status status : said) {
        EXPECT_TRUE(status == TW_OK || status == TW_ERR_NO_MEMORY) << status;
        EXPECT_EQ(status, said[0]);
      }
      most = std::max(most, Allocations::count());
    }
    EXPECT_EQ(open_descriptors(), before_);
  }

  // One task of several processes: in a new group, in one with cached task data, and in one whose cache is outdated.
  void open_in_turn(int processes, int threads, int poor) {
    static constexpr std::array<const char*, 4> kHints{"", "", "aggregators=17", ""};
    std::uint64_t most = 1;
    for (std::uint64_t k = 1; k <= most && !HasFailure(); ++k) {
      SCOPED_TRACE(std::to_string(processes) + " processes, task " + std::to_string(poor) + ", allocation " +
                   std::to_string(k));
      std::vector<std::array<tw_status, kHints.size()>> said(static_cast<std::size_t>(processes * threads));
      on_processes(processes, threads, [&](tw_group* group, int task) {
        if (task == poor) Allocations::start(k, kBookkeeping);
        Allocations::stop();
        for (std::size_t i = 0; i < kHints.size(); ++i) {
          OpenWith options;
          options.hints(kHints[i]);
          tw_file* file = nullptr;
          const std::string name = path();
          if (task == poor) Allocations::join();
          said[static_cast<std::size_t>(task)][i] = tw_file_open(group, name.c_str(), kNew, options, &file);
          Allocations::stop();
          EXPECT_EQ(tw_file_close(&file), file != nullptr ? TW_OK : TW_ERR_INVALID);
        }
        tw_file* file = open(group, kNew, "method=aggregate");
        EXPECT_EQ(tw_file_write_all(file, "x", 1), TW_OK) << tw_last_error();
        EXPECT_EQ(tw_file_close(&file), TW_OK);
      });
      for (const auto& statuses : said) {
        EXPECT_EQ(statuses, said[0]);
        for (const tw_status status : statuses) EXPECT_TRUE(status == TW_OK || status == TW_ERR_NO_MEMORY) << status;
      }
      most = std::max(most, Allocations::count());
    }
  }

  static std::ptrdiff_t open_descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  }
  const std::ptrdiff_t before_ = open_descriptors();
};

TEST_F(NoMemoryToOpen, OfOneTask) {
  for (const char* hints : {"", "io=direct,queue_depth=2,method=shared,staging_bytes=8192"})
    open_all(1, kBookkeeping, hints);
}

TEST_F(NoMemoryToOpen, OfOneOfSeveralThreads) {
  for (const int tasks : {2, 3}) open_all(tasks, kBookkeeping, "io=direct");
}

TEST_F(NoMemoryToOpen, OfOneOfSeveralProcesses) {
  open_in_turn(18, 1, 0);
  if (tries_less()) return;
  open_in_turn(18, 1, 17);
  open_in_turn(3, 2, 0);
  open_in_turn(3, 2, 5);
}

TEST_F(NoMemoryForFiles, OfOneTask) {
  for (const char* hints : {"", "method=direct,sieve_writes=off", "method=shared,staging_bytes=4096", "io=direct"})
    run_all(1, kBookkeeping, hints);
}

TEST_F(NoMemoryForFiles, OfOneOfTwoThreads) {
  for (const char* hints : {"", "method=direct,sieve_writes=off", "method=shared,workers=2", "method=naive"})
    run_all(2, kBookkeeping, hints);
}

// Aggregators, and tasks that they serve.
TEST_F(NoMemoryForFiles, OfOneOfSeveralProcesses) {
  const char* hints = "method=aggregate,aggregators=2,aggregator_bytes=64KiB";
  run_all(2, kBookkeeping, hints, 2);
  if (tries_less()) return;  // too slow under sanitizers
  run_all(3, kBookkeeping, hints, 3);
  run_all(4, kBookkeeping, hints, 2);
}

TEST_F(NoMemoryForFiles, OfOneOfThreeThreads) { run_all(3, kBookkeeping, "method=shared,workers=3"); }

}  // namespace
}  // namespace thalweg::test
