// A file of another format is not opened as a vpfile: writing is refused unless a hint permits it, and messages name
// the format.
#include <filesystem>

#include "support/files/known_files.hpp"
#include "support/files/vp_files.hpp"

namespace thalweg::test {
namespace {

class VpForeign : public VpFiles {
 protected:
  void make_multifile(const std::string& name) const {
    tw_multifile* file = nullptr;
    ASSERT_EQ(tw_multifile_open(nullptr, path(name).c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &file), TW_OK)
        << tw_last_error();
    EXPECT_EQ(tw_multifile_write(file, "some bytes", 10), TW_OK);
    ASSERT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
  }

  // Every way of writing fails on all tasks, names `what`, and changes no byte.
  void expect_untouched(const std::string& what) const {
    const auto before = files();
    for (const char* mode : {"w", "w+", "r+", "a", "a+"}) {
      for (const int tasks : {1, 3}) {
        SCOPED_TRACE(what + ", " + mode + ", " + std::to_string(tasks) + " tasks");
        on_team(tasks, [&](tw_group* group, int) {
          tw_vpfile* file = nullptr;
          EXPECT_EQ(try_open(group, mode, {.shape = {4}, .hints = "record_bytes=1"}, &file), TW_ERR_UNSAFE);
          const std::string said = tw_last_error();
          EXPECT_NE(said.find(what), std::string::npos) << said;
          EXPECT_NE(said.find("overwrite_foreign=on"), std::string::npos) << said;
          if (file != nullptr) (void)tw_vpfile_close(&file);
        });
        EXPECT_EQ(files(), before);
      }
    }
  }

  void expect_overwritten() const {
    tw_vpfile* file = open_vp("w", {.shape = {4}, .hints = "overwrite_foreign=on"});
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(tw_vpfile_puts_all(file, "new", nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(put_text(file, 1, " and more"), TW_OK) << tw_last_error();
    close(file);
    EXPECT_EQ(streams(), (Texts{"new", "new and more", "new", "new"}));
    EXPECT_EQ(tw_vpfile_verify(path().c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  }
};

TEST_F(VpForeign, AMultifileIsNotDestroyed) {
  make_multifile("shared.dat");
  expect_untouched("'" + path() + "' looks like a multifile, not a vpfile");
  tw_multifile* file = nullptr;
  ASSERT_EQ(tw_multifile_open(nullptr, path().c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_multifile_close(&file), TW_OK);
  EXPECT_EQ(tw_vpfile_verify(path().c_str(), nullptr, nullptr, nullptr, nullptr), TW_ERR_CORRUPT);
  EXPECT_NE(std::string(tw_last_error()).find("looks like a multifile"), std::string::npos) << tw_last_error();
  expect_overwritten();
}

TEST_F(VpForeign, FilesOfOtherLibrariesAreNotTouched) {
  for (const ForeignFile& foreign : foreign_files()) {
    clear();
    put(foreign.bytes);
    expect_untouched("looks like " + foreign.name);
    expect_overwritten();
  }
}

TEST_F(VpForeign, SideFilesOfAVpfileAreNone) {
  put_streams({"a", "bb"});
  for (const char* side : {"shared.dat.meta", "shared.dat.first", "shared.dat.dir"}) {
    const std::string before = content(side);
    const std::int64_t shape[] = {1};
    tw_vpfile* file = nullptr;
    EXPECT_EQ(tw_vpfile_open(nullptr, path(side).c_str(), TW_CREATE | TW_TRUNCATE, OpenWith().shape(1, shape), &file),
              TW_ERR_UNSAFE);
    EXPECT_NE(std::string(tw_last_error()).find("looks like a side file of a vpfile"), std::string::npos);
    EXPECT_EQ(content(side), before);
  }
  EXPECT_EQ(streams(), (Texts{"a", "bb"}));
}

// Other programs keep files beside theirs under the name of a side file.
TEST_F(VpForeign, FilesThatHaveTheNameOfASideFileAreNotTouched) {
  for (const char* side : {"shared.dat.meta", "shared.dat.first", "shared.dat.dir"}) {
    for (const std::string& bytes : {std::string("{\"author\": \"somebody else\"}"), std::string(20, '\0') + "x"}) {
      clear();
      put("aabbccdd");
      put(bytes, side);
      expect_untouched("'" + path(side) + "' is no side file of a vpfile");
      std::filesystem::remove(path());
      tw_vpfile* file = nullptr;
      EXPECT_EQ(try_open(nullptr, "w", {.shape = {4}}, &file), TW_ERR_UNSAFE);
      EXPECT_EQ(content(side), bytes);
      expect_overwritten();
    }
  }
}

// As after a death of the machine: the written data never reached storage.
TEST_F(VpForeign, SideFilesThatAreOverwrittenLeaveNothing) {
  for (const char* side : {"shared.dat.first", "shared.dat.dir"}) {
    clear();
    put_streams({"aa", "bb"});
    put(std::string(100'000, 'x'), side);
    tw_vpfile* file = open_vp("r+", {.shape = {2}, .hints = "overwrite_foreign=on"});
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(put_text(file, 1, "more than there was"), TW_OK) << tw_last_error();
    close(file);
    EXPECT_EQ(streams(), (std::vector<std::string>{"aa", "more than there was"}));
    EXPECT_EQ(tw_vpfile_verify(path().c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  }
}

TEST_F(VpForeign, EmptySideFilesAreTakenForOurs) {
  for (const std::size_t bytes : {0, 5000}) {
    clear();
    put("aabbccdd");
    for (const char* side : {"shared.dat.first", "shared.dat.dir"}) put(std::string(bytes, '\0'), side);
    tw_vpfile* file = open_vp("r+", {.shape = {4}, .hints = "record_bytes=2"});
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(tw_vpfile_seek(file, 1, 0, SEEK_END), TW_OK);
    EXPECT_EQ(put_text(file, 1, "more"), TW_OK) << tw_last_error();
    close(file);
    EXPECT_EQ(streams(), (Texts{"aa", "bbmore", "cc", "dd"}));
  }
}

TEST_F(VpForeign, ReadingNamesTheFormat) {
  const auto expect_named = [&](const std::string& name) {
    for (const VpHow& how : {VpHow{}, VpHow{.shape = {4}, .hints = "record_bytes=1"}}) {
      tw_vpfile* file = nullptr;
      EXPECT_EQ(try_open(nullptr, "r", how, &file), TW_ERR_CORRUPT);
      EXPECT_EQ(tw_last_error(), "'" + path() + "' looks like " + name + ", not a vpfile");
    }
    tw_vpfile_stored stored{};
    stored.struct_size = sizeof stored;
    EXPECT_EQ(tw_vpfile_look(path().c_str(), &stored), TW_ERR_CORRUPT);
    EXPECT_EQ(tw_last_error(), "'" + path() + "' looks like " + name + ", not a vpfile");
    EXPECT_EQ(stored.is_vpfile, 0);
  };
  for (const ForeignFile& foreign : foreign_files()) {
    put(foreign.bytes);
    expect_named(foreign.name);
  }
  std::filesystem::remove(path());
  make_multifile("shared.dat");
  expect_named("a multifile");
}

TEST_F(VpForeign, RepairAndImportTouchNothing) {
  std::vector<ForeignFile> all = foreign_files();
  make_multifile("shared.dat");
  all.push_back({"a multifile", content()});
  for (const ForeignFile& foreign : all) {
    for (const bool has_meta : {false, true}) {
      clear();
      put(foreign.bytes);
      if (has_meta) put("{\"author\": \"somebody else\"}", "shared.dat.meta");
      const auto before = files();
      const std::int64_t shape[] = {1};
      EXPECT_EQ(tw_vpfile_repair(path().c_str(), 0, 1, shape, nullptr, nullptr, nullptr, nullptr), TW_ERR_CORRUPT);
      EXPECT_NE(std::string(tw_last_error()).find("looks like " + foreign.name), std::string::npos) << tw_last_error();
      EXPECT_EQ(tw_vpfile_import(path().c_str(), 1, shape, 1), TW_ERR_UNSAFE);
      EXPECT_NE(std::string(tw_last_error()).find("looks like " + foreign.name), std::string::npos) << tw_last_error();
      EXPECT_EQ(files(), before);
    }
  }
}

// Without its NAME.meta a vpfile would be opened as an array of wrong records.
TEST_F(VpForeign, AVpfileWithoutItsNameMetaIsNoArray) {
  for (const bool has_lattice : {false, true}) {
    for (const bool has_first : {true, false}) {
      SCOPED_TRACE(std::to_string(has_lattice) + std::to_string(has_first));
      clear();
      tw_vpfile* file = open_vp("w", {.shape = {2}});
      ASSERT_NE(file, nullptr);
      if (has_lattice) {
        EXPECT_EQ(tw_vpfile_puts_all(file, "all", nullptr, nullptr), TW_OK) << tw_last_error();
      }
      EXPECT_EQ(put_text(file, 1, "and more"), TW_OK) << tw_last_error();
      close(file);
      std::filesystem::remove(path("shared.dat.meta"));
      if (!has_first) std::filesystem::remove(path("shared.dat.first"));
      const auto before = files();
      const std::int64_t shape[] = {2};

      EXPECT_EQ(tw_vpfile_import(path().c_str(), 1, shape, 8), TW_ERR_UNSAFE);
      EXPECT_NE(std::string(tw_last_error()).find("thalweg repair --shape"), std::string::npos) << tw_last_error();
      for (const char* mode : {"r", "r+", "a"}) {
        EXPECT_EQ(try_open(nullptr, mode, {.shape = {2}, .hints = "record_bytes=8"}, &file), TW_ERR_CORRUPT) << mode;
      }

      EXPECT_EQ(files(), before);
      EXPECT_EQ(tw_vpfile_repair(path().c_str(), 0, 1, shape, nullptr, nullptr, nullptr, nullptr), TW_OK)
          << tw_last_error();
      EXPECT_EQ(streams(), has_lattice ? (Texts{"all", "alland more"}) : (Texts{"", "and more"}));
    }
  }
}

// Bytes of no known format are an array.
TEST_F(VpForeign, WhatOnlyLooksAlikeIsAnArray) {
  for (const std::string& bytes : raw_files()) {
    clear();
    put(bytes);
    const auto n = static_cast<std::int64_t>(bytes.size());
    on_vpfile(1, "r+", {.shape = {n}, .hints = "record_bytes=1"},
              [](tw_vpfile* file, int) { EXPECT_EQ(put_text(file, 0, "x"), TW_OK) << tw_last_error(); });
    EXPECT_EQ(content(), "x" + bytes.substr(1));
  }
}

}  // namespace
}  // namespace thalweg::test
