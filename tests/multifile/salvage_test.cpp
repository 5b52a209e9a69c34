// What a repair keeps of an index of which one page is damaged: all that the other pages tell.
#include <gtest/gtest.h>
#include <unistd.h>
#include <thalweg/thalweg.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

constexpr std::int64_t kFiles = 250;  // three pages of entries, some of names
constexpr std::uint64_t kPage = 4096;

std::string name_of(std::int64_t rank) { return "folder/" + std::string(60, 'x') + std::to_string(rank); }
std::string content_of(std::int64_t rank) { return std::string(static_cast<std::size_t>(rank % 7), 'c'); }
const std::string kLong(9000, 'v');

class Salvage : public ::testing::Test {
 protected:
  Salvage() {
    thalweg::Multifile file(path_, TW_CREATE, thalweg::Config().range(kFiles, 0, kFiles));
    for (std::int64_t rank = 0; rank < kFiles; ++rank) {
      file.seek_to(rank, 0);
      file.write(content_of(rank).data(), content_of(rank).size());
      file.set_name(name_of(rank), 0640);
    }
    file.set_attribute("a", "short");
    file.set_attribute("b", kLong);
    file.close();
    std::ifstream in(path_, std::ios::binary);
    whole_.assign(std::istreambuf_iterator<char>(in), {});
    index_ = whole_.rfind("TWINDEX1");
  }
  ~Salvage() override { std::filesystem::remove(path_); }

  tw_status repair_of(std::string bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    tw_health health{};
    health.struct_size = sizeof health;
    const tw_status status = tw_multifile_repair(path_.c_str(), nullptr, nullptr, nullptr, &health);
    EXPECT_EQ(tw_multifile_verify(path_.c_str(), nullptr, nullptr, nullptr, &health), TW_OK);
    return status;
  }
  tw_status verify_of(std::string bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    tw_health health{};
    health.struct_size = sizeof health;
    return tw_multifile_verify(path_.c_str(), nullptr, nullptr, nullptr, &health);
  }
  tw_status repair_with_damage_at(std::uint64_t offset) const {
    std::string hurt = whole_;
    hurt[offset] = static_cast<char>(hurt[offset] ^ 1);
    return repair_of(std::move(hurt));
  }
  // Every content must be there, and every name that is.
  std::int64_t names_left() const {
    thalweg::Multifile file(path_, TW_READ);
    std::int64_t left = 0;
    for (std::int64_t rank = 0; rank < kFiles; ++rank) {
      file.seek_to(rank, 0);
      std::string content(10, '?');
      content.resize(file.read(content.data(), content.size()));
      EXPECT_EQ(content, content_of(rank)) << rank;
      const std::string name = file.name(rank);
      EXPECT_TRUE(name.empty() || name == name_of(rank)) << name;
      left += !name.empty();
    }
    return left;
  }
  std::string attribute(const char* key) const {
    return std::string(thalweg::Multifile(path_, TW_READ).attribute(key).value_or("lost"));
  }

  const std::string path_ = std::filesystem::temp_directory_path() / ("salvage-" + std::to_string(getpid()) + ".tw");
  std::string whole_;
  std::uint64_t index_ = 0;
};

TEST_F(Salvage, WithoutTheIndexPageEverythingIsKept) {
  EXPECT_EQ(repair_with_damage_at(index_ + 100), TW_OK);
  EXPECT_EQ(names_left(), kFiles);
  EXPECT_EQ(attribute("a"), "short");
  EXPECT_EQ(attribute("b"), kLong);
}

TEST_F(Salvage, WithoutAPageOfTheFilesItsNamesAreLostAndNoOthers) {
  EXPECT_EQ(repair_with_damage_at(index_ + 2 * kPage), TW_ERR_CORRUPT);
  EXPECT_EQ(names_left(), kFiles - 102);
  EXPECT_EQ(attribute("b"), kLong);
}

TEST_F(Salvage, PagesOfThePiecesAreNoLoss) {
  EXPECT_EQ(repair_with_damage_at(index_ + 4 * kPage), TW_OK);
  EXPECT_EQ(names_left(), kFiles);
  EXPECT_EQ(attribute("b"), kLong);
}

TEST_F(Salvage, WithoutTheLastByteTheAttributesOfThatPageAreLost) {
  EXPECT_EQ(repair_of(whole_.substr(0, whole_.size() - 1)), TW_ERR_CORRUPT);
  EXPECT_EQ(names_left(), kFiles);
  EXPECT_EQ(attribute("a"), "short");
  EXPECT_EQ(attribute("b"), "lost");
}

TEST_F(Salvage, EveryPageMayBeTheDamagedOne) {
  for (std::uint64_t at = index_ + 50; at < whole_.size(); at += kPage) {
    (void)repair_with_damage_at(at);
    EXPECT_GE(names_left(), kFiles - 102) << at;
  }
}

TEST_F(Salvage, WhatTheIndexToldAndNobodyFindsIsRefused) {
  std::filesystem::remove(path_);
  {
    thalweg::Multifile file(path_, TW_CREATE, thalweg::Config().hint("buffer_bytes", "0"));
    file.write("12345", 5);
    file.close();
  }
  std::string bytes;
  {
    std::ifstream in(path_, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::uint64_t index = bytes.rfind("TWINDEX1");
  const std::uint64_t first_frame = bytes.find("TWFRAME1");
  ASSERT_LT(first_frame, index);
  bytes[index + 100] ^= 1;
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(first_frame), index - first_frame, '\0');  // without a trace
  std::ofstream(path_, std::ios::binary) << bytes;
  tw_health health{};
  health.struct_size = sizeof health;
  EXPECT_EQ(tw_multifile_repair(path_.c_str(), nullptr, nullptr, nullptr, &health), TW_ERR_CORRUPT);
  EXPECT_EQ(health.damaged_logical, 1);
  thalweg::Multifile file(path_, TW_READ);
  char out[5];
  std::size_t got = 0;
  EXPECT_EQ(tw_read(file.get(), out, 5, &got), TW_ERR_CORRUPT);
}

TEST_F(Salvage, VerifyLooksAtEveryPageOfTheIndex) {
  for (std::uint64_t at = index_ + 50; at < whole_.size(); at += kPage) {
    std::string hurt = whole_;
    hurt[at] = static_cast<char>(hurt[at] ^ 1);
    EXPECT_EQ(verify_of(std::move(hurt)), TW_ERR_CORRUPT) << at;
  }
}

// Appended to once: the second session has as many bytes again.
class LostSession : public Salvage {
 protected:
  LostSession() {
    {
      thalweg::Multifile file(path_, TW_APPEND, thalweg::Config().range(kFiles, 0, kFiles));
      for (std::int64_t rank = 0; rank < kFiles; ++rank) {
        file.seek_to(rank, -1);
        file.write(content_of(rank).data(), content_of(rank).size());
      }
      file.close();
    }
    std::ifstream in(path_, std::ios::binary);
    whole_.assign(std::istreambuf_iterator<char>(in), {});
    index_ = whole_.rfind("TWINDEX1");
  }
  std::int64_t refused() const {
    thalweg::Multifile file(path_, TW_READ);
    std::int64_t n = 0;
    for (std::int64_t rank = 0; rank < kFiles; ++rank) {
      file.seek_to(rank, 0);
      std::string content(20, '?');
      std::size_t got = 0;
      const tw_status status = tw_read(file.get(), content.data(), content.size(), &got);
      n += status == TW_ERR_CORRUPT;
      if (status == TW_OK) {
        EXPECT_EQ(content.substr(0, got), content_of(rank)) << rank;
      }
    }
    return n;
  }
  tw_status repair_without_session_and(std::uint64_t offset) const {
    std::string hurt = whole_;
    const std::uint64_t session = whole_.rfind("TWSESSN1");
    hurt[session + 20] = static_cast<char>(hurt[session + 20] ^ 1);
    hurt[offset] = static_cast<char>(hurt[offset] ^ 1);
    std::ofstream(path_, std::ios::binary) << hurt;
    tw_health health{};
    health.struct_size = sizeof health;
    return tw_multifile_repair(path_.c_str(), nullptr, nullptr, nullptr, &health);
  }
};

TEST_F(LostSession, TheSizesOfTheIndexTellWhichFilesHaveLostBytes) {
  EXPECT_EQ(repair_without_session_and(index_ + 100), TW_ERR_CORRUPT);
  EXPECT_EQ(refused(), kFiles - (kFiles + 6) / 7);  // every seventh is empty
}

TEST_F(LostSession, WithoutTheirEntriesEveryFileIsDoubted) {
  EXPECT_EQ(repair_without_session_and(index_ + kPage + 7), TW_ERR_CORRUPT);
  tw_health health{};
  health.struct_size = sizeof health;
  EXPECT_EQ(tw_multifile_verify(path_.c_str(), nullptr, nullptr, nullptr, &health), TW_ERR_CORRUPT);
  EXPECT_EQ(health.damaged_logical, 102 + 127);  // their page, and those that are shorter than the index says
}

}  // namespace
