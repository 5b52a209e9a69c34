// Single calls above 4 GiB.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "thalweg/thalweg.h"

namespace {

constexpr std::size_t kBytes = (std::size_t{4} << 30) + 12'345;
constexpr std::size_t kStep = 64 << 20;  // distance of the marks: other pages stay the zero page

unsigned char* reserve() {
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<unsigned char*>(memory);
}

// Compressed, so that the test needs no 4 GiB of disk.
TEST(LargeCall, WritesAndReadsMoreThanFourGiBAtOnce) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "too slow under a sanitizer";
#endif
  const char* base = std::getenv("TMPDIR");
  const std::string path =
      std::string(base != nullptr ? base : "/tmp") + "/large_" + std::to_string(::getpid()) + ".tw";
  unsigned char* data = reserve();
  ASSERT_NE(data, nullptr);
  for (std::size_t i = 0; i < kBytes; i += kStep) data[i] = static_cast<unsigned char>(i / kStep + 1);
  data[kBytes - 1] = 77;
  tw_options* config = nullptr;
  ASSERT_EQ(tw_options_create(&config), TW_OK);
  ASSERT_EQ(tw_options_set_hint(config, "compression", "lz4"), TW_OK);
  tw_multifile* file = nullptr;
  ASSERT_EQ(tw_multifile_open(nullptr, path.c_str(), TW_CREATE | TW_TRUNCATE, config, &file), TW_OK) << tw_last_error();
  ASSERT_EQ(tw_multifile_write(file, data, kBytes), TW_OK) << tw_last_error();
  ASSERT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
  ::munmap(data, kBytes);

  data = reserve();
  ASSERT_NE(data, nullptr);
  std::size_t got = 0;
  ASSERT_EQ(tw_multifile_open(nullptr, path.c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();
  ASSERT_EQ(tw_multifile_read(file, data, kBytes, &got), TW_OK) << tw_last_error();
  EXPECT_EQ(got, kBytes);
  for (std::size_t i = 0; i < kBytes; i += kStep) ASSERT_EQ(data[i], static_cast<unsigned char>(i / kStep + 1)) << i;
  EXPECT_EQ(data[kBytes - 1], 77);
  ASSERT_EQ(tw_multifile_close(&file), TW_OK);
  ::munmap(data, kBytes);
  tw_options_free(&config);
  std::filesystem::remove(path);
}

}  // namespace
