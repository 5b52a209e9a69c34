// Stripes by the public calls: hints reach the servers, and plans, explanations and strategies tell what is in force.
#include "support/engine/told_stripes.hpp"
#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

constexpr const char* kAsked = "striping_factor=4,striping_unit=1MiB";

class TellsStripes : public SharedFiles, protected ToldStripes {
 protected:
  // The plan of a write of one task.
  std::string plan(const char* hints, int flags = kNew) {
    std::string text;
    on_file(
        1,
        [&](tw_file* file, int) {
          ASSERT_EQ(tw_file_write_all(file, "bytes", 5), TW_OK) << tw_last_error();
          text = tw_file_last_plan(file);
        },
        flags, hints);
    return text;
  }
  std::string strategy(const char* hints) const {
    OpenWith options;
    if (hints != nullptr) options.hints(hints);
    tw_multifile* file = nullptr;
    EXPECT_EQ(tw_multifile_open(nullptr, path("multi.tw").c_str(), TW_CREATE | TW_TRUNCATE, options, &file), TW_OK)
        << tw_last_error();
    tw_multifile_summary summary{};
    summary.struct_size = sizeof summary;
    EXPECT_EQ(tw_multifile_summarize(file, &summary), TW_OK) << tw_last_error();
    const std::string text = summary.strategy;
    EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    return text;
  }
  static void expect_in(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' in: " << text;
  }
};

TEST_F(TellsStripes, OfASharedFileThatIsMadeOnLustre) {
  magic = kLustre;
  attribute = lov(1, 1, 1 << 20, 4, {3, 0, 1, 2});
  expect_in(plan(kAsked), "; stripes of 1 MiB over 4 targets");
  ASSERT_EQ(controls.size(), 1u);
  EXPECT_EQ(load_le<std::uint16_t>(ByteView(controls[0].argument).subspan(28)), 4u);
  EXPECT_EQ(plan(nullptr).find("not followed"), std::string::npos);
  EXPECT_EQ(controls.size(), 1u) << "without hints the folder decides";
}

TEST_F(TellsStripes, ThatAreNotFollowed) {
  expect_in(plan(kAsked), "hint striping_factor not followed: ");
  expect_in(strategy(kAsked), "hint striping_factor not followed: ");
  EXPECT_EQ(plan(nullptr).find("strip"), std::string::npos);
  EXPECT_EQ(strategy(nullptr).find("strip"), std::string::npos);
  magic = kLustre;
  attribute = lov(1, 1, 1 << 20, 8, {});
  expect_in(plan(kAsked, TW_READ | TW_WRITE), "over 8 targets; hint striping_factor not followed: ");
}

TEST_F(TellsStripes, OfAMultifile) {
  magic = kLustre;
  attribute = lov(3, 1, 1 << 20, 4, {3, 0, 1, 2});
  const std::string told = strategy(kAsked);
  expect_in(told, "alignment 4 KiB (slabs begin on stripes)");
  expect_in(told, "; stripes of 1 MiB over 4 targets");
  EXPECT_EQ(controls.size(), 1u);
}

TEST_F(TellsStripes, OfAFolderAndInAnExplanation) {
  magic = kLustre;
  attribute = lov(1, 0, 4 << 20, 6, {});
  tw_storage_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(tw_storage_describe(path("to be made").c_str(), &info), TW_OK) << tw_last_error();
  EXPECT_EQ(info.stripe_bytes, 4 << 20);
  EXPECT_EQ(info.stripe_count, 6);
  tw_access_pattern access{};
  access.struct_size = sizeof access;
  access.direction = TW_ACCESS_WRITE;
  access.tasks = access.processes = 4;
  access.extents = 1000;
  access.length = 100;
  std::vector<char> text(4096);
  ASSERT_EQ(tw_storage_explain(path().c_str(), "striping_factor=5", &access, text.data(), text.size()), TW_OK)
      << tw_last_error();
  expect_in(text.data(), "\nlayout: stripes of 4 MiB over 5 targets\n");
}

TEST_F(TellsStripes, OnlyWhereTheHintsAreRight) {
  tw_file* file = nullptr;
  for (const char* wrong : {"striping_factor=0", "striping_factor=2001", "striping_unit=4KiB"}) {
    OpenWith options;
    options.hints(wrong);
    EXPECT_EQ(tw_file_open(nullptr, path().c_str(), kNew, options, &file), TW_ERR_INVALID) << wrong;
  }
  expect_in(plan("striping_factor=auto,striping_unit=auto"), "direct");
  std::filesystem::remove(path());
  magic = kLustre;
  (void)plan("striping_factor=all");
  ASSERT_EQ(controls.size(), 1u);
  EXPECT_EQ(load_le<std::uint16_t>(ByteView(controls[0].argument).subspan(28)), 0xFFFFu);
}

}  // namespace
}  // namespace thalweg::test
