// storage.h: arguments, text sizes, and the file system of the files of a folder.
#include "thalweg/storage.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "thalweg/status.h"

namespace {

using Text = std::array<char, 4096>;

const std::string& folder() {
  static const std::string path = testing::TempDir();
  return path;
}

tw_access_pattern pattern() {
  tw_access_pattern access = {};
  access.struct_size = sizeof access;
  access.direction = TW_ACCESS_WRITE;
  access.tasks = 4;
  access.extents = 1;
  access.length = 1 << 20;
  return access;
}

tw_status explain(const tw_access_pattern& access, Text& text, const char* hints = nullptr) {
  return tw_storage_explain(folder().c_str(), hints, &access, text.data(), text.size());
}

tw_storage_info description(const std::string& path) {
  tw_storage_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(tw_storage_describe(path.c_str(), &info), TW_OK) << tw_last_error();
  return info;
}

TEST(Storage, IdentityIsThatOfTheFolderAlsoForFilesToBe) {
  const tw_storage_info here = description(folder());
  const tw_storage_info there = description(folder() + "/not there");

  EXPECT_STREQ(here.identity, there.identity);
  EXPECT_NE(std::string(here.identity), "");
}

TEST(Storage, ADescriptionIsFilledUpToItsSize) {
  tw_storage_info info{};
  info.struct_size = offsetof(tw_storage_info, identity);
  ASSERT_EQ(tw_storage_describe(folder().c_str(), &info), TW_OK);

  EXPECT_STREQ(info.identity, "");
  EXPECT_EQ(info.direct_alignment, description(folder()).direct_alignment);
}

TEST(Storage, WrongArgumentsAreRefused) {
  Text text{};
  tw_storage_info info{};
  EXPECT_EQ(tw_storage_describe("/", nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_storage_describe("/", &info), TW_ERR_INVALID);
  info.struct_size = sizeof info;
  EXPECT_EQ(tw_storage_describe("/no such folder/file", &info), TW_ERR_NOT_FOUND);
  EXPECT_EQ(tw_storage_describe(nullptr, &info), TW_OK) << "only the profile";
  EXPECT_EQ(tw_storage_explain("/", nullptr, nullptr, text.data(), text.size()), TW_ERR_INVALID);
}

TEST(Storage, AlignmentIsAPowerOfTwoOrNone) {
  const int64_t bytes = description(folder()).direct_alignment;

  EXPECT_GE(bytes, 0);
  EXPECT_EQ(bytes & (bytes - 1), 0);
}

TEST(Storage, ExplainsInFourLines) {
  Text text{};
  ASSERT_EQ(explain(pattern(), text), TW_OK) << tw_last_error();

  const std::string found = text.data();
  EXPECT_TRUE(found.starts_with("storage: ")) << found;
  for (const char* line : {"\nwrite: contiguous: 4 tasks", "\nway: ", "\nplan: "})
    EXPECT_NE(found.find(line), std::string::npos) << found;
}

TEST(Storage, ExplainRefusesWhatCannotBe) {
  Text text{};
  for (const auto member :
       {&tw_access_pattern::tasks, &tw_access_pattern::processes, &tw_access_pattern::extents,
        &tw_access_pattern::length, &tw_access_pattern::stride, &tw_access_pattern::task_distance}) {
    tw_access_pattern access = pattern();
    access.*member = -1;
    EXPECT_EQ(explain(access, text), TW_ERR_INVALID);
  }
  tw_access_pattern access = pattern();
  access.direction = 7;
  EXPECT_EQ(explain(access, text), TW_ERR_INVALID);
  access = pattern();
  access.struct_size = 8;
  EXPECT_EQ(explain(access, text), TW_ERR_INVALID);
  access = pattern();
  access.length = INT64_MAX;
  EXPECT_EQ(explain(access, text), TW_ERR_RANGE);
  EXPECT_EQ(explain(pattern(), text, "colour=red"), TW_ERR_UNKNOWN_HINT);
}

}  // namespace
