// Concurrent operations of the threads of one process on the physical files that they write.
#include "multifile/write/write_set.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "sim/unshared_file.hpp"
#include "support/groups/meeting.hpp"

namespace thalweg {
namespace {

// A file that implements only sync.
class SyncedFile final : public UnsharedFile {
 public:
  SyncedFile(std::string path, std::function<Status()> on_sync)
      : path_(std::move(path)), on_sync_(std::move(on_sync)) {}
  Result<std::uint64_t> transfer(Direction, std::uint64_t, std::span<const Piece>) override { return std::uint64_t{0}; }
  Result<std::uint64_t> transfer_direct(Direction, std::uint64_t, std::span<const Piece>) override {
    return std::uint64_t{0};
  }
  Result<std::uint64_t> size() override { return std::uint64_t{0}; }
  Status truncate(std::uint64_t) override { return {}; }
  Status preallocate(std::uint64_t, std::uint64_t) override { return {}; }
  Status sync() override { return on_sync_(); }
  Result<std::uint64_t> next_data(std::uint64_t offset) override { return offset; }
  Status close() override { return {}; }
  const std::string& path() const override { return path_; }

 private:
  const std::string path_;
  const std::function<Status()> on_sync_;
};

class SyncedFiles final : public Backend {
 public:
  explicit SyncedFiles(std::function<Status()> on_sync) : on_sync_(std::move(on_sync)) {}
  Result<std::unique_ptr<StoredFile>> open(const std::string& path, const OpenOptions&) override {
    return std::unique_ptr<StoredFile>(std::make_unique<SyncedFile>(path, on_sync_));
  }
  Status remove(const std::string&) override { return {}; }
  Result<bool> exists(const std::string&) override { return true; }
  Status sync_directory_of(const std::string&) override { return {}; }
  Result<StorageInfo> describe(const std::string&) override { return StorageInfo{}; }
  const char* name() const override { return "synced"; }

 private:
  const std::function<Status()> on_sync_;
};

void open_files(WriteSet& set, std::uint32_t files) {
  for (std::uint32_t k = 0; k < files; ++k) {
    DomainShare share;
    share.physical = k;
    share.layout.domain_bytes = 1 << 20;
    ASSERT_TRUE(set.writer(share, {}).has_value());
  }
}

TEST(WriteSet, SyncsDifferentFilesAtTheSameTime) {
  test::Meeting both(2);
  std::atomic<int> alone = 0;
  const auto backend = std::make_shared<SyncedFiles>([&] {
    if (!both.come()) ++alone;
    return Status{};
  });
  WriteSet set(backend, "file", 2, 1);
  open_files(set, 2);

  std::thread other([&] { EXPECT_TRUE(set.sync_data().ok()); });
  EXPECT_TRUE(set.sync_data().ok());
  other.join();

  EXPECT_EQ(alone, 0) << "a thread waited for the sync of the other one";
}

TEST(WriteSet, SyncsAnewForWhoAsksWhileASyncRuns) {
  test::Meeting asked(2);
  std::atomic<int> syncs = 0;
  const auto backend = std::make_shared<SyncedFiles>([&] {
    const bool first = ++syncs == 1;
    EXPECT_TRUE(!first || asked.come());
    return Status{};
  });
  WriteSet set(backend, "file", 2, 1);
  open_files(set, 1);

  std::thread other([&] { EXPECT_TRUE(set.sync_data().ok()); });
  while (syncs == 0) std::this_thread::yield();
  std::thread third([&] {
    EXPECT_TRUE(asked.come());
    EXPECT_TRUE(set.sync_data().ok());
    EXPECT_EQ(syncs, 2);
  });
  other.join();
  third.join();
}

TEST(WriteSet, FailsEverySyncAfterAFailedOne) {
  int syncs = 0;
  const auto backend = std::make_shared<SyncedFiles>(
      [&] { return ++syncs == 1 ? Status::failed_call(Code::io_error, 5, "lost") : Status{}; });
  WriteSet set(backend, "file", 1, 1);
  open_files(set, 1);

  EXPECT_EQ(set.sync_data().code(), Code::io_error);
  EXPECT_EQ(set.sync_data().code(), Code::io_error);
}

}  // namespace
}  // namespace thalweg
