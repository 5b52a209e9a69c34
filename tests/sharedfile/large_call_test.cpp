// Lengths that exceed 31 or 32 bits. Memory and files are sparse and touched at their ends only.
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr std::int64_t kLengths[] = {0, 1, (std::int64_t{1} << 31) - 1, std::int64_t{1} << 31,
                                     (std::int64_t{1} << 32) + 1};

// Addresses of any length, mapped repeatedly to a small piece of memory.
class Mapped {
 public:
  explicit Mapped(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes) + 1) {
    const int fd = ::memfd_create("thalweg_large_call", 0);
    EXPECT_EQ(::ftruncate(fd, kPiece), 0);
    memory_ = ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (std::size_t at = 0; at < bytes_ && !failed(); at += kPiece) {
      const std::size_t part = std::min(kPiece, bytes_ - at);
      if (::mmap(data() + at, part, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
        ADD_FAILURE() << "cannot map memory";
    }
    ::close(fd);
  }
  ~Mapped() { ::munmap(memory_, bytes_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  char* data() const { return static_cast<char*>(memory_); }
  bool failed() const { return memory_ == MAP_FAILED; }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 24;
  std::size_t bytes_;
  void* memory_ = nullptr;
};

class LargeCall : public SharedFiles {
 protected:
  void SetUp() override {
    SharedFiles::SetUp();
    if (kSanitized) GTEST_SKIP() << "too slow with sanitizers";
  }
};

// Reads a hole with a byte at its end, by calls of all lengths.
TEST_F(LargeCall, ReadsAllOfAnyLength) {
  for (const std::int64_t length : kLengths) {
    std::filesystem::remove(path());
    put("");
    ASSERT_EQ(::truncate(path().c_str(), length), 0);
    on_file(
        2,
        [&](tw_file* file, int task) {
          const Mapped memory(length);
          if (memory.failed()) return;
          if (length > 0 && task == 0) {
            EXPECT_EQ(tw_file_write_at(file, "z", 1, length - 1), TW_OK) << tw_last_error();
          }
          std::size_t n = 999;
          EXPECT_EQ(tw_file_read_at_all(file, memory.data(), task == 1 ? length : 0, 0, &n), TW_OK) << tw_last_error();
          EXPECT_EQ(n, task == 1 ? length : 0);
          if (task == 1 && length > 0) {
            EXPECT_EQ(memory.data()[length - 1], 'z') << length;
          }
          if (length != std::int64_t{1} << 31) return;
          tw_request* request = nullptr;
          EXPECT_EQ(tw_file_iread_at(file, memory.data(), task == 0 ? length : 0, 0, &request), TW_OK);
          EXPECT_EQ(tw_request_wait(&request, &n), TW_OK) << tw_last_error();
          EXPECT_EQ(n, task == 0 ? length : 0);
        },
        TW_READ | TW_WRITE, "method=direct");
  }
}

// A folder with space for files of `bytes` bytes: in memory if possible, else in the test folder. "": neither has
// space.
std::string roomy_folder(std::uintmax_t bytes) {
  for (const auto& where : {std::filesystem::path("/dev/shm"), std::filesystem::temp_directory_path()}) {
    std::error_code none;
    const auto space = std::filesystem::space(where, none);
    std::string name = (where / "thalweg_large_XXXXXX").string();
    if (!none && space.available > bytes + (bytes >> 2) && ::mkdtemp(name.data()) != nullptr) return name;
  }
  return "";
}

// The memory repeats a few pages, and so does the file.
TEST_F(LargeCall, WritesAllOfAnyLength) {
  const std::string folder = roomy_folder(std::uintmax_t{1} << 32);
  if (folder.empty()) GTEST_SKIP() << "no room for a file of 4 GiB";
  std::filesystem::remove_all(std::exchange(folder_, folder));
  for (const std::int64_t length : kLengths) {
    on_file(
        2,
        [&](tw_file* file, int task) {
          const Mapped memory(length);
          if (memory.failed()) return;
          if (task == 1)
            std::snprintf(memory.data(), static_cast<std::size_t>(std::min<std::int64_t>(length, 6)), "begin");
          const std::int64_t mine = task == 1 ? length : 0;
          EXPECT_EQ(tw_file_write_at_all(file, memory.data(), mine, 1), TW_OK) << tw_last_error();
          std::int64_t size = 0;
          EXPECT_EQ(tw_file_size(file, &size), TW_OK);
          EXPECT_EQ(size, length > 0 ? 1 + length : 0);
          for (std::int64_t at = 0; task == 1 && at < length; at += std::int64_t{1} << 30) {
            char back[6] = {};
            std::size_t n = 0;
            EXPECT_EQ(tw_file_read_at(file, back, 5, 1 + at, &n), TW_OK) << tw_last_error();
            EXPECT_TRUE(std::equal(back, back + n, memory.data() + at)) << length << " at " << at;
            EXPECT_EQ(n, std::min<std::int64_t>(5, length - at));
          }
          if (length != std::int64_t{1} << 31) return;
          tw_request* request = nullptr;
          std::size_t n = 0;
          EXPECT_EQ(tw_file_iwrite_at_all(file, memory.data(), mine, 0, &request), TW_OK);
          EXPECT_EQ(tw_request_wait(&request, &n), TW_OK) << tw_last_error();
          EXPECT_EQ(n, mine);
        },
        kNew, "method=direct");
  }
}

// Two pieces above 4 GiB apart, and one call that crosses 4 GiB.
TEST_F(LargeCall, WritesAboveAnyOffset) {
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  on_file(3, [](tw_file* file, int task) {
    const std::string data = text_of(task, 4096);
    std::string back(4096, '#');
    for (const std::int64_t at : {(std::int64_t{1} << 32) - 2048, kFar}) {
      EXPECT_EQ(tw_file_write_at_all(file, data.data(), 4096, at + task * 4096), TW_OK) << tw_last_error();
      std::size_t n = 0;
      EXPECT_EQ(tw_file_read_at_all(file, back.data(), 4096, at + task * 4096, &n), TW_OK) << tw_last_error();
      EXPECT_EQ(back, data);
    }
    std::int64_t size = 0;
    EXPECT_EQ(tw_file_size(file, &size), TW_OK);
    EXPECT_EQ(size, kFar + 3 * 4096);
  });
}

// Two distant blocks with direct I/O: the hole between them remains.
TEST_F(LargeCall, DirectWritesDoNotFillTheHoleBetweenThem) {
  constexpr std::int64_t kBytes = 4 << 20;
  on_file(
      2,
      [](tw_file* file, int task) {
        const Mapped memory(kBytes);
        if (memory.failed()) return;
        EXPECT_EQ(tw_file_write_at_all(file, memory.data(), kBytes, task * (std::int64_t{1} << 33)), TW_OK)
            << tw_last_error();
      },
      kNew | TW_DIRECT);
  struct stat about {};
  ASSERT_EQ(::stat(path().c_str(), &about), 0);
  EXPECT_LT(about.st_blocks * 512, 20 << 20);
}

}  // namespace
}  // namespace thalweg::test
