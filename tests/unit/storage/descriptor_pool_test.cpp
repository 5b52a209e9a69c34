// Files whose descriptors are closed and opened again behind the back of those who use them.
#include "storage/descriptor_pool.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

namespace thalweg {
namespace {

namespace fs = std::filesystem;

class Descriptors : public testing::Test {
 protected:
  void SetUp() override {
    const char* base = std::getenv("TMPDIR");
    folder_ = fs::path(base != nullptr ? base : "/tmp") / ("descriptors_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    files_.clear();
    transfer_calls() = as_before_;
    fs::remove_all(folder_);
  }
  std::string path(int i) const { return folder_ / std::to_string(i); }
  PooledDescriptor& open(FileCreation creation = FileCreation::exclusive) {
    files_.push_back(
        std::make_unique<PooledDescriptor>(pool_, path(static_cast<int>(files_.size())), FileAccess::read_write));
    EXPECT_TRUE(files_.back()->open(creation).ok());
    return *files_.back();
  }
  void open_another() { (void)open(FileCreation::truncate); }
  static void put(PooledDescriptor& file, char c, std::uint64_t at) {
    auto use = file.use_to_write();
    ASSERT_TRUE(use.has_value()) << use.error().message();
    const ByteView part = std::as_bytes(std::span(&c, 1));
    ASSERT_TRUE(write_at(use->file(), "file", at, std::span(&part, 1)).ok());
  }
  static char get(PooledDescriptor& file, std::uint64_t at) {
    char c = 0;
    auto use = file.use();
    EXPECT_TRUE(use.has_value() &&
                read_at(use->file(), "file", at, std::as_writable_bytes(std::span(&c, 1))).has_value());
    return c;
  }

  fs::path folder_;
  DescriptorPool pool_{[] { return std::size_t{2}; }};
  std::vector<std::unique_ptr<PooledDescriptor>> files_;
  const TransferCalls as_before_ = transfer_calls();
};

TEST_F(Descriptors, AreFewForManyFilesWhichKeepTheirBytes) {
  for (int i = 0; i < 10; ++i) put(open(), static_cast<char>('a' + i), 0);
  for (int i = 0; i < 10; ++i) put(*files_[static_cast<std::size_t>(i)], 'x', 1);

  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(get(*files_[static_cast<std::size_t>(i)], 0), 'a' + i) << "opening again truncates nothing";
    EXPECT_EQ(get(*files_[static_cast<std::size_t>(i)], 1), 'x');
    EXPECT_LE(pool_.open_now(), 2u);
  }
  for (const auto& file : files_) EXPECT_TRUE(file->close().ok());
  EXPECT_EQ(pool_.open_now(), 0u);
}

TEST_F(Descriptors, InUseAreNotTaken) {
  auto held = open().use();
  ASSERT_TRUE(held.has_value());
  const int number = held->file().get();
  for (int i = 0; i < 5; ++i) open_another();

  EXPECT_EQ(held->file().get(), number);
  EXPECT_TRUE(file_size(held->file(), path(0)).has_value());
}

TEST_F(Descriptors, ThatHoldALockAreNeverTaken) {
  PooledDescriptor& locked = open();
  {
    auto use = locked.use();
    ASSERT_TRUE(use.has_value() && lock_file(use->file(), FileLock::session, LockKind::exclusive));
    use->for_ever();
  }
  for (int i = 0; i < 5; ++i) open_another();

  auto other = open_file(path(0), {});
  ASSERT_TRUE(other.has_value());
  EXPECT_FALSE(lock_file(*other, FileLock::session, LockKind::exclusive)) << "the lock was given up";
  EXPECT_TRUE(locked.close().ok());
  EXPECT_TRUE(lock_file(*other, FileLock::session, LockKind::exclusive));
}

TEST_F(Descriptors, OfFilesThatAreKeptOpenAreNeverTaken) {
  PooledDescriptor kept(pool_, path(100), FileAccess::read_write);
  ASSERT_TRUE(kept.open(FileCreation::exclusive, 0600, PooledDescriptor::Parking::never).ok());
  fs::remove(path(100));
  for (int i = 0; i < 5; ++i) open_another();

  put(kept, 'a', 0);
  EXPECT_EQ(get(kept, 0), 'a');
  EXPECT_TRUE(kept.close().ok());
}

TEST_F(Descriptors, OfFilesThatCouldNotBeOpenedAgainAreNeverTaken) {
  PooledDescriptor sealed(pool_, path(100), FileAccess::read_write);
  ASSERT_TRUE(sealed.open(FileCreation::exclusive, 0444).ok());
  const int number = sealed.use()->file().get();
  for (int i = 0; i < 5; ++i) open_another();

  EXPECT_EQ(sealed.use()->file().get(), number);
}

TEST_F(Descriptors, PastThePageCacheAreParkedAndComeBackSo) {
  PooledDescriptor direct(pool_, path(0), FileAccess::read_write, PooledDescriptor::Way::direct);
  if (!direct.open_beside(open(), PooledDescriptor::Parking::may).ok()) GTEST_SKIP() << "no direct I/O here";
  for (int i = 0; i < 5; ++i) open_another();

  auto use = direct.use();

  ASSERT_TRUE(use.has_value()) << use.error().message();
  EXPECT_NE(::fcntl(use->file().get(), F_GETFL) & O_DIRECT, 0);
  EXPECT_LE(pool_.open_now(), 2u);
}

TEST_F(Descriptors, FollowAFileThatIsRenamed) {
  put(open(), 'a', 0);
  fs::rename(path(0), folder_ / "renamed");  // before it is parked
  for (int i = 0; i < 3; ++i) open_another();

  EXPECT_EQ(get(*files_[0], 0), 'a');
}

TEST_F(Descriptors, DoNotPassAnotherFileOffAsTheSame) {
  put(open(), 'a', 0);
  for (int i = 0; i < 3; ++i) open_another();
  std::ofstream(folder_ / "new") << "b";
  fs::rename(folder_ / "new", path(0));

  auto use = files_[0]->use();

  ASSERT_FALSE(use.has_value());
  EXPECT_NE(use.error().message().find("replaced by another file"), std::string::npos) << use.error().message();
}

TEST_F(Descriptors, OfARemovedFileAreKept) {
  put(open(), 'a', 0);
  fs::remove(path(0));
  for (int i = 0; i < 5; ++i) open_another();

  EXPECT_EQ(get(*files_[0], 0), 'a');
}

int syncs_made = 0;
int failing_sync(int) {
  ++syncs_made;
  errno = EIO;
  return -1;
}

TEST_F(Descriptors, OfWhatIsNeverSyncedAreTakenWithoutASync) {
  put(open(), 'a', 0);
  syncs_made = 0;
  transfer_calls().sync = failing_sync;
  for (int i = 0; i < 3; ++i) open_another();

  EXPECT_EQ(syncs_made, 0);
  EXPECT_TRUE(files_[0]->close().ok());
}

TEST_F(Descriptors, TellOfBytesThatWereLostWhenTheyWereTaken) {
  PooledDescriptor& file = open();
  put(file, 'a', 0);
  file.note_sync();
  put(file, 'b', 1);
  transfer_calls().sync = failing_sync;
  for (int i = 0; i < 3; ++i) open_another();

  EXPECT_EQ(file.lost().os_errno(), EIO);
  EXPECT_EQ(file.close().os_errno(), EIO);
}

TEST_F(Descriptors, TellOfBytesThatWereWrittenWhileASyncBegan) {
  PooledDescriptor& file = open();
  {
    auto use = file.use_to_write();
    ASSERT_TRUE(use.has_value());
    file.note_sync();
    const std::byte c{'a'};
    const ByteView part(&c, 1);
    ASSERT_TRUE(write_at(use->file(), "file", 0, std::span(&part, 1)).ok());
  }
  transfer_calls().sync = failing_sync;
  for (int i = 0; i < 3; ++i) open_another();

  EXPECT_EQ(file.lost().os_errno(), EIO);
  EXPECT_EQ(file.close().os_errno(), EIO);
}

TEST_F(Descriptors, AreSharedByThreads) {
  constexpr int kFiles = 6;
  for (int i = 0; i < kFiles; ++i) put(open(), static_cast<char>('a' + i), 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([this, t] {
      for (int round = 0; round < 300; ++round) {
        const int i = (round * (t + 1)) % kFiles;
        EXPECT_EQ(get(*files_[static_cast<std::size_t>(i)], 0), 'a' + i);
      }
    });
  for (std::thread& thread : threads) thread.join();

  EXPECT_LE(pool_.open_now(), 2u + 3u);
}

}  // namespace
}  // namespace thalweg
