// Small undamaged multifiles, truncated at any byte or with any metadata bit flipped, one damage at a time: read,
// recovered, verified and repaired (support/damage/damage_check.hpp has the checks).
//
// Every stride()-th damage is tried, in the nightly run each. In data, tails and holes a sample of the bits is flipped;
// in padding one bit of each byte gets all checks, the others only reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "support/damage/damage_check.hpp"
#include "support/sanitized.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kBlock = 512;      // alignment of the images: frames are at multiples
constexpr std::uint64_t kSampleStep = 61;  // bits; prime to 8
constexpr int kMostFailures = 10;          // printed failures

// THALWEG_DAMAGE_STRIDE in the environment, else a number prime to 8: all bits of a byte are covered. Under a sanitizer a
// damage takes ten times as long.
std::uint64_t stride() {
  const std::uint64_t usual = kWatchesMemory || kWatchesThreads ? 211 : 23;
  const char* text = std::getenv("THALWEG_DAMAGE_STRIDE");
  return text == nullptr ? usual : std::max<std::uint64_t>(1, std::strtoull(text, nullptr, 10));
}

bool is_metadata(RegionKind kind) {
  return kind == RegionKind::header || kind == RegionKind::frame || kind == RegionKind::index;
}

// One bit of one physical file.
struct Flip {
  std::uint64_t bit = 0;
  const Region* region = nullptr;
  bool padding = false;  // zeros under a checksum: all bits are equivalent
};

bool is_zero_line(const std::vector<std::byte>& bytes, std::uint64_t byte) {
  constexpr std::ptrdiff_t line = 16;
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(byte) / line * line;
  return std::all_of(begin, std::min(begin + line, bytes.end()), [](std::byte b) { return b == std::byte{0}; });
}

// All bits of metadata; elsewhere a sample, and the possible places of frames.
std::vector<Flip> flips_of(const Image& image, const Region& region, const std::vector<std::byte>& bytes) {
  std::vector<Flip> flips;
  if (region.kind == RegionKind::data && !image.checked) return flips;
  const std::uint64_t end = std::min<std::uint64_t>(region.offset + region.bytes, bytes.size());
  for (std::uint64_t bit = region.offset * 8; bit < end * 8; ++bit) {
    const bool frame_start = region.kind != RegionKind::data && bit / 8 % kBlock < 12;
    if (is_metadata(region.kind) || frame_start || bit % kSampleStep == 0)
      flips.push_back({bit, &region, is_metadata(region.kind) && is_zero_line(bytes, bit / 8)});
  }
  return flips;
}

std::string text_of(const Flip& flip) {
  return "bit " + std::to_string(flip.bit % 8) + " of byte " + std::to_string(flip.bit / 8) + " in region " +
         std::to_string(static_cast<int>(flip.region->kind)) + " at " + std::to_string(flip.region->offset);
}

class Damage : public testing::TestWithParam<std::string> {
 protected:
  const Image& image() const { return sound_image(GetParam()); }

  // False: too many failures.
  bool expect_sound(const std::map<std::string, std::vector<std::byte>>& files, Loss loss, const std::string& what,
                    Depth depth = Depth::all) {
    const std::string wrong = check_damaged(image(), files, loss, depth);
    EXPECT_EQ(wrong, "") << GetParam() << ", " << what;
    failures_ += !wrong.empty();
    return failures_ < kMostFailures;
  }

  int failures_ = 0;
};

TEST(DamageImages, LaterHasDataInALaterPhysicalFile) {
  const Image& image = sound_image("Later");
  ASSERT_EQ(image.files.size(), 2u);
  EXPECT_TRUE(std::ranges::any_of(image.regions, [](const Region& region) {
    return region.kind == RegionKind::data && region.physical == 1 && region.rank == 1;
  }));
}

TEST_P(Damage, NothingIsWrongUndamaged) { expect_sound(image().files, Loss::is_told, "as it was written"); }

TEST_P(Damage, CutOffAtAnyByte) {
  const Loss loss = image().closed ? Loss::is_told : Loss::may_be_silent;
  for (const auto& [path, whole] : image().files) {
    auto files = image().files;
    for (std::uint64_t bytes = 0; bytes < whole.size(); bytes += stride()) {
      files[path] = {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)};
      if (!expect_sound(files, loss, path + " cut to " + std::to_string(bytes))) return;
    }
  }
}

TEST_P(Damage, AnyBitFlips) {
  std::uint64_t n = 0;
  auto files = image().files;
  for (const Region& region : image().regions) {
    auto& [path, bytes] = *std::next(files.begin(), region.physical);
    for (const Flip& flip : flips_of(image(), region, bytes)) {
      if (n++ % stride() != 0) continue;
      const Depth depth = flip.padding && flip.bit % 8 != flip.bit / 8 % 8 ? Depth::reading : Depth::all;
      const auto mask = static_cast<std::byte>(1u << flip.bit % 8);
      bytes[flip.bit / 8] ^= mask;
      if (!expect_sound(files, Loss::is_told, path + ", " + text_of(flip), depth)) return;
      bytes[flip.bit / 8] ^= mask;
    }
  }
  EXPECT_GT(n, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Images, Damage, testing::ValuesIn(image_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace thalweg::test
