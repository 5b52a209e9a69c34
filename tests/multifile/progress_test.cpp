// Progress reports of verify, repair and defrag, and the files after the caller stops them.
#include <limits>

#include "support/files/on_disk.hpp"

namespace thalweg::test {
namespace {

constexpr std::int64_t kLogical = 5;
constexpr std::size_t kBytes = 3'000'000;  // per file: more than one read takes

// Stops at a given call; records the reports.
struct Listener {
  int stop_at = std::numeric_limits<int>::max();
  int calls = 0, steps = 0;
  std::int64_t done = 0, total = -1;
  bool falls = false, beyond = false;
};

int hear(std::int64_t done, std::int64_t total, void* user) {
  auto& told = *static_cast<Listener*>(user);
  const bool same_step = total == told.total;
  told.steps += same_step ? 0 : 1;
  told.falls |= same_step && done < told.done;
  told.beyond |= done < 0 || done > total;
  told.done = done;
  told.total = total;
  return ++told.calls >= told.stop_at ? 1 : 0;
}

class Progress : public OnDisk {
 protected:
  tw_multifile* write(std::int64_t n_logical = kLogical, std::size_t bytes = kBytes) {
    tw_multifile* file = write_each(n_logical, bytes);
    EXPECT_EQ(tw_multifile_flush(file), TW_OK);
    return file;
  }
  // Leaves the files as a killed writer does, without a close.
  void write_unclosed() { leave_unclosed(write()); }
  void leave_unclosed(tw_multifile* file) {
    const std::string as_it_is = path_ + ".dead";
    std::filesystem::copy_file(path_, as_it_is);
    close(file);
    std::filesystem::rename(as_it_is, path_);
  }

  tw_status verify(Listener& told) { return tw_multifile_verify(path_.c_str(), nullptr, hear, &told, nullptr); }
  tw_status repair(Listener& told, tw_health* health) {
    return tw_multifile_repair(path_.c_str(), 0, nullptr, hear, &told, health);
  }
  std::string copy() const { return path_ + ".000007"; }  // removed by the fixture
  tw_status defrag(Listener& told) { return tw_multifile_defrag(path_.c_str(), copy().c_str(), nullptr, hear, &told); }

  static void expect_whole_pass(const Listener& told) {
    EXPECT_EQ(told.total, kLogical * static_cast<std::int64_t>(kBytes));
    EXPECT_EQ(told.done, told.total);
    EXPECT_GE(told.calls, 2 * kLogical) << "also within a logical file";
    EXPECT_FALSE(told.falls);
    EXPECT_FALSE(told.beyond);
  }
};

TEST_F(Progress, OfVerifyAndDefragIsInBytesOfTheLogicalFiles) {
  close(write());
  Listener verified, copied;

  EXPECT_EQ(verify(verified), TW_OK) << tw_last_error();
  EXPECT_EQ(defrag(copied), TW_OK) << tw_last_error();

  expect_whole_pass(verified);
  expect_whole_pass(copied);
  EXPECT_EQ(verified.steps, 1);
  EXPECT_EQ(copied.steps, 1);
}

TEST_F(Progress, OfRepairIsInBytesOfThePhysicalFileAndThenAsOfVerify) {
  write_unclosed();
  Listener told;

  EXPECT_EQ(repair(told, nullptr), TW_OK) << tw_last_error();

  EXPECT_EQ(told.steps, 2);
  expect_whole_pass(told);
}

TEST_F(Progress, OfVerifyOfAnUnclosedFileBeginsWithItsRecovery) {
  write_unclosed();
  Listener told, first{.stop_at = 1};

  EXPECT_EQ(verify(told), TW_ERR_NOT_CLOSED);
  EXPECT_EQ(verify(first), TW_ERR_STOPPED);

  EXPECT_EQ(told.steps, 2);
  expect_whole_pass(told);
  EXPECT_EQ(first.calls, 1) << "nobody is asked again";
}

// Counts the calls behind the last one that told of bytes, and stops at a given one.
struct Asked {
  int stop_at = std::numeric_limits<int>::max();
  int calls = 0, last_calls = 0;
};

int ask(std::int64_t, std::int64_t total, void* user) {
  auto& asked = *static_cast<Asked*>(user);
  asked.last_calls = total > 0 ? 0 : asked.last_calls + 1;
  return ++asked.calls >= asked.stop_at ? 1 : 0;
}

TEST_F(Progress, OfARecoveryGoesOnWhileItsPiecesAreSortedAndMerged) {
  constexpr int kMany = 100'000, kAskedEach = 1024;
  leave_unclosed(write(kMany, 1));
  const auto recover = [&](Asked& asked) {
    EXPECT_EQ(tw_options_set_progress(config_, ask, &asked), TW_OK);
    tw_multifile* file = nullptr;
    const tw_status status = tw_multifile_open(nullptr, path_.c_str(), TW_READ | TW_RECOVER, config_, &file);
    if (file != nullptr) close(file);
    return status;
  };
  Asked all;

  ASSERT_EQ(recover(all), TW_OK) << tw_last_error();
  Asked stopped{.stop_at = all.calls};

  EXPECT_EQ(recover(stopped), TW_ERR_STOPPED);
  EXPECT_GE(all.last_calls, 3 * kMany / kAskedEach);
}

TEST_F(Progress, AnotherAnswerThanZeroStopsVerify) {
  close(write());
  Listener told{.stop_at = 2};
  tw_health health{};
  health.struct_size = sizeof health;

  EXPECT_EQ(tw_multifile_verify(path_.c_str(), nullptr, hear, &told, &health), TW_ERR_STOPPED);

  EXPECT_EQ(told.calls, 2);
  EXPECT_EQ(health.n_logical, kLogical);
  EXPECT_EQ(health.findings, 0);
}

TEST_F(Progress, AStoppedDefragLeavesNoCopy) {
  close(write());
  Listener told{.stop_at = 2};

  EXPECT_EQ(defrag(told), TW_ERR_STOPPED);

  EXPECT_EQ(told.calls, 2);
  EXPECT_FALSE(std::filesystem::exists(copy()));
}

TEST_F(Progress, AStoppedRepairLeavesTheFileAsItWasAndCanBeRepeated) {
  write_unclosed();
  Listener told{.stop_at = 2}, again;
  tw_health health{};
  health.struct_size = sizeof health;

  EXPECT_EQ(repair(told, &health), TW_ERR_STOPPED);

  EXPECT_EQ(told.calls, 2);
  EXPECT_EQ(health.repaired, 0);
  tw_multifile* file = nullptr;
  EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_READ, nullptr, &file), TW_ERR_NOT_CLOSED);
  EXPECT_EQ(repair(again, &health), TW_OK) << tw_last_error();
  EXPECT_EQ(health.repaired, 1);
}

TEST_F(Progress, ARepairThatIsStoppedWhenItVerifiesHasRepaired) {
  write_unclosed();
  Listener all, told;
  std::filesystem::copy_file(path_, copy());
  EXPECT_EQ(repair(all, nullptr), TW_OK) << tw_last_error();
  std::filesystem::rename(copy(), path_);
  told.stop_at = all.calls;
  tw_health health{};
  health.struct_size = sizeof health;

  EXPECT_EQ(repair(told, &health), TW_ERR_STOPPED);

  EXPECT_EQ(health.repaired, 1);
  close(open(TW_READ));
}

}  // namespace
}  // namespace thalweg::test
