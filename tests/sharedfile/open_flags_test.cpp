// Flags of tw_multifile_open() and of tw_file_open() have distinct values.
#include <fcntl.h>

#include <bit>
#include <cstdio>
#include <span>

#include "support/shared_files.hpp"

namespace thalweg::test {
namespace {

struct Flag {
  std::int32_t value;
  const char* name;
};
constexpr Flag kOfMultifiles[] = {{TW_READ, "TW_READ"},
                                  {TW_CREATE, "TW_CREATE"},
                                  {TW_APPEND, "TW_APPEND"},
                                  {TW_EXCLUSIVE, "TW_EXCLUSIVE"},
                                  {TW_RECOVER, "TW_RECOVER"}};
constexpr Flag kOfFiles[] = {{TW_READ, "TW_READ"},           {TW_WRITE, "TW_WRITE"},       {TW_CREATE, "TW_CREATE"},
                             {TW_EXCLUSIVE, "TW_EXCLUSIVE"}, {TW_TRUNCATE, "TW_TRUNCATE"}, {TW_APPEND, "TW_APPEND"},
                             {TW_DIRECT, "TW_DIRECT"}};

constexpr bool distinct_bits() {
  std::uint32_t seen = 0;
  for (const auto& flags : {std::span<const Flag>(kOfMultifiles), std::span<const Flag>(kOfFiles)}) {
    for (const Flag& flag : flags) {
      const auto bit = static_cast<std::uint32_t>(flag.value);
      if (std::popcount(bit) != 1 || (seen & bit) != 0) return false;
      seen |= bit;
    }
  }
  return true;
}
static_assert(distinct_bits(), "a flag is one bit, which no other flag has");

constexpr std::int32_t kAccessOfMultifiles = TW_READ | TW_CREATE | TW_APPEND;
constexpr std::int32_t kAccessOfFiles = TW_READ | TW_WRITE;
static_assert(((kAccessOfMultifiles | kAccessOfFiles) &
               (O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_CLOEXEC | O_DIRECT | O_SYNC | O_DSYNC)) == 0,
              "flags of open(2) alone open nothing");

class OpenFlags : public SharedFiles {
 protected:
  static bool said(const std::string& part) { return std::string(tw_last_error()).find(part) != std::string::npos; }

  void expect_refused_by_multifile(tw_group* group, std::int32_t mode, const std::string& why) const {
    tw_multifile* file = nullptr;
    EXPECT_EQ(tw_multifile_open(group, path().c_str(), mode, nullptr, &file), TW_ERR_INVALID) << mode;
    EXPECT_EQ(file, nullptr);
    EXPECT_TRUE(said(why)) << tw_last_error();
  }
  void expect_refused_by_file(tw_group* group, std::int32_t flags, const std::string& why) const {
    tw_file* file = nullptr;
    EXPECT_EQ(tw_file_open(group, path().c_str(), flags, nullptr, &file), TW_ERR_INVALID) << flags;
    EXPECT_EQ(file, nullptr);
    EXPECT_TRUE(said(why)) << tw_last_error();
  }
};

TEST_F(OpenFlags, OfTheOtherCallAreNamedAndRefusedOnAllTasks) {
  on_team(3, [&](tw_group* group, int task) {
    for (const Flag& flag : kOfFiles) {
      const std::string why = std::string(flag.name) + " is a flag of tw_file_open";
      expect_refused_by_multifile(group, flag.value, why);
      expect_refused_by_multifile(group, task == 1 ? TW_CREATE | flag.value : TW_CREATE, why);
    }
    for (const Flag& flag : kOfMultifiles) {
      const std::string why = std::string(flag.name) + " is a flag of tw_multifile_open";
      expect_refused_by_file(group, flag.value, why);
      expect_refused_by_file(group, task == 2 ? kNew | flag.value : kNew, why);
    }
  });
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(OpenFlags, UnknownOnesAreRefusedWithTheirBits) {
  on_team(2, [&](tw_group* group, int) {
    for (const std::int32_t unknown : {1, 2, 4, 1024, O_RDWR | O_CREAT}) {
      char bits[32];
      std::snprintf(bits, sizeof bits, "%#x", static_cast<unsigned>(unknown));
      expect_refused_by_multifile(group, unknown, bits);
      expect_refused_by_multifile(group, TW_CREATE | unknown, bits);
      expect_refused_by_file(group, unknown, bits);
      expect_refused_by_file(group, kNew | unknown, bits);
    }
    expect_refused_by_multifile(group, -1, "unknown flags 0x8");
    expect_refused_by_file(group, -1, "unknown flags 0x8");
  });
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(OpenFlags, NoneOrTwoWaysToOpenAMultifileAreRefused) {
  on_team(2, [&](tw_group* group, int) {
    for (const std::int32_t mode : {0, TW_EXCLUSIVE + 0, TW_READ | TW_CREATE, TW_CREATE | TW_APPEND}) {
      expect_refused_by_multifile(group, mode, "one of TW_READ, TW_CREATE and TW_APPEND");
    }
    expect_refused_by_multifile(group, TW_APPEND | TW_EXCLUSIVE, "TW_EXCLUSIVE");
    expect_refused_by_multifile(group, TW_CREATE | TW_RECOVER, "TW_RECOVER");
  });
}

TEST_F(OpenFlags, CreateOfASharedFileDoesNotAppendToAMultifile) {
  tw_multifile* file = nullptr;
  ASSERT_EQ(tw_multifile_open(nullptr, path().c_str(), TW_CREATE, nullptr, &file), TW_OK) << tw_last_error();
  ASSERT_EQ(tw_multifile_close(file), TW_OK) << tw_last_error();

  expect_refused_by_multifile(nullptr, TW_CREATE, "TW_CREATE is a flag of tw_file_open");
}

}  // namespace
}  // namespace thalweg::test
