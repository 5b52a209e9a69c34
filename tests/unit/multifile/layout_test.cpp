// Sections and slabs: pages round-trip and refuse every flipped bit; slab_at against direct summation.
#include "multifile/format/layout.hpp"

#include <gtest/gtest.h>

#include <random>

namespace thalweg::format {
namespace {

constexpr FileIdentity kId{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, 3};

std::vector<std::byte> noise(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> out(bytes);
  for (auto& byte : out) byte = static_cast<std::byte>(random());
  return out;
}

// Section 3 of the document term by term, in 128 bits; no value when a sum exceeds 2^63-1.
__extension__ using Wide = unsigned __int128;
struct DirectSlab {
  Wide start, bytes;
};
DirectSlab direct_slab(const SlabLayout& layout, std::uint64_t k) {
  const auto e = [&](std::uint64_t j) {
    return layout.rounds_per_doubling == 0
               ? 0
               : std::min<std::uint64_t>(j / layout.rounds_per_doubling, layout.most_doublings);
  };
  Wide before = 0;
  for (std::uint64_t j = 0; j < k; ++j) before += static_cast<Wide>(1) << e(j);
  const auto factor = static_cast<Wide>(1) << e(k);
  return {layout.data_start + layout.round_bytes * before + factor * layout.domain_prefix,
          factor * layout.domain_bytes};
}

TEST(Section, GivesBackItsEntriesForEverySizeAndCount) {
  for (const std::uint64_t entry_bytes : {1u, 8u, 40u, 48u}) {
    for (const std::uint64_t count :
         {0u, 1u, 84u, 85u, 101u, 102u, 103u, 509u, 510u, 511u, 4079u, 4080u, 4081u, 9000u}) {
      const auto entries = noise(count * entry_bytes, 1);
      std::vector<std::byte> pages(5);
      append_section(pages, SectionKind::files, entries, entry_bytes, kId, 8192);

      const auto section = ByteView(pages).subspan(5);
      auto back = parse_section(section, SectionKind::files, count, entry_bytes, kId, 8192);

      EXPECT_EQ(section.size(), section_pages(count, entry_bytes) * kPageBytes);
      ASSERT_TRUE(back.has_value()) << back.error().message();
      EXPECT_EQ(back.value(), entries);
    }
  }
}

TEST(Section, RefusesAnotherKindPlaceFileAndNumberOfPages) {
  const auto entries = noise(600 * 8, 2);
  std::vector<std::byte> pages;
  append_section(pages, SectionKind::ranks, entries, 8, kId, 4096);
  FileIdentity other_file = kId, other_set = kId;
  other_file.physical = 4;
  other_set.uuid[15] ^= 1;
  const auto code = [&](ByteView bytes, SectionKind kind, std::uint64_t count, const FileIdentity& id,
                        std::uint64_t at) { return parse_section(bytes, kind, count, 8, id, at).status().code(); };
  const ByteView all(pages);

  EXPECT_EQ(code(all, SectionKind::ranks, 600, kId, 4096), Code::ok);
  EXPECT_EQ(code(all, SectionKind::table, 600, kId, 4096), Code::corrupt_file);
  EXPECT_EQ(code(all, SectionKind::ranks, 600, kId, 8192), Code::corrupt_file);
  EXPECT_EQ(code(all, SectionKind::ranks, 600, other_file, 4096), Code::corrupt_file);
  EXPECT_EQ(code(all, SectionKind::ranks, 600, other_set, 4096), Code::corrupt_file);
  EXPECT_EQ(code(all, SectionKind::ranks, 510, kId, 4096), Code::corrupt_file);
  EXPECT_EQ(code(all.first(4096), SectionKind::ranks, 600, kId, 4096), Code::corrupt_file);
  EXPECT_EQ(code(all.first(8191), SectionKind::ranks, 600, kId, 4096), Code::corrupt_file);
  EXPECT_EQ(code(all.subspan(4096), SectionKind::ranks, 90, kId, 8192),
            Code::corrupt_file);  // page 1 in place of page 0
}

TEST(Section, RefusesACountThatItsPagesCannotHold) {
  EXPECT_EQ(parse_section({}, SectionKind::files, ~0ull, 40, kId, 4096).status().code(), Code::corrupt_file);
  EXPECT_EQ(parse_section({}, SectionKind::names, ~0ull, 1, kId, 4096).status().code(), Code::corrupt_file);
}

TEST(Page, RefusesEveryFlippedBit) {
  std::vector<std::byte> page = noise(kPageBytes, 3);
  seal_page(page, SectionKind::pieces, 7, kId, 12288);
  ASSERT_TRUE(check_page(page, SectionKind::pieces, 7, kId, 12288).ok());

  for (std::size_t bit = 0; bit < page.size() * 8; ++bit) {
    page[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_EQ(check_page(page, SectionKind::pieces, 7, kId, 12288).code(), Code::corrupt_file) << "bit " << bit;
    page[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(Slab, EqualsDirectSummation) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 2000; ++round) {
    SlabLayout layout;
    layout.data_start = 4096 * (random() % 100);
    layout.domain_prefix = 512 * (random() % 50);
    layout.domain_bytes = 512 * (1 + random() % 50);
    layout.round_bytes = layout.domain_prefix + layout.domain_bytes + 512 * (random() % 50);
    layout.rounds_per_doubling = static_cast<std::uint32_t>(random() % 5);
    layout.most_doublings = static_cast<std::uint32_t>(random() % 41);
    const std::uint64_t k = random() % 120;

    const auto slab = slab_at(layout, k);
    const auto direct = direct_slab(layout, k);

    if (direct.start + direct.bytes > kMaxOffset) {
      EXPECT_EQ(slab.status().code(), Code::out_of_range);
    } else {
      ASSERT_TRUE(slab.has_value()) << slab.error().message();
      EXPECT_TRUE(slab.value().start == direct.start && slab.value().bytes == direct.bytes);
    }
  }
}

TEST(Slab, EndsExactlyAtTheLargestOffset) {
  SlabLayout layout{.data_start = 0, .round_bytes = 1ull << 32, .domain_prefix = 0, .domain_bytes = 1ull << 32};

  EXPECT_EQ(slab_at(layout, (1ull << 31) - 1).status().code(), Code::out_of_range);
  EXPECT_EQ(slab_at(layout, (1ull << 31) - 2).status().code(), Code::ok);
  EXPECT_EQ(slab_at(layout, ~0ull).status().code(), Code::out_of_range);
}

TEST(Slab, RefusesWhateverOverflows) {
  constexpr std::uint64_t big = ~0ull;
  for (const std::uint32_t growth : {0u, 1u, 3u, ~0u}) {
    for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{1} << 40, big}) {
      EXPECT_EQ(slab_at({big, 1, 0, 1, growth, 40}, k).status().code(), Code::out_of_range);
      EXPECT_EQ(slab_at({0, big, 0, 1, growth, 40}, k).status().code(), Code::out_of_range);
      EXPECT_EQ(slab_at({0, 1, big, 1, growth, 40}, k).status().code(), Code::out_of_range);
      EXPECT_EQ(slab_at({0, 1, 0, big, growth, 40}, k).status().code(), Code::out_of_range);
    }
  }
  EXPECT_EQ(slab_at({0, 1, 0, 1, 1, ~0u}, 63).status().code(), Code::out_of_range);
}

TEST(Slab, RoundsFollowEachOtherWithoutGapOrOverlap) {
  const std::vector<std::uint64_t> domains{512, 1536, 4096};
  std::uint64_t expected = 8192;
  for (std::uint64_t k = 0; k < 40; ++k) {
    std::uint64_t prefix = 0;
    for (const std::uint64_t bytes : domains) {
      const auto slab = slab_at({8192, 6144, prefix, bytes, 2, 5}, k);
      ASSERT_TRUE(slab.has_value());
      EXPECT_EQ(slab.value().start, expected);
      expected += slab.value().bytes;
      prefix += bytes;
    }
  }
}

TEST(PhysicalName, NumbersAllButTheFirst) {
  EXPECT_EQ(physical_name("dump.tw", 0), "dump.tw");
  EXPECT_EQ(physical_name("dump.tw", 1), "dump.tw.000001");
  EXPECT_EQ(physical_name("dump.tw", 1048575), "dump.tw.1048575");
}

TEST(Uuid, IsWrittenTheUsualWay) {
  EXPECT_EQ(uuid_text({0x00, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xFF}),
            "00010203-0405-0607-0809-0a0b0c0d0eff");
}

}  // namespace
}  // namespace thalweg::format
