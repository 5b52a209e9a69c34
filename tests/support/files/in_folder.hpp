// A fixture of tests that have a fresh folder each.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace thalweg::test {

class InFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "thalweg_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& folder() const { return folder_; }
  std::string path(const std::string& name = "f") const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace thalweg::test
