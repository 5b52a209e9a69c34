// Parts of arrays, written and read by every task of a team, against a model of loops over indices.
#include "support/models/array_model.hpp"

#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

constexpr int kSeeds = 12;  // for each number of dimensions

tw_status finished(tw_status started, tw_request** request, std::size_t* moved) {
  return started == TW_OK ? tw_request_wait(request, moved) : started;
}
tw_status write_array(tw_file* file, const ArrayCase& what, const Part& part, const std::string& memory, bool waits) {
  if (waits)
    return tw_file_write_array(file, memory.data(), what.item_bytes, what.n_dims(), part.data(), what.order,
                               what.offset);
  tw_request* request = nullptr;
  Part gone = part;
  const tw_status started = tw_file_iwrite_array(file, memory.data(), what.item_bytes, what.n_dims(), gone.data(),
                                                 what.order, what.offset, &request);
  gone.assign(gone.size(), {});  // the description is copied
  return finished(started, &request, nullptr);
}
tw_status read_array(tw_file* file, const ArrayCase& what, const Part& part, std::string& memory, bool waits,
                     std::size_t* moved) {
  if (waits)
    return tw_file_read_array(file, memory.data(), what.item_bytes, what.n_dims(), part.data(), what.order, what.offset,
                              moved);
  tw_request* request = nullptr;
  return finished(tw_file_iread_array(file, memory.data(), what.item_bytes, what.n_dims(), part.data(), what.order,
                                      what.offset, &request),
                  &request, moved);
}

class Arrays : public SharedFiles, public testing::WithParamInterface<int> {
 protected:
  void for_each_case(const std::function<void(std::mt19937&, const ArrayCase&, bool waits)>& body) {
    for (int dims = 1; dims <= 4; ++dims) {
      for (int seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
        std::mt19937 random(static_cast<unsigned>(100 * dims + seed));
        const ArrayCase what = draw_array(random, dims);
        SCOPED_TRACE(std::to_string(dims) + " dimensions, seed " + std::to_string(seed));
        body(random, what, seed % 2 == 0);
      }
    }
  }
};

TEST_P(Arrays, AreWrittenByParts) {
  for_each_case([&](std::mt19937& random, const ArrayCase& what, bool waits) {
    const std::vector<Part> parts = deal_array(random, what, GetParam());
    std::string expected(what.file_bytes() / 2, '.');
    put(expected);
    std::vector<std::string> memories;
    for (std::size_t task = 0; task < parts.size(); ++task) {
      memories.push_back(text_of(static_cast<int>(task), memory_bytes(what, parts[task])));
      write_part(what, parts[task], memories.back(), expected);
    }
    on_file(
        GetParam(),
        [&](tw_file* file, int task) {
          const auto mine = static_cast<std::size_t>(task);
          EXPECT_EQ(write_array(file, what, parts[mine], memories[mine], waits), TW_OK) << tw_last_error();
        },
        TW_WRITE, waits ? nullptr : "method=aggregate,aggregators=2");
    EXPECT_TRUE(content() == expected);
  });
}

// The parts overlap, and the file ends within the array.
TEST_P(Arrays, AreReadByPartsThatMayOverlap) {
  for_each_case([&](std::mt19937& random, const ArrayCase& what, bool waits) {
    const std::string whole = text_of(7, what.file_bytes() - what.file_bytes() / 5);
    put(whole);
    std::vector<Part> parts;
    for (int task = 0; task < GetParam(); ++task) parts.push_back(draw_part(random, what));
    on_file(
        GetParam(),
        [&](tw_file* file, int task) {
          const Part& part = parts[static_cast<std::size_t>(task)];
          std::string memory(memory_bytes(what, part), '#');
          std::string expected = memory;
          read_part(what, part, whole, expected);
          std::size_t moved = 999'999;
          EXPECT_EQ(read_array(file, what, part, memory, waits, &moved), TW_OK) << tw_last_error();
          EXPECT_TRUE(memory == expected);
          std::size_t there = 0;
          for_each_item(what, part, [&](std::size_t in_file, std::size_t) {
            there += std::min(what.item_bytes, std::max(whole.size(), in_file) - in_file);
          });
          EXPECT_EQ(moved, there);
        },
        TW_READ);
  });
}

// Where parts overlap each byte is that of one of the tasks.
TEST_P(Arrays, OverlappingWritesLeaveBytesOfOneTask) {
  const tw_dim dims[] = {{6, 1, 4, 0, 0}, {9, 2, 5, 1, 0}};
  on_file(GetParam(), [&](tw_file* file, int task) {
    const std::string memory(4 * 6, static_cast<char>('a' + task));
    EXPECT_EQ(tw_file_write_array(file, memory.data(), 1, 2, dims, TW_ROW_MAJOR, 0), TW_OK) << tw_last_error();
  });
  const std::string bytes = content();
  ASSERT_EQ(bytes.size(), 4u * 9 + 7);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool inside = i / 9 >= 1 && i % 9 >= 2 && i % 9 < 7;
    EXPECT_TRUE(inside ? bytes[i] >= 'a' && bytes[i] < 'a' + GetParam() : bytes[i] == '\0') << i;
  }
}

// A view of the handle and the shared position neither matter nor change.
TEST_P(Arrays, LieWhereTheyLieWithoutAView) {
  on_file(GetParam(), [&](tw_file* file, int task) {
    tw_view* view = nullptr;
    ASSERT_EQ(tw_view_strided(10, 1, 7, nullptr, &view), TW_OK);
    EXPECT_EQ(tw_file_set_view(file, 3, view), TW_OK);
    tw_view_free(&view);
    const tw_dim dim{10LL * GetParam(), 10LL * task, 10, 0, 0};
    const std::string mine = text_of(task, 10);
    EXPECT_EQ(tw_file_write_array(file, mine.data(), 1, 1, &dim, TW_COLUMN_MAJOR, 2), TW_OK) << tw_last_error();
    std::int64_t position = 1;
    EXPECT_EQ(tw_file_seek_view(file, 0, SEEK_CUR, &position), TW_OK);
    EXPECT_EQ(position, 0);
    EXPECT_EQ(tw_file_seek(file, 0, SEEK_CUR, &position), TW_OK);
    EXPECT_EQ(position, 0);
  });
  std::string expected(2, '\0');
  for (int task = 0; task < GetParam(); ++task) expected += text_of(task, 10);
  EXPECT_EQ(content(), expected);
}

INSTANTIATE_TEST_SUITE_P(Teams, Arrays, testing::Values(1, 2, 3, 4, 5));

class ArrayArguments : public SharedFiles {};

struct WrongArray {
  const char* says;
  std::function<void(Part&, ArrayCase&, const void*&)> spoil;
  tw_status expected = TW_ERR_INVALID;
};

std::vector<WrongArray> wrongs() {
  constexpr std::int64_t kMost = INT64_MAX;
  return {
      {"dims[0].global is -4; 0 or more", [](auto& p, auto&, auto&) { p[0].global = -4; }},
      {"dims[1].start is -1; 0 or more", [](auto& p, auto&, auto&) { p[1].start = -1; }},
      {"dims[1].count is -3; 0 or more", [](auto& p, auto&, auto&) { p[1].count = -3; }},
      {"dims[0].halo_before is -2; 0 or more", [](auto& p, auto&, auto&) { p[0].halo_before = -2; }},
      {"dims[1].halo_after is -9; 0 or more", [](auto& p, auto&, auto&) { p[1].halo_after = -9; }},
      {"dims[1] has start 3 and count 3, which end beyond its global extent of 5",
       [](auto& p, auto&, auto&) { p[1].start = 3, p[1].count = 3; }},
      {"dims[0] has start 7 and count 0, which end beyond its global extent of 6",
       [](auto& p, auto&, auto&) { p[0].start = 7, p[0].count = 0; }},
      {"dims[0] has start 9223372036854775807 and count 9223372036854775807",
       [](auto& p, auto&, auto&) { p[0].start = p[0].count = kMost; }},
      {"data is NULL", [](auto&, auto&, auto& data) { data = nullptr; }},
      {"item_bytes is 0", [](auto&, auto& what, auto&) { what.item_bytes = 0; }},
      {"offset is -1", [](auto&, auto& what, auto&) { what.offset = -1; }},
      {"order is 2; TW_ROW_MAJOR or TW_COLUMN_MAJOR", [](auto&, auto& what, auto&) { what.order = 2; }},
      {"with dims[1] the array has 2^63 bytes or more", [](auto& p, auto&, auto&) { p[1].global = kMost / 6; },
       TW_ERR_RANGE},
      {"with dims[0] the local memory has 2^63 bytes or more", [](auto& p, auto&, auto&) { p[0].halo_after = kMost; },
       TW_ERR_RANGE},
      {"with dims[0] the local memory has 2^63 bytes or more",
       [](auto& p, auto&, auto&) { p[0].halo_before = p[0].halo_after = kMost; }, TW_ERR_RANGE},
      {"with dims[0] the array has 2^63 bytes or more", [](auto&, auto& what, auto&) { what.item_bytes = SIZE_MAX; },
       TW_ERR_RANGE},
      {"an array of 60 bytes from offset 9223372036854775800 on ends above 2^63-1",
       [](auto&, auto& what, auto&) { what.offset = kMost - 7; }, TW_ERR_RANGE},
  };
}

TEST_F(ArrayArguments, OfOneTaskFailOnAllAndNameTheDimension) {
  for (const int tasks : {1, 3}) {
    on_file(tasks, [&](tw_file* file, int task) {
      for (const WrongArray& wrong : wrongs()) {
        for (int who = 0; who < tasks; ++who) {
          char memory[200] = {};
          Part part = {{6, 2 * task, 2, 0, 0}, {5, 0, 5, 1, 1}};
          ArrayCase what{{6, 5}, TW_ROW_MAJOR, 2, 0};
          const void* data = memory;
          if (task == who) wrong.spoil(part, what, data);
          EXPECT_EQ(tw_file_write_array(file, data, what.item_bytes, 2, part.data(), what.order, what.offset),
                    wrong.expected)
              << wrong.says;
          const std::string message = tw_last_error();
          EXPECT_NE(message.find(std::string("tw_file_write_array: ") + wrong.says), std::string::npos) << message;
          if (tasks > 1) {
            EXPECT_EQ(message.find("task " + std::to_string(who) + ": "), 0u) << message;
          }
          tw_request* request = nullptr;
          EXPECT_EQ(tw_file_iread_array(file, const_cast<void*>(data), what.item_bytes, 2, part.data(), what.order,
                                        what.offset, &request),
                    TW_OK);
          EXPECT_EQ(tw_request_wait(&request, nullptr), wrong.expected) << wrong.says;
        }
      }
      const tw_dim dim{3, task, 1, 0, 0};
      EXPECT_EQ(tw_file_write_array(file, "x", 1, task == 1 ? 0 : 1, &dim, TW_ROW_MAJOR, 0),
                tasks > 1 ? TW_ERR_INVALID : TW_OK);
      EXPECT_EQ(tw_file_write_array(file, "x", 1, task == 0 ? 1025 : 1, &dim, TW_ROW_MAJOR, 0), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_write_array(file, "x", 1, 1, task == 0 ? nullptr : &dim, TW_ROW_MAJOR, 0), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_write_array(file, "x", 1, 1, &dim, TW_ROW_MAJOR, 0), TW_OK) << tw_last_error();
    });
    EXPECT_EQ(content(), std::string(static_cast<std::size_t>(tasks), 'x'));
  }
  const tw_dim dim{1, 0, 1, 0, 0};
  EXPECT_EQ(tw_file_write_array(nullptr, "x", 1, 1, &dim, TW_ROW_MAJOR, 0), TW_ERR_INVALID);
}

TEST_F(ArrayArguments, EmptyPartsNeedNoMemory) {
  on_file(3, [&](tw_file* file, int task) {
    const tw_dim dims[] = {{0, 0, 0, 0, 0}, {7, 7, 0, 2, 2}};
    EXPECT_EQ(tw_file_write_array(file, nullptr, 8, 2, dims, TW_ROW_MAJOR, 0), TW_OK) << tw_last_error();
    const tw_dim last{3, task == 2 ? 0 : 3, task == 2 ? 3 : 0, 0, 0};
    EXPECT_EQ(tw_file_write_array(file, task == 2 ? "abc" : nullptr, 1, 1, &last, TW_ROW_MAJOR, 0), TW_OK)
        << tw_last_error();
  });
  EXPECT_EQ(content(), "abc");
}

// An array of a billion rows: only the rows of the part take memory. 40 dimensions, of which most have one index.
TEST_F(ArrayArguments, MayDescribeHugeArraysOfManyDimensions) {
  on_file(2, [&](tw_file* file, int task) {
    const tw_dim dims[] = {{1'000'000'000, 999'999'998 + task, 1, 0, 0}, {1'000, 17, 3, 0, 0}};
    const std::string mine = text_of(task, 3);
    EXPECT_EQ(tw_file_write_array(file, mine.data(), 1, 2, dims, TW_ROW_MAJOR, 0), TW_OK) << tw_last_error();
    std::string back(3, '#');
    EXPECT_EQ(tw_file_read_array(file, back.data(), 1, 2, dims, TW_ROW_MAJOR, 0, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(back, mine);
    EXPECT_EQ(tw_file_truncate(file, 0), TW_OK);
    Part many(40, tw_dim{1, 0, 1, 0, 0});
    many[5] = {2, task, 1, 0, 0};
    many[30] = {2, 0, 2, 0, 0};
    EXPECT_EQ(tw_file_write_array(file, mine.data(), 1, 40, many.data(), TW_COLUMN_MAJOR, 0), TW_OK) << tw_last_error();
  });
  const std::string first = text_of(0, 3), second = text_of(1, 3);
  EXPECT_EQ(content(), (std::string{first[0], second[0], first[1], second[1]}));
}

// More rows than memory can hold a list of: not before the other tasks know may the task return.
TEST_F(ArrayArguments, WithTooManyPiecesAreOutOfMemory) {
  on_file(3, [&](tw_file* file, int task) {
    const std::int64_t rows = task == 1 ? INT64_MAX / 4 : 0;
    const tw_dim dims[] = {{rows, 0, rows, 0, 0}, {2, 0, 1, 0, 0}};
    EXPECT_EQ(tw_file_write_array(file, "x", 1, 2, dims, TW_ROW_MAJOR, 0), TW_ERR_NO_MEMORY) << tw_last_error();
  });
}

TEST_F(ArrayArguments, AGroupOfOneTaskWritesAWholeArray) {
  tw_group* self = nullptr;
  ASSERT_EQ(tw_group_self(&self), TW_OK);
  tw_file* file = open(self);
  tw_group_free(&self);
  const tw_dim dims[] = {{2, 0, 2, 1, 0}, {3, 0, 3, 0, 2}};
  EXPECT_EQ(tw_file_write_array(file, "-----abc--def--", 1, 2, dims, TW_ROW_MAJOR, 1), TW_OK) << tw_last_error();
  EXPECT_NE(std::string(tw_file_last_plan(file)), "");
  EXPECT_EQ(tw_file_close(&file), TW_OK);
  EXPECT_EQ(content(), std::string(1, '\0') + "abcdef");
}

}  // namespace
}  // namespace thalweg::test
