// A multifile of the threads of an OpenMP region, from an OpenMP program's view.
#include <gtest/gtest.h>
#include <omp.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "thalweg/group_omp.h"
#include "thalweg/thalweg.h"

namespace {

class OmpMultifile : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "thalweg_omp_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = (folder_ / "run.tw").string();
    omp_set_dynamic(0);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::vector<int> records_of(int thread) {
    std::vector<int> records(static_cast<std::size_t>(5000 + 40'000 * (thread % 2)));
    for (std::size_t i = 0; i < records.size(); ++i) records[i] = thread * 1'000'000 + static_cast<int>(i);
    return records;
  }

  std::filesystem::path folder_;
  std::string path_;
};

void write_records(tw_multifile* file, const std::vector<int>& records) {
  for (std::size_t i = 0; i < records.size(); i += 100)
    EXPECT_EQ(tw_multifile_write(file, &records[i], 100 * sizeof(int)), TW_OK) << tw_last_error();
}

std::vector<int> read_records(tw_multifile* file) {
  std::int64_t bytes = 0;
  EXPECT_EQ(tw_multifile_available(file, nullptr, &bytes), TW_OK);
  std::vector<int> records(static_cast<std::size_t>(bytes) / sizeof(int));
  EXPECT_EQ(tw_multifile_read(file, records.data(), records.size() * sizeof(int), nullptr), TW_OK) << tw_last_error();
  return records;
}

TEST_P(OmpMultifile, GivesBackToEachThreadWhatItWrote) {
#pragma omp parallel num_threads(GetParam())
  {
    tw_group* group = nullptr;
    tw_multifile* file = nullptr;
    EXPECT_EQ(tw_group_omp(&group), TW_OK);
    EXPECT_EQ(tw_multifile_open(group, path_.c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &file), TW_OK)
        << tw_last_error();
    write_records(file, records_of(omp_get_thread_num()));
    EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_open(group, path_.c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();
    EXPECT_TRUE(read_records(file) == records_of(omp_get_thread_num()));
    EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    tw_group_free(&group);
  }
}

// Written by one region, read in a worksharing loop, each thread with its own handle.
TEST_P(OmpMultifile, IsReadByAnotherRegionInAnyOrder) {
  constexpr int kFiles = 11;
#pragma omp parallel num_threads(GetParam())
  {
    tw_group* group = nullptr;
    tw_multifile* file = nullptr;
    tw_options* config = nullptr;
    EXPECT_EQ(tw_group_omp(&group), TW_OK);
    EXPECT_EQ(tw_options_create(&config), TW_OK);
    const int first = kFiles * omp_get_thread_num() / omp_get_num_threads();
    const int end = kFiles * (omp_get_thread_num() + 1) / omp_get_num_threads();
    EXPECT_EQ(tw_options_set_range(config, kFiles, first, end - first), TW_OK);
    EXPECT_EQ(tw_multifile_open(group, path_.c_str(), TW_CREATE | TW_TRUNCATE, config, &file), TW_OK)
        << tw_last_error();
    for (int f = first; f < end; ++f) {
      EXPECT_EQ(tw_multifile_seek_to(file, f, 0), TW_OK);
      write_records(file, records_of(f));
    }
    EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    tw_options_free(&config);
    tw_group_free(&group);
  }

  int wrong = 0;
#pragma omp parallel num_threads(3) reduction(+ : wrong)
  {
    tw_multifile* file = nullptr;
    EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();
#pragma omp for schedule(dynamic)
    for (int f = 0; f < kFiles; ++f) {
      EXPECT_EQ(tw_multifile_seek_to(file, f, 0), TW_OK);
      wrong += read_records(file) != records_of(f);
    }
    EXPECT_EQ(tw_multifile_close(&file), TW_OK);
  }

  EXPECT_EQ(wrong, 0);
}

TEST_P(OmpMultifile, FailsInAllThreadsWhenOneGivesNoPath) {
#pragma omp parallel num_threads(GetParam())
  {
    tw_group* group = nullptr;
    tw_multifile* file = nullptr;
    EXPECT_EQ(tw_group_omp(&group), TW_OK);
    const bool wrong = omp_get_thread_num() == omp_get_num_threads() - 1;
    EXPECT_EQ(tw_multifile_open(group, wrong ? nullptr : path_.c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &file),
              TW_ERR_INVALID);
    EXPECT_EQ(file, nullptr);
    EXPECT_EQ(tw_group_barrier(group), TW_OK);
    tw_group_free(&group);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

INSTANTIATE_TEST_SUITE_P(Threads, OmpMultifile, testing::Values(1, 2, 3, 5), testing::PrintToStringParamName());

}  // namespace
