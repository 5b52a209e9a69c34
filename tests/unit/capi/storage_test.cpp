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

TEST(Storage, IdentityIsThatOfTheFolderAlsoForFilesToBe) {
  Text here{}, there{};
  ASSERT_EQ(tw_storage_identity(folder().c_str(), here.data(), here.size()), TW_OK);
  ASSERT_EQ(tw_storage_identity((folder() + "/not there").c_str(), there.data(), 128), TW_OK);

  EXPECT_STREQ(here.data(), there.data());
  EXPECT_NE(std::string(here.data()), "");
}

TEST(Storage, TextThatDoesNotFitIsTold) {
  Text text{};
  ASSERT_EQ(tw_storage_identity(folder().c_str(), text.data(), text.size()), TW_OK);
  const std::size_t length = std::string(text.data()).size();

  EXPECT_EQ(tw_storage_identity(folder().c_str(), text.data(), length + 1), TW_OK);
  EXPECT_EQ(tw_storage_identity(folder().c_str(), text.data(), length), TW_ERR_RANGE);
  EXPECT_STREQ(text.data(), "");
  EXPECT_EQ(tw_storage_identity(folder().c_str(), text.data(), 0), TW_ERR_RANGE);
}

TEST(Storage, WrongArgumentsAreRefused) {
  Text text{};
  EXPECT_EQ(tw_storage_identity(nullptr, text.data(), text.size()), TW_ERR_INVALID);
  EXPECT_EQ(tw_storage_identity("/", nullptr, 10), TW_ERR_INVALID);
  EXPECT_EQ(tw_storage_identity("/no such folder/file", text.data(), text.size()), TW_ERR_NOT_FOUND);
  EXPECT_EQ(tw_storage_direct_alignment("/", nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_storage_profile_path(nullptr, 10), TW_ERR_INVALID);
  EXPECT_EQ(tw_storage_explain("/", nullptr, nullptr, text.data(), text.size()), TW_ERR_INVALID);
}

TEST(Storage, AlignmentIsAPowerOfTwoOrNone) {
  int64_t bytes = -1;
  ASSERT_EQ(tw_storage_direct_alignment(folder().c_str(), &bytes), TW_OK);

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
