// The C++ types of one shared file: they say what the C calls say, and clean up.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "thalweg/thalweg.hpp"

namespace {

class CppFile : public testing::Test {
 protected:
  void SetUp() override {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr ? base : "/tmp") + "/cpp_file_" + std::to_string(::getpid());
    std::iota(values_.begin(), values_.end(), 0.5);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  static constexpr std::int32_t kNew = TW_FILE_READ | TW_FILE_WRITE | TW_FILE_CREATE;
  std::string path_;
  std::vector<double> values_ = std::vector<double>(100);
  thalweg::Group group_ = thalweg::Group::self();
};

TEST_F(CppFile, WritesAndReadsInEveryForm) {
  thalweg::File file(group_, path_, kNew, "io=buffered");
  file.write_all(values_);
  file.write_at_all(values_, 800);
  file.start_write_at_all(values_, 1600).wait();
  tw_extent last = {values_.data(), 800, 2400};
  file.write_list_all({&last, 1});

  std::array<double, 401> back{};
  EXPECT_EQ(file.read_at_all(back, 0), 3200);
  for (std::size_t i = 0; i < 400; ++i) ASSERT_EQ(back[i], values_[i % 100]);
  EXPECT_EQ(back[400], 0);
  EXPECT_EQ(file.size(), 3200);
  EXPECT_NE(file.last_plan(), "");
  file.sync();
  file.close();
}

TEST_F(CppFile, ThrowsWhatTheCallSays) {
  EXPECT_THROW(thalweg::File(group_, path_, TW_FILE_READ), thalweg::Error);
  thalweg::File file(group_, path_, TW_FILE_WRITE | TW_FILE_CREATE);
  try {
    file.read_at_all(values_, 0);
    FAIL() << "a file for writing was read";
  } catch (const thalweg::Error& error) {
    EXPECT_EQ(error.status(), TW_ERR_MODE);
    EXPECT_NE(std::string(error.what()).find(path_), std::string::npos) << error.what();
  }
}

TEST_F(CppFile, ARequestThatIsForgottenIsWaitedFor) {
  thalweg::File file(group_, path_, kNew);
  {
    const std::vector<char> large(10'000'000, 'x');
    thalweg::Request request = file.start_write_at_all(large, 0);
  }
  EXPECT_EQ(file.size(), 10'000'000);
}

}  // namespace
