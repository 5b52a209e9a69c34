// Every short form of file.h, its nonblocking form, and lists of extents, on teams of 1, 2, 3 and 5 threads.
#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

constexpr std::size_t kBlock = 1000;

// Moves one task's block: `write` of one form, `read` of another. Only reads set `nread`.
struct Form {
  const char* name;
  std::function<tw_status(tw_file*, std::string&, int task, std::size_t* nread)> call;
};

std::int64_t place_of(int task) { return task * static_cast<std::int64_t>(kBlock); }

// Two halves in reverse order.
std::vector<tw_extent> halves(std::string& data, int task) {
  const auto n = static_cast<std::int64_t>(data.size());
  const std::int64_t half = n / 2;
  return {{data.data() + half, n - half, place_of(task) + half}, {data.data(), half, place_of(task)}};
}

tw_status finished(tw_status started, tw_request** request, std::size_t* nread) {
  return started == TW_OK ? tw_request_wait(request, nread) : started;
}

std::vector<Form> writers() {
  return {
      {"write_all", [](auto* f, auto& d, int, auto*) { return tw_file_write_all(f, d.data(), d.size()); }},
      {"write_at_all",
       [](auto* f, auto& d, int t, auto*) { return tw_file_write_at_all(f, d.data(), d.size(), place_of(t)); }},
      {"write_list_all", [](auto* f, auto& d, int t, auto*) { return write_list_all(f, halves(d, t).data(), 2); }},
      {"write_at", [](auto* f, auto& d, int t, auto*) { return tw_file_write_at(f, d.data(), d.size(), place_of(t)); }},
      {"write_list", [](auto* f, auto& d, int t, auto*) { return write_list(f, halves(d, t).data(), 2); }},
      {"iwrite_all",
       [](auto* f, auto& d, int, auto* n) {
         tw_request* r = nullptr;
         return finished(tw_file_iwrite_all(f, d.data(), d.size(), &r), &r, n);
       }},
      {"iwrite_at_all",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         return finished(tw_file_iwrite_at_all(f, d.data(), d.size(), place_of(t), &r), &r, n);
       }},
      {"iwrite_list_all",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         const std::vector<tw_extent> list = halves(d, t);
         return finished(iwrite_list_all(f, list.data(), 2, &r), &r, n);
       }},
      {"iwrite_at",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         return finished(tw_file_iwrite_at(f, d.data(), d.size(), place_of(t), &r), &r, n);
       }},
      {"iwrite_list",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         const std::vector<tw_extent> list = halves(d, t);
         return finished(iwrite_list(f, list.data(), 2, &r), &r, n);
       }},
  };
}

std::vector<Form> readers() {
  return {
      {"read_all", [](auto* f, auto& d, int, auto* n) { return tw_file_read_all(f, d.data(), d.size(), n); }},
      {"read_at_all",
       [](auto* f, auto& d, int t, auto* n) { return tw_file_read_at_all(f, d.data(), d.size(), place_of(t), n); }},
      {"read_list_all", [](auto* f, auto& d, int t, auto* n) { return read_list_all(f, halves(d, t).data(), 2, n); }},
      {"read_at",
       [](auto* f, auto& d, int t, auto* n) { return tw_file_read_at(f, d.data(), d.size(), place_of(t), n); }},
      {"read_list", [](auto* f, auto& d, int t, auto* n) { return read_list(f, halves(d, t).data(), 2, n); }},
      {"iread_all",
       [](auto* f, auto& d, int, auto* n) {
         tw_request* r = nullptr;
         return finished(tw_file_iread_all(f, d.data(), d.size(), &r), &r, n);
       }},
      {"iread_at_all",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         return finished(tw_file_iread_at_all(f, d.data(), d.size(), place_of(t), &r), &r, n);
       }},
      {"iread_list_all",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         const std::vector<tw_extent> list = halves(d, t);
         return finished(iread_list_all(f, list.data(), 2, &r), &r, n);
       }},
      {"iread_at",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         return finished(tw_file_iread_at(f, d.data(), d.size(), place_of(t), &r), &r, n);
       }},
      {"iread_list",
       [](auto* f, auto& d, int t, auto* n) {
         tw_request* r = nullptr;
         const std::vector<tw_extent> list = halves(d, t);
         return finished(iread_list(f, list.data(), 2, &r), &r, n);
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
      std::size_t moved = data.size();
      EXPECT_EQ(form.call(file, data, task, &moved), TW_OK) << form.name << ": " << tw_last_error();
      EXPECT_EQ(moved, data.size()) << form.name;
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
          std::size_t moved = 999;
          EXPECT_EQ(form.call(file, data, task, &moved), TW_OK) << form.name << ": " << tw_last_error();
          const std::size_t here = task == tasks - 1 ? kBlock - 300 : kBlock;
          EXPECT_EQ(moved, here) << form.name;
          EXPECT_EQ(data, text_of(task, here) + std::string(kBlock - here, '#')) << form.name;
        },
        TW_READ);
  }
}

// Common arguments: the file has the bytes once, and all tasks get them.
TEST_P(ShortForms, CommonAccessesMoveTheBytesOnce) {
  std::string written = text_of(3, kBlock);
  std::string read(kBlock, '#');
  const tw_extent one[] = {{written.data(), kBlock, 0}};
  const tw_extent list[] = {{written.data() + 600, 400, 3600}, {written.data(), 600, 3000}};
  const tw_extent one_back[] = {{read.data(), kBlock, 0}};
  const tw_extent back[] = {{read.data(), 600, 3000}, {read.data() + 600, 400, 3600}};
  const auto at = [](std::int64_t offset, tw_direction direction, const tw_extent* extent) {
    tw_access access = common(access_of(direction, TW_AT_OFFSET, extent, 1));
    access.offset = offset;
    return access;
  };
  const tw_access writes[] = {common(access_of(TW_ACCESS_WRITE, TW_IN_ORDER, one, 1)), at(2000, TW_ACCESS_WRITE, one),
                              common(list_of(TW_ACCESS_WRITE, list, 2))};
  const tw_access again[] = {writes[0], at(4000, TW_ACCESS_WRITE, one), writes[2]};
  on_file(GetParam(), [&](tw_file* file, int) {
    for (const tw_access& access : writes)
      EXPECT_EQ(tw_file_access_all(file, nullptr, &access, nullptr), TW_OK) << tw_last_error();
    tw_request* requests[3] = {};
    for (int i = 0; i < 3; ++i) EXPECT_EQ(tw_file_iaccess_all(file, nullptr, &again[i], &requests[i]), TW_OK);
    EXPECT_EQ(tw_request_waitall(3, requests, nullptr, nullptr), TW_OK) << tw_last_error();
  });
  const std::string once = written;
  EXPECT_EQ(content(), once + once + once + once + once);

  const tw_access reads[] = {common(access_of(TW_ACCESS_READ, TW_IN_ORDER, one_back, 1)),
                             at(4500, TW_ACCESS_READ, one_back), common(list_of(TW_ACCESS_READ, back, 2))};
  on_file(
      GetParam(),
      [&](tw_file* file, int) {
        const std::size_t expected[] = {kBlock, 500, kBlock};
        for (int i = 0; i < 3; ++i) {
          std::size_t moved = 0;
          EXPECT_EQ(tw_file_access_all(file, nullptr, &reads[i], &moved), TW_OK) << tw_last_error();
          EXPECT_EQ(moved, expected[i]);
          EXPECT_TRUE(i == 1 || read == written);
        }
        const tw_access third = at(3000, TW_ACCESS_READ, one_back);
        std::size_t all[3] = {};
        tw_request* requests[3] = {};
        EXPECT_EQ(tw_file_iaccess_all(file, nullptr, &reads[0], &requests[0]), TW_OK);
        EXPECT_EQ(tw_file_iaccess_all(file, nullptr, &third, &requests[1]), TW_OK);
        EXPECT_EQ(tw_file_iaccess_all(file, nullptr, &reads[2], &requests[2]), TW_OK);
        EXPECT_EQ(tw_request_waitall(3, requests, nullptr, all), TW_OK) << tw_last_error();
        EXPECT_EQ(all[0] + all[1] + all[2], 3 * kBlock);
      },
      TW_READ);
  EXPECT_EQ(read, written);
}

TEST_P(ShortForms, TakeNothingFromTasksWithoutData) {
  on_file(GetParam(), [](tw_file* file, int task) {
    const std::string data = text_of(task, 10);
    const bool has = task % 2 == 1;
    EXPECT_EQ(tw_file_write_all(file, has ? data.data() : nullptr, has ? 10 : 0), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_write_all(file, nullptr, 0), TW_OK) << tw_last_error();
    EXPECT_EQ(write_list_all(file, nullptr, 0), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_write_at(file, nullptr, 0, 1 << 20), TW_OK) << tw_last_error();
  });

  std::string expected;
  for (int task = 1; task < GetParam(); task += 2) expected += text_of(task, 10);
  EXPECT_EQ(content(), expected);
}

INSTANTIATE_TEST_SUITE_P(Teams, ShortForms, testing::Values(1, 2, 3, 5));

}  // namespace
}  // namespace thalweg::test
