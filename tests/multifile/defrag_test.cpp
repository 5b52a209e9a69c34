// A defragmented multifile: one chunk per large logical file, and no unused space.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/files/on_disk.hpp"

namespace thalweg {
namespace {

class Defrag : public test::OnDisk {
 protected:
  void TearDown() override {
    OnDisk::TearDown();
    std::filesystem::remove(path_ + ".new");
  }
  // Writes the files in turn, so that their chunks interleave.
  void write(const std::vector<std::size_t>& sizes) {
    const auto n = static_cast<std::int64_t>(sizes.size());
    ASSERT_EQ(tw_options_set_range(config_, n, 0, n), TW_OK);
    hint("chunk_bytes", "300000");
    tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
    std::mt19937 random(5);
    for (const std::size_t size : sizes) {
      content_.emplace_back(size, '\0');
      for (char& c : content_.back()) c = static_cast<char>(random());
    }
    constexpr std::size_t kStep = 500'000;
    for (std::size_t at = 0; at < 40 * kStep; at += kStep)
      for (std::int64_t rank = 0; rank < n; ++rank) {
        const std::string& all = content_[static_cast<std::size_t>(rank)];
        if (at >= all.size()) continue;
        ASSERT_EQ(tw_multifile_seek_to(file, rank, static_cast<std::int64_t>(at)), TW_OK);
        ASSERT_EQ(tw_multifile_write(file, all.data() + at, std::min(kStep, all.size() - at)), TW_OK)
            << tw_last_error();
      }
    close(file);
  }

  std::vector<std::string> content_;
};

int note(const tw_region* region, void* user) {
  static_cast<std::vector<tw_region>*>(user)->push_back(*region);
  return 0;
}

TEST_F(Defrag, EachLogicalFileIsOnePieceAndNothingIsLeftUnused) {
  constexpr std::int64_t kAlignment = 4096;
  hint("alignment_bytes", std::to_string(kAlignment));
  write({9'000'001, 700'000, 100, 0, 20'000'000, 60'000, 4096, 1'500'000, 100'000, 3, 13'333'333});
  tw_options* same = config_;
  const std::string copy = path_ + ".new";

  ASSERT_EQ(tw_multifile_defrag(path_.c_str(), copy.c_str(), same, nullptr, nullptr), TW_OK) << tw_last_error();

  path_ = copy;
  tw_multifile* file = open(TW_READ);
  for (std::size_t rank = 0; rank < content_.size(); ++rank) {
    const auto r = static_cast<std::int64_t>(rank);
    tw_piece piece{};
    EXPECT_EQ(tw_multifile_piece(file, r, 0, &piece), content_[rank].empty() ? TW_ERR_NOT_FOUND : TW_OK);
    EXPECT_EQ(tw_multifile_piece(file, r, 1, &piece), TW_ERR_NOT_FOUND) << rank;
    ASSERT_EQ(tw_multifile_seek_to(file, r, 0), TW_OK);
    EXPECT_EQ(read_all(file), content_[rank]);
  }
  std::vector<tw_region> regions;
  ASSERT_EQ(tw_multifile_regions(file, note, &regions), TW_OK) << tw_last_error();
  for (const tw_region& region : regions) {
    EXPECT_NE(region.kind, TW_REGION_HOLE) << region.offset << " " << region.bytes;
    if (region.kind == TW_REGION_TAIL) {
      EXPECT_LT(region.bytes, kAlignment) << region.offset;
    }
  }
  close(file);
  path_.resize(path_.size() - 4);
}

}  // namespace
}  // namespace thalweg
