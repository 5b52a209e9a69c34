// A test fixture: a multifile on disk, opened by one task through the C API. It removes its files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "thalweg/thalweg.h"

namespace thalweg::test {

class OnDisk : public testing::Test {
 protected:
  void SetUp() override {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr ? base : "/tmp") + "/on_disk_" + std::to_string(::getpid()) + ".tw";
    ASSERT_EQ(tw_options_create(&config_), TW_OK);
  }
  void TearDown() override {
    tw_options_free(&config_);
    for (int k = 0; k < 8; ++k) std::filesystem::remove(k == 0 ? path_ : path_ + ".00000" + std::to_string(k));
  }
  void hint(const char* name, const std::string& value) {
    ASSERT_EQ(tw_options_set_hint(config_, name, value.c_str()), TW_OK) << tw_last_error();
  }
  tw_multifile* open(int mode) {
    tw_multifile* file = nullptr;
    EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), mode, config_, &file), TW_OK) << tw_last_error();
    return file;
  }
  // Writes `n_logical` logical files of `bytes` bytes in one physical file, and returns the open handle.
  tw_multifile* write_each(std::int64_t n_logical, std::size_t bytes) {
    hint("physical_files", "1");
    EXPECT_EQ(tw_options_set_range(config_, n_logical, 0, n_logical), TW_OK);
    tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
    const std::string data(bytes, 'x');
    for (std::int64_t rank = 0; rank < n_logical; ++rank) {
      EXPECT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK);
      EXPECT_EQ(tw_multifile_write(file, data.data(), data.size()), TW_OK) << tw_last_error();
    }
    return file;
  }
  static void close(tw_multifile* file) { EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error(); }
  static std::string read_all(tw_multifile* file) {
    std::string all;
    char part[1000];
    for (std::size_t got = 1; got > 0;) {
      EXPECT_EQ(tw_multifile_read(file, part, sizeof part, &got), TW_OK) << tw_last_error();
      all.append(part, got);
    }
    return all;
  }

  std::string path_;
  tw_options* config_ = nullptr;
};

}  // namespace thalweg::test
