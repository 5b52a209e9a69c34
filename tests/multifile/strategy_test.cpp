// The reported and stored strategy of a multifile is the one in force, not the requested or default one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thalweg/thalweg.hpp>
#include <thread>
#include <vector>

namespace {

using thalweg::Multifile;
using thalweg::Options;

class StoredStrategy : public ::testing::Test {
 protected:
  ~StoredStrategy() override {
    for (const char* suffix : {"", ".000001", ".000002"}) std::filesystem::remove(path_ + suffix);
  }

  // Writes one stream of 4 MiB; returns the strategy reported meanwhile.
  std::string told(int mode, const Options& config) const {
    Multifile file(path_, mode, config);
    const std::string text = file.strategy();
    const std::vector<char> data(1 << 16);
    for (int i = 0; i < 64; ++i) file.write(data);
    file.close();
    EXPECT_EQ(Multifile(path_, TW_READ).attribute("thalweg.strategy"), text);
    return text;
  }
  std::int64_t bytes_of_first_piece() const {
    const Multifile file(path_, TW_READ);
    tw_piece piece{};
    EXPECT_EQ(tw_multifile_piece(file.get(), 0, 0, &piece), TW_OK) << tw_last_error();
    return piece.stored_bytes;
  }
  static void expect_part(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  const std::string path_ = std::filesystem::temp_directory_path() / ("strategy-" + std::to_string(getpid()) + ".tw");
};

TEST_F(StoredStrategy, TellsTheChunksThatWereMade) {
  const std::string text =
      told(TW_CREATE | TW_TRUNCATE,
           Options().hint("chunk_bytes", "200000").hint("alignment_bytes", "4KiB").hint("buffer_bytes", "0"));

  expect_part(text, "chunks of 196 KiB (as asked for);");
  EXPECT_EQ(bytes_of_first_piece(), 196 << 10);
}

TEST_F(StoredStrategy, TellsLargeChunksWithTheirBoundaries) {
  const std::string text =
      told(TW_CREATE | TW_TRUNCATE, Options().hint("chunk_bytes", "1200000").hint("alignment_bytes", "4KiB"));

  expect_part(text, "chunks of 1280 KiB (as asked for);");
  EXPECT_EQ(bytes_of_first_piece(), 1280 << 10);
}

TEST_F(StoredStrategy, TellsDefaultsWhereNothingWasAskedFor) {
  const std::string text = told(TW_CREATE | TW_TRUNCATE, Options());

  expect_part(text, "1 physical file (one writer);");
  expect_part(text, "chunks that grow with the data;");
  expect_part(text, " KiB (block of ");
}

TEST_F(StoredStrategy, OfAnAppendTellsWhatTheFileHas) {
  told(TW_CREATE | TW_TRUNCATE,
       Options().hint("physical_files", "3").hint("alignment_bytes", "64KiB").hint("checksum", "none").range(3, 0, 3));
  const std::string text =
      told(TW_APPEND, Options().hint("physical_files", "2").hint("alignment_bytes", "4KiB").range(3, 0, 3));

  expect_part(text, "3 physical files (as it was created);");
  expect_part(text, "alignment 64 KiB (as it was created);");
  expect_part(text, "checksum none;");
}

TEST_F(StoredStrategy, OfCompressedDataTellsNoChunks) {
  const std::string text =
      told(TW_CREATE | TW_TRUNCATE, Options().hint("compression", "lz4").hint("chunk_bytes", "1MiB"));

  expect_part(text, "data stored in packs;");
  expect_part(text, "compression lz4");
  EXPECT_EQ(text.find("chunks"), std::string::npos) << text;
}

TEST_F(StoredStrategy, OfTasksThatAskForDifferentChunksTellsTheRange) {
  tw_team* team = nullptr;
  ASSERT_EQ(tw_team_create(2, &team), TW_OK);
  std::string text;
  const auto task = [&](std::int64_t rank) {
    const auto group = thalweg::Group::make(tw_group_team, team, rank);
    Multifile file(group, path_, TW_CREATE | TW_TRUNCATE,
                   Options().hint("chunk_bytes", rank == 0 ? "1MiB" : "64KiB").hint("physical_files", "1"));
    if (rank == 0) text = file.strategy();
    file.close();
  };
  {
    const std::jthread other(task, 1);
    task(0);
  }
  tw_team_free(&team);

  expect_part(text, "chunks of 64 KiB to 1 MiB (as asked for);");
}

TEST_F(StoredStrategy, OfADefragmentedCopyTellsThatChunksFit) {
  told(TW_CREATE | TW_TRUNCATE, Options().hint("chunk_bytes", "64KiB"));
  const std::string copy = path_ + ".000001";
  ASSERT_EQ(tw_multifile_defrag(path_.c_str(), copy.c_str(), nullptr, nullptr, nullptr), TW_OK) << tw_last_error();

  const std::string text = Multifile(copy, TW_READ).attribute("thalweg.strategy").value_or("");
  expect_part(text, "1 physical file (a defragmented copy);");
  expect_part(text, "a chunk for each logical file;");
}

}  // namespace
