// A valid profile is used; an invalid one is ignored.
#include "sharedfile/profile.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace thalweg {
namespace {

// A profile with one file system and these members.
std::string profile_of(const std::string& members) {
  return R"({"version": 1, "file_systems": [{"id": "a")" + (members.empty() ? "" : ", " + members) + "}]}";
}

std::size_t n_of(const std::string& members) { return parse_profiles(profile_of(members)).size(); }

class File : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "profile_test-" + testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  void TearDown() override { std::filesystem::remove(path_); }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  std::string path_;
};

TEST(Profile, GivesWhatIsToldAndDefaultsForTheRest) {
  const auto all = parse_profiles(profile_of(
      R"("kind": "ext4", "measured": "2026-11-21", "direct_writes": true, "queue_depth": 4, "transfer_bytes": 4194304,
         "physical_files": 16, "news": [1, {"x": null}], "buffered": {"call_ns": 700.5, "parallel_reads": 2, "colour": "red"})"));

  ASSERT_EQ(all.size(), 1u);
  const StorageProfile& profile = all[0];
  EXPECT_EQ(profile.id, "a");
  EXPECT_EQ(profile.measured, "2026-11-21");
  const Strategy& strategy = profile.strategy;
  EXPECT_TRUE(strategy.direct_writes);
  EXPECT_FALSE(strategy.direct_reads);
  EXPECT_EQ(strategy.queue_depth, 4u);
  EXPECT_EQ(strategy.transfer_bytes, 4194304u);
  EXPECT_EQ(strategy.physical_files, 16u);
  EXPECT_EQ(strategy.staging_bytes, Strategy{}.staging_bytes);
  EXPECT_EQ(strategy.costs.call_ns, 700.5);
  EXPECT_EQ(strategy.costs.parallel_reads, 2u);
  EXPECT_EQ(strategy.costs.piece_ns, StorageCosts{}.piece_ns);
  EXPECT_EQ(strategy.direct_costs.call_ns, default_direct_costs().call_ns);
}

TEST(Profile, WhatOnlyTheCommandReadsIsSkippedHoweverDeepItIs) {
  const auto all = parse_profiles(profile_of(
      R"("create_ns": 20000, "network": [{"ranks": 2, "latency_seconds": 1e-6}],
         "methods": {"mpi": "MPICH", "cells": ["2 ranks"], "gather": {"write": {"byte": 1e-9, "deeper": [[[[]]]]}}},
         "buffered": {"call_ns": 700, "message_ns": 900, "round_ns": 30000, "exchange_byte_ns": 0.5}, "queue_depth": 7)"));

  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].strategy.costs.call_ns, 700);
  EXPECT_EQ(all[0].strategy.costs.round_ns, 30000);
  EXPECT_EQ(all[0].strategy.costs.exchange_byte_ns, 0.5);
  EXPECT_EQ(all[0].strategy.costs.message_ns, 900);
  EXPECT_EQ(all[0].strategy.queue_depth, 7u);
}

TEST(Profile, OfNothingButAnIdentityHasOnlyDefaults) { EXPECT_EQ(n_of(""), 1u); }

TEST(Profile, WrongTypesAndRangesLeaveOutTheFileSystem) {
  for (const char* wrong : {R"("direct_reads": 1)",
                            R"("direct_writes": "yes")",
                            R"("queue_depth": 0)",
                            R"("queue_depth": 1025)",
                            R"("queue_depth": -3)",
                            R"("queue_depth": 1e300)",
                            R"("queue_depth": "8")",
                            R"("queue_depth": null)",
                            R"("transfer_bytes": 1)",
                            R"("transfer_bytes": 1e18)",
                            R"("staging_bytes": 18446744073709551615)",
                            R"("staging_bytes": [])",
                            R"("physical_files": 0)",
                            R"("measured": 5)",
                            R"("buffered": 5)",
                            R"("direct": [])",
                            R"("buffered": {"call_ns": -1})",
                            R"("buffered": {"call_ns": 1e300})",
                            R"("buffered": {"call_ns": "600"})",
                            R"("direct": {"write_byte_ns": null})",
                            R"("buffered": {"parallel_writes": -1})",
                            R"("buffered": {"parallel_writes": 1e9})",
                            R"("buffered": {"handover_ns": true})"}) {
    EXPECT_EQ(n_of(wrong), 0u) << wrong;
  }
}

TEST(Profile, OneWrongFileSystemDoesNotHideTheOthers) {
  const auto all = parse_profiles(
      R"({"version": 1, "file_systems": [{"id": "a", "queue_depth": 0}, 5, null, [], {"kind": "ext4"}, {"id": ""},
          {"id": 7}, {"id": "b"}]})");

  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].id, "b");
}

TEST(Profile, WhatIsNoProfileGivesNone) {
  for (const char* text :
       {"", " ", "null", "5", "[]", "{}", "{", R"({"version": 1})", R"({"version": 2, "file_systems": [{"id": "a"}]})",
        R"({"version": "1", "file_systems": [{"id": "a"}]})", R"({"file_systems": [{"id": "a"}]})",
        R"({"version": 1, "file_systems": {"id": "a"}})", R"({"version": 1, "file_systems": [{"id": "a"}]} and more)",
        R"({"version": 1, "file_systems": [{"id": "a", "buffered": {"call_ns": NaN}}]})",
        R"({"version": 1, "file_systems": [{"id": "a", "buffered": {"call_ns": 1e999}}]})",
        "{\"version\": 1, \"file_systems\": [{\"id\": \"\xff\xfe\"}]}"}) {
    EXPECT_TRUE(parse_profiles(text).empty()) << text;
  }
}

TEST(Profile, AMillionBracketsAreNotKept) {
  EXPECT_TRUE(parse_profiles(std::string(1 << 20, '[')).empty());
  EXPECT_TRUE(parse_profiles(std::string(1 << 19, '[') + std::string(1 << 19, ']')).empty());
  const std::string deep = std::string(1 << 18, '[') + std::string(1 << 18, ']');
  EXPECT_EQ(n_of("\"news\": " + deep), 1u);
}

TEST_F(File, IsReadWhenItIsThere) {
  EXPECT_TRUE(read_profiles(path_).empty());
  write(profile_of(""));

  EXPECT_EQ(read_profiles(path_).size(), 1u);
}

TEST_F(File, OfTenMebibytesIsNotRead) {
  write(profile_of("") + std::string(10 << 20, ' '));

  EXPECT_TRUE(read_profiles(path_).empty());
}

TEST_F(File, ThatIsAFolderOrAPipeIsNotWaitedFor) {
  EXPECT_TRUE(read_profiles(testing::TempDir()).empty());
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);

  EXPECT_TRUE(read_profiles(path_).empty());
}

TEST(Profile, OfAnUnknownFileSystemIsNone) {
  EXPECT_EQ(find_profile(""), nullptr);
  EXPECT_EQ(find_profile("no such file system"), nullptr);
}

}  // namespace
}  // namespace thalweg
