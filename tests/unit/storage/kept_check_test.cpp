// What `thalweg check` has kept is used; what is invalid there counts as unknown.
#include "storage/kept_check.hpp"

#include <gtest/gtest.h>

namespace thalweg {
namespace {

std::string profile_with(const std::string& checks) {
  return R"({"version": 1, "file_systems": [{"id": "a"}], "checks": )" + checks + "}";
}

TEST(KeptCheck, GivesWhatWasFound) {
  const auto all = parse_checks(profile_with(
      R"({"nfs-host:/a": {"checked": "2026-11-28", "coherent": "no", "locks": "node", "news": [1]},
          "fuse.x-1": {"coherent": "trusted", "direct_alignment": 4096}})"));

  ASSERT_EQ(all.size(), 2u);
  const KeptCheck& first = all.find("nfs-host:/a")->second;
  EXPECT_EQ(first.coherent, "no");
  EXPECT_EQ(first.locks, "node");
  EXPECT_EQ(first.direct_alignment, 0u);
  const KeptCheck& second = all.find("fuse.x-1")->second;
  EXPECT_EQ(second.coherent, "trusted");
  EXPECT_EQ(second.locks, "");
  EXPECT_EQ(second.direct_alignment, 4096u);
}

TEST(KeptCheck, OfAnInvalidValueIsUnknown) {
  for (const char* members :
       {R"("coherent": 1)", R"("coherent": null)", R"("locks": ["all"])", R"("direct_alignment": -4096)",
        R"("direct_alignment": 4095)", R"("direct_alignment": 1e99)", R"("direct_alignment": "4096")"}) {
    const auto all = parse_checks(profile_with(std::string(R"({"a": {)") + members + "}}"));
    ASSERT_EQ(all.size(), 1u) << members;
    const KeptCheck& found = all.begin()->second;
    EXPECT_TRUE(found.coherent.empty() && found.locks.empty() && found.direct_alignment == 0) << members;
  }
}

TEST(KeptCheck, IsNoneInWhatIsNoProfile) {
  for (const std::string& text :
       {std::string(), std::string("nonsense"), std::string("[]"),
        std::string(R"({"checks": {"a": {"coherent": "no"}}})"),
        std::string(R"({"version": 2, "checks": {"a": {"coherent": "no"}}})"), profile_with("[1]"),
        profile_with("null"), profile_with(R"("no")"), std::string(1 << 20, '[')}) {
    EXPECT_TRUE(parse_checks(text).empty()) << text.substr(0, 80);
  }
  EXPECT_EQ(parse_checks(profile_with(R"({"a": 7})")).begin()->second.coherent, "");
}

TEST(KeptCheck, IncoherentCountsEverywhereAndCoherentOnlyWhereTrusted) {
  for (const bool known : {false, true}) {
    StorageInfo storage;
    storage.is_coherent = known;
    for (const char* nothing : {"", "seen", "yes"}) {
      use_check({nothing, "", 0}, storage);
      EXPECT_EQ(storage.is_coherent, known) << nothing;
    }
    use_check({"trusted", "", 0}, storage);
    EXPECT_TRUE(storage.is_coherent);
    use_check({"no", "", 0}, storage);
    EXPECT_FALSE(storage.is_coherent);
  }
}

TEST(KeptCheck, LocksAreWhatWasSeenOfThem) {
  for (const bool known : {false, true}) {
    StorageInfo storage;
    storage.locks_reach_all = known;
    use_check({"", "", 0}, storage);
    EXPECT_EQ(storage.locks_reach_all, known);
    for (const char* const fewer : {"node", "none"}) {
      storage.locks_reach_all = known;
      use_check({"", fewer, 0}, storage);
      EXPECT_FALSE(storage.locks_reach_all) << fewer;
    }
    use_check({"", "all", 0}, storage);
    EXPECT_TRUE(storage.locks_reach_all);
  }
}

TEST(KeptCheck, OfAnUnknownFileSystemIsUnknown) { EXPECT_EQ(find_check("no such file system").coherent, ""); }

}  // namespace
}  // namespace thalweg
