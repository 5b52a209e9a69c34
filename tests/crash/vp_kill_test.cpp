// SIGKILL at the system calls of real programs: threads that write a vpfile on a file system, and the repair afterwards
// (killed_vp_writer.cpp). Flushed data is present and no wrong data is read.
//
// THALWEG_KILLS: number of kills of all programs together (default 200); a number of at least their calls kills at each
// of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "support/crash/process_journal.hpp"
#include "support/crash/process_trace.hpp"
#include "support/crash/vp_crash_check.hpp"
#include "support/crash/vp_crash_program.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kManyPoints = 8;

struct Program {
  std::size_t shape = 0;           // of vp_crash_shapes()
  std::vector<const char*> modes;  // of its sessions; the kill is in the last one
};
void PrintTo(const Program& program, std::ostream* out) { *out << vp_crash_shapes()[program.shape].name; }

std::vector<Program> programs() {
  std::vector<Program> all;
  for (std::size_t shape = 0; shape < vp_crash_shapes().size(); ++shape)
    for (const auto& modes : std::vector<std::vector<const char*>>{{"w+"}, {"w+", "a+"}, {"w+", "r+"}})
      all.push_back({shape, modes});
  return all;
}

std::uint64_t kills_of_each() {
  const char* text = std::getenv("THALWEG_KILLS");
  const std::uint64_t kills = text == nullptr ? 200 : std::strtoull(text, nullptr, 10);
  return (kills + programs().size() - 1) / programs().size();
}

class VpKill : public testing::TestWithParam<Program> {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "thalweg_vp_kill_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  static std::string program() {
    return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "killed_vp_writer").string();
  }

  Traced write(const char* mode, std::uint64_t seed, std::uint64_t kill_at) const {
    return run_traced(
        {program(), "write", path("f"), path("journal"), std::to_string(GetParam().shape), mode, std::to_string(seed)},
        kill_at);
  }
  Traced repair(std::uint64_t kill_at) const { return run_traced({program(), "repair", path("f")}, kill_at); }

  // Runs all sessions and kills the last one at its call `at`.
  Traced run_sessions(std::uint64_t at) {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) std::filesystem::remove_all(entry);
    const std::vector<const char*>& modes = GetParam().modes;
    for (std::size_t i = 0; i + 1 < modes.size(); ++i) EXPECT_EQ(write(modes[i], i + 1, 0).exit_status, 0);
    return write(modes.back(), modes.size(), at);
  }

  VpAftermath aftermath() const {
    const VpCrashShape shape = vp_crash_shapes()[GetParam().shape];
    const MappedJournal journal(path("journal"));
    VpAftermath at{posix_backend(), path("f"), {}, Death::process, journal->closed != 0};
    for (std::uint64_t vp = 0; vp < shape.n_vps(); ++vp) at.histories.push_back(journal.history(static_cast<int>(vp)));
    if (shape.rounds && shape.independent) at.zeros_below = journal->lattice;
    return at;
  }

  void kill_at(std::uint64_t at, std::uint64_t at_of_repair) {
    const Traced end = run_sessions(at);
    EXPECT_TRUE(end.killed || end.exit_status == 0) << "the program failed by itself";
    if (at_of_repair != 0) killed_repairs_ += repair(at_of_repair).killed ? 1 : 0;
    const VpAftermath left = aftermath();
    if (!left.was_closed && anything_durable(left)) ++unclosed_with_flushed_;
    EXPECT_EQ(check_vp_aftermath(left), "") << "killed at call " << at << ", its repair at " << at_of_repair;
  }

  std::filesystem::path folder_;
  int killed_repairs_ = 0;
  int unclosed_with_flushed_ = 0;
};

TEST_P(VpKill, AtAnyCallLosesNothingThatWasFlushed) {
  const Traced whole = run_sessions(0);
  if (whole.refused) GTEST_SKIP() << "no program can be traced here";
  ASSERT_EQ(whole.exit_status, 0);
  ASSERT_EQ(check_vp_aftermath(aftermath()), "");
  const std::uint64_t points = std::min(whole.calls, kills_of_each());

  for (std::uint64_t i = 0; i < points && !HasFailure(); ++i) {
    const std::uint64_t call = 1 + (2 * i + 1) * whole.calls / (2 * points);
    kill_at(call, 0);
    kill_at(call, 1 + i % 16);
  }

  if (points < kManyPoints) return;
  EXPECT_GT(unclosed_with_flushed_, 0) << "no kill came between the first flush and the end: nothing was tested";
  EXPECT_GT(killed_repairs_, 0);
}

INSTANTIATE_TEST_SUITE_P(Programs, VpKill, testing::ValuesIn(programs()), [](const auto& instance) {
  const Program& program = instance.param;
  const std::string last = program.modes.size() == 1 ? "Create" : program.modes[1][0] == 'a' ? "Append" : "Update";
  return vp_crash_shapes()[program.shape].name + last;
});

}  // namespace
}  // namespace thalweg::test
