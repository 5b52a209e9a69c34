// A small program dies at every call that reaches storage: the process, with writes torn between pages, and the
// machine, with any of the unsynced sectors lost. No durable data may be lost and no wrong data be read.
//
// THALWEG_CRASH_SEEDS: states of storage per call after a death of the machine (default 3).
#include <gtest/gtest.h>

#include <cstdlib>

#include "sim/memory_backend.hpp"
#include "support/crash/crash_check.hpp"
#include "support/crash/crash_program.hpp"

namespace thalweg::test {
namespace {

constexpr const char* kPath = "crash.tw";

std::uint64_t machine_seeds() {
  const char* text = std::getenv("THALWEG_CRASH_SEEDS");
  return text == nullptr ? 3 : std::strtoull(text, nullptr, 10);
}

struct Session {
  const char* name;
  int sessions;                                      // appends after the creation; the death is in the last one
  CrashProgram::End end = CrashProgram::End::close;  // of the last one
};
void PrintTo(const Session& session, std::ostream* out) { *out << session.name; }

class EveryCall : public testing::TestWithParam<std::tuple<ProgramShape, Session>> {
 protected:
  const ProgramShape& shape() const { return std::get<0>(GetParam()); }

  // Runs the program under a script that counts from the beginning of its last session.
  struct Run {
    std::shared_ptr<FaultBackend> backend;
    std::unique_ptr<CrashProgram> program;
  };
  Run run(const FaultScript& script) {
    FaultScript journal_only;
    journal_only.keep_journal = script.keep_journal || (script.death && script.death->death == Death::machine);
    Run run{make_fault_backend(make_memory_backend(), journal_only), nullptr};
    run.program = std::make_unique<CrashProgram>(shape(), run.backend, kPath, 1);
    const auto& [name, sessions, end] = std::get<1>(GetParam());
    for (int i = 0; i + 1 < sessions; ++i)
      EXPECT_TRUE(run.program->run_session(i == 0 ? MultifileMode::create : MultifileMode::append));
    // A later session never damages data of a closed one.
    run.program->all_reached_storage();
    run.backend->restart(script);
    EXPECT_TRUE(run.program->run_session(sessions == 1 ? MultifileMode::create : MultifileMode::append, end));
    return run;
  }

  void die_at(std::uint64_t call, Death death, Tear tear, std::uint64_t seed) {
    FaultScript script;
    script.death = {.at = call, .kind = {}, .death = death, .tear = tear, .seed = seed};
    const Run after = run(script);
    const std::string wrong = check_aftermath({.storage = after.backend->wrapped(),
                                               .path = kPath,
                                               .histories = after.program->histories(),
                                               .death = death,
                                               .was_closed = after.program->is_closed(),
                                               .had_closed = std::get<1>(GetParam()).sessions > 1});
    EXPECT_EQ(wrong, "") << (death == Death::process ? "process" : "machine") << " dies at call " << call << ", seed "
                         << seed;
  }
};

TEST_P(EveryCall, TheProcessDies) {
  const std::uint64_t calls = run({}).backend->calls();

  for (std::uint64_t call = 1; call <= calls + 1; ++call) {
    die_at(call, Death::process, Tear::nothing, 0);
    die_at(call, Death::process, Tear::pages, call);
    if (HasFailure()) return;
  }
}

TEST_P(EveryCall, TheMachineDies) {
  const std::uint64_t calls = run({}).backend->calls();

  for (std::uint64_t call = 1; call <= calls + 1; ++call) {
    for (std::uint64_t seed = 0; seed < machine_seeds(); ++seed)
      die_at(call, Death::machine, Tear::pages, call * 7 + seed);
    if (HasFailure()) return;
  }
}

std::string name_of(const testing::TestParamInfo<EveryCall::ParamType>& instance) {
  return std::get<0>(instance.param).name + std::get<1>(instance.param).name;
}

INSTANTIATE_TEST_SUITE_P(Programs, EveryCall,
                         testing::Combine(testing::ValuesIn(program_shapes()),
                                          testing::Values(Session{"Create", 1}, Session{"Append", 2})),
                         name_of);

// Those of which something may be on its way to the storage when a task abandons the file.
std::vector<ProgramShape> shapes_on_their_way() {
  std::vector<ProgramShape> shapes = program_shapes();
  std::erase_if(shapes, [](const ProgramShape& shape) {
    return !shape.in_background && shape.adds == 0 && shape.options.storage_hints.empty();
  });
  return shapes;
}

INSTANTIATE_TEST_SUITE_P(Abandoned, EveryCall,
                         testing::Combine(testing::ValuesIn(shapes_on_their_way()),
                                          testing::Values(Session{"Create", 1, CrashProgram::End::abandon},
                                                          Session{"Append", 2, CrashProgram::End::abandon})),
                         name_of);

}  // namespace
}  // namespace thalweg::test
