// A repair of an index with one damaged page keeps the content of all other pages.
#include <gtest/gtest.h>
#include <unistd.h>
#include <thalweg/thalweg.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

constexpr std::int64_t kFiles = 250;  // three pages of entries, and some of names
constexpr std::uint64_t kPage = 4096;

std::string name_of(std::int64_t rank) { return "folder/" + std::string(60, 'x') + std::to_string(rank); }
std::string content_of(std::int64_t rank) { return std::string(static_cast<std::size_t>(rank % 7), 'c'); }
const std::string kLong(9000, 'v');

class Salvage : public ::testing::Test {
 protected:
  Salvage() {
    thalweg::Multifile file(path_, TW_CREATE | TW_TRUNCATE, thalweg::Options().range(kFiles, 0, kFiles));
    for (std::int64_t rank = 0; rank < kFiles; ++rank) {
      file.seek_to(rank, 0);
      file.write(content_of(rank).data(), content_of(rank).size());
      file.set_name(name_of(rank), 0640);
    }
    file.set_attribute("a", "short");
    file.set_attribute("b", kLong);
    file.close();
    note_whole();
  }
  ~Salvage() override { std::filesystem::remove(path_); }

  void note_whole() {
    std::ifstream in(path_, std::ios::binary);
    whole_.assign(std::istreambuf_iterator<char>(in), {});
    index_ = whole_.rfind("TWINDEX1");
  }
  // Restores the file and flips one bit at each offset.
  void damage(std::initializer_list<std::uint64_t> offsets) const {
    std::string hurt = whole_;
    for (const std::uint64_t offset : offsets) hurt[offset] = static_cast<char>(hurt[offset] ^ 1);
    put(hurt);
  }
  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  tw_status repair(tw_health* health = nullptr) const {
    return judge([](const char* path, auto... rest) { return tw_multifile_repair(path, 0, rest...); }, health);
  }
  tw_status verify(tw_health* health = nullptr) const { return judge(tw_multifile_verify, health); }
  template <class Call>
  tw_status judge(Call call, tw_health* health) const {
    tw_health unused{};
    if (health == nullptr) health = &unused;
    health->struct_size = sizeof *health;
    return call(path_.c_str(), nullptr, nullptr, nullptr, health);
  }
  // Checks every content and every remaining name.
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
  damage({index_ + 100});
  EXPECT_EQ(repair(), TW_OK);
  EXPECT_EQ(verify(), TW_OK);
  EXPECT_EQ(names_left(), kFiles);
  EXPECT_EQ(attribute("a"), "short");
  EXPECT_EQ(attribute("b"), kLong);
}

TEST_F(Salvage, WithoutAPageOfTheFilesThePacksHaveTheirNames) {
  damage({index_ + 2 * kPage});
  EXPECT_EQ(repair(), TW_ERR_CORRUPT);
  EXPECT_EQ(verify(), TW_OK);
  EXPECT_EQ(names_left(), kFiles);
  EXPECT_EQ(attribute("b"), kLong);
}

TEST_F(Salvage, PagesOfThePiecesAreNoLoss) {
  damage({index_ + 4 * kPage});
  EXPECT_EQ(repair(), TW_OK);
  EXPECT_EQ(names_left(), kFiles);
  EXPECT_EQ(attribute("b"), kLong);
}

TEST_F(Salvage, WithoutItsLastByteTheAttributesOfAPageAreLost) {
  constexpr std::uint64_t kPlaces = 1;  // pages of the places of names behind them
  put(whole_.substr(0, whole_.size() - kPlaces * kPage - 1));
  EXPECT_EQ(repair(), TW_ERR_CORRUPT);
  EXPECT_EQ(verify(), TW_OK);
  EXPECT_EQ(names_left(), kFiles);
  EXPECT_EQ(attribute("a"), "short");
  EXPECT_EQ(attribute("b"), "lost");
}

TEST_F(Salvage, EveryPageMayBeTheDamagedOne) {
  for (std::uint64_t at = index_ + 50; at < whole_.size(); at += kPage) {
    damage({at});
    EXPECT_EQ(verify(), TW_ERR_CORRUPT) << at;
    (void)repair();
    EXPECT_EQ(verify(), TW_OK) << at;
    EXPECT_EQ(names_left(), kFiles) << at;
  }
}

TEST_F(Salvage, WhatTheIndexToldAndNobodyFindsIsRefused) {
  {
    thalweg::Multifile file(path_, TW_CREATE | TW_TRUNCATE, thalweg::Options().hint("buffer_bytes", "0"));
    file.write("12345", 5);
    file.close();
  }
  note_whole();
  const std::uint64_t first_frame = whole_.find("TWFRAME1");
  ASSERT_LT(first_frame, index_);
  std::fill_n(whole_.begin() + static_cast<std::ptrdiff_t>(first_frame), index_ - first_frame,
              '\0');  // filled with zeros
  damage({index_ + 100});
  tw_health health{};
  EXPECT_EQ(repair(&health), TW_ERR_CORRUPT);
  EXPECT_EQ(health.damaged_logical, 1);
  thalweg::Multifile file(path_, TW_READ);
  char out[5];
  std::size_t got = 0;
  EXPECT_EQ(tw_multifile_read(file.get(), out, 5, &got), TW_ERR_CORRUPT);
}

// Appended once: the second session doubles each file.
class LostSession : public Salvage {
 protected:
  LostSession() {
    {
      thalweg::Multifile file(path_, TW_APPEND, thalweg::Options().range(kFiles, 0, kFiles));
      for (std::int64_t rank = 0; rank < kFiles; ++rank) {
        file.seek_to(rank, -1);
        file.write(content_of(rank).data(), content_of(rank).size());
      }
      file.close();
    }
    note_whole();
    session_ = whole_.rfind("TWSESSN1") + 20;
  }
  std::int64_t refused() const {
    thalweg::Multifile file(path_, TW_READ);
    std::int64_t n = 0;
    for (std::int64_t rank = 0; rank < kFiles; ++rank) {
      file.seek_to(rank, 0);
      std::string content(20, '?');
      std::size_t got = 0;
      const tw_status status = tw_multifile_read(file.get(), content.data(), content.size(), &got);
      n += status == TW_ERR_CORRUPT;
      if (status == TW_OK) {
        EXPECT_EQ(content.substr(0, got), content_of(rank)) << rank;
      }
    }
    return n;
  }
  std::uint64_t session_ = 0;
};

TEST_F(LostSession, TheSizesOfTheIndexTellWhichFilesHaveLostBytes) {
  damage({session_, index_ + 100});
  EXPECT_EQ(repair(), TW_ERR_CORRUPT);
  EXPECT_EQ(refused(), kFiles - (kFiles + 6) / 7);  // every seventh file is empty
}

TEST_F(LostSession, WithoutTheirEntriesEveryFileIsDoubted) {
  damage({session_, index_ + kPage + 7});
  EXPECT_EQ(repair(), TW_ERR_CORRUPT);
  tw_health health{};
  EXPECT_EQ(verify(&health), TW_ERR_CORRUPT);
  EXPECT_EQ(health.damaged_logical, 102 + 127);  // their page, and files shorter than the index says
}

}  // namespace
