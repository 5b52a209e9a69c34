// Places of the data of large chunks: between boundaries on which the page cache forms large folios.
#include <gtest/gtest.h>
#include <unistd.h>
#include <thalweg/thalweg.hpp>

#include <filesystem>
#include <numeric>
#include <vector>

namespace {

struct DataRange {
  std::int64_t offset, bytes;
};

class Layout : public ::testing::Test {
 protected:
  ~Layout() override { std::filesystem::remove(path_); }

  // Writes one logical file in calls of `call` bytes; returns the ranges of its data.
  std::vector<DataRange> ranges_of(std::size_t call, int calls, const thalweg::Options& config) {
    {
      thalweg::Multifile file(path_, TW_CREATE | TW_TRUNCATE, config);
      std::vector<std::byte> data(call);
      for (int i = 0; i < calls; ++i) {
        std::iota(reinterpret_cast<unsigned char*>(data.data()), reinterpret_cast<unsigned char*>(data.data() + call),
                  static_cast<unsigned char>(i));
        file.write(data.data(), call);
      }
      file.close();
    }
    std::vector<DataRange> found;
    thalweg::Multifile file(path_, TW_READ);
    const auto note = [](const tw_region* region, void* user) {
      if (region->kind == TW_REGION_DATA)
        static_cast<std::vector<DataRange>*>(user)->push_back({region->offset, region->bytes});
      return 0;
    };
    EXPECT_EQ(tw_multifile_regions(file.get(), note, &found), TW_OK);
    return found;
  }

  const std::string path_ = std::filesystem::temp_directory_path() / ("layout-" + std::to_string(getpid()) + ".tw");
};

constexpr std::int64_t kMi = 1 << 20;

// Also for chunks of doubled size and for slabs that end before them. Once a chunk cut at the end of a slab began
// unaligned, and so did all later ones.
TEST_F(Layout, EveryChunkOfAStreamBeginsAndEndsOnABoundary) {
  for (const char* checksum : {"none", "crc32c"}) {
    const auto ranges = ranges_of(kMi, 130, thalweg::Options().hint("checksum", checksum).hint("chunk_bytes", "8MiB"));
    ASSERT_GT(ranges.size(), 8u);
    for (const DataRange& range : ranges) {
      EXPECT_EQ(range.offset % kMi, 0) << checksum;
      EXPECT_EQ(range.bytes % kMi, 0) << checksum;
    }
  }
}

// The first slabs are small, so that little data make a small file. The first chunk ends with the first slab, and later
// ones begin where the calls of 1 MiB still lie between boundaries.
TEST_F(Layout, WithoutAdviceTheChunksGrow) {
  const auto ranges = ranges_of(kMi, 130, {});
  EXPECT_LE(ranges.size(), 24u);
  EXPECT_LT(ranges.front().bytes, kMi);
  std::int64_t logical_offset = 0;
  for (const DataRange& range : ranges) {
    if (range.bytes >= 7 * kMi) {
      EXPECT_EQ(range.offset % kMi, logical_offset % kMi);
    }
    logical_offset += range.bytes;
  }
  EXPECT_LT(std::filesystem::file_size(path_), 200u * kMi);
}

TEST_F(Layout, LittleDataMakeASmallFile) {
  ranges_of(1000, 300, {});
  EXPECT_LT(std::filesystem::file_size(path_), 600'000u);
}

TEST_F(Layout, TheBoundaryOfASmallerChunkIsSmaller) {
  const auto ranges = ranges_of(kMi, 20, thalweg::Options().hint("chunk_bytes", "1M"));
  for (const DataRange& range : ranges) EXPECT_EQ(range.offset % (kMi / 4), 0);
}

TEST_F(Layout, SeveralLogicalFilesOfLittleDataMakeASmallFile) {
  for (const std::int64_t n : {8, 64, 200}) {
    thalweg::Multifile file(path_, TW_CREATE | TW_TRUNCATE, thalweg::Options().range(n, 0, n));
    const std::vector<std::byte> data(100'000);
    for (std::int64_t rank = 0; rank < n; ++rank) {
      file.seek_to(rank, 0);
      for (int i = 0; i < 3; ++i) file.write(data.data(), data.size());
    }
    file.close();
    EXPECT_LT(std::filesystem::file_size(path_), 3u * static_cast<std::uint64_t>(n) * 300'000) << n;
  }
}

TEST_F(Layout, OneLargeCallIsAFewChunksOnBoundaries) {
  const auto ranges = ranges_of(40 * kMi + 1000, 1, {});
  ASSERT_FALSE(ranges.empty());
  EXPECT_EQ(ranges.front().offset % (kMi / 4), 0);
  EXPECT_LT(ranges.size(), 8u);
}

// Only large chunks are aligned to boundaries; small ones take a block.
TEST_F(Layout, ASmallChunkGetsNoGap) {
  const auto ranges = ranges_of(4096, 32, thalweg::Options().hint("chunk_bytes", "64K"));
  EXPECT_LT(std::filesystem::file_size(path_), 2u * 32 * 4096);
  EXPECT_FALSE(ranges.empty());
}

}  // namespace
