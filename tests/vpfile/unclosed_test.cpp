// What a process that dies leaves behind, and what repair and the sessions after make of it.
#include <sys/wait.h>

#include <filesystem>

#include "support/vp_files.hpp"

namespace thalweg::test {
namespace {

class VpUnclosed : public VpFiles {
 protected:
  // One task that dies behind `body`.
  void dies(const char* mode, const VpHow& how, const std::function<void(tw_vpfile*)>& body) const {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      tw_vpfile* file = nullptr;
      if (try_open(nullptr, mode, how, &file) != TW_OK) ::_exit(1);
      body(file);
      ::_exit(HasFailure() ? 1 : 0);
    }
    int how_it_ended = 0;
    ASSERT_EQ(::waitpid(child, &how_it_ended, 0), child);
    EXPECT_EQ(how_it_ended, 0);
  }

  static void append(tw_vpfile* file, std::int64_t vp, const std::string& text) {
    EXPECT_EQ(tw_vp_seek(file, vp, 0, SEEK_END), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vp_write(file, vp, text.data(), text.size(), nullptr), TW_OK) << tw_last_error();
  }

  struct Findings {
    std::string text;  // a line each
    tw_health health{};
  };
  tw_status repair(Findings& found) const {
    found.health.struct_size = sizeof found.health;
    const auto take = [](const char* text, void* user) {
      static_cast<Findings*>(user)->text += text + std::string("\n");
    };
    return tw_vpfile_repair(path().c_str(), 0, nullptr, take, nullptr, &found, &found.health);
  }
  tw_status repair() const {
    Findings found;
    return repair(found);
  }
  tw_status verify() const { return tw_vpfile_verify(path().c_str(), nullptr, nullptr, nullptr, nullptr); }
  bool there(const char* name) const { return std::filesystem::exists(path(name)); }
};

// ---- Arrays without NAME.meta

constexpr const char* kArray = "aaabbbcccAAABBBCCC";

TEST_F(VpUnclosed, AnArrayWithTheRecordGivenIsMarked) {
  put(kArray);
  dies("r+", {.shape = {3}, .hints = "record_bytes=3"}, [](tw_vpfile* file) {
    append(file, 1, "and more");
    EXPECT_EQ(tw_vp_flush(file, 1), TW_OK);
  });
  tw_vpfile* file = nullptr;
  EXPECT_EQ(try_open(nullptr, "r", {.shape = {3}}, &file), TW_ERR_NOT_CLOSED);

  EXPECT_EQ(repair(), TW_OK) << tw_last_error();

  EXPECT_EQ(streams(), (Texts{"aaaAAA", "bbbBBBand more", "cccCCC"}));
}

TEST_F(VpUnclosed, AnArrayIsMarkedOnceItsRecordIsKnown) {
  put(kArray);
  dies("r+", {.shape = {3}}, [&](tw_vpfile* file) {
    EXPECT_FALSE(there("shared.dat.meta"));
    char bytes[9];
    EXPECT_EQ(tw_vp_read_all(file, TW_VP_PACKED(bytes, 3), nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_TRUE(there("shared.dat.meta"));
    append(file, 2, "and more");
    EXPECT_EQ(tw_vp_flush(file, 2), TW_OK);
  });
  tw_vpfile* file = nullptr;
  EXPECT_EQ(try_open(nullptr, "r", {.shape = {3}}, &file), TW_ERR_NOT_CLOSED);

  EXPECT_EQ(repair(), TW_OK) << tw_last_error();

  EXPECT_EQ(streams(), (Texts{"aaaAAA", "bbbBBB", "cccCCCand more"}));
}

TEST_F(VpUnclosed, AnArrayWhoseRecordNobodyToldIsLeftAsItIs) {
  put(kArray);
  dies("r+", {.shape = {3}}, [](tw_vpfile* file) { EXPECT_EQ(tw_vp_write(file, 0, "x", 1, nullptr), TW_ERR_INVALID); });
  EXPECT_FALSE(there("shared.dat.meta"));
  EXPECT_EQ(streams({.shape = {3}, .hints = "record_bytes=6"}), (Texts{"aaabbb", "cccAAA", "BBBCCC"}));
}

}  // namespace
}  // namespace thalweg::test
