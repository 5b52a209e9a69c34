// Whether tasks may access a file alone, as fast as together (tw_file_goes_alone).
#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

using GoingAlone = SharedFiles;

struct Comb {
  Comb() { EXPECT_EQ(tw_view_strided(6, 2, 5, nullptr, &view), TW_OK) << tw_last_error(); }
  ~Comb() { tw_view_free(&view); }
  Comb(const Comb&) = delete;
  Comb& operator=(const Comb&) = delete;
  tw_view* view = nullptr;
};

bool goes_alone(const tw_file* file) {
  std::int32_t alone = -1;
  EXPECT_EQ(tw_file_goes_alone(file, &alone), TW_OK) << tw_last_error();
  EXPECT_TRUE(alone == 0 || alone == 1) << alone;
  return alone == 1;
}

// An offset keeps the bytes of a task together; a view of one task counts for all.
TEST_F(GoingAlone, EndsWithTheViewOfAnyTask) {
  on_file(3, [&](tw_file* file, int task) {
    EXPECT_TRUE(goes_alone(file));
    EXPECT_EQ(tw_file_set_view(file, 100 * task, nullptr), TW_OK) << tw_last_error();
    EXPECT_TRUE(goes_alone(file));
    const Comb comb;
    EXPECT_EQ(tw_file_set_view(file, 0, task == 1 ? comb.view : nullptr), TW_OK) << tw_last_error();
    EXPECT_FALSE(goes_alone(file));
    EXPECT_EQ(tw_file_set_view(file, task == 2 ? -1 : 0, nullptr), TW_ERR_INVALID);
    EXPECT_FALSE(goes_alone(file)) << "the views are those before";
    EXPECT_EQ(tw_file_set_view(file, 0, nullptr), TW_OK) << tw_last_error();
    EXPECT_TRUE(goes_alone(file));
  });
}

TEST_F(GoingAlone, FollowsTheHints) {
  for (const char* const together : {"method=aggregate", "method=shared", "workers=2", "aggregators=1"})
    on_file(
        2, [&](tw_file* file, int) { EXPECT_FALSE(goes_alone(file)) << together; }, kNew, together);
  on_file(
      2,
      [&](tw_file* file, int) {
        const Comb comb;
        EXPECT_EQ(tw_file_set_view(file, 0, comb.view), TW_OK) << tw_last_error();
        EXPECT_TRUE(goes_alone(file));
      },
      kNew, "method=direct");
}

}  // namespace
}  // namespace thalweg::test
