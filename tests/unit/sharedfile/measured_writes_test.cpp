// Storage without a profile is measured once.
#include "sharedfile/file_strategy.hpp"
#include "sim/memory_backend.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

namespace thalweg {
namespace {

// A backend with known write times.
class Timed final : public Backend {
 public:
  explicit Timed(std::optional<MeasuredWrites> writes) : writes_(writes) {}
  using Backend::open;
  Result<std::unique_ptr<StoredFile>> open(const std::string& path, const OpenOptions& how) override {
    return memory_->open(path, how);
  }
  Status remove(const std::string& path) override { return memory_->remove(path); }
  Result<bool> exists(const std::string& path) override { return memory_->exists(path); }
  Status sync_directory_of(const std::string& path) override { return memory_->sync_directory_of(path); }
  Result<StorageInfo> describe(const std::string& path) override { return memory_->describe(path); }
  std::optional<MeasuredWrites> measure_writes(const std::string&) override {
    ++tried;
    return writes_;
  }
  const char* name() const override { return "timed"; }

  int tried = 0;

 private:
  std::shared_ptr<Backend> memory_ = make_memory_backend();
  std::optional<MeasuredWrites> writes_;
};

class MeasuredWritesTest : public testing::Test {
 protected:
  void SetUp() override { setenv("THALWEG_PROFILE", "/nowhere/storage.json", 1); }
  void TearDown() override { setenv("THALWEG_PROFILE", "none", 1); }

  static StorageInfo storage(const char* identity) {
    StorageInfo info;
    info.identity = identity;
    return info;
  }
};

TEST_F(MeasuredWritesTest, SlowStorageIsToldToTheCostModel) {
  Timed backend(MeasuredWrites{150'000, 2});
  Strategy strategy;
  measure_writes(backend, "file", storage("slow"), strategy);

  EXPECT_EQ(strategy.costs.call_ns, 150'000);
  EXPECT_EQ(strategy.costs.common_byte_ns, 2);
  EXPECT_EQ(strategy.costs.parallel_writes, 0u);
}

TEST_F(MeasuredWritesTest, AreMadeOncePerFileSystem) {
  Timed backend(MeasuredWrites{150'000, 2});
  for (int i = 0; i < 3; ++i) {
    Strategy strategy;
    measure_writes(backend, "file", storage("once"), strategy);
    EXPECT_EQ(strategy.costs.call_ns, 150'000);
  }
  EXPECT_EQ(backend.tried, 1);
  Strategy strategy;
  measure_writes(backend, "file", storage("another"), strategy);
  EXPECT_EQ(backend.tried, 2);
}

TEST_F(MeasuredWritesTest, ChangeNothingWhereAWriteIsQuickOrCannotBeTried) {
  const StorageCosts costs = Strategy{}.costs;
  for (const auto& [identity, writes] :
       {std::pair{"quick", std::optional(MeasuredWrites{3000, 0.2})}, {"untried", std::nullopt}}) {
    Timed backend(writes);
    Strategy strategy;
    measure_writes(backend, "file", storage(identity), strategy);
    EXPECT_EQ(strategy.costs.call_ns, costs.call_ns);
    EXPECT_EQ(strategy.costs.common_byte_ns, 0);
    EXPECT_EQ(backend.tried, 1);
  }
}

TEST_F(MeasuredWritesTest, AreNotMadeWhereProfilesAreTurnedOff) {
  setenv("THALWEG_PROFILE", "none", 1);
  Timed backend(MeasuredWrites{150'000, 2});
  Strategy strategy;
  measure_writes(backend, "file", storage("off"), strategy);
  EXPECT_EQ(backend.tried, 0);
}

TEST_F(MeasuredWritesTest, OfFilesLeaveNothingBehind) {
  std::string folder = testing::TempDir() + "measured_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto writes = posix_backend()->measure_writes(folder + "/file");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
  if (!writes.has_value()) GTEST_SKIP() << "this file system has no files without names";
  EXPECT_GT(writes->call_ns, 0);
  EXPECT_GE(writes->byte_ns, 0);
  EXPECT_FALSE(posix_backend()->measure_writes("/nowhere/file").has_value());
}

}  // namespace
}  // namespace thalweg
