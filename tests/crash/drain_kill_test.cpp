// `thalweg drain` is killed at every call that changes files. Nothing has the final name that is not whole; an older whole
// multifile keeps it until the renames begin, between which readers are refused; and a repeated drain brings every byte
// that was closed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "support/crash/process_trace.hpp"
#include "support/files/in_folder.hpp"
#include "support/files/tiers.hpp"

namespace thalweg::test {
namespace {

namespace fs = std::filesystem;

struct Left {
  const char* name;
  bool closed;
  bool older;      // a whole multifile has the name
  bool exclusive;  // no other may be replaced
};
void PrintTo(const Left& left, std::ostream* out) { *out << left.name; }

class TierKill : public InFolder, public testing::WithParamInterface<Left> {
 protected:
  void SetUp() override {
    InFolder::SetUp();
    for (const char* name : {"tier", "shared"}) fs::create_directory(folder() / name);
    checkpoint_.path = path("shared/c.tw");
    checkpoint_.tier = path("tier");
    checkpoint_.bytes = 20'000;
    checkpoint_.tasks_of_node = 1;
    if (GetParam().older) {
      checkpoint_.options.drain = MultifileOptions::Drain::wait;
      ASSERT_TRUE(checkpoint_.write(1).ok());
    }
    checkpoint_.options.drain = MultifileOptions::Drain::leave;
    checkpoint_.closes = GetParam().closed;
    checkpoint_.exclusive = GetParam().exclusive;
    ASSERT_TRUE(checkpoint_.write(2).ok());
    for (const char* name : {"tier", "shared"}) copy(folder() / name, folder() / "kept" / name);
  }
  static void copy(const fs::path& from, const fs::path& to) {
    fs::remove_all(to);
    fs::create_directories(to);
    fs::copy(from, to, fs::copy_options::recursive);
  }

  Traced drain(std::uint64_t kill_at) const {
    return run_traced({THALWEG_COMMAND, "drain", "--quiet", checkpoint_.tier}, kill_at);
  }
  std::ptrdiff_t names_in_shared() const { return std::distance(fs::directory_iterator(folder() / "shared"), {}); }
  bool may_be_read(int version) const {
    const bool old_stays = GetParam().older && !GetParam().closed;
    return version == (GetParam().older ? 1 : -1) || (!old_stays && (version == 2 || version == -1));
  }

  Checkpoint checkpoint_;
};

TEST_P(TierKill, AtEveryCall) {
  const int last = GetParam().older && !GetParam().closed ? 1 : 2;
  bool killed = true;
  std::uint64_t kills = 0;
  for (std::uint64_t call = 1; killed; ++call) {
    for (const char* name : {"tier", "shared"}) copy(folder() / "kept" / name, folder() / name);
    const Traced end = drain(call);
    if (end.refused) GTEST_SKIP() << "the system does not permit ptrace";
    killed = end.killed;
    kills += killed ? 1 : 0;
    EXPECT_TRUE(killed || end.exit_status == 0);
    EXPECT_TRUE(may_be_read(checkpoint_.read())) << "killed at call " << call;

    EXPECT_EQ(drained(checkpoint_.tier).message(), "ok") << "killed at call " << call;

    EXPECT_EQ(checkpoint_.read(), last) << "killed at call " << call;
    EXPECT_TRUE(checkpoint_.is_whole());
    // A folder whose record is gone may belong to a program that is making it, until it is old.
    for (const auto& left : std::filesystem::directory_iterator(checkpoint_.tier))
      std::filesystem::last_write_time(left, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
    EXPECT_EQ(drained(checkpoint_.tier).message(), "ok") << "killed at call " << call;
    EXPECT_TRUE(checkpoint_.in_tier().empty());
    EXPECT_EQ(names_in_shared(), last == 2 ? 2 : 4) << "killed at call " << call;
    if (HasFailure()) return;
  }
  EXPECT_GT(kills, 20U);
}

INSTANTIATE_TEST_SUITE_P(Left, TierKill,
                         testing::Values(Left{"Closed", true, false, false},
                                         Left{"ClosedOverAnOlderOne", true, true, false},
                                         Left{"ClosedExclusive", true, false, true},
                                         Left{"Flushed", false, false, false},
                                         Left{"FlushedBesideAWholeOne", false, true, false}),
                         [](const testing::TestParamInfo<Left>& left) { return std::string(left.param.name); });

}  // namespace
}  // namespace thalweg::test
