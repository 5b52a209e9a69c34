// Other programs make, remove and rename files while a vpfile of that name is opened, repaired or closed: what they
// made is left as it is, and no call says that all is well.
#include <filesystem>

#include "group/groups.hpp"
#include "support/busy_storage.hpp"
#include "support/vp_files.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg::test {
namespace {

class VpReplaced : public VpFiles {
 protected:
  void make_multifile() const {
    tw_multifile* file = nullptr;
    if (tw_multifile_open(nullptr, path().c_str(), TW_CREATE, nullptr, &file) != TW_OK) return;
    EXPECT_EQ(tw_write(file, "precious", 8), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_close(file), TW_OK) << tw_last_error();
  }
  bool make_vpfile(bool alike) const {
    tw_vpfile* file = nullptr;
    if (try_open(nullptr, "a", {.shape = {2}}, &file) != TW_OK) return false;
    EXPECT_EQ(alike ? tw_vp_puts_all(file, "precious", nullptr, nullptr) : put_text(file, 1, "precious"), TW_OK)
        << tw_last_error();
    EXPECT_EQ(tw_vpfile_close(file), TW_OK) << tw_last_error();
    return true;
  }

  // Opens a name that is not there, writes "mine" to it and closes it. False: `make` was not called.
  bool open_while(std::uint64_t at, const char* mode, const std::function<void()>& make, Status& opened) const {
    const auto group = make_self_group();
    const auto storage = std::make_shared<BusyStorage>(at, make);
    VpOpen how;
    how.path = path();
    how.mode = mode;
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

}  // namespace
}  // namespace thalweg::test
