// Every call that reaches storage fails once, with EIO and with ENOSPC, in a program that creates, appends and reads:
// on simulated tasks, on threads and through callbacks. Each collective returns one status on all tasks, none hangs,
// flushed data and names are in the file after a repair, and every task can then read them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "group/groups.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "support/crash/crash_check.hpp"
#include "support/crash/crash_program.hpp"
#include "support/groups/run_on.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

constexpr const char* kPath = "fault.tw";
constexpr unsigned kMostSeconds = 250;  // time limit: then the program ends
constexpr std::uint64_t kAdds = 2;      // logical files that a task adds in a session
constexpr std::uint64_t kSessions = 2;

enum class Kind { sim, threads, callbacks };
struct Setting {
  std::string name;
  Kind kind;
  std::int64_t tasks;
  bool makes_later_files = false;  // all but the first physical file are made when they are needed
  bool adds = false;               // tasks add logical files by names
  bool direct = false;
  bool in_background = false;  // the tasks write while their flushes and syncs go on
  bool abandons = false;       // the last task abandons the file
};

// A writer of one numbered logical file per task, and of those that it adds; their histories record what its calls
// certified.
class FaultProgram {
 public:
  FaultProgram(const Setting& setting, std::shared_ptr<Backend> backend)
      : histories(first_added(setting, kSessions, 0)), setting_(setting), backend_(std::move(backend)) {}

  // `hit`: by the faults.
  Op<Status> session(Group& group, MultifileMode access, bool hit) {
    const auto rank = static_cast<std::uint64_t>(group.rank());
    auto file = co_await open_multifile(group, request(access, rank));
    note(group, file.status());
    if (!file.has_value()) co_return Status{};
    if (access == MultifileMode::read) {
      for (const std::uint64_t number : numbers_of(rank)) read(*(*file)->reading, number);
    } else {
      write(*(*file)->writing, rank, access == MultifileMode::create ? 0 : 1);
    }
    if (hit && leaves(group) && access != MultifileMode::read) {
      if (leave_multifile(**file, Call::tw_multifile_abandon).ok()) of_task(rank).note_flush();
      co_return Status{};
    }
    const Status closed = co_await close_multifile(group, std::move(file).value());
    note(group, closed);
    // Where a task has abandoned the file the others have flushed it.
    const bool stored = closed.ok() || (setting_.abandons && closed.code() == Code::not_closed);
    if (stored && access != MultifileMode::read) of_task(rank).note_flush();
    co_return Status{};
  }

  bool leaves(const Group& group) const { return setting_.abandons && group.rank() + 1 == setting_.tasks; }

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
  static std::uint64_t first_added(const Setting& setting, std::uint64_t session, std::uint64_t task) {
    const auto tasks = static_cast<std::uint64_t>(setting.tasks);
    return tasks + (session * tasks + task) * (setting.adds ? kAdds : 0);
  }

  // The logical files that a task writes.
  std::vector<std::uint64_t> numbers_of(std::uint64_t task) const {
    std::vector<std::uint64_t> numbers = {task};
    for (std::uint64_t session = 0; session < kSessions; ++session)
      for (std::uint64_t n = first_added(setting_, session, task); n < first_added(setting_, session, task + 1); ++n)
        numbers.push_back(n);
    return numbers;
  }

  OpenRequest request(MultifileMode access, std::uint64_t rank) const {
    OpenRequest request;
    request.backend = backend_;
    request.path = kPath;
    request.access = access;
    request.options = setting_.direct ? small_direct_options() : small_options();
    request.options.physical_files = setting_.makes_later_files ? static_cast<std::uint32_t>(kAuto) : 2;
    request.options.first_bytes = 2000;
    request.options.added_bytes = 1;  // added logical files leave the memory, and the close reads of them
    request.serving = {Serving::Kind::range, setting_.tasks, static_cast<std::int64_t>(rank), 1, {}};
    if (access == MultifileMode::read) {
      const auto all = static_cast<std::int64_t>(first_added(setting_, 1, 0));
      request.serving = {Serving::Kind::range, -1, 0, all, {}};
    }
    return request;
  }

  void note(Group& group, const Status& status) {
    const std::lock_guard lock(mutex_);
    statuses_[group.rank()].push_back(status);
  }

  TaskHistories of_task(std::uint64_t task) {
    TaskHistories all;
    for (const std::uint64_t number : numbers_of(task)) all.add(histories[number]);
    return all;
  }

  // Writes to the current logical file, unless `status` says that it is not the right one. False: the write failed, and
  // the task stops writing.
  bool write_current(WriteHandle& handle, std::uint64_t number, std::uint64_t bytes, Status status) {
    History& history = histories[number];
    const std::uint64_t version = history.begin(history.size(), bytes);
    const auto data = written_bytes(number, history.writes.back(), version);
    if (status.ok()) status = handle.write(*handle.current(), data);
    history.writes.back().failed = !status.ok();
    return status.ok();
  }
  bool write_one(WriteHandle& handle, std::uint64_t rank, std::uint64_t bytes) {
    const auto end = static_cast<std::int64_t>(histories[rank].size());
    return write_current(handle, rank, bytes, handle.seek_to(rank, end));
  }
  bool add_one(WriteHandle& handle, std::uint64_t number, std::uint64_t bytes) {
    const std::string name = "added/" + std::to_string(number);
    if (!handle.add(name, 0100600).ok()) return false;
    histories[number].name = name;
    return write_current(handle, number, bytes, {});
  }

  void write(WriteHandle& handle, std::uint64_t rank, std::uint64_t session) {
    std::uint64_t number = first_added(setting_, session, rank);
    for (const std::uint64_t bytes : {700u, 5000u}) {
      if (!write_one(handle, rank, bytes)) return;
      if (setting_.adds && !add_one(handle, number++, bytes)) return;
      if (setting_.in_background) {
        if (!store_in_background(handle, rank, bytes > 1000)) return;
      } else if (handle.flush().ok()) {
        of_task(rank).note_flush();
      }
    }
    (void)write_one(handle, rank, 100);
  }

  bool store_in_background(WriteHandle& handle, std::uint64_t rank, bool syncs) {
    TaskHistories mine = of_task(rank);
    const auto before = mine.written();
    auto request = handle.begin(syncs);
    if (!request.has_value()) return false;
    const bool goes_on = write_one(handle, rank, 2500);
    wait_for(**request);
    if ((*request)->outcome().status.ok()) mine.note(before, syncs);
    return goes_on;
  }

  void read(ReadHandle& handle, std::uint64_t number) {
    auto rank = find_rank(handle, number, histories[number]);
    std::string judged;
    if (rank.has_value()) {
      const Found found = read_found(handle, *rank);
      if (found.whole()) judged = judge(number, histories[number].writes, histories[number].flushed, found);
    } else if (rank.status().code() == Code::not_found && histories[number].flushed > 0) {
      judged = rank.status().message();
    }
    const std::lock_guard lock(mutex_);
    if (!judged.empty()) wrong = judged;
  }

  const Setting& setting_;
  const std::shared_ptr<Backend> backend_;
  std::mutex mutex_;
  std::map<TaskRank, std::vector<Status>> statuses_;  // guarded by mutex_
};

class EveryFault : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override { alarm(kMostSeconds); }
  void TearDown() override { alarm(0); }

  void run_session(FaultProgram& program, MultifileMode access, bool hit) {
    const std::int64_t tasks = GetParam().tasks;
    const auto blocking = [&](Group& group) { EXPECT_TRUE(run(program.session(group, access, hit)).ok()); };
    if (GetParam().kind == Kind::threads) return run_on_team(tasks, blocking);
    if (GetParam().kind == Kind::callbacks) return run_on_callbacks(tasks, 1, blocking);
    run_on_sim({.tasks = tasks, .seed = seed_++, .tasks_per_process = 3},
               [&](Group& group) { return program.session(group, access, hit); });
  }

  // The sessions before the last one have no faults.
  struct Run {
    std::shared_ptr<FaultBackend> backend;
    std::unique_ptr<FaultProgram> program;
  };
  Run run_with(MultifileMode hit, const FaultScript& script) {
    Run run{make_fault_backend(make_memory_backend()), nullptr};
    run.program = std::make_unique<FaultProgram>(GetParam(), run.backend);
    if (hit != MultifileMode::create) run_session(*run.program, MultifileMode::create, false);
    run.backend->restart(script);
    run_session(*run.program, hit, true);
    return run;
  }

  void expect_same_statuses(FaultProgram& program) {
    auto all = program.statuses();
    ASSERT_EQ(all.size(), static_cast<std::size_t>(GetParam().tasks));
    if (GetParam().abandons && all[0].size() > all.back().size()) return expect_close_failed(all);
    for (const auto& of_task : all) {
      ASSERT_EQ(of_task.size(), all[0].size()) << "a task took part in another number of collectives";
      for (std::size_t i = 0; i < of_task.size(); ++i) {
        EXPECT_EQ(of_task[i].code(), all[0][i].code()) << of_task[i].message();
        EXPECT_EQ(of_task[i].message(), all[0][i].message());
      }
    }
  }

  // The last task has abandoned the file; a task whose flush failed tells of that.
  static void expect_close_failed(std::vector<std::vector<Status>>& all) {
    all.pop_back();
    for (const auto& of_task : all) {
      ASSERT_EQ(of_task.size(), all[0].size()) << "a task took part in another number of collectives";
      EXPECT_FALSE(of_task.back().ok());
      EXPECT_NE(of_task.back().message().find("thalweg repair"), std::string::npos) << of_task.back().message();
    }
  }

  // No flushed data is lost.
  void expect_recovered(Run& after) {
    after.backend->restart({});
    CheckResult health;
    const Status repaired = repair_multifile(after.backend, kPath, {}, health);
    const Aftermath at{.storage = after.backend, .path = kPath, .histories = after.program->histories};
    if (!anything_durable(at)) return;  // the creation may have failed
    ASSERT_TRUE(repaired.ok()) << repaired.message();
    EXPECT_EQ(check_content(at, false, Demand::durable_is_there), "");
    const Status sound = verify_multifile(after.backend, kPath, {}, health);
    EXPECT_TRUE(sound.ok()) << sound.message();
  }

  void fail_everywhere(MultifileMode hit) {
    const std::uint64_t calls = run_with(hit, {}).backend->calls();
    for (std::uint64_t call = 1; call <= calls && !HasFailure(); ++call) {
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

std::vector<Setting> settings() {
  std::vector<Setting> all;
  const auto add = [&](const char* name, Kind kind, std::int64_t tasks) -> Setting& {
    return all.emplace_back(Setting{.name = name, .kind = kind, .tasks = tasks});
  };
  add("Sim", Kind::sim, 20);
  add("Threads", Kind::threads, 3);
  add("Callbacks", Kind::callbacks, 3);
  add("SimLater", Kind::sim, 12).makes_later_files = true;
  add("ThreadsLater", Kind::threads, 3).makes_later_files = true;
  add("CallbacksLater", Kind::callbacks, 3).makes_later_files = true;
  add("SimAdded", Kind::sim, 8).adds = true;
  Setting& later_added = add("ThreadsLaterAdded", Kind::threads, 3);
  later_added.adds = later_added.makes_later_files = true;
  add("ThreadsDirect", Kind::threads, 3).direct = true;
  Setting& background = add("ThreadsBackground", Kind::threads, 3);
  background.in_background = background.adds = true;
  Setting& direct_background = add("SimDirectBackground", Kind::sim, 4);
  direct_background.in_background = direct_background.direct = true;
  Setting& abandoned = add("ThreadsAbandoned", Kind::threads, 3);  // simulated tasks are not told of it
  abandoned.abandons = abandoned.adds = true;
  Setting& left = add("ThreadsBackgroundAbandoned", Kind::threads, 3);
  left.abandons = left.in_background = left.direct = true;
  return all;
}

INSTANTIATE_TEST_SUITE_P(Groups, EveryFault, testing::ValuesIn(settings()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace thalweg::test
