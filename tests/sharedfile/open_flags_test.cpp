// Flags of an open: one set for multifiles, shared files and vpfiles, of which each kind takes its own.
#include <fcntl.h>

#include <array>
#include <bit>
#include <cstdio>

#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

struct Flag {
  std::int32_t value;
  const char* name;
};
constexpr Flag kFlags[] = {{TW_READ, "TW_READ"},           {TW_WRITE, "TW_WRITE"},       {TW_CREATE, "TW_CREATE"},
                           {TW_EXCLUSIVE, "TW_EXCLUSIVE"}, {TW_TRUNCATE, "TW_TRUNCATE"}, {TW_APPEND, "TW_APPEND"},
                           {TW_RECOVER, "TW_RECOVER"},     {TW_DIRECT, "TW_DIRECT"}};

constexpr bool distinct_bits() {
  std::uint32_t seen = 0;
  for (const Flag& flag : kFlags) {
    const auto bit = static_cast<std::uint32_t>(flag.value);
    if (std::popcount(bit) != 1 || (seen & bit) != 0) return false;
    seen |= bit;
  }
  return true;
}
static_assert(distinct_bits(), "a flag is one bit, which no other flag has");

constexpr std::int32_t kOfSystem =
    O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_CLOEXEC | O_DIRECT | O_SYNC | O_DSYNC;
static_assert(((TW_READ | TW_WRITE | TW_CREATE | TW_EXCLUSIVE | TW_TRUNCATE | TW_APPEND | TW_RECOVER | TW_DIRECT) &
               kOfSystem) == 0,
              "flags of open(2) are none");

enum Kind { kMultifile, kFile, kVpfile };
constexpr std::array kKinds{kMultifile, kFile, kVpfile};
constexpr std::array kCalls{"tw_multifile_open", "tw_file_open", "tw_vpfile_open"};

class OpenFlags : public SharedFiles {
 protected:
  static bool said(const std::string& part) { return std::string(tw_last_error()).find(part) != std::string::npos; }

  // Opens and closes; a vpfile has a shape unless it is only read.
  tw_status open_as(Kind kind, tw_group* group, std::int32_t flags) const {
    tw_status status = TW_OK;
    if (kind == kMultifile) {
      tw_multifile* file = nullptr;
      status = tw_multifile_open(group, path().c_str(), flags, nullptr, &file);
      EXPECT_EQ(file != nullptr, status == TW_OK);
      if (file != nullptr) {
        EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
      }
    } else if (kind == kFile) {
      tw_file* file = nullptr;
      status = tw_file_open(group, path().c_str(), flags, nullptr, &file);
      EXPECT_EQ(file != nullptr, status == TW_OK);
      if (file != nullptr) {
        EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
      }
    } else {
      tw_vpfile* file = nullptr;
      status = tw_vpfile_open(group, path().c_str(), flags, OpenWith().shape({6}), &file);
      EXPECT_EQ(file != nullptr, status == TW_OK);
      if (file != nullptr) {
        EXPECT_EQ(tw_vpfile_close(&file), TW_OK) << tw_last_error();
      }
    }
    return status;
  }
  void refuse(Kind kind, tw_group* group, std::int32_t flags, const std::string& why) const {
    EXPECT_EQ(open_as(kind, group, flags), TW_ERR_INVALID) << kCalls[kind] << " " << flags;
    EXPECT_TRUE(said(kCalls[kind])) << tw_last_error();
    EXPECT_TRUE(said(why)) << tw_last_error();
    EXPECT_TRUE(said("; pass TW_READ, ")) << tw_last_error();
  }
  void clear() const {
    for (const char* side : {"", ".meta", ".first", ".dir", ".000001", ".000002"})
      std::filesystem::remove(path() + side);
  }
};

TEST_F(OpenFlags, ThatMeanNothingForTheKindAreNamedAndRefusedOnAllTasks) {
  on_team(3, [&](tw_group* group, int task) {
    const std::int32_t good = TW_CREATE;
    refuse(kFile, group, TW_READ | TW_RECOVER, "TW_RECOVER means nothing for a shared file");
    refuse(kVpfile, group, task == 1 ? good | TW_RECOVER : good, "TW_RECOVER means nothing for a vpfile");
    refuse(kVpfile, group, good | TW_DIRECT, "TW_DIRECT means nothing for a vpfile");
    refuse(kMultifile, group, task == 2 ? good | TW_DIRECT : good, "TW_DIRECT means nothing for a multifile");
  });
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(OpenFlags, UnknownOnesAreRefusedWithTheirBits) {
  on_team(2, [&](tw_group* group, int) {
    for (const Kind kind : kKinds) {
      for (const std::int32_t unknown : {1, 2, 4, 1024, O_RDWR | O_CREAT}) {
        char bits[32];
        std::snprintf(bits, sizeof bits, "%#x", static_cast<unsigned>(unknown));
        refuse(kind, group, unknown, bits);
        refuse(kind, group, TW_CREATE | unknown, bits);
      }
      refuse(kind, group, -1, "unknown flags 0x80");
    }
  });
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(OpenFlags, ThatContradictEachOtherAreRefused) {
  on_team(2, [&](tw_group* group, int) {
    refuse(kMultifile, group, TW_READ | TW_CREATE, "for reading or for writing");
    refuse(kMultifile, group, TW_READ | TW_WRITE, "for reading or for writing");
    refuse(kMultifile, group, TW_WRITE, "TW_WRITE needs TW_CREATE or TW_APPEND");
    refuse(kMultifile, group, TW_CREATE | TW_RECOVER, "TW_RECOVER goes with TW_READ only");
    for (const Kind kind : kKinds) {
      refuse(kind, group, 0, "neither reading nor writing");
      refuse(kind, group, TW_APPEND | TW_EXCLUSIVE, "TW_EXCLUSIVE needs TW_CREATE");
    }
    refuse(kMultifile, group, TW_TRUNCATE, "TW_TRUNCATE needs TW_CREATE");
    refuse(kVpfile, group, TW_TRUNCATE, "TW_TRUNCATE needs TW_CREATE");
  });
  EXPECT_FALSE(std::filesystem::exists(path()));
}

// The table of open.h.
TEST_F(OpenFlags, CreateAppendAndTruncateAgreeWithTheTable) {
  for (const int tasks : {1, 3}) {
    for (const Kind kind : kKinds) {
      SCOPED_TRACE(std::string(kCalls[kind]) + " by " + std::to_string(tasks));
      clear();
      on_team(tasks, [&](tw_group* group, int) {
        EXPECT_EQ(open_as(kind, group, TW_READ), TW_ERR_NOT_FOUND) << tw_last_error();
        EXPECT_EQ(open_as(kind, group, TW_APPEND), TW_ERR_NOT_FOUND) << tw_last_error();
        EXPECT_EQ(open_as(kind, group, TW_CREATE | TW_APPEND), TW_OK) << tw_last_error();
        EXPECT_EQ(open_as(kind, group, TW_CREATE | TW_APPEND), TW_OK) << tw_last_error();
        EXPECT_EQ(open_as(kind, group, TW_APPEND), TW_OK) << tw_last_error();
        EXPECT_EQ(open_as(kind, group, TW_READ), TW_OK) << tw_last_error();
        EXPECT_EQ(open_as(kind, group, TW_CREATE), kind == kFile ? TW_OK : TW_ERR_EXISTS) << tw_last_error();
        EXPECT_EQ(open_as(kind, group, TW_CREATE | TW_TRUNCATE), TW_OK) << tw_last_error();
        for (const std::int32_t more : {0, int{TW_TRUNCATE}, int{TW_APPEND}})
          EXPECT_EQ(open_as(kind, group, TW_CREATE | TW_EXCLUSIVE | more), TW_ERR_EXISTS) << tw_last_error();
        if (kind != kMultifile) {
          EXPECT_EQ(open_as(kind, group, TW_WRITE), TW_OK) << tw_last_error();
          EXPECT_EQ(open_as(kind, group, TW_READ | TW_WRITE), TW_OK) << tw_last_error();
        }
      });
      clear();
      on_team(tasks, [&](tw_group* group, int) {
        EXPECT_EQ(open_as(kind, group, TW_CREATE | TW_EXCLUSIVE), TW_OK) << tw_last_error();
      });
      clear();
      on_team(tasks,
              [&](tw_group* group, int) { EXPECT_EQ(open_as(kind, group, TW_CREATE), TW_OK) << tw_last_error(); });
    }
  }
}

TEST_F(OpenFlags, AppendOfAMultifileOnlySometimesCreatesIsToldAsDifferent) {
  on_team(2, [&](tw_group* group, int task) {
    EXPECT_EQ(open_as(kMultifile, group, task == 0 ? TW_CREATE | TW_APPEND : TW_APPEND), TW_ERR_INVALID);
  });
}

}  // namespace
}  // namespace thalweg::test
