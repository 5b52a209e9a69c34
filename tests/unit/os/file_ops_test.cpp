// System calls that succeed partly: interrupted, short, busy; replaced by hooks.
#include "os/file_ops.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <future>
#include <string>
#include <system_error>
#include <vector>

#include "base/endian.hpp"
#include "os/filesystem_info.hpp"
#include "os/wait.hpp"

namespace thalweg {
namespace {

using Bytes = std::vector<std::byte>;

int calls_made = 0;
std::size_t largest_call = 0;

// Every second call is interrupted, the others transfer at most 100 bytes.
std::size_t meagre(std::size_t bytes) { return std::min<std::size_t>(bytes, 100); }
bool interrupted() {
  errno = EINTR;
  return ++calls_made % 2 == 1;
}
ssize_t meagre_read(int fd, void* data, std::size_t bytes, off_t at) {
  return interrupted() ? -1 : ::pread(fd, data, meagre(bytes), at);
}
ssize_t meagre_read_parts(int fd, const iovec* parts, int, off_t at) {
  return interrupted() ? -1 : ::pread(fd, parts[0].iov_base, meagre(parts[0].iov_len), at);
}
ssize_t meagre_write(int fd, const void* data, std::size_t bytes, off_t at) {
  return interrupted() ? -1 : ::pwrite(fd, data, meagre(bytes), at);
}
ssize_t meagre_write_parts(int fd, const iovec* parts, int, off_t at) {
  return interrupted() ? -1 : ::pwrite(fd, parts[0].iov_base, meagre(parts[0].iov_len), at);
}
int interrupted_sync(int fd) { return interrupted() ? -1 : ::fdatasync(fd); }

ssize_t busy_write(int fd, const void* data, std::size_t bytes, off_t at) {
  errno = EAGAIN;
  return ++calls_made < 4 ? -1 : ::pwrite(fd, data, bytes, at);
}
ssize_t write_of_nothing(int, const void*, std::size_t, off_t) { return 0; }
ssize_t full_write(int, const void*, std::size_t, off_t) {
  errno = ENOSPC;
  return -1;
}
ssize_t bottomless_write(int, const void*, std::size_t bytes, off_t) {
  largest_call = std::max(largest_call, bytes);
  ++calls_made;
  return static_cast<ssize_t>(bytes);
}
ssize_t bottomless_write_parts(int, const iovec* parts, int count, off_t) {
  EXPECT_LE(count, 1024);
  std::size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
  return bottomless_write(0, nullptr, bytes, 0);
}

constexpr OpenOptions kNew{.write = true, .create = true, .exclusive = true};

class FileOps : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "thalweg_os_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ + "/file";
    file_ = open_file(path_, kNew).value();
    saved_ = transfer_calls();
    calls_made = 0;
    largest_call = 0;
  }
  void TearDown() override {
    transfer_calls() = saved_;
    std::filesystem::remove_all(folder_);
  }
  Status write(std::uint64_t offset, ByteView data) {
    const Piece piece = piece_of(data);
    return transfer_at(file_, {path_, Direction::write, offset}, {&piece, 1}).status();
  }

  std::string folder_, path_;
  FileDescriptor file_;
  TransferCalls saved_{};
};

Bytes pattern(std::size_t bytes) {
  Bytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 7 + i / 256);
  return out;
}

TEST_F(FileOps, InterruptedAndShortTransfersAreContinued) {
  transfer_calls() = {meagre_read, meagre_read_parts, meagre_write, meagre_write_parts, interrupted_sync};
  Bytes data = pattern(12345), back(12345);
  const Piece from[] = {{data.data(), 5000}, {nullptr, 0}, {data.data() + 5000, 1}, {data.data() + 5001, 7344}};
  const Piece to[] = {{back.data(), 12}, {back.data() + 12, 12333}, {nullptr, 0}};

  EXPECT_EQ(transfer_at(file_, {path_, Direction::write, 3}, from).value(), data.size());
  EXPECT_TRUE(sync_file(file_, path_).ok());
  EXPECT_EQ(transfer_at(file_, {path_, Direction::read, 3}, to).value(), data.size());
  EXPECT_EQ(back, data);
  EXPECT_EQ(transfer_at(file_, {path_, Direction::read, 12000}, to).value(), 348u);
}

TEST_F(FileOps, ABusyFileIsTriedAgain) {
  transfer_calls().write = busy_write;

  EXPECT_TRUE(write(0, pattern(10)).ok());

  EXPECT_EQ(calls_made, 4);
}

TEST_F(FileOps, AWriteThatTakesNothingFailsInsteadOfTurningForEver) {
  transfer_calls().write = write_of_nothing;

  EXPECT_EQ(write(0, pattern(10)).code(), Code::io_error);
}

TEST_F(FileOps, AFailureNamesActionPlaceAndFile) {
  transfer_calls().write = full_write;

  const Status status = write(4096, pattern(10));

  EXPECT_EQ(status.code(), Code::no_space);
  EXPECT_EQ(status.os_errno(), ENOSPC);
  EXPECT_EQ(status.message(), "cannot write 10 bytes at offset 4096 of '" + path_ + "': No space left on device");
}

TEST_F(FileOps, MoreThanTheKernelTakesIsSplit) {
  transfer_calls().write = bottomless_write;
  transfer_calls().write_parts = bottomless_write_parts;
  const std::size_t part_bytes = std::size_t{5} << 30;
  // Never read: a hook replaces the call.
  const Piece big{reinterpret_cast<std::byte*>(this), part_bytes};
  const Piece pieces[] = {big, big};

  EXPECT_TRUE(transfer_at(file_, {path_, Direction::write, 0}, pieces).has_value());

  EXPECT_EQ(largest_call, std::size_t{1} << 30);
  EXPECT_EQ(calls_made, 10);
}

// Direct I/O cannot continue at the end of a short transfer.
TEST_F(FileOps, ShortDirectTransfersAreContinuedFromTheLastBlock) {
  ASSERT_TRUE(write(0, pattern(3000)).ok());
  transfer_calls().read = [](int fd, void* data, std::size_t bytes, off_t at) {
    EXPECT_EQ(at % 512, 0);
    EXPECT_EQ(bytes % 512, 0u);
    return ::pread(fd, data, std::min<std::size_t>(bytes, 700), at);
  };
  Bytes back(4096);
  const Piece part{back.data(), back.size()};

  const auto got = transfer_at(file_, {path_, Direction::read, 0, 512}, std::span(&part, 1));

  ASSERT_TRUE(got.has_value()) << got.error().message();
  EXPECT_EQ(got.value(), 3000u);
  back.resize(3000);
  EXPECT_EQ(back, pattern(3000));
}

TEST_F(FileOps, DirectTransfersThatNeverMoveABlockFail) {
  ASSERT_TRUE(write(0, pattern(3000)).ok());
  transfer_calls().write = [](int, const void*, std::size_t, off_t) -> ssize_t { return 100; };
  Bytes data(1024);
  const Piece part{data.data(), data.size()};

  EXPECT_EQ(transfer_at(file_, {path_, Direction::write, 0, 512}, std::span(&part, 1)).status().code(), Code::io_error);
}

TEST_F(FileOps, AWriteAbove4GiBArrives) {
  std::filesystem::remove(path_);
  path_ = "/dev/shm/thalweg_above_4_gib_" + std::to_string(::getpid());
  auto made = open_file(path_, kNew);
  if (!made.has_value()) GTEST_SKIP() << made.error().message();
  file_ = std::move(made).value();
  EXPECT_TRUE(remove_file(path_).ok());
  const Bytes data = pattern(100);
  const std::uint64_t far = (std::uint64_t{1} << 32) - 50;

  EXPECT_TRUE(write(far, data).ok());

  Bytes back(200);
  const Piece to = piece_of(back);
  EXPECT_EQ(transfer_at(file_, {path_, Direction::read, far}, {&to, 1}).value(), 100u);
  back.resize(100);
  EXPECT_EQ(back, data);
  EXPECT_EQ(file_size(file_, path_).value(), far + 100);
}

TEST_F(FileOps, DescriptorsAreNotInherited) { EXPECT_TRUE(::fcntl(file_.get(), F_GETFD) & FD_CLOEXEC); }

TEST_F(FileOps, ErrorsOfTheSystemKeepTheirMeaning) {
  EXPECT_EQ(open_file(folder_ + "/none/file", {.write = true, .create = true, .truncate = true}).status().code(),
            Code::not_found);
  EXPECT_EQ(open_file(path_, kNew).status().code(), Code::already_exists);
  EXPECT_EQ(open_file(folder_, {.write = true}).status().code(), Code::io_error);
  EXPECT_EQ(remove_file(folder_ + "/none").code(), Code::not_found);
  EXPECT_EQ(sync_folder(folder_ + "/none").code(), Code::not_found);
  EXPECT_EQ(filesystem_info(folder_ + "/none/file").status().code(), Code::not_found);
  EXPECT_FALSE(file_exists(path_ + "/below").value());
}

TEST_F(FileOps, FolderOfAPath) {
  EXPECT_EQ(folder_of("file"), ".");
  EXPECT_EQ(folder_of("/file"), "/");
  EXPECT_EQ(folder_of("a/b/file"), "a/b");
}

TEST_F(FileOps, FilesystemInfoKnowsTmpfs) {
  if (!std::filesystem::is_directory("/dev/shm")) GTEST_SKIP() << "no /dev/shm here";
  auto info = filesystem_info("/dev/shm/thalweg_none");

  ASSERT_TRUE(info.has_value()) << info.error().message();
  EXPECT_EQ(info.value().kind, "tmpfs");
  EXPECT_FALSE(info.value().is_network);
}

// Closing any descriptor of a file ends the locks of the process on it. XFS has an identity that needs a descriptor.
TEST_F(FileOps, LocksOfTheProcessStayWhileTheFileSystemIsDescribed) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  ASSERT_EQ(::fcntl(file_.get(), F_SETLK, &lock), 0);
  const auto by_path = filesystem_info(path_);
  const auto by_file = filesystem_info_of(file_.get(), path_);
  auto other = open_file(path_, {.write = true});
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(::fcntl(other.value().get(), F_OFD_GETLK, &lock), 0);
  EXPECT_EQ(lock.l_type, F_WRLCK) << "the lock is gone";
  EXPECT_EQ(by_path.value().identity, by_file.value().identity);
  const StorageInfo caching = caching_of(file_.get());
  EXPECT_EQ(caching.kind, by_file.value().kind);
  EXPECT_EQ(caching.is_coherent, by_file.value().is_coherent);
}

// A program that is profiled gets signals all the time.
TEST(Sleeping, GoesOnAfterASignal) {
  static std::atomic<int> n_signals{0};
  struct sigaction count = {}, before = {};
  count.sa_handler = [](int) { ++n_signals; };
  ASSERT_EQ(::sigaction(SIGALRM, &count, &before), 0);
  const itimerval each_ms{{0, 1000}, {0, 1000}}, none{};
  ::setitimer(ITIMER_REAL, &each_ms, nullptr);
  sleep_for(std::chrono::milliseconds(200));
  ::setitimer(ITIMER_REAL, &none, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_GT(n_signals.load(), 1);
}

// While the text is read from a pipe, the descriptors of the process can be looked at.
TEST(ProcText, IsReadAsAWholeAndChildrenInheritNoDescriptor) {
  EXPECT_EQ(proc_text("/proc/self/no such file"), "");
  const auto pipe = std::filesystem::temp_directory_path() / ("thalweg_pipe_" + std::to_string(::getpid()));
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  auto text = std::async(std::launch::async, [&] { return proc_text(pipe.c_str()); });
  FileDescriptor writer(::open(pipe.c_str(), O_WRONLY | O_CLOEXEC));
  int found = 0, inherited = 0;
  for (int tries = 0; found < 2 && tries < 10'000; ++tries) {  // the reader's open may return after that of the writer
    found = inherited = 0;
    for (int fd = 0; fd < 1024; ++fd) {
      std::error_code error;
      if (std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error) != pipe) continue;
      ++found;
      inherited += (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(found, 2);
  EXPECT_EQ(inherited, 0);
  const std::string sent(10'000, 'x');
  EXPECT_EQ(::write(writer.get(), sent.data(), sent.size()), 10'000);
  close_descriptor(writer.release());
  EXPECT_EQ(text.get(), sent);
  std::filesystem::remove(pipe);
}

// Another node removes a file that this one opens by a name it has cached.
TEST(Names, AFileWithoutANameIsKnown) {
  const std::string path = (std::filesystem::temp_directory_path() / "thalweg_names_test").string();
  auto file = open_file(path, {.write = true, .create = true});
  ASSERT_TRUE(file.has_value());
  EXPECT_FALSE(was_removed(file.value(), path));
  EXPECT_TRUE(is_cached_name(path));
  EXPECT_TRUE(remove_file(path).ok());
  EXPECT_TRUE(was_removed(file.value(), path));
  EXPECT_FALSE(is_cached_name(path));
  EXPECT_FALSE(file_exists(path).value());
}

TEST(FilesystemKinds, TmpfsHasNothingToGoPast) {
  auto file = open_unnamed_file("/dev/shm");
  if (!file.has_value()) GTEST_SKIP() << "no /dev/shm";
  EXPECT_FALSE(takes_direct_page(file.value()));
}

// Magic numbers as statfs(2) reports them.
TEST(FilesystemKinds, ThoseThatManyMachinesShareAndFuseAreNetworks) {
  const std::pair<std::uint32_t, const char*> networks[] = {
      {0x6969, "nfs"},         {0x0BD00BD0, "lustre"}, {0x47504653, "gpfs"},  {0x19830326, "beegfs"},
      {0x65735546, "fuse"},    {0x00C36400, "ceph"},   {0xFF534D42, "cifs"},  {0xFE534D42, "smb2"},
      {0x01021997, "9p"},      {0xAAD7AAEA, "panfs"},  {0x7461636F, "ocfs2"}, {0x01161970, "gfs2"},
      {0x20030528, "orangefs"}};
  for (const auto& [magic, name] : networks) {
    EXPECT_STREQ(filesystem_kind(magic).name, name);
    EXPECT_TRUE(filesystem_kind(magic).network) << name;
  }
  const std::pair<std::uint32_t, const char*> locals[] = {
      {0xEF53, "ext4"},    {0x58465342, "xfs"},     {0x01021994, "tmpfs"}, {0x9123683E, "btrfs"},
      {0x2FC12FC1, "zfs"}, {0x794C7630, "overlay"}, {0x858458F6, "ramfs"}, {0xF2F52010, "f2fs"}};
  for (const auto& [magic, name] : locals) {
    EXPECT_STREQ(filesystem_kind(magic).name, name);
    EXPECT_FALSE(filesystem_kind(magic).network) << name;
  }
  for (const std::uint32_t magic : {0x0BD00BD0U, 0x47504653U, 0x00C36400U, 0xEF53U})
    EXPECT_TRUE(filesystem_kind(magic).coherent) << magic;
  for (const std::uint32_t magic : {0x6969U, 0x65735546U, 0xFF534D42U, 0x01021997U, 0x19830326U})
    EXPECT_FALSE(filesystem_kind(magic).coherent) << magic;
  EXPECT_EQ(filesystem_kind(0x12345678).name, nullptr);
  EXPECT_FALSE(filesystem_kind(0x12345678).network) << "unknown ones are local";
}

// By the options that a mount shows in /proc/self/mountinfo.
TEST(FilesystemKinds, LocksReachAllNodesWhereThatIsKnown) {
  for (const auto& [kind, options] :
       std::vector<std::pair<const char*, const char*>>{{"lustre", "rw,flock,lazystatfs"},
                                                        {"nfs", "rw,vers=4.2,local_lock=none,addr=10.0.0.1"},
                                                        {"gpfs", "rw"},
                                                        {"ceph", "rw"},
                                                        {"gfs2", "rw"},
                                                        {"fuse.glusterfs", "rw,user_id=0"}})
    EXPECT_TRUE(locks_reach_all(kind, options)) << kind << " " << options;
  for (const auto& [kind, options] :
       std::vector<std::pair<const char*, const char*>>{{"lustre", "rw,localflock"},
                                                        {"lustre", "rw"},
                                                        {"nfs", "rw,vers=3,nolock,local_lock=all"},
                                                        {"nfs", "rw,vers=4.1,local_lock=posix"},
                                                        {"nfs", ""},
                                                        {"gfs2", "rw,localflocks"},
                                                        {"ocfs2", "rw"},
                                                        {"beegfs", "rw"},
                                                        {"cifs", "rw"},
                                                        {"9p", "rw"},
                                                        {"fuse.sshfs", "rw"},
                                                        {"fuse", "rw"}})
    EXPECT_FALSE(locks_reach_all(kind, options)) << kind << " " << options;
}

// ENOSYS, EOPNOTSUPP, ENOLCK, EINVAL: nobody is kept away.
TEST_F(FileOps, AnErrorOfALockIsNoLock) {
  const FileDescriptor other = open_file(path_, {.write = true}).value();
  EXPECT_EQ(lock_file(file_, FileLock::session), LockAnswer::granted);
  EXPECT_EQ(lock_file(other, FileLock::session), LockAnswer::refused);
  EXPECT_EQ(lock_file(open_file(path_, {}).value(), FileLock::session), LockAnswer::refused);
  static int error;
  for (const int value : {ENOSYS, EOPNOTSUPP, ENOLCK, EINVAL}) {
    error = value;
    transfer_calls().lock = [](int, int, struct ::flock*) {
      errno = error;
      return -1;
    };
    EXPECT_EQ(lock_file(other, FileLock::session), LockAnswer::absent);
    EXPECT_EQ(share_lock(other, FileLock::writers), LockAnswer::absent);
  }
}

// In a process of its own, which may use 4 more descriptors than it has, and 8 more at most.
TEST(OpenFileLimit, IsRaisedToTheHardOneAndThenNamed) {
  const auto body = [] {
    rlim_t used = 0;
    for (int fd = 0; fd < 1000; ++fd)
      if (::fcntl(fd, F_GETFD) != -1) used = static_cast<rlim_t>(fd) + 1;
    const rlimit few{used + 4, used + 8};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0) std::_Exit(2);
    std::vector<FileDescriptor> files;
    while (files.size() < 1100) {
      auto file = open_file("/dev/../etc/passwd", {});
      if (!file.has_value()) {
        std::fprintf(stderr, "%s\n", file.error().message().c_str());
        const bool raised = !files.empty() && static_cast<rlim_t>(files.back().get()) + 1 == few.rlim_max;
        std::_Exit(file.error().os_errno() == EMFILE && raised ? 0 : 3);
      }
      files.push_back(std::move(file).value());
    }
    std::_Exit(1);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "its limit of [0-9]+ open files");
}

}  // namespace
}  // namespace thalweg
