// A small program on a vpfile dies at every call that reaches storage: the process, with writes torn between pages, and
// the machine, with any of the unsynced sectors lost; the repair afterwards dies at every call, too. No durable data
// may be lost and no wrong data be read.
//
// THALWEG_CRASH_SEEDS: states of storage per call after a death of the machine (default 3).
#include <gtest/gtest.h>

#include <cstdlib>

#include "sim/memory_backend.hpp"
#include "sim/sim_group.hpp"
#include "support/crash/crash_program.hpp"
#include "support/crash/vp_crash_check.hpp"
#include "support/crash/vp_crash_program.hpp"
#include "support/sanitized.hpp"
#include "vpfile/check/check_vpfile.hpp"

namespace thalweg::test {
namespace {

constexpr const char* kPath = "crash.vp";

std::uint64_t machine_seeds() {
  const char* text = std::getenv("THALWEG_CRASH_SEEDS");
  return text == nullptr ? 3 : std::strtoull(text, nullptr, 10);
}

struct Sessions {
  const char* name;
  std::vector<const char*> modes;  // the death is in the last session
};
void PrintTo(const Sessions& sessions, std::ostream* out) { *out << sessions.name; }

class VpEveryCall : public testing::TestWithParam<std::tuple<VpCrashShape, Sessions>> {
 protected:
  const VpCrashShape& shape() const { return std::get<0>(GetParam()); }
  const std::vector<const char*>& modes() const { return std::get<1>(GetParam()).modes; }

  struct Run {
    std::shared_ptr<FaultBackend> backend;
    VpHistories notes;
    bool closed = false;  // the last session closed with success
  };

  // Runs all tasks of one session, simulated.
  void run_session(Run& run, const char* mode, std::uint64_t seed) {
    SimWorld world({.tasks = shape().tasks, .seed = seed, .tasks_per_process = shape().tasks_per_process});
    std::vector<Op<Status>> ops;
    for (TaskRank r = 0; r < shape().tasks; ++r)
      ops.push_back(run_vp_session(world.group(r), shape(), {run.backend, kPath, mode, seed}, run.notes));
    const Status end = world.run(std::span(ops));
    ASSERT_TRUE(end.ok()) << end.message();
    run.closed = true;
    for (Op<Status>& op : ops) run.closed &= op.value().ok();
  }

  // Runs the program under a script that counts from the beginning of its last session.
  Run run(const FaultScript& script) {
    FaultScript journal_only;
    journal_only.keep_journal = script.keep_journal || (script.death && script.death->death == Death::machine);
    Run run{make_fault_backend(make_memory_backend(), journal_only), VpHistories(shape().n_vps())};
    for (std::size_t i = 0; i < modes().size(); ++i) {
      if (i + 1 == modes().size()) {
        // A later session never damages data of a closed one.
        for (History& history : run.notes.all) history.synced = history.flushed = history.writes.size();
        run.backend->restart(script);
      }
      run_session(run, modes()[i], seed_ + i);
      EXPECT_TRUE(run.closed || i + 1 == modes().size()) << "session " << i << " failed although nobody died";
    }
    return run;
  }

  VpAftermath aftermath(const Run& after, Death death) const {
    return {after.backend->wrapped(),
            kPath,
            after.notes.all,
            death,
            after.closed,
            shape().rounds && shape().independent ? after.notes.lattice : 0,
            after.notes.lattice,
            modes().size() > 1,
            death == Death::machine && after.closed && modes().size() == 1};
  }

  static FaultScript death_at(std::uint64_t call, Death death, Tear tear, std::uint64_t seed) {
    FaultScript script;
    script.death = {.at = call, .kind = {}, .death = death, .tear = tear, .seed = seed};
    return script;
  }

  void die_at(std::uint64_t call, Death death, Tear tear, std::uint64_t seed) {
    const Run after = run(death_at(call, death, tear, seed));
    const std::string wrong = check_vp_aftermath(aftermath(after, death));
    EXPECT_EQ(wrong, "") << (death == Death::process ? "process" : "machine") << " dies at call " << call << ", seed "
                         << seed << " of program " << seed_;
  }

  // The repair after a death at `call` dies at each of its own calls, too.
  void die_in_repair(std::uint64_t call, Death death) {
    const Run after = run(death_at(call, Death::process, Tear::nothing, 0));
    const std::vector<std::string> paths = vp_paths(kPath);
    std::uint64_t calls = 1;
    for (std::uint64_t at = 1; at <= calls && !HasFailure(); ++at) {
      const auto dying = make_fault_backend(copy_of(*after.backend->wrapped(), paths),
                                            death_at(at, death, Tear::pages, call * 100 + at));
      CheckResult health;
      const Status status = repair_vpfile(*dying, kPath, {}, {}, health);
      if (dying->dead()) calls = at + 1;
      VpAftermath left = aftermath(after, Death::process);
      left.storage = dying->wrapped();
      EXPECT_EQ(check_vp_aftermath(std::move(left)), "")
          << "killed at call " << call << ", and its repair at call " << at << ", which said " << status.message();
    }
  }

  std::uint64_t seed_ = 1;
};

// Under a sanitizer, where calls are slow, every n-th call is tried; every one without it.
constexpr bool kIsSlow = kWatchesMemory || kWatchesThreads;
std::uint64_t call_stride() { return tries_less() ? 7 : kIsSlow ? 5 : 1; }

TEST_P(VpEveryCall, TheProcessDies) {
  for (; seed_ <= (kIsSlow ? 1 : 3) && !HasFailure(); ++seed_) {
    const std::uint64_t calls = run({}).backend->calls();
    for (std::uint64_t call = 1; call <= calls + 1 && !HasFailure(); call += call_stride()) {
      die_at(call, Death::process, Tear::nothing, 0);
      die_at(call, Death::process, Tear::pages, call);
    }
  }
}

TEST_P(VpEveryCall, TheMachineDies) {
  const std::uint64_t calls = run({}).backend->calls();

  for (std::uint64_t call = 1; call <= calls + 1 && !HasFailure(); call += call_stride())
    for (std::uint64_t seed = 0; seed < machine_seeds(); ++seed)
      die_at(call, Death::machine, Tear::pages, call * 7 + seed);
}

TEST_P(VpEveryCall, TheRepairDies) {
  const std::uint64_t calls = run({}).backend->calls();
  const std::uint64_t stride = calls / (kIsSlow ? 3 : 12) + 1;

  for (std::uint64_t call = 1; call <= calls && !HasFailure(); call += stride)
    for (const Death death : {Death::process, Death::machine}) die_in_repair(call, death);
}

INSTANTIATE_TEST_SUITE_P(Programs, VpEveryCall,
                         testing::Combine(testing::ValuesIn(vp_crash_shapes()),
                                          testing::Values(Sessions{"Create", {"w+"}}, Sessions{"Append", {"w+", "a+"}},
                                                          Sessions{"Update", {"w+", "r+", "r+"}})),
                         [](const auto& instance) {
                           return std::get<0>(instance.param).name + std::get<1>(instance.param).name;
                         });

}  // namespace
}  // namespace thalweg::test
