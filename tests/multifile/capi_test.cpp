// The C API from a user's view: positions, ends, FILE*, names, attributes, hints, and refused calls.
#include <gtest/gtest.h>
#include <sys/statvfs.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/files/on_disk.hpp"
#include "support/files/open_options.hpp"
#include "support/models/mixed_calls.hpp"

namespace thalweg {
namespace {

class CApi : public test::OnDisk {};

TEST_F(CApi, WhatIsBeingWrittenIsNeitherRepairedNorReplacedNorAppendedTo) {
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  ASSERT_EQ(tw_multifile_write(file, "abc", 3), TW_OK);
  ASSERT_EQ(tw_multifile_flush(file), TW_OK);
  tw_multifile* other = nullptr;

  EXPECT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_ERR_UNSAFE);
  EXPECT_NE(std::string(tw_last_error()).find(path_), std::string::npos);
  EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &other), TW_ERR_UNSAFE);
  EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_APPEND, nullptr, &other), TW_ERR_NOT_CLOSED);

  ASSERT_EQ(tw_multifile_write(file, "def", 3), TW_OK);
  close(file);
  file = open(TW_READ);
  EXPECT_EQ(read_all(file), "abcdef");
  close(file);
}

TEST_F(CApi, AGroupMayBeFreedBeforeWhatWasOpenedWithIt) {
  tw_group* group = nullptr;
  ASSERT_EQ(tw_group_self(&group), TW_OK);
  tw_multifile* file = nullptr;
  ASSERT_EQ(tw_multifile_open(group, path_.c_str(), TW_CREATE | TW_TRUNCATE, config_, &file), TW_OK) << tw_last_error();
  tw_group_free(&group);
  ASSERT_EQ(tw_multifile_write(file, "abc", 3), TW_OK);
  close(file);
}

TEST_F(CApi, ModesAreNotMixed) {
  tw_multifile* file = nullptr;
  EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_READ | TW_CREATE | TW_TRUNCATE, config_, &file),
            TW_ERR_INVALID);
}

// Halfway between free and total space, so that neither other programs nor rounding affect the result.
TEST_F(CApi, MoreLogicalFilesThanTheFreeSpaceCanIndexAreRefused) {
  struct statvfs system = {};
  ASSERT_EQ(statvfs(path_.substr(0, path_.rfind('/')).c_str(), &system), 0);
  const auto free_bytes = static_cast<std::int64_t>(system.f_bavail * system.f_frsize);
  const auto all_bytes = static_cast<std::int64_t>(system.f_blocks * system.f_frsize);
  const std::int64_t n = (free_bytes / 2 + all_bytes / 2) / 40 + 1;
  ASSERT_EQ(tw_options_set_range(config_, n, 0, n), TW_OK);
  tw_multifile* file = nullptr;

  EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_CREATE | TW_TRUNCATE, config_, &file), TW_ERR_NO_SPACE);

  const std::string told = tw_last_error();
  EXPECT_NE(told.find(std::to_string(n) + " logical files"), std::string::npos) << told;
  EXPECT_NE(told.find("bytes free"), std::string::npos) << told;
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(CApi, RanksThatAreAlikeArePassedByTogether) {
  constexpr std::int64_t kMany = 10'000'000;  // an index of all would be far larger than one of the stored files
  const std::int64_t written[] = {5, kMany / 2};
  ASSERT_EQ(tw_options_set_ranks(config_, kMany, written, 2), TW_OK);
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  for (const std::int64_t rank : written) {
    ASSERT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK);
    ASSERT_EQ(tw_multifile_write(file, "abc", 3), TW_OK);
  }
  close(file);
  EXPECT_LT(std::filesystem::file_size(path_), 1u << 20);

  file = open(TW_READ);
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (std::int64_t rank = 0, last = 0; rank < kMany; rank = last + 1) {
    ASSERT_EQ(tw_multifile_alike(file, rank, &last), TW_OK) << tw_last_error();
    ranges.emplace_back(rank, last);
  }
  const std::vector<std::pair<std::int64_t, std::int64_t>> expected = {
      {0, 4}, {5, 5}, {6, kMany / 2 - 1}, {kMany / 2, kMany / 2}, {kMany / 2 + 1, kMany - 1}};
  EXPECT_EQ(ranges, expected);
  std::int64_t last = 0;
  EXPECT_EQ(tw_multifile_alike(file, 7, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_multifile_alike(file, -1, &last), TW_ERR_INVALID);
  EXPECT_EQ(tw_multifile_alike(file, kMany, &last), TW_ERR_NOT_FOUND);
  close(file);
}

TEST_F(CApi, AGapIsSkippedWithoutReadingIt) {
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  ASSERT_EQ(tw_multifile_write(file, "begin", 5), TW_OK);
  ASSERT_EQ(tw_multifile_seek(file, kFar, SEEK_SET), TW_OK);
  ASSERT_EQ(tw_multifile_write(file, "end", 3), TW_OK);
  std::int64_t none = 0;
  EXPECT_EQ(tw_multifile_skip_gap(file, &none), TW_ERR_MODE);
  close(file);
  file = open(TW_READ);
  std::int64_t skipped = -1, position = -1;
  char text[8] = {};
  std::size_t got = 0;

  ASSERT_EQ(tw_multifile_skip_gap(file, &skipped), TW_OK);
  EXPECT_EQ(skipped, 0) << "where bytes are";
  ASSERT_EQ(tw_multifile_seek(file, 100, SEEK_SET), TW_OK);
  ASSERT_EQ(tw_multifile_skip_gap(file, &skipped), TW_OK);
  EXPECT_EQ(skipped, kFar - 100);
  ASSERT_EQ(tw_multifile_read(file, text, sizeof text, &got), TW_OK);
  EXPECT_EQ(std::string(text, got), "end");
  ASSERT_EQ(tw_multifile_skip_gap(file, &skipped), TW_OK);
  EXPECT_EQ(skipped, 0) << "at the end";
  ASSERT_EQ(tw_multifile_seek(file, kFar + 50, SEEK_SET), TW_OK);
  ASSERT_EQ(tw_multifile_skip_gap(file, &skipped), TW_OK);
  ASSERT_EQ(tw_multifile_tell(file, &position, nullptr), TW_OK);
  EXPECT_EQ(position, kFar + 50) << "behind the end";
  close(file);
}

int stop_at_once(std::int64_t, std::int64_t, void* user) { return ++*static_cast<int*>(user); }

TEST_F(CApi, WhatTakesLongIsStoppedByTheProgressFunctionOfTheConfiguration) {
  constexpr std::int64_t kFiles = 5000;
  close(write_each(kFiles, 100));
  int asked = 0;
  ASSERT_EQ(tw_options_set_progress(config_, stop_at_once, &asked), TW_OK);
  ASSERT_EQ(tw_options_set_range(config_, -1, 0, kFiles), TW_OK);
  tw_multifile* file = open(TW_READ);
  const tw_region_fn any = [](const tw_region*, void*) { return 0; };

  EXPECT_EQ(tw_multifile_regions(file, any, nullptr), TW_ERR_STOPPED);
  EXPECT_EQ(asked, 1);
  close(file);
  file = open(TW_APPEND);
  EXPECT_EQ(tw_multifile_write(file, "abc", 3), TW_OK);
  EXPECT_EQ(tw_multifile_close(&file), TW_ERR_STOPPED);
  EXPECT_NE(std::string(tw_last_error()).find("stays unclosed"), std::string::npos) << tw_last_error();
  EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_READ | TW_RECOVER, config_, &file), TW_ERR_STOPPED);
  ASSERT_EQ(tw_options_set_progress(config_, nullptr, nullptr), TW_OK);
  EXPECT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
}

TEST_F(CApi, PositionsEndsAndWhatIsAvailable) {
  hint("chunk_bytes", "10000");
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  const std::string data(25'000, 'a');
  std::int64_t in_chunk = 0, in_file = 0, position = -1;
  ASSERT_EQ(tw_multifile_write(file, data.data(), data.size()), TW_OK);
  ASSERT_EQ(tw_multifile_flush(file), TW_OK);
  ASSERT_EQ(tw_multifile_available(file, &in_chunk, &in_file), TW_OK);
  EXPECT_EQ(in_file, INT64_MAX);
  ASSERT_EQ(tw_multifile_write_at(file, "patched", 7, 5), TW_OK);
  ASSERT_EQ(tw_multifile_tell(file, &position, nullptr), TW_OK);
  EXPECT_EQ(position, 25'000) << "tw_multifile_write_at leaves the position alone";
  ASSERT_EQ(tw_multifile_seek(file, 100, SEEK_END), TW_OK);
  ASSERT_EQ(tw_multifile_write(file, "end", 3), TW_OK);
  close(file);

  file = open(TW_READ);
  ASSERT_EQ(tw_multifile_available(file, &in_chunk, &in_file), TW_OK);
  EXPECT_EQ(in_file, 25'103);
  EXPECT_GT(in_chunk, 0);
  const std::string all = read_all(file);
  ASSERT_EQ(all.size(), 25'103u);
  EXPECT_EQ(all.substr(0, 14), "aaaaapatchedaa");
  EXPECT_EQ(all.substr(25'000), std::string(100, '\0') + "end") << "a gap reads as zeros";
  ASSERT_EQ(tw_multifile_available(file, &in_chunk, &in_file), TW_OK);
  EXPECT_EQ(in_file, 0);
  ASSERT_EQ(tw_multifile_seek(file, -3, SEEK_END), TW_OK);
  EXPECT_EQ(read_all(file), "end");
  close(file);
}

TEST_F(CApi, AFileStarRunsAcrossChunkBorders) {
  hint("chunk_bytes", "4096");
  hint("buffer_bytes", "1000");
  ASSERT_EQ(tw_options_set_range(config_, 3, 0, 3), TW_OK);
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  FILE* stream = nullptr;
  ASSERT_EQ(tw_multifile_fopen(file, 1, "w", &stream), TW_OK) << tw_last_error();
  for (int i = 0; i < 20'000; ++i) ASSERT_GT(std::fprintf(stream, "line %d\n", i), 0);
  ASSERT_EQ(std::fseek(stream, 0, SEEK_SET), 0);
  ASSERT_GT(std::fprintf(stream, "LINE"), 0);
  ASSERT_EQ(std::fclose(stream), 0);
  close(file);

  ASSERT_EQ(tw_options_set_range(config_, -1, 0, 3), TW_OK);
  file = open(TW_READ);
  ASSERT_EQ(tw_multifile_fopen(file, 1, "r", &stream), TW_OK) << tw_last_error();
  char line[64];
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_NE(std::fgets(line, sizeof line, stream), nullptr) << i;
    ASSERT_EQ(std::string(line), (i == 0 ? "LINE " : "line ") + std::to_string(i) + "\n");
  }
  EXPECT_EQ(std::fgetc(stream), EOF);
  EXPECT_EQ(std::fseek(stream, -6, SEEK_END), 0);
  EXPECT_NE(std::fgets(line, sizeof line, stream), nullptr);
  EXPECT_STREQ(line, "19999\n");
  std::fclose(stream);
  EXPECT_EQ(tw_multifile_fopen(file, 1, "w", &stream), TW_ERR_MODE);
  close(file);
}

TEST_F(CApi, AFileStarThatAppendsWritesAtTheEndOnly) {
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  std::FILE* first = nullptr;
  std::FILE* second = nullptr;
  ASSERT_EQ(tw_multifile_write(file, "begin ", 6), TW_OK);
  ASSERT_EQ(tw_multifile_fopen(file, 0, "a", &first), TW_OK) << tw_last_error();
  ASSERT_EQ(tw_multifile_fopen(file, 0, "a", &second), TW_OK) << tw_last_error();

  ASSERT_EQ(std::fputs("one ", first), 1);
  ASSERT_EQ(std::fflush(first), 0);
  ASSERT_EQ(std::fputs("two ", second), 1);
  ASSERT_EQ(std::fflush(second), 0);
  ASSERT_EQ(std::fseek(first, 0, SEEK_SET), 0);
  ASSERT_EQ(std::fputs("three", first), 1);
  ASSERT_EQ(std::fclose(first), 0);
  ASSERT_EQ(std::fclose(second), 0);
  close(file);

  file = open(TW_READ);
  EXPECT_EQ(read_all(file), "begin one two three");
  close(file);
}

// On the current logical file, whose number is `rank`.
test::MixedCalls mixed_calls_of(tw_multifile* file, std::int64_t rank, bool reads) {
  test::MixedCalls calls;
  if (reads)
    calls.read = [=](std::size_t n) {
      std::string got(n, '?');
      EXPECT_EQ(tw_multifile_read(file, got.data(), n, &n), TW_OK) << tw_last_error();
      return got.substr(0, n);
    };
  else
    calls.write = [=](const std::string& data) {
      EXPECT_EQ(tw_multifile_write(file, data.data(), data.size()), TW_OK) << tw_last_error();
    };
  calls.seek = [=](std::size_t to) {
    EXPECT_EQ(tw_multifile_seek(file, static_cast<std::int64_t>(to), SEEK_SET), TW_OK) << tw_last_error();
  };
  calls.tell = [=] {
    std::int64_t at = -1;
    EXPECT_EQ(tw_multifile_tell(file, &at, nullptr), TW_OK) << tw_last_error();
    return at;
  };
  calls.size = [=] {
    std::int64_t bytes = -1;
    EXPECT_EQ(tw_multifile_size(file, rank, &bytes), TW_OK) << tw_last_error();
    return bytes;
  };
  return calls;
}

TEST_F(CApi, AFileStarAndTheCallsOfTheHandleShareOnePosition) {
  for (std::uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    test::MixedModel model;
    ASSERT_EQ(tw_options_set_range(config_, 2, 0, 2), TW_OK);
    tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
    ASSERT_EQ(tw_multifile_seek_to(file, 1, 0), TW_OK);
    FILE* stream = nullptr;
    ASSERT_EQ(tw_multifile_fopen(file, 1, "w", &stream), TW_OK) << tw_last_error();
    const test::MixedCalls writing = mixed_calls_of(file, 1, false);
    test::MixedProgram(seed, writing, stream, model).run(300);
    if (seed % 3 == 0) {
      EXPECT_EQ(std::fclose(std::exchange(stream, nullptr)), 0);
    }
    close(file);
    if (stream != nullptr) std::fclose(stream);

    ASSERT_EQ(tw_options_set_range(config_, -1, 0, 2), TW_OK);
    file = open(TW_READ);
    ASSERT_EQ(tw_multifile_seek_to(file, 1, 0), TW_OK);
    EXPECT_TRUE(read_all(file) == model.bytes);
    ASSERT_EQ(tw_multifile_seek(file, 0, SEEK_SET), TW_OK);
    model.position = 0;
    ASSERT_EQ(tw_multifile_fopen(file, 1, "r", &stream), TW_OK) << tw_last_error();
    const test::MixedCalls reading = mixed_calls_of(file, 1, true);
    test::MixedProgram(seed, reading, stream, model).run(300);
    EXPECT_EQ(std::fclose(stream), 0);
    EXPECT_EQ(reading.tell(), static_cast<std::int64_t>(model.position)) << "what stdio had read ahead is given back";
    close(file);
  }
}

// As a checkpoint of a program that dies behind the flush finds it.
TEST_F(CApi, AFlushStoresWhatAFileStarHasGathered) {
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  FILE* stream = nullptr;
  ASSERT_EQ(tw_multifile_fopen(file, 0, "w", &stream), TW_OK) << tw_last_error();
  ASSERT_EQ(std::fputs("gathered", stream), 1);
  ASSERT_EQ(tw_multifile_flush(file), TW_OK);
  const std::string copy = path_ + ".copy";
  std::filesystem::copy_file(path_, copy);
  close(file);
  std::fclose(stream);
  ASSERT_EQ(tw_multifile_repair(copy.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  std::filesystem::rename(copy, path_);
  file = open(TW_READ);
  EXPECT_EQ(read_all(file), "gathered");
  close(file);
}

TEST_F(CApi, PiecesAreThoseOfTheLogicalFileThatIsAskedFor) {
  hint("chunk_bytes", "4096");
  hint("buffer_bytes", "0");
  ASSERT_EQ(tw_options_set_range(config_, 2, 0, 2), TW_OK);
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  const std::string data(200'000, 'a');
  for (const std::int64_t rank : {0, 1}) {
    ASSERT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK);
    ASSERT_EQ(tw_multifile_write(file, data.data(), data.size()), TW_OK);
    ASSERT_EQ(tw_multifile_write_at(file, "patch", 5, 10 + rank), TW_OK);
  }
  close(file);

  file = open(TW_READ);
  tw_piece piece{};
  const auto offset_of = [&](std::int64_t rank, std::int64_t i) {
    EXPECT_EQ(tw_multifile_piece(file, rank, i, &piece), TW_OK) << tw_last_error();
    return piece.logical_offset;
  };
  std::int64_t n = 0;
  while (tw_multifile_piece(file, 0, n, &piece) == TW_OK) ++n;
  ASSERT_GE(n, 2);
  EXPECT_EQ(offset_of(0, n - 1), 10);
  EXPECT_EQ(offset_of(1, n - 1), 11);
  EXPECT_EQ(tw_multifile_piece(file, 2, 0, &piece), TW_ERR_NOT_FOUND);
  EXPECT_EQ(offset_of(0, n - 1), 10);
  EXPECT_EQ(tw_multifile_piece(file, 0, n, &piece), TW_ERR_NOT_FOUND);
  close(file);
}

TEST_F(CApi, NamesModesAndAttributesComeBack) {
  ASSERT_EQ(tw_options_set_range(config_, 2, 0, 2), TW_OK);
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  ASSERT_EQ(tw_multifile_seek_to(file, 1, 0), TW_OK);
  ASSERT_EQ(tw_multifile_set_name(file, "dir/\xC3\xBC", 0100640), TW_OK);
  ASSERT_EQ(tw_multifile_set_attribute(file, "run", "42", 2), TW_OK);
  EXPECT_EQ(tw_multifile_set_attribute(file, "", "42", 2), TW_ERR_INVALID);
  close(file);

  ASSERT_EQ(tw_options_set_range(config_, -1, 0, 2), TW_OK);
  file = open(TW_READ);
  std::int64_t rank = -1;
  std::uint32_t mode = 0;
  char name[5];
  std::size_t length = 0;
  ASSERT_EQ(tw_multifile_find(file, "dir/\xC3\xBC", &rank), TW_OK);
  EXPECT_EQ(rank, 1);
  EXPECT_EQ(tw_multifile_find(file, "nobody", &rank), TW_ERR_NOT_FOUND);
  ASSERT_EQ(tw_multifile_name(file, 1, name, sizeof name, &length, &mode), TW_OK);
  EXPECT_STREQ(name, "dir/") << "cut to what fits";
  EXPECT_EQ(length, 6u);
  EXPECT_EQ(mode, 0100640u);
  const void* value = nullptr;
  ASSERT_EQ(tw_multifile_attribute(file, "run", &value, &length), TW_OK);
  EXPECT_EQ(std::string(static_cast<const char*>(value), length), "42");
  EXPECT_EQ(tw_multifile_attribute(file, "creator", &value, &length), TW_OK);
  close(file);
}

TEST_F(CApi, AttributeKeysAreListedInAnyOrderAlsoWhileMoreAreSet) {
  tw_multifile* file = open(TW_CREATE | TW_TRUNCATE);
  const auto key = [&](std::int64_t i) {
    const char* text = nullptr;
    return tw_multifile_attribute_key(file, i, &text) == TW_OK ? std::string(text) : std::string("none");
  };
  for (const char* name : {"b", "d", "f"}) ASSERT_EQ(tw_multifile_set_attribute(file, name, "v", 1), TW_OK);
  EXPECT_EQ(key(1), "d");
  EXPECT_EQ(key(2), "f");
  EXPECT_EQ(key(0), "b");
  EXPECT_EQ(key(3), "none");
  EXPECT_EQ(key(2), "f");
  ASSERT_EQ(tw_multifile_set_attribute(file, "a", "v", 1), TW_OK);
  EXPECT_EQ(key(3), "f");
  EXPECT_EQ(key(2), "d");
  close(file);
}

TEST_F(CApi, WhatIsWrongIsToldWithNameValueAndWayOut) {
  tw_multifile* file = nullptr;
  const auto open_with = [&](const char* hints) {
    return tw_multifile_open(nullptr, path_.c_str(), TW_CREATE | TW_TRUNCATE, test::OpenWith().hints(hints), &file);
  };
  EXPECT_EQ(open_with("chunk_byte=1"), TW_ERR_UNKNOWN_HINT);
  EXPECT_NE(std::string(tw_last_error()).find("did you mean 'chunk_bytes'"), std::string::npos) << tw_last_error();
  EXPECT_EQ(open_with("alignment_bytes=5000"), TW_ERR_INVALID);
  EXPECT_EQ(open_with("compression=zip"), TW_ERR_UNKNOWN_HINT);
  EXPECT_EQ(tw_options_set_hint(config_, "chunk_bytes", "1,verify=on"), TW_ERR_INVALID);
  EXPECT_EQ(tw_multifile_open(nullptr, "/nonexistent/x.tw", TW_READ, nullptr, &file), TW_ERR_NOT_FOUND);
  EXPECT_EQ(file, nullptr);
  EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), 99, nullptr, &file), TW_ERR_INVALID);
  EXPECT_EQ(tw_multifile_open(nullptr, nullptr, TW_READ, nullptr, &file), TW_ERR_INVALID);
  EXPECT_EQ(tw_multifile_open(nullptr, "/etc/passwd", TW_READ, nullptr, &file), TW_ERR_CORRUPT);
  EXPECT_EQ(tw_multifile_close(nullptr), TW_ERR_INVALID);
  file = open(TW_CREATE | TW_TRUNCATE);
  char byte = 0;
  EXPECT_EQ(tw_multifile_read(file, &byte, 1, nullptr), TW_ERR_MODE);
  EXPECT_EQ(tw_multifile_seek_to(file, 1, 0), TW_ERR_NOT_FOUND);
  EXPECT_EQ(tw_multifile_seek(file, -1, SEEK_SET), TW_ERR_INVALID);
  close(file);
  EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_CREATE | TW_EXCLUSIVE, nullptr, &file), TW_ERR_EXISTS);
  EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_CREATE, nullptr, &file), TW_ERR_EXISTS);
  EXPECT_TRUE(std::filesystem::exists(path_)) << "the file that was there is still there";
}

TEST_F(CApi, NoHintIsMissingFromTheTable) {
  std::size_t n = 0;
  for (std::int64_t i = 0; tw_hint_info(i) != nullptr; ++i) {
    if (tw_hint_info(i)->scope != std::string("multifile")) continue;
    hint(tw_hint_info(i)->name, tw_hint_info(i)->default_value);
    ++n;
  }
  EXPECT_GE(n, 9u);
}

TEST_F(CApi, ASmallerMultifileLeavesNoPartsOfALargerOne) {
  ASSERT_EQ(tw_options_set_range(config_, 8, 0, 8), TW_OK);
  hint("physical_files", "4");
  close(open(TW_CREATE | TW_TRUNCATE));
  EXPECT_TRUE(std::filesystem::exists(path_ + ".000003"));
  hint("physical_files", "2");
  close(open(TW_CREATE | TW_TRUNCATE));
  EXPECT_TRUE(std::filesystem::exists(path_ + ".000001"));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".000003"));
}

}  // namespace
}  // namespace thalweg
