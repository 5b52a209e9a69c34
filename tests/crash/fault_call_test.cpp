// Every call that reaches storage fails once, with EIO and with ENOSPC, in a program that creates, appends and reads:
// on simulated tasks, on threads and through callbacks. Each collective returns one status on all tasks, none hangs,
// flushed data is in the file after a repair, and every task can then read it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "group/groups.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "support/crash/crash_program.hpp"
#include "support/groups/run_on.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

constexpr const char* kPath = "fault.tw";
constexpr unsigned kMostSeconds = 250;  // time limit: then the program ends

enum class Kind { sim, threads, callbacks };
struct Setting {
  std::string name;
  Kind kind;
  std::int64_t tasks;
  std::uint64_t step;      // distance of the failing calls
  bool makes_later_files;  // all but the first physical file are made when they are needed
};

// One writer of one logical file per task; its history records what its calls certified.
class FaultProgram {
 public:
  FaultProgram(const Setting& setting, std::shared_ptr<Backend> backend)
      : histories(static_cast<std::size_t>(setting.tasks)),
        makes_later_files_(setting.makes_later_files),
        backend_(std::move(backend)) {}

  Op<Status> session(Group& group, MultifileMode access) {
    auto file = co_await open_multifile(group, request(access));
    note(group, file.status());
    if (!file.has_value()) co_return Status{};
    const auto rank = static_cast<std::uint64_t>(group.rank());
    if (access == MultifileMode::read) {
      read(*(*file)->reading, rank);
    } else {
      write(*(*file)->writing, rank);
    }
    const Status closed = co_await close_multifile(group, std::move(file).value());
    note(group, closed);
    History& history = histories[rank];
    if (closed.ok() && access != MultifileMode::read) history.flushed = history.writes.size();
    co_return Status{};
  }

  // Statuses of each collective by task: all must be equal.
  std::vector<std::vector<Status>> statuses() {
    const std::lock_guard lock(mutex_);
    std::vector<std::vector<Status>> all;
    for (auto& [rank, of_task] : statuses_) all.push_back(of_task);
    return all;
  }

  std::vector<History> histories;  // by rank
  std::string wrong;               // wrong bytes that a task read while calls failed

 private:
  OpenRequest request(MultifileMode access) const {
    OpenRequest request;
    request.backend = backend_;
    request.path = kPath;
    request.access = access;
    request.options = small_options();
    request.options.physical_files = makes_later_files_ ? static_cast<std::uint32_t>(kAuto) : 2;
    request.options.first_bytes = 2000;
    return request;
  }

  void note(Group& group, const Status& status) {
    const std::lock_guard lock(mutex_);
    statuses_[group.rank()].push_back(status);
  }

  // False: the write failed, and the task stops writing.
  bool write_one(WriteHandle& handle, std::uint64_t rank, std::uint64_t bytes) {
    History& history = histories[rank];
    const std::uint64_t version = history.begin(history.size(), bytes);
    const auto data = written_bytes(rank, history.writes.back(), version);
    Status status = handle.seek_to(rank, static_cast<std::int64_t>(history.writes.back().offset));
    if (status.ok()) status = handle.write(*handle.current(), data);
    history.writes.back().failed = !status.ok();
    return status.ok();
  }

  void write(WriteHandle& handle, std::uint64_t rank) {
    for (const std::uint64_t bytes : {700u, 5000u}) {
      if (!write_one(handle, rank, bytes)) return;
      if (handle.flush().ok()) histories[rank].flushed = histories[rank].writes.size();
    }
    (void)write_one(handle, rank, 100);
  }

  void read(ReadHandle& handle, std::uint64_t rank) {
    const Found found = read_found(handle, rank);
    if (!found.whole()) return;
    const std::string judged = judge(rank, histories[rank].writes, histories[rank].flushed, found);
    const std::lock_guard lock(mutex_);
    if (!judged.empty()) wrong = judged;
  }

  const bool makes_later_files_;
  const std::shared_ptr<Backend> backend_;
  std::mutex mutex_;
  std::map<TaskRank, std::vector<Status>> statuses_;  // guarded by mutex_
};

class EveryFault : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override { alarm(kMostSeconds); }
  void TearDown() override { alarm(0); }

  void run_session(FaultProgram& program, MultifileMode access) {
    const std::int64_t tasks = GetParam().tasks;
    const auto blocking = [&](Group& group) { EXPECT_TRUE(run(program.session(group, access)).ok()); };
    if (GetParam().kind == Kind::threads) return run_on_team(tasks, blocking);
    if (GetParam().kind == Kind::callbacks) return run_on_callbacks(tasks, 1, blocking);
    run_on_sim({.tasks = tasks, .seed = seed_++, .tasks_per_process = 3},
               [&](Group& group) { return program.session(group, access); });
  }

  // The sessions before the last one have no faults.
  struct Run {
    std::shared_ptr<FaultBackend> backend;
    std::unique_ptr<FaultProgram> program;
  };
  Run run_with(MultifileMode hit, const FaultScript& script) {
    Run run{make_fault_backend(make_memory_backend()), nullptr};
    run.program = std::make_unique<FaultProgram>(GetParam(), run.backend);
    if (hit != MultifileMode::create) run_session(*run.program, MultifileMode::create);
    run.backend->restart(script);
    run_session(*run.program, hit);
    return run;
  }

  void expect_same_statuses(FaultProgram& program) {
    const auto all = program.statuses();
    ASSERT_EQ(all.size(), static_cast<std::size_t>(GetParam().tasks));
    for (const auto& of_task : all) {
      ASSERT_EQ(of_task.size(), all[0].size()) << "a task took part in another number of collectives";
      for (std::size_t i = 0; i < of_task.size(); ++i) {
        EXPECT_EQ(of_task[i].code(), all[0][i].code()) << of_task[i].message();
        EXPECT_EQ(of_task[i].message(), all[0][i].message());
      }
    }
  }

  // No flushed data is lost.
  void expect_recovered(Run& after) {
    after.backend->restart({});
    CheckResult health;
    const Status repaired = repair_multifile(after.backend, kPath, {}, health);
    bool flushed = false;
    for (const History& history : after.program->histories) flushed |= history.flushed > 0;
    if (!flushed) return;  // the creation may have failed
    ASSERT_TRUE(repaired.ok()) << repaired.message();
    const auto group = make_self_group();
    OpenRequest request;
    request.backend = after.backend;
    request.path = kPath;
    auto file = run(open_multifile(*group, std::move(request)));
    ASSERT_TRUE(file.has_value()) << file.error().message();
    for (std::uint64_t rank = 0; rank < after.program->histories.size(); ++rank) {
      const History& history = after.program->histories[rank];
      EXPECT_EQ(judge(rank, history.writes, history.flushed, read_found(*(*file)->reading, rank)), "");
    }
  }

  void fail_everywhere(MultifileMode hit) {
    const std::uint64_t calls = run_with(hit, {}).backend->calls();
    for (std::uint64_t call = 1; call <= calls && !HasFailure(); call += GetParam().step) {
      for (const int error : {EIO, ENOSPC}) {
        SCOPED_TRACE("call " + std::to_string(call) + " of " + std::to_string(calls) + ", errno " +
                     std::to_string(error));
        FaultScript script;
        script.rules = {{.at = call, .os_errno = error}};
        Run after = run_with(hit, script);
        expect_same_statuses(*after.program);
        EXPECT_EQ(after.program->wrong, "");
        expect_recovered(after);
      }
    }
  }

  std::uint64_t seed_ = 1;
};

TEST_P(EveryFault, InACreation) { fail_everywhere(MultifileMode::create); }
TEST_P(EveryFault, InAnAppend) { fail_everywhere(MultifileMode::append); }
TEST_P(EveryFault, InAReading) { fail_everywhere(MultifileMode::read); }

INSTANTIATE_TEST_SUITE_P(Groups, EveryFault,
                         testing::Values(Setting{"Sim", Kind::sim, 20, 1, false},
                                         Setting{"Threads", Kind::threads, 3, 1, false},
                                         Setting{"Callbacks", Kind::callbacks, 3, 1, false},
                                         Setting{"SimLater", Kind::sim, 12, 1, true},
                                         Setting{"ThreadsLater", Kind::threads, 3, 1, true},
                                         Setting{"CallbacksLater", Kind::callbacks, 3, 1, true}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace thalweg::test
