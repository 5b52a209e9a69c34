// A shared file may have any format except Thalweg's own, which would be destroyed: HDF5 and others write through it.
#include <filesystem>

#include "support/files/known_files.hpp"
#include "support/files/shared_files.hpp"
#include "thalweg/multifile.h"
#include "thalweg/vpfile.h"

namespace thalweg::test {
namespace {

class FileOfAnotherFormat : public SharedFiles {
 protected:
  tw_status try_open(tw_group* group, const std::string& name, int flags) const {
    tw_file* file = nullptr;
    const tw_status status = tw_file_open(group, path(name).c_str(), flags, nullptr, &file);
    return status == TW_OK ? tw_file_close(&file) : status;
  }
  void expect_opened(const std::string& name, int flags) const {
    on_team(1, [&](tw_group* group, int) { EXPECT_EQ(try_open(group, name, flags), TW_OK) << tw_last_error(); });
  }
  void expect_kept(const std::string& name) const {
    const auto before = files();
    for (const int flags : {int{TW_WRITE}, TW_READ | TW_WRITE, TW_WRITE | TW_CREATE, kNew}) {
      for (const int tasks : {1, 3}) {
        on_team(tasks, [&](tw_group* group, int) {
          EXPECT_EQ(try_open(group, name, flags), TW_ERR_UNSAFE) << name << ", flags " << flags;
          EXPECT_NE(std::string(tw_last_error()).find("'" + path(name) + "' looks like "), std::string::npos)
              << tw_last_error();
        });
      }
      EXPECT_EQ(files(), before);
    }
    expect_opened(name, TW_READ);
  }
};

TEST_F(FileOfAnotherFormat, IsNotWrittenWhereItIsOurs) {
  tw_options* config = nullptr;
  ASSERT_EQ(tw_options_create(&config), TW_OK);
  EXPECT_EQ(tw_options_set_hint(config, "physical_files", "2"), TW_OK);
  EXPECT_EQ(tw_options_set_range(config, 4, 0, 4), TW_OK);
  tw_multifile* multifile = nullptr;
  ASSERT_EQ(tw_multifile_open(nullptr, path("many").c_str(), TW_CREATE | TW_TRUNCATE, config, &multifile), TW_OK)
      << tw_last_error();
  ASSERT_EQ(tw_multifile_close(&multifile), TW_OK);
  tw_options_free(&config);
  const std::int64_t shape[] = {4};
  for (const char* name : {"array", "blocks"}) {
    tw_vpfile* vpfile = nullptr;
    ASSERT_EQ(tw_vpfile_open(nullptr, path(name).c_str(), TW_CREATE | TW_TRUNCATE, OpenWith().shape(1, shape), &vpfile),
              TW_OK)
        << tw_last_error();
    if (name == std::string("array")) {
      EXPECT_EQ(tw_vpfile_puts_all(vpfile, "all", nullptr, nullptr), TW_OK);
    } else {
      EXPECT_EQ(tw_vpfile_write(vpfile, 0, "one alone", 9, nullptr), TW_OK);
    }
    ASSERT_EQ(tw_vpfile_close(&vpfile), TW_OK) << tw_last_error();
  }
  EXPECT_EQ(files().size(), 2u + 2 + 4);

  for (const auto& [name, bytes] : files()) expect_kept(name);
}

TEST_F(FileOfAnotherFormat, IsWrittenWhereItIsNot) {
  std::vector<std::string> all = raw_files();
  for (const ForeignFile& foreign : foreign_files()) all.push_back(foreign.bytes);
  for (const std::string& bytes : all) {
    put(bytes);
    put("{\"author\": \"somebody else\"}", "shared.dat.meta");
    expect_opened("shared.dat", TW_READ | TW_WRITE);
    EXPECT_EQ(content(), bytes);
    expect_opened("shared.dat", kNew);
    EXPECT_EQ(content(), "");
  }
}

}  // namespace
}  // namespace thalweg::test
