// Storage faults: whichever call fails, all tasks get one status, none hangs, no byte outside the access changes, and
// the next access works.
#include <cerrno>
#include <memory>
#include <set>
#include <tuple>

#include "sharedfile/plain_file.hpp"
#include "sim/memory_backend.hpp"
#include "storage/queues.hpp"
#include "support/files/shared_files.hpp"
#include "support/sanitized.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kBefore = 5000;  // bytes before the access, and after it
constexpr std::uint64_t kPieces = 12;

enum class Way { blocking, requested, alone };

// Pieces of one task with small holes between them, interleaved with those of the other tasks.
struct Share {
  Share(TaskRank task, TaskRank tasks, std::uint64_t piece) : memory(kPieces * piece, std::byte{0xEE}) {
    for (std::uint64_t i = 0; i < kPieces; ++i) {
      const auto number = i * static_cast<std::uint64_t>(tasks) + static_cast<std::uint64_t>(task);
      extents.push_back({memory.data() + i * piece, piece, kBefore + number * (piece + 8)});
    }
  }
  std::vector<std::byte> memory;
  std::vector<Extent> extents;
};

struct Setting {
  TaskRank tasks;
  Direction direction;
  Way way;
  std::uint64_t piece;
  std::string hints;
  bool apart = false;  // each task in its own process
};
std::ostream& operator<<(std::ostream& out, const Setting& what) {
  return out << what.tasks << " tasks" << (what.apart ? " apart, " : ", ")
             << (what.direction == Direction::read ? "read" : "write") << " of pieces of " << what.piece << " in way "
             << static_cast<int>(what.way) << ", " << what.hints;
}

class Faults : public SharedFiles {
 protected:
  std::uint64_t range_of(const Setting& what) const {
    return kPieces * static_cast<std::uint64_t>(what.tasks) * (what.piece + 8);
  }

  static Outcome access(PlainFile& file, const Setting& what, Share& share) {
    TaskAccess access;
    access.direction = what.direction;
    access.extents = share.extents;
    if (what.way == Way::blocking) return run(file.access(access));
    if (what.way == Way::alone) return run(access_one(*file.shared(), access, blocking_io()));
    const auto request = file.request(access);
    start(request, ProgressMode::thread);
    wait_for(*request);
    return request->outcome();
  }

  // Opens a file filled with 'o' and makes one access under the script; returns the statuses by task.
  std::vector<Status> try_once(const Setting& what, const FaultScript& script, std::uint64_t* calls) {
    const auto memory = make_memory_backend();
    const auto faulty = make_fault_backend(memory);
    const std::uint64_t end = range_of(what) + 2 * kBefore;
    const std::vector<std::byte> old(end, std::byte{'o'});
    auto raw = memory->open("f", OpenMode::create).value();
    EXPECT_TRUE(raw->write(0, old).ok());
    std::vector<Status> heard(static_cast<std::size_t>(what.tasks));
    const auto run_on = what.apart ? run_apart : run_on_team;
    run_on(what.tasks, [&](Group& group) {
      PlainOpen how;
      how.path = "f";
      how.options.write = true;
      how.hints = what.hints;
      auto opened = run(PlainFile::open(group, faulty, how));
      ASSERT_TRUE(opened.has_value()) << opened.status().message();
      PlainFile& file = *opened.value();
      if (group.rank() == 0) faulty->restart(script);
      EXPECT_TRUE(run(group.barrier()).ok());
      Share share(group.rank(), what.tasks, what.piece);
      heard[static_cast<std::size_t>(group.rank())] = access(file, what, share).status;
      EXPECT_TRUE(run(group.barrier()).ok());
      if (group.rank() == 0) {
        *calls = faulty->calls();
        faulty->restart({});
      }
      EXPECT_TRUE(run(group.barrier()).ok());
      const Outcome next = access(file, what, share);
      EXPECT_TRUE(next.status.ok()) << what << ": the next access: " << next.status.message();
      EXPECT_TRUE(run(file.close()).ok());
    });
    expect_untouched_outside(*raw, what, end);
    return heard;
  }

  static void expect_untouched_outside(StoredFile& raw, const Setting& what, std::uint64_t end) {
    std::vector<std::byte> now(end + 1);
    EXPECT_EQ(raw.read(0, now).value(), end) << what;
    std::uint64_t touched = 0;
    for (std::uint64_t i = 0; i < end; ++i) {
      const bool outside = i < kBefore || i >= end - kBefore || (i - kBefore) % (what.piece + 8) >= what.piece;
      if (outside && now[i] != std::byte{'o'}) ++touched;
    }
    EXPECT_EQ(touched, 0u) << what;
  }

  // Expects one status on all tasks; after independent accesses, errors only where a call failed.
  static void expect_failure(const Setting& what, const std::vector<Status>& heard, int os_errno, std::uint64_t n) {
    const Code code = os_error(os_errno, "").code();
    int failed = 0;
    for (const Status& status : heard) {
      if (status.ok()) continue;
      ++failed;
      EXPECT_EQ(status.code(), code) << what << ", call " << n << ": " << status.message();
      EXPECT_EQ(status.os_errno(), os_errno) << what << ", call " << n;
    }
    EXPECT_GE(failed, what.way == Way::alone ? 1 : static_cast<int>(heard.size())) << what << ", call " << n;
  }
};

class FaultsOf : public Faults, public testing::WithParamInterface<std::tuple<TaskRank, Way>> {
 protected:
  static std::vector<Setting> settings() {
    const auto [tasks, way] = GetParam();
    std::vector<Setting> all;
    for (const Direction direction : {Direction::read, Direction::write}) {
      all.push_back({tasks, direction, way, 24, ""});
      all.push_back({tasks, direction, way, 24, "method=direct,sieve_writes=off"});
      all.push_back({tasks, direction, way, 24, "method=naive"});
      all.push_back({tasks, direction, way, 24, "method=aggregate,aggregators=2,aggregator_bytes=64KiB"});
      if (tasks > 1) {
        all.push_back({tasks, direction, way, 24, "method=aggregate,aggregator_bytes=64KiB", true});
        all.push_back({tasks, direction, way, 3000, "method=aggregate,aggregators=2,aggregator_bytes=64KiB", true});
      }
      all.push_back({tasks, direction, way, 9000, "method=shared,workers=2,io=direct,queue_depth=2"});
    }
    return all;
  }
};

TEST_P(FaultsOf, WhicheverCallFailsAllTasksHearTheSame) {
  const std::uint64_t stride = !tries_less() ? 1 : kWatchesThreads ? 11 : 3;
  for (const Setting& what : settings()) {
    std::uint64_t all = 0;
    for (const Status& status : try_once(what, {}, &all)) ASSERT_TRUE(status.ok()) << what << status.message();
    ASSERT_GT(all, 0u);
    for (std::uint64_t n = 1; n <= all && !HasFailure(); n += stride) {
      for (const int os_errno : {EIO, ENOSPC, EDQUOT, EINTR, EAGAIN}) {  // EINTR and EAGAIN: after unsuccessful retries
        if (what.apart && os_errno != EIO && os_errno != ENOSPC) continue;  // messages between tasks carry any error
        std::uint64_t calls = 0;
        FaultScript script;
        script.rules.push_back({.at = n, .os_errno = os_errno});
        script.rules[0].lasting = script.rules[0].partial = os_errno == ENOSPC;
        expect_failure(what, try_once(what, script, &calls), os_errno, n);
      }
    }
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Teams, FaultsOf,
                         testing::Combine(testing::Values(1, 2, 3),
                                          testing::Values(Way::blocking, Way::requested, Way::alone)));

// A short read ends the read of all tasks: no byte beyond the end of the file counts.
TEST_F(Faults, AShortReadIsTheEndOfTheFile) {
  for (const TaskRank tasks : {1, 2, 3}) {
    for (const Way way : {Way::blocking, Way::requested, Way::alone}) {
      const Setting what{tasks, Direction::read, way, 9000, "method=direct"};
      std::uint64_t all = 1;
      for (std::uint64_t n = 1; n <= all; ++n) {
        FaultScript script;
        script.rules.push_back({.kind = CallKind::read, .at = n, .short_read = true});
        for (const Status& status : try_once(what, script, &all)) EXPECT_TRUE(status.ok()) << status.message();
      }
      EXPECT_GT(all, 1u);
    }
  }
}

// Each call during open, resize, sync and close of a file.
TEST_F(Faults, CallsOnTheWholeFileFailOnAllTasks) {
  for (const TaskRank tasks : {1, 2, 3}) {
    for (std::uint64_t n = 1; n <= 9; ++n) {
      const auto faulty = make_fault_backend(make_memory_backend());
      std::vector<std::vector<std::int32_t>> heard(static_cast<std::size_t>(tasks));
      FaultScript script;
      script.rules.push_back({.at = n, .os_errno = EIO});
      faulty->restart(script);
      run_on_team(tasks, [&](Group& group) {
        auto& mine = heard[static_cast<std::size_t>(group.rank())];
        const auto note = [&](const Status& status) { mine.push_back(static_cast<std::int32_t>(status.code())); };
        PlainOpen how;
        how.path = "f";
        how.options.write = how.options.create = how.append = true;
        auto opened = run(PlainFile::open(group, faulty, how));
        note(opened.status());
        if (!opened.has_value()) return;
        PlainFile& file = *opened.value();
        note(run(file.truncate(100, {})));
        note(run(file.preallocate(50, 100, {})));
        note(run(file.size()).status());
        note(run(file.seek(0, SEEK_END, {})).status());
        note(run(file.sync()));
        note(run(file.close()));
      });
      EXPECT_GE(faulty->calls(), n);
      for (const auto& mine : heard) EXPECT_EQ(mine, heard[0]) << n;
      const std::multiset<std::int32_t> codes(heard[0].begin(), heard[0].end());
      EXPECT_EQ(codes.count(static_cast<std::int32_t>(Code::io_error)), 1u) << n;
      EXPECT_EQ(codes.count(0) + 1, codes.size()) << n;
    }
  }
}

}  // namespace
}  // namespace thalweg::test
