// Creation over existing files: of another active writer, of an older multifile, of foreign formats.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <fstream>
#include <new>
#include <sstream>

#include "support/files/on_disk.hpp"

namespace thalweg::test {
namespace {

class CreateInPlace : public OnDisk {
 protected:
  void TearDown() override {
    for (int k = 0; k < 4; ++k) std::filesystem::remove_all(part(k));
    OnDisk::TearDown();
  }
  std::string part(int k) const { return k == 0 ? path_ : path_ + ".00000" + std::to_string(k); }
  void write_old(const std::string& text, const std::string& physical_files) {
    hint("physical_files", physical_files);
    EXPECT_EQ(tw_options_set_range(config_, 4, 0, 4), TW_OK);
    tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
    ASSERT_NE(file, nullptr);
    for (int rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK);
      EXPECT_EQ(tw_multifile_write(file, text.data(), text.size()), TW_OK);
    }
    close(file);
  }
  void expect_old(const std::string& text) {
    tw_multifile* file = open(TW_READ);
    ASSERT_NE(file, nullptr);
    for (int rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK);
      EXPECT_EQ(read_all(file), text) << rank;
    }
    close(file);
  }
  tw_status try_create(int flags = 0) {
    tw_multifile* file = nullptr;
    const tw_status status = tw_multifile_open(nullptr, path_.c_str(), TW_CREATE | TW_TRUNCATE | flags, config_, &file);
    EXPECT_EQ(file, nullptr);
    return status;
  }
  static std::string content(const std::string& path) {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
  }
};

// Two programs create one name repeatedly: at most one at a time owns it, and after a successful close its data is
// present.
TEST_F(CreateInPlace, TwoProgramsDoNotDestroyEachOther) {
  struct Shared {
    std::atomic<int> arrived[200];
    std::atomic<int> opened[2], closed[2];
  };
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *new (memory) Shared{};
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    std::filesystem::remove(path_);
    pid_t children[2];
    for (int k = 0; k < 2; ++k) {
      children[k] = ::fork();
      if (children[k] != 0) continue;
      shared.arrived[round] += 1;
      while (shared.arrived[round] < 2) {
      }
      tw_multifile* file = nullptr;
      shared.opened[k] = tw_multifile_open(nullptr, path_.c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &file);
      shared.closed[k] = TW_ERR_MODE;
      if (shared.opened[k] != TW_OK) ::_exit(0);
      (void)tw_multifile_write(file, "hello", 5);
      (void)tw_multifile_flush(file);
      shared.closed[k] = tw_multifile_close(&file);
      ::_exit(0);
    }
    for (const pid_t child : children) ::waitpid(child, nullptr, 0);
    for (int k = 0; k < 2; ++k) {
      EXPECT_TRUE(shared.opened[k] == TW_OK || shared.opened[k] == TW_ERR_UNSAFE) << shared.opened[k];
      EXPECT_TRUE(shared.opened[k] != TW_OK || shared.closed[k] == TW_OK) << shared.closed[k];
    }
    EXPECT_TRUE(shared.opened[0] == TW_OK || shared.opened[1] == TW_OK);
    EXPECT_EQ(tw_multifile_verify(path_.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  }
  ::munmap(memory, sizeof(Shared));
}

TEST_F(CreateInPlace, WhatIsLockedIsLeftAsItIs) {
  for (const std::string& text : {std::string(), std::string("not yet a multifile")}) {
    std::ofstream(path_) << text;
    const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    struct flock session = {};
    session.l_type = F_RDLCK;
    session.l_start = off_t{1} << 62;
    session.l_len = 1;
    ASSERT_EQ(::fcntl(fd, F_OFD_SETLK, &session), 0);

    EXPECT_EQ(try_create(), TW_ERR_UNSAFE) << tw_last_error();
    EXPECT_EQ(try_create(TW_EXCLUSIVE), TW_ERR_EXISTS) << tw_last_error();

    EXPECT_EQ(content(path_), text);
    ::close(fd);
  }
}

TEST_F(CreateInPlace, AFailureLeavesTheOldMultifile) {
  write_old("old", "1");
  std::filesystem::create_directory(part(2));
  hint("physical_files", "4");

  EXPECT_EQ(try_create(), TW_ERR_IO) << tw_last_error();

  expect_old("old");
  EXPECT_FALSE(std::filesystem::exists(part(1)));
  EXPECT_FALSE(std::filesystem::exists(part(3)));
}

TEST_F(CreateInPlace, AFailureLeavesTheOldPartsToo) {
  write_old("older", "3");
  std::filesystem::create_directory(part(3));
  hint("physical_files", "4");

  EXPECT_EQ(try_create(), TW_ERR_IO) << tw_last_error();

  expect_old("older");
}

TEST_F(CreateInPlace, PartsThatAreNotReplacedAreRemoved) {
  write_old("first", "4");
  write_old("second", "2");

  expect_old("second");
  EXPECT_TRUE(std::filesystem::exists(part(1)));
  EXPECT_FALSE(std::filesystem::exists(part(2)));
  EXPECT_FALSE(std::filesystem::exists(part(3)));
}

TEST_F(CreateInPlace, FilesThatAreNoPartsAreRefusedAndStay) {
  std::ofstream(part(2)) << "the accounts of 1998";
  hint("physical_files", "3");

  EXPECT_EQ(try_create(), TW_ERR_UNSAFE);

  EXPECT_NE(std::string(tw_last_error()).find(part(2)), std::string::npos) << tw_last_error();
  EXPECT_EQ(content(part(2)), "the accounts of 1998");
  EXPECT_FALSE(std::filesystem::exists(part(0)));
  EXPECT_FALSE(std::filesystem::exists(part(1)));
}

TEST_F(CreateInPlace, AnotherMultifileIsNoPart) {
  write_old("apart", "1");
  std::filesystem::rename(part(0), part(1));
  const std::string before = content(part(1));
  hint("physical_files", "2");

  EXPECT_EQ(try_create(), TW_ERR_UNSAFE) << tw_last_error();

  EXPECT_EQ(content(part(1)), before);
  EXPECT_FALSE(std::filesystem::exists(part(0)));
}

TEST_F(CreateInPlace, EmptyFilesAndALinkToNothingAreReplaced) {
  std::ofstream(part(1)).flush();
  std::filesystem::create_symlink(part(3), path_);

  write_old("new", "2");

  expect_old("new");
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
}

TEST_F(CreateInPlace, ACloseLeavesAloneWhatHasTheNameNow) {
  for (const std::string physical_files : {"1", "3"}) {
    hint("physical_files", physical_files);
    EXPECT_EQ(tw_options_set_range(config_, 4, 0, 4), TW_OK);
    tw_multifile* mine = open(TW_CREATE | TW_TRUNCATE);
    ASSERT_NE(mine, nullptr);
    EXPECT_EQ(tw_multifile_write(mine, "mine", 4), TW_OK);
    EXPECT_EQ(tw_multifile_flush(mine), TW_OK);
    std::filesystem::create_directory(path_ + ".aside");
    for (int k = 0; k < 4; ++k) {
      if (std::filesystem::exists(part(k)))
        std::filesystem::rename(part(k), path_ + ".aside/x" + part(k).substr(path_.size()));
    }
    write_old("theirs", physical_files);

    EXPECT_EQ(tw_multifile_close(&mine), TW_ERR_UNSAFE);

    EXPECT_NE(std::string(tw_last_error()).find(path_), std::string::npos) << tw_last_error();
    expect_old("theirs");
    EXPECT_EQ(tw_multifile_repair((path_ + ".aside/x").c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK)
        << tw_last_error();
    std::filesystem::remove_all(path_ + ".aside");
  }
}

}  // namespace
}  // namespace thalweg::test
