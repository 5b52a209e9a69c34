// Other programs make, remove and rename files while a vpfile of that name is opened, repaired or closed: what they
// made is left as it is, and no call says that all is well.
#include <filesystem>

#include "group/groups.hpp"
#include "support/engine/busy_storage.hpp"
#include "support/files/vp_files.hpp"
#include "support/files/vp_open.hpp"
#include "vpfile/check/check_vpfile.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg::test {
namespace {

class VpReplaced : public VpFiles {
 protected:
  void make_multifile() const {
    tw_multifile* file = nullptr;
    if (tw_multifile_open(nullptr, path().c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &file) != TW_OK) return;
    EXPECT_EQ(tw_multifile_write(file, "precious", 8), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
  }
  bool make_vpfile(bool alike) const {
    tw_vpfile* file = nullptr;
    if (try_open(nullptr, "a", {.shape = {2}}, &file) != TW_OK) return false;
    EXPECT_EQ(alike ? tw_vpfile_puts_all(file, "precious", nullptr, nullptr) : put_text(file, 1, "precious"), TW_OK)
        << tw_last_error();
    EXPECT_EQ(tw_vpfile_close(&file), TW_OK) << tw_last_error();
    return true;
  }

  // Opens a name that is not there, writes "mine" to it and closes it. False: `make` was not called.
  bool open_while(std::uint64_t at, const char* mode, const std::function<void()>& make, Status& opened) const {
    const auto group = make_self_group();
    const auto storage = std::make_shared<BusyStorage>(at, make);
    VpOpen how;
    how.path = path();
    open_as(how, mode);
    how.shape = {2};
    auto file = run(VpFile::open(*group, storage, std::move(how)));
    opened = file.status();
    if (!opened.ok()) return storage->has_acted();
    const std::string mine = "mine";
    EXPECT_TRUE(file.value()->stream(0).write(std::as_bytes(std::span(mine))).has_value());
    EXPECT_TRUE(run(file.value()->close()).ok());
    return storage->has_acted();
  }
};

TEST_F(VpReplaced, AMultifileThatIsMadeDuringAnOpenIsNotDestroyed) {
  for (const char* mode : {"w", "a"}) {
    bool acted = true;
    for (std::uint64_t at = 1; acted; ++at) {
      SCOPED_TRACE(mode + std::to_string(at));
      clear();
      std::string made;
      Status opened;
      acted = open_while(
          at, mode,
          [&] {
            make_multifile();
            made = content();
          },
          opened);
      if (made.empty()) continue;  // it was refused, or it was too late
      EXPECT_EQ(opened.code(), Code::unsafe) << opened.message();
      EXPECT_EQ(content(), made);
    }
  }
}

TEST_F(VpReplaced, AVpfileThatIsMadeDuringAnAppendIsNotOverwritten) {
  for (const bool alike : {false, true}) {
    bool acted = true;
    for (std::uint64_t at = 1; acted; ++at) {
      SCOPED_TRACE(std::to_string(alike) + std::to_string(at));
      clear();
      Status opened;
      bool made = false;
      acted = open_while(
          at, "a", [&] { made = make_vpfile(alike); }, opened);
      if (!made) continue;
      const bool seen = opened.ok();  // it was there when the open looked
      EXPECT_TRUE(seen || opened.code() == Code::unsafe) << opened.message();
      const std::string before = alike ? "precious" : "";
      EXPECT_EQ(streams(), (Texts{seen ? before + "mine" : before, "precious"}));
    }
  }
}

// As the close of a multifile says it.
TEST_F(VpReplaced, ACloseSaysThatAFileIsGone) {
  for (const char* name : {"shared.dat", "shared.dat.meta", "shared.dat.first", "shared.dat.dir"}) {
    for (const bool replaced : {false, true}) {
      SCOPED_TRACE(name + std::to_string(replaced));
      clear();
      on_team(3, [&](tw_group* group, int task) {
        tw_vpfile* file = open_vp(group, "w", {.shape = {3}});
        ASSERT_NE(file, nullptr);
        EXPECT_EQ(put_text(file, task, "bytes"), TW_OK) << tw_last_error();
        EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK) << tw_last_error();
        if (task == 0) std::filesystem::remove(path(name));
        if (task == 0 && replaced) put("another one", name);
        EXPECT_EQ(tw_vpfile_close(&file), replaced ? TW_ERR_UNSAFE : TW_ERR_NOT_FOUND) << tw_last_error();
        EXPECT_NE(std::string(tw_last_error()).find(path(name)), std::string::npos) << tw_last_error();
      });
      EXPECT_EQ(content(name), replaced ? "another one" : "");
    }
  }
}

// A live vpfile gets the name of the one that is being repaired, at every step of the repair.
TEST_F(VpReplaced, ARepairLeavesAFileAloneThatTakesTheName) {
  const std::vector<std::string> ends = {"", ".meta", ".first", ".dir"};
  bool acted = true;
  for (std::uint64_t at = 1; acted; ++at) {
    SCOPED_TRACE(at);
    clear();
    make_vpfile(false);
    std::filesystem::rename(path("shared.dat.first"), path("lost"));  // repair makes it anew
    tw_vpfile* live = nullptr;
    const std::int64_t shape[] = {2};
    ASSERT_EQ(tw_vpfile_open(nullptr, path("live").c_str(), TW_CREATE | TW_TRUNCATE, OpenWith().shape(1, shape), &live),
              TW_OK)
        << tw_last_error();
    EXPECT_EQ(put_text(live, 0, "live"), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_flush_all(live), TW_OK) << tw_last_error();
    Texts before;
    for (const std::string& end : ends) before.push_back(content("live" + end));
    const BusyStorage::Act rename_all = [&] {
      for (const std::string& end : ends) std::filesystem::rename(path("live" + end), path("shared.dat" + end));
    };
    BusyStorage storage(at, rename_all);

    CheckResult result;
    const Status repaired = repair_vpfile(storage, path(), {}, {}, result);

    acted = storage.has_acted();
    if (acted) {
      EXPECT_FALSE(repaired.ok());
      for (std::size_t i = 0; i < ends.size(); ++i) EXPECT_EQ(content("shared.dat" + ends[i]), before[i]) << ends[i];
    } else {
      EXPECT_TRUE(repaired.ok()) << repaired.message();
    }
    EXPECT_EQ(tw_vpfile_close(&live), acted ? TW_ERR_NOT_FOUND : TW_OK);
  }
}

}  // namespace
}  // namespace thalweg::test
