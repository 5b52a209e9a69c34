// Every short form of file.h and its nonblocking form, on teams of 1, 2, 3 and 5 threads.
#include "support/shared_files.hpp"

namespace thalweg::test {
namespace {

using Calls = std::vector<tw_extent>;

constexpr std::size_t kBlock = 1000;

// Moves one task's block: `write` of one form, `read` of another. Only reads set `nread`.
struct Form {
  const char* name;
  std::function<tw_status(tw_file*, std::string&, int task, std::int64_t* nread)> call;
};

std::int64_t size_of(const std::string& data) { return static_cast<std::int64_t>(data.size()); }
std::int64_t place_of(int task) { return task * static_cast<std::int64_t>(kBlock); }

// Two halves in reverse order.
Calls halves(std::string& data, int task) {
  const std::int64_t half = size_of(data) / 2;
  return {{data.data() + half, size_of(data) - half, place_of(task) + half}, {data.data(), half, place_of(task)}};
}

tw_status finished(tw_status started, tw_request** request, std::int64_t* nread) {
  return started == TW_OK ? tw_request_wait(request, nread) : started;
}

std::vector<Form> writers() {
  return {
      {"write_all", [](auto* f, auto& d, int, auto*) { return tw_file_write_all(f, d.data(), size_of(d)); }},
      {"write_at_all",
       [](auto* f, auto& d, int t, auto*) { return tw_file_write_at_all(f, d.data(), size_of(d), place_of(t)); }},
      {"write_list_all",
       [](auto* f, auto& d, int t, auto*) { return tw_file_write_list_all(f, halves(d, t).data(), 2); }},
      {"write_at",
       [](auto* f, auto& d, int t, auto*) { return tw_file_write_at(f, d.data(), size_of(d), place_of(t)); }},
      {"write_list", [](auto* f, auto& d, int t, auto*) { return tw_file_write_list(f, halves(d, t).data(), 2); }},
      {"iwrite_all",
       [](auto* f, auto& d, int, auto* n) {
         tw_request* r = nullptr;
         return finished(tw_file_iwrite_all(f, d.data(), size_of(d), &r), &r, n);
       }},
      {"iwrite_at_all",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         return finished(tw_file_iwrite_at_all(f, d.data(), size_of(d), place_of(t), &r), &r, n);
       }},
      {"iwrite_list_all",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         const Calls list = halves(d, t);
         return finished(tw_file_iwrite_list_all(f, list.data(), 2, &r), &r, n);
       }},
      {"iwrite_at",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         return finished(tw_file_iwrite_at(f, d.data(), size_of(d), place_of(t), &r), &r, n);
       }},
      {"iwrite_list",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         const Calls list = halves(d, t);
         return finished(tw_file_iwrite_list(f, list.data(), 2, &r), &r, n);
       }},
  };
}

std::vector<Form> readers() {
  return {
      {"read_all", [](auto* f, auto& d, int, auto* n) { return tw_file_read_all(f, d.data(), size_of(d), n); }},
      {"read_at_all",
       [](auto* f, auto& d, int t, auto* n) { return tw_file_read_at_all(f, d.data(), size_of(d), place_of(t), n); }},
      {"read_list_all",
       [](auto* f, auto& d, int t, auto* n) { return tw_file_read_list_all(f, halves(d, t).data(), 2, n); }},
      {"read_at",
       [](auto* f, auto& d, int t, auto* n) { return tw_file_read_at(f, d.data(), size_of(d), place_of(t), n); }},
      {"read_list", [](auto* f, auto& d, int t, auto* n) { return tw_file_read_list(f, halves(d, t).data(), 2, n); }},
      {"iread_all",
       [](auto* f, auto& d, int, auto* n) {
         tw_request* r = nullptr;
         return finished(tw_file_iread_all(f, d.data(), size_of(d), &r), &r, n);
       }},
      {"iread_at_all",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         return finished(tw_file_iread_at_all(f, d.data(), size_of(d), place_of(t), &r), &r, n);
       }},
      {"iread_list_all",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         const Calls list = halves(d, t);
         return finished(tw_file_iread_list_all(f, list.data(), 2, &r), &r, n);
       }},
      {"iread_at",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         return finished(tw_file_iread_at(f, d.data(), size_of(d), place_of(t), &r), &r, n);
       }},
      {"iread_list",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         const Calls list = halves(d, t);
         return finished(tw_file_iread_list(f, list.data(), 2, &r), &r, n);
       }},
  };
}

class ShortForms : public SharedFiles, public testing::WithParamInterface<int> {};

TEST_P(ShortForms, WriteEachTasksBlockAtItsPlace) {
  const int tasks = GetParam();
  std::string expected;
  for (int task = 0; task < tasks; ++task) expected += text_of(task, kBlock);
  for (const Form& form : writers()) {
    on_file(tasks, [&](tw_file* file, int task) {
      std::string data = text_of(task, kBlock);
      std::int64_t moved = size_of(data);
      EXPECT_EQ(form.call(file, data, task, &moved), TW_OK) << form.name << ": " << tw_last_error();
      EXPECT_EQ(moved, size_of(data)) << form.name;
    });
    EXPECT_TRUE(content() == expected) << form.name;
  }
}

// The last task reads beyond the end of the file.
TEST_P(ShortForms, ReadEachTasksBlockUpToTheEndOfTheFile) {
  const int tasks = GetParam();
  std::string whole;
  for (int task = 0; task < tasks; ++task) whole += text_of(task, kBlock);
  put(whole.substr(0, whole.size() - 300));
  for (const Form& form : readers()) {
    on_file(
        tasks,
        [&](tw_file* file, int task) {
          std::string data(kBlock, '#');
          std::int64_t moved = -1;
          EXPECT_EQ(form.call(file, data, task, &moved), TW_OK) << form.name << ": " << tw_last_error();
          const std::size_t here = task == tasks - 1 ? kBlock - 300 : kBlock;
          EXPECT_EQ(moved, static_cast<std::int64_t>(here)) << form.name;
          EXPECT_EQ(data, text_of(task, here) + std::string(kBlock - here, '#')) << form.name;
        },
        TW_FILE_READ);
  }
}

// Common arguments: the file has the bytes once, and all tasks get them.
TEST_P(ShortForms, CommonOnesMoveTheBytesOnce) {
  std::string written = text_of(3, kBlock);
  std::string read(kBlock, '#');
  tw_extent list[] = {{written.data() + 600, 400, 3600}, {written.data(), 600, 3000}};
  tw_extent back[] = {{read.data(), 600, 3000}, {read.data() + 600, 400, 3600}};
  const std::int64_t n = kBlock;
  on_file(GetParam(), [&](tw_file* file, int) {
    EXPECT_EQ(tw_file_write_com_all(file, written.data(), n), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_write_com_at_all(file, written.data(), n, 2000), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_write_com_list_all(file, list, 2), TW_OK) << tw_last_error();
    tw_request* requests[3] = {};
    EXPECT_EQ(tw_file_iwrite_com_all(file, written.data(), n, &requests[0]), TW_OK);
    EXPECT_EQ(tw_file_iwrite_com_at_all(file, written.data(), n, 4000, &requests[1]), TW_OK);
    EXPECT_EQ(tw_file_iwrite_com_list_all(file, list, 2, &requests[2]), TW_OK);
    EXPECT_EQ(tw_request_waitall(3, requests, nullptr, nullptr), TW_OK) << tw_last_error();
  });
  const std::string once = written;
  EXPECT_EQ(content(), once + once + once + once + once);

  on_file(
      GetParam(),
      [&](tw_file* file, int) {
        std::int64_t moved = 0;
        EXPECT_EQ(tw_file_read_com_all(file, read.data(), n, &moved), TW_OK) << tw_last_error();
        EXPECT_EQ(moved, n);
        EXPECT_EQ(read, written);
        EXPECT_EQ(tw_file_read_com_at_all(file, read.data(), n, 4500, &moved), TW_OK) << tw_last_error();
        EXPECT_EQ(moved, 500);
        EXPECT_EQ(tw_file_read_com_list_all(file, back, 2, &moved), TW_OK) << tw_last_error();
        EXPECT_EQ(moved, n);
        EXPECT_EQ(read, written);
        std::int64_t all[3] = {};
        tw_request* requests[3] = {};
        EXPECT_EQ(tw_file_iread_com_all(file, read.data(), n, &requests[0]), TW_OK);
        EXPECT_EQ(tw_file_iread_com_at_all(file, read.data(), n, 3000, &requests[1]), TW_OK);
        EXPECT_EQ(tw_file_iread_com_list_all(file, back, 2, &requests[2]), TW_OK);
        EXPECT_EQ(tw_request_waitall(3, requests, nullptr, all), TW_OK) << tw_last_error();
        EXPECT_EQ(all[0] + all[1] + all[2], 3 * n);
      },
      TW_FILE_READ);
  EXPECT_EQ(read, written);
}

TEST_P(ShortForms, TakeNothingFromTasksWithoutData) {
  on_file(GetParam(), [](tw_file* file, int task) {
    const std::string data = text_of(task, 10);
    const bool has = task % 2 == 1;
    EXPECT_EQ(tw_file_write_all(file, has ? data.data() : nullptr, has ? 10 : 0), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_write_all(file, nullptr, 0), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_write_list_all(file, nullptr, 0), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_write_at(file, nullptr, 0, 1 << 20), TW_OK) << tw_last_error();
  });

  std::string expected;
  for (int task = 1; task < GetParam(); task += 2) expected += text_of(task, 10);
  EXPECT_EQ(content(), expected);
}

INSTANTIATE_TEST_SUITE_P(Teams, ShortForms, testing::Values(1, 2, 3, 5));

}  // namespace
}  // namespace thalweg::test
