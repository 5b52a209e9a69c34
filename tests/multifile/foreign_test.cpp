// A multifile neither replaces nor appends to a file of another format unless a hint permits it; messages name the
// format.
#include <filesystem>

#include "support/files/known_files.hpp"
#include "support/files/shared_files.hpp"
#include "thalweg/multifile.h"
#include "thalweg/vpfile.h"

namespace thalweg::test {
namespace {

class Foreign : public SharedFiles {
 protected:
  tw_status try_open(tw_group* group, const std::string& name, int mode, const char* overwrite = nullptr) const {
    tw_options* config = nullptr;
    EXPECT_EQ(tw_options_create(&config), TW_OK);
    if (overwrite != nullptr) {
      EXPECT_EQ(tw_options_set_hint(config, "overwrite_foreign", overwrite), TW_OK) << tw_last_error();
    }
    tw_multifile* file = nullptr;
    tw_status status = tw_multifile_open(group, path(name).c_str(), mode, config, &file);
    tw_options_free(&config);
    if (status != TW_OK) return status;
    if (mode != TW_READ) {
      EXPECT_EQ(tw_multifile_write(file, "some bytes", 10), TW_OK);
    }
    return tw_multifile_close(&file);
  }

  void make_vpfile(const std::vector<std::int64_t>& shape, bool independent) const {
    tw_vpfile* file = nullptr;
    ASSERT_EQ(
        tw_vpfile_open(nullptr, path().c_str(), TW_CREATE | TW_TRUNCATE, OpenWith().shape(1, shape.data()), &file),
        TW_OK)
        << tw_last_error();
    if (independent) {
      EXPECT_EQ(tw_vpfile_write(file, 0, "one alone", 9, nullptr), TW_OK);
    } else {
      EXPECT_EQ(tw_vpfile_puts_all(file, "all", nullptr, nullptr), TW_OK);
    }
    ASSERT_EQ(tw_vpfile_close(&file), TW_OK) << tw_last_error();
  }

  void expect_untouched(const std::string& name, const std::string& what) const {
    const auto before = files();
    for (const int mode : {int{TW_CREATE | TW_TRUNCATE}, int{TW_APPEND}}) {
      for (const int tasks : {1, 3}) {
        SCOPED_TRACE(what + ", mode " + std::to_string(mode) + ", " + std::to_string(tasks) + " tasks");
        on_team(tasks, [&](tw_group* group, int) {
          EXPECT_EQ(try_open(group, name, mode), TW_ERR_UNSAFE);
          const std::string said = tw_last_error();
          EXPECT_NE(said.find("'" + path(name) + "' looks like " + what), std::string::npos) << said;
          EXPECT_NE(said.find("overwrite_foreign=on"), std::string::npos) << said;
        });
        EXPECT_EQ(files(), before);
      }
    }
    EXPECT_EQ(try_open(nullptr, name, TW_APPEND, "on"), TW_ERR_CORRUPT);  // an append needs a multifile
    EXPECT_EQ(try_open(nullptr, name, TW_READ), TW_ERR_CORRUPT);
    EXPECT_EQ(tw_last_error(), "'" + path(name) + "' looks like " + what + ", not a multifile");
    tw_health health{};
    health.struct_size = sizeof health;
    EXPECT_EQ(tw_multifile_repair(path(name).c_str(), 0, nullptr, nullptr, nullptr, &health), TW_ERR_CORRUPT);
    EXPECT_NE(std::string(tw_last_error()).find("looks like " + what), std::string::npos) << tw_last_error();
    EXPECT_EQ(files(), before);
  }
  // Refused as the target of a copy, too.
  void expect_no_target(const std::string& name) const {
    EXPECT_EQ(try_open(nullptr, "source", TW_CREATE | TW_TRUNCATE), TW_OK) << tw_last_error();
    const auto before = files();
    EXPECT_EQ(tw_multifile_defrag(path("source").c_str(), path(name).c_str(), nullptr, nullptr, nullptr),
              TW_ERR_UNSAFE);
    EXPECT_NE(std::string(tw_last_error()).find("looks like"), std::string::npos) << tw_last_error();
    EXPECT_EQ(files(), before);
  }
  void expect_overwritten(const std::string& name) const {
    EXPECT_EQ(try_open(nullptr, name, TW_CREATE | TW_TRUNCATE, "on"), TW_OK) << tw_last_error();
    EXPECT_EQ(try_open(nullptr, name, TW_READ), TW_OK) << tw_last_error();
  }
};

TEST_F(Foreign, FilesOfOtherLibrariesAreNotTouched) {
  for (const ForeignFile& foreign : foreign_files()) {
    clear();
    put(foreign.bytes);
    expect_untouched("shared.dat", foreign.name);
    expect_no_target("shared.dat");
    expect_overwritten("shared.dat");
  }
}

TEST_F(Foreign, VpfilesAreNotTouched) {
  for (const bool independent : {false, true}) {
    clear();
    make_vpfile({4}, independent);
    expect_untouched("shared.dat", "a vpfile");
    for (const char* side : {"shared.dat.meta", "shared.dat.first", "shared.dat.dir"})
      if (std::filesystem::exists(path(side))) expect_untouched(side, "a side file of a vpfile");
    expect_overwritten("shared.dat");
    tw_vpfile_stored stored{};
    stored.struct_size = sizeof stored;
    EXPECT_NE(tw_vpfile_look(path().c_str(), &stored), TW_OK);
    EXPECT_EQ(stored.is_vpfile, 0);
    EXPECT_EQ(files().size(), 1u);
  }
}

TEST_F(Foreign, APartOfAnotherMultifileIsNotReplaced) {
  tw_options* config = nullptr;
  ASSERT_EQ(tw_options_create(&config), TW_OK);
  EXPECT_EQ(tw_options_set_hint(config, "physical_files", "2"), TW_OK);
  EXPECT_EQ(tw_options_set_range(config, 4, 0, 4), TW_OK);
  tw_multifile* file = nullptr;
  ASSERT_EQ(tw_multifile_open(nullptr, path().c_str(), TW_CREATE | TW_TRUNCATE, config, &file), TW_OK)
      << tw_last_error();
  ASSERT_EQ(tw_multifile_close(&file), TW_OK);
  tw_options_free(&config);
  const auto before = files();
  ASSERT_EQ(before.size(), 2u);

  EXPECT_EQ(try_open(nullptr, "shared.dat.000001", TW_CREATE | TW_TRUNCATE), TW_ERR_UNSAFE);
  EXPECT_NE(std::string(tw_last_error()).find("part of another multifile"), std::string::npos) << tw_last_error();

  EXPECT_EQ(files(), before);
}

// A multifile, and bytes of no known format.
TEST_F(Foreign, WhatIsNotIsReplaced) {
  for (const std::string& bytes : raw_files()) {
    put(bytes);
    EXPECT_EQ(try_open(nullptr, "shared.dat", TW_APPEND), TW_ERR_CORRUPT);
    EXPECT_EQ(content(), bytes);
    EXPECT_EQ(try_open(nullptr, "shared.dat", TW_CREATE | TW_TRUNCATE), TW_OK) << tw_last_error();
    EXPECT_EQ(try_open(nullptr, "shared.dat", TW_CREATE | TW_TRUNCATE), TW_OK) << tw_last_error();
    EXPECT_EQ(try_open(nullptr, "shared.dat", TW_APPEND), TW_OK) << tw_last_error();
    std::filesystem::remove(path());
  }
}

}  // namespace
}  // namespace thalweg::test
