// Accesses through views: in every form, the bytes of a task are at the places of its view.
#include <array>
#include <memory>

#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

struct FreeView {
  void operator()(tw_view* view) const { tw_view_free(&view); }
};
using ViewPtr = std::unique_ptr<tw_view, FreeView>;

template <class Make, class... Arguments>
ViewPtr made(Make&& make, Arguments... arguments) {
  tw_view* view = nullptr;
  EXPECT_EQ(make(arguments..., &view), TW_OK) << tw_last_error();
  return ViewPtr(view);
}

constexpr std::int64_t kRows = 42;     // 6 x 7
constexpr std::int64_t kColumns = 10;  // dealt to the tasks, 3 at a time
constexpr std::int64_t kElement = 2;
constexpr std::int64_t kArray = kRows * kColumns * kElement;

// With 5 tasks the last one has no part.
ViewPtr part_of_array(int task, int tasks) {
  const tw_distributed_dim dimensions[] = {
      {6, 1, 0, TW_NOT_DISTRIBUTED}, {7, 1, 0, TW_BLOCK}, {kColumns, tasks, 3, TW_CYCLIC}};
  const ViewPtr element = made(tw_view_contiguous, kElement, nullptr);
  return made(tw_view_distributed, 3, dimensions, task, TW_ROW_MAJOR, element.get());
}

// Places of a task's bytes in the file, by loops, for `n` consecutive arrays.
std::vector<std::size_t> places_of(int task, int tasks, std::int64_t displacement, int n = 1) {
  std::vector<std::size_t> places;
  for (std::int64_t at = 0; at < n * kArray; ++at)
    if (at / kElement % kColumns / 3 % tasks == task) places.push_back(static_cast<std::size_t>(displacement + at));
  return places;
}

std::int64_t size_of(const std::string& data) { return static_cast<std::int64_t>(data.size()); }

// Expected content when each task has written data_of(task) from position 0 on.
template <class Data>
std::string expected(int tasks, std::int64_t displacement, int n, Data&& data_of) {
  std::string file;
  for (int task = 0; task < tasks; ++task) {
    const std::string data = data_of(task);
    const std::vector<std::size_t> places = places_of(task, tasks, displacement, n);
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (file.size() <= places[i]) file.resize(places[i] + 1, '\0');
      file[places[i]] = data[i];
    }
  }
  return file;
}

class Views : public SharedFiles, public testing::WithParamInterface<int> {
 protected:
  // Runs `body` on tasks with views of their parts of arrays from displacement 5 on.
  void on_parts(const std::function<void(tw_file*, int)>& body, int flags = kNew) {
    on_file(
        GetParam(),
        [&](tw_file* file, int task) {
          const ViewPtr view = part_of_array(task, GetParam());
          ASSERT_EQ(tw_file_set_view(file, 5, view.get()), TW_OK) << tw_last_error();
          body(file, task);
        },
        flags);
  }
  std::size_t part(int task) const { return places_of(task, GetParam(), 0).size(); }
};

using Move = std::function<tw_status(tw_file*, std::string&, std::size_t* moved)>;

tw_status waited(tw_status started, tw_request* request, std::size_t* moved) {
  return started == TW_OK ? tw_request_wait(&request, moved) : started;
}

// Two pieces in reverse memory order; blocking or not, collective or not.
tw_status move_list(tw_file* file, std::string& data, tw_direction direction, int form, std::size_t* moved) {
  const std::size_t half = data.size() / 2;
  std::string swapped = data.substr(half) + data.substr(0, half);
  const std::int64_t rest = size_of(data) - static_cast<std::int64_t>(half);
  const tw_extent list[] = {{swapped.data() + rest, static_cast<std::int64_t>(half), -1}, {swapped.data(), rest, -7}};
  const tw_access access = access_of(direction, form % 2 == 0 ? TW_IN_VIEW : TW_AT_OFFSET, list, 2);
  tw_request* request = nullptr;
  tw_status status = TW_OK;
  if (form < 2) status = tw_file_access_all(file, nullptr, &access, moved);
  if (form == 2 || form == 3) status = tw_file_access(file, &access, moved);
  if (form == 4 || form == 5) status = tw_file_iaccess_all(file, nullptr, &access, &request);
  if (form > 5) status = tw_file_iaccess(file, &access, &request);
  if (form > 3) status = waited(status, request, moved);
  data = swapped.substr(static_cast<std::size_t>(rest)) + swapped.substr(0, static_cast<std::size_t>(rest));
  return status;
}

std::vector<Move> writers() {
  std::vector<Move> all = {[](auto* f, auto& d, auto*) { return tw_file_write_view_all(f, d.data(), size_of(d)); },
                           [](auto* f, auto& d, auto*) { return tw_file_write_at_all(f, d.data(), size_of(d), 0); },
                           [](auto* f, auto& d, auto*) { return tw_file_write_view(f, d.data(), size_of(d)); },
                           [](auto* f, auto& d, auto*) { return tw_file_write_at(f, d.data(), size_of(d), 0); },
                           [](auto* f, auto& d, auto* n) {
                             tw_request* r = nullptr;
                             const tw_status started = tw_file_iwrite_view_all(f, d.data(), size_of(d), &r);
                             return waited(started, r, n);
                           },
                           [](auto* f, auto& d, auto* n) {
                             tw_request* r = nullptr;
                             const tw_status started = tw_file_iwrite_view(f, d.data(), size_of(d), &r);
                             return waited(started, r, n);
                           }};
  for (int form = 0; form < 8; ++form)
    all.push_back([form](auto* f, auto& d, auto* n) { return move_list(f, d, TW_ACCESS_WRITE, form, n); });
  return all;
}

std::vector<Move> readers() {
  std::vector<Move> all = {[](auto* f, auto& d, auto* n) { return tw_file_read_view_all(f, d.data(), size_of(d), n); },
                           [](auto* f, auto& d, auto* n) { return tw_file_read_at_all(f, d.data(), size_of(d), 0, n); },
                           [](auto* f, auto& d, auto* n) { return tw_file_read_view(f, d.data(), size_of(d), n); },
                           [](auto* f, auto& d, auto* n) { return tw_file_read_at(f, d.data(), size_of(d), 0, n); },
                           [](auto* f, auto& d, auto* n) {
                             tw_request* r = nullptr;
                             const tw_status started = tw_file_iread_view_all(f, d.data(), size_of(d), &r);
                             return waited(started, r, n);
                           },
                           [](auto* f, auto& d, auto* n) {
                             tw_request* r = nullptr;
                             const tw_status started = tw_file_iread_view(f, d.data(), size_of(d), &r);
                             return waited(started, r, n);
                           }};
  for (int form = 0; form < 8; ++form)
    all.push_back([form](auto* f, auto& d, auto* n) { return move_list(f, d, TW_ACCESS_READ, form, n); });
  return all;
}

TEST_P(Views, AreWrittenThroughByEveryForm) {
  const std::vector<Move> forms = writers();
  for (std::size_t form = 0; form < forms.size(); ++form) {
    const auto data_of = [&](int task) { return text_of(task, part(task), static_cast<int>(form)); };
    on_parts([&](tw_file* file, int task) {
      std::string data = data_of(task);
      std::size_t moved = data.size();
      EXPECT_EQ(forms[form](file, data, &moved), TW_OK) << form << ": " << tw_last_error();
      EXPECT_EQ(moved, data.size()) << form;
    });
    EXPECT_TRUE(content() == expected(GetParam(), 5, 1, data_of)) << form;
  }
}

// Reads one array and a half; the file ends within the first.
TEST_P(Views, AreReadThroughUpToTheEndOfTheFile) {
  const std::string file_bytes = text_of(9, 5 + kArray - 101);
  put(file_bytes);
  const std::vector<Move> forms = readers();
  for (std::size_t form = 0; form < forms.size(); ++form) {
    on_parts(
        [&](tw_file* file, int task) {
          const std::vector<std::size_t> places = places_of(task, GetParam(), 5, 2);
          const std::size_t n = part(task) + part(task) / 2;
          std::string wanted(n, '#');
          std::size_t there = 0;
          for (std::size_t i = 0; i < n; ++i)
            if (places[i] < file_bytes.size()) wanted[i] = file_bytes[places[i]], ++there;
          std::string data(n, '#');
          std::size_t moved = 999;
          EXPECT_EQ(forms[form](file, data, &moved), TW_OK) << form << ": " << tw_last_error();
          EXPECT_EQ(moved, there) << form;
          EXPECT_EQ(data, wanted) << form;
        },
        TW_READ);
  }
}

// Three arrays in seven accesses, some of which overlap in time.
TEST_P(Views, MoveThePositionOfATaskAtTheCall) {
  const auto data_of = [&](int task) { return text_of(task, 3 * part(task)); };
  on_parts([&](tw_file* file, int task) {
    const std::string data = data_of(task);
    std::vector<tw_request*> requests;
    std::size_t at = 0;
    for (int i = 0; i < 7; ++i) {
      const std::size_t n =
          i == 6 ? data.size() - at : data.size() / 8 + static_cast<std::size_t>(i % 2 == 1 && !data.empty());
      if (i % 3 == 2) {
        EXPECT_EQ(tw_file_write_view_all(file, data.data() + at, static_cast<std::int64_t>(n)), TW_OK)
            << tw_last_error();
      } else {
        requests.push_back(nullptr);
        EXPECT_EQ(tw_file_iwrite_view_all(file, data.data() + at, static_cast<std::int64_t>(n), &requests.back()),
                  TW_OK);
      }
      at += n;
      std::int64_t position = -1;
      EXPECT_EQ(tw_file_seek_view(file, 0, SEEK_CUR, &position), TW_OK);
      EXPECT_EQ(position, static_cast<std::int64_t>(at));
    }
    EXPECT_EQ(tw_request_waitall(requests.size(), requests.data(), nullptr, nullptr), TW_OK) << tw_last_error();
  });
  EXPECT_TRUE(content() == expected(GetParam(), 5, 3, data_of));
}

// Requests use the view of their call, even after that view is freed and another one set.
TEST_P(Views, AreThoseOfTheCall) {
  const int tasks = GetParam();
  const auto first = [&](int task) { return text_of(task, part(task)); };
  const auto second = [&](int task) { return text_of(task, part(task), 4); };
  on_parts([&](tw_file* file, int task) {
    const std::string before = first(task);
    const std::string after = second(task);
    tw_request* requests[2] = {};
    EXPECT_EQ(tw_file_iwrite_view_all(file, before.data(), size_of(before), &requests[0]), TW_OK);
    EXPECT_EQ(tw_file_set_view(file, 5 + kArray, part_of_array(task, tasks).get()), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_iwrite_view_all(file, after.data(), size_of(after), &requests[1]), TW_OK);
    EXPECT_EQ(tw_file_set_view(file, 0, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_request_waitall(2, requests, nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_seek(file, 0, SEEK_END, nullptr), TW_OK);
    EXPECT_EQ(tw_file_write_all(file, "end", 3), TW_OK) << "the shared position is back: " << tw_last_error();
  });
  std::string whole = expected(tasks, 5, 1, first) + expected(tasks, 0, 1, second);
  for (int task = 0; task < tasks; ++task) whole += "end";
  EXPECT_TRUE(content() == whole);
}

TEST_P(Views, OfBytesBeginAtTheirDisplacement) {
  on_file(GetParam(), [&](tw_file* file, int task) {
    const std::string data = text_of(task, 10);
    EXPECT_EQ(tw_file_write_view_all(file, data.data(), task == 0 ? 4 : 0), TW_OK) << "no view was set";
    EXPECT_EQ(tw_file_set_view(file, 10 * task, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_write_at_all(file, data.data() + 3, 7, 3), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_write_view_all(file, data.data(), 3), TW_OK) << tw_last_error();
    std::int64_t offset = -1;
    EXPECT_EQ(tw_file_view_offset(file, 4, &offset), TW_OK);
    EXPECT_EQ(offset, 10 * task + 4);
  });
  std::string all;
  for (int task = 0; task < GetParam(); ++task) all += text_of(task, 10);
  EXPECT_EQ(content(), all);
}

TEST_P(Views, LeaveOffsetsOfExtentsAlone) {
  on_parts([&](tw_file* file, int task) {
    std::string data = text_of(task, 10);
    const tw_extent extent{data.data(), 10, task * 10};
    EXPECT_EQ(write_list_all(file, &extent, 1), TW_OK) << tw_last_error();
  });
  std::string all;
  for (int task = 0; task < GetParam(); ++task) all += text_of(task, 10);
  EXPECT_EQ(content(), all);
}

// One task has a view: all tasks get the error that the shared position does not support views.
TEST_P(Views, DoNotGoWithTheSharedPosition) {
  const int tasks = GetParam();
  on_file(tasks, [&](tw_file* file, int task) {
    const ViewPtr view = made(tw_view_strided, 2, 3, 8, nullptr);
    for (int who = 0; who < tasks; ++who) {
      EXPECT_EQ(tw_file_set_view(file, 0, task == who ? view.get() : nullptr), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_file_write_all(file, "abc", 3), TW_ERR_INVALID);
      EXPECT_NE(std::string(tw_last_error()).find("TW_IN_VIEW"), std::string::npos) << tw_last_error();
      tw_request* request = nullptr;
      EXPECT_EQ(tw_file_iwrite_all(file, "abc", 3, &request), TW_OK);
      EXPECT_EQ(tw_request_wait(&request, nullptr), TW_ERR_INVALID);
    }
    EXPECT_EQ(tw_file_set_view(file, 0, nullptr), TW_OK);
    EXPECT_EQ(tw_file_write_all(file, "abc", 3), TW_OK) << tw_last_error();
  });
  EXPECT_EQ(content().size(), 3u * static_cast<std::size_t>(tasks)) << "the position had not moved";
}

TEST_P(Views, ThatOneTaskCannotSetNobodySets) {
  const int tasks = GetParam();
  on_file(tasks, [&](tw_file* file, int task) {
    const ViewPtr good = made(tw_view_strided, 10, 1, tasks, nullptr);
    const ViewPtr twice = made(tw_view_strided, 2, 3, 2, nullptr);
    EXPECT_EQ(tw_file_set_view(file, task, good.get()), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_seek_view(file, 3, SEEK_SET, nullptr), TW_OK);
    for (int who = 0; who < tasks; ++who) {
      const bool mine = task == who;
      EXPECT_EQ(tw_file_set_view(file, mine ? -1 : 0, good.get()), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_set_view(file, 0, mine ? twice.get() : nullptr), TW_ERR_INVALID);
      EXPECT_NE(std::string(tw_last_error()).find("twice"), std::string::npos) << tw_last_error();
      EXPECT_EQ(tw_file_set_view(file, mine ? INT64_MAX : 0, good.get()), TW_ERR_RANGE);
    }
    std::int64_t position = -1;
    EXPECT_EQ(tw_file_seek_view(file, 0, SEEK_CUR, &position), TW_OK);
    EXPECT_EQ(position, 3);
    EXPECT_EQ(tw_file_view_offset(file, 3, &position), TW_OK);
    EXPECT_EQ(position, task + 3 * tasks);
  });
  put("abcdefgh");
  on_file(
      tasks,
      [&](tw_file* file, int) {
        const ViewPtr twice = made(tw_view_strided, 2, 3, 2, nullptr);
        EXPECT_EQ(tw_file_set_view(file, 1, twice.get()), TW_OK) << "nothing is written: " << tw_last_error();
        std::string data(6, '#');
        EXPECT_EQ(tw_file_read_view_all(file, data.data(), 6, nullptr), TW_OK) << tw_last_error();
        EXPECT_EQ(data, "bcddef");
      },
      TW_READ);
}

// Wrong arguments of one task fail on all tasks; its position stays, the others' positions advance.
TEST_P(Views, TellAllOfAWrongAccessOfOneTask) {
  const int tasks = GetParam();
  on_file(tasks, [&](tw_file* file, int task) {
    const ViewPtr view = made(tw_view_strided, 2, 3, 8, nullptr);
    EXPECT_EQ(tw_file_set_view(file, 100 * task, view.get()), TW_OK) << tw_last_error();
    char data[8] = {};
    std::int64_t position = -1;
    for (int who = 0; who < tasks; ++who) {
      const bool wrong = task == who;
      EXPECT_EQ(tw_file_seek_view(file, 2, SEEK_SET, nullptr), TW_OK);
      EXPECT_EQ(tw_file_write_view_all(file, wrong ? nullptr : data, 8), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_write_view_all(file, data, wrong ? -8 : 8), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_write_view_all(file, data, wrong ? INT64_MAX : 8), TW_ERR_RANGE);
      tw_request* request = nullptr;
      EXPECT_EQ(tw_file_iwrite_view_all(file, wrong ? nullptr : data, 8, &request), TW_OK);
      EXPECT_EQ(tw_request_wait(&request, nullptr), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_seek_view(file, 0, SEEK_CUR, &position), TW_OK);
      EXPECT_EQ(position, wrong ? 2 : 2 + 4 * 8);
    }
    EXPECT_EQ(tw_file_write_at_all(file, data, 8, INT64_MAX - 3), TW_ERR_RANGE);
    EXPECT_EQ(tw_file_write_view_all(file, data, 8), TW_OK) << tw_last_error();
  });
}

TEST_P(Views, ThatAreEqualServeCommonAccesses) {
  const std::string data = text_of(1, 9);
  std::string back(9, '#');
  on_file(GetParam(), [&](tw_file* file, int task) {
    const ViewPtr view = made(tw_view_strided, 3, 3, 5, nullptr);
    EXPECT_EQ(tw_file_set_view(file, 0, view.get()), TW_OK);
    const tw_extent from{const_cast<char*>(data.data()), 9, 0};
    const tw_extent to{back.data(), 9, 0};
    const tw_access write = common(access_of(TW_ACCESS_WRITE, TW_AT_OFFSET, &from, 1));
    const tw_access read = common(access_of(TW_ACCESS_READ, TW_AT_OFFSET, &to, 1));
    EXPECT_EQ(tw_file_access_all(file, nullptr, &write, nullptr), TW_OK) << tw_last_error();
    std::size_t moved = 0;
    EXPECT_EQ(tw_file_access_all(file, nullptr, &read, &moved), TW_OK) << tw_last_error();
    EXPECT_EQ(moved, 9u);
    EXPECT_EQ(tw_file_set_view(file, task, view.get()), TW_OK);
    EXPECT_EQ(tw_file_access_all(file, nullptr, &write, nullptr), GetParam() > 1 ? TW_ERR_INVALID : TW_OK);
  });
  EXPECT_EQ(back, data);
  const std::string hole(2, '\0');
  EXPECT_EQ(content(), data.substr(0, 3) + hole + data.substr(3, 3) + hole + data.substr(6));
}

INSTANTIATE_TEST_SUITE_P(Teams, Views, testing::Values(1, 2, 3, 5));

class ViewCalls : public SharedFiles {};

TEST_F(ViewCalls, SeekAndTellOffsets) {
  put(text_of(0, 100));
  on_file(
      2,
      [&](tw_file* file, int task) {
        const ViewPtr view = made(tw_view_strided, 4, 3, 8, nullptr);  // 12 of 27 bytes
        const auto seek = [&](std::int64_t offset, int whence) {
          std::int64_t position = -1;
          EXPECT_EQ(tw_file_seek_view(file, offset, whence, &position), TW_OK) << tw_last_error();
          return position;
        };
        EXPECT_EQ(seek(-10, SEEK_END), 90) << "without a view, the file";
        ASSERT_EQ(tw_file_set_view(file, 9 * task, view.get()), TW_OK);
        EXPECT_EQ(seek(0, SEEK_CUR), 0);
        EXPECT_EQ(seek(30, SEEK_SET), 30);
        EXPECT_EQ(seek(-7, SEEK_CUR), 23);
        EXPECT_EQ(seek(0, SEEK_END), task == 0 ? 3 * 12 + 3 * 2 + 3 : 3 * 12 + 3 + 2) << "100 or 91 bytes of 27 each";
        EXPECT_EQ(tw_file_seek_view(file, -1, SEEK_SET, nullptr), TW_ERR_INVALID);
        EXPECT_EQ(tw_file_seek_view(file, INT64_MAX, SEEK_CUR, nullptr), TW_ERR_INVALID);
        EXPECT_EQ(tw_file_seek_view(file, 0, 77, nullptr), TW_ERR_INVALID);
        EXPECT_EQ(tw_file_seek_view(nullptr, 0, SEEK_SET, nullptr), TW_ERR_INVALID);
        std::int64_t offset = -1;
        EXPECT_EQ(tw_file_view_offset(file, 12 + 4, &offset), TW_OK);
        EXPECT_EQ(offset, 9 * task + 27 + 8 + 1);
        EXPECT_EQ(tw_file_view_offset(file, -1, &offset), TW_ERR_INVALID);
        EXPECT_EQ(tw_file_view_offset(file, INT64_MAX, &offset), TW_ERR_RANGE);
        EXPECT_EQ(tw_file_view_offset(file, 0, nullptr), TW_ERR_INVALID);
        EXPECT_EQ(tw_file_view_offset(nullptr, 0, &offset), TW_ERR_INVALID);
      },
      TW_READ);
  EXPECT_EQ(tw_file_set_view(nullptr, 0, nullptr), TW_ERR_INVALID);
}

// A matrix of 4 x 3 bytes is read column by column.
TEST_F(ViewCalls, ReadAMatrixTransposed) {
  put("abcdefghijkl");
  on_file(
      2,
      [&](tw_file* file, int) {
        const ViewPtr column = made(tw_view_strided, 4, 1, 3, nullptr);
        const ViewPtr next_to = made(tw_view_resized, column.get(), 1);
        const ViewPtr transposed = made(tw_view_contiguous, 3, next_to.get());
        ASSERT_EQ(tw_file_set_view(file, 0, transposed.get()), TW_OK) << tw_last_error();
        std::string data(12, '#');
        EXPECT_EQ(tw_file_read_view_all(file, data.data(), 12, nullptr), TW_OK) << tw_last_error();
        EXPECT_EQ(data, "adgjbehkcfil");
        EXPECT_EQ(tw_file_seek_view(file, 0, SEEK_END, nullptr), TW_ERR_INVALID) << "it is not in file order";
      },
      TW_READ);
}

// Records of 2 + 6 bytes, the later bytes first; the elements are freed before.
TEST_F(ViewCalls, ReadStructuresInTheOrderOfTheirBlocks) {
  put("abcdefghijklmnopqrst");
  on_file(
      2,
      [&](tw_file* file, int) {
        ViewPtr comb = made(tw_view_strided, 3, 1, 2, nullptr);
        const std::int64_t displacements[] = {3, 0, 1}, lengths[] = {1, 1, 1};
        const tw_view* const elements[] = {comb.get(), nullptr, nullptr};
        const ViewPtr both = made(tw_view_struct, 3, displacements, lengths, elements);
        comb.reset();
        EXPECT_EQ(tw_view_size(both.get()), 5);
        EXPECT_EQ(tw_view_extent(both.get()), 8);
        ASSERT_EQ(tw_file_set_view(file, 1, both.get()), TW_OK) << tw_last_error();
        std::string data(10, '#');
        EXPECT_EQ(tw_file_read_view_all(file, data.data(), 10, nullptr), TW_OK) << tw_last_error();
        EXPECT_EQ(data, "egibcmoqjk");
      },
      TW_READ);
}

// Threads of another group use one handle: by offsets of its view, not by its position.
TEST_F(ViewCalls, ServeOtherGroupsByOffsets) {
  std::vector<std::string> data;
  for (int task = 0; task < 3; ++task) data.push_back(text_of(task, 20));
  tw_file* file = nullptr;
  on_team(1, [&](tw_group* group, int) { file = open(group); });
  const ViewPtr view = made(tw_view_strided, 4, 5, 10, nullptr);
  ASSERT_EQ(tw_file_set_view(file, 0, view.get()), TW_OK);
  on_team(3, [&](tw_group* group, int task) {
    const tw_extent extent{data[static_cast<std::size_t>(task)].data(), 20, 0};
    tw_access access = access_of(TW_ACCESS_WRITE, TW_AT_OFFSET, &extent, 1);
    access.offset = 20 * task;
    tw_request* request = nullptr;
    EXPECT_EQ(tw_file_access_all(file, group, &access, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_iaccess_all(file, group, &access, &request), TW_OK);
    EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
    access.placement = TW_IN_VIEW;
    EXPECT_EQ(tw_file_access_all(file, group, &access, nullptr), TW_ERR_INVALID);
    EXPECT_EQ(tw_file_access_all(task == 1 ? nullptr : file, group, &access, nullptr), TW_ERR_INVALID);
    EXPECT_EQ(tw_file_iaccess_all(file, group, &access, &request), TW_OK);
    EXPECT_EQ(tw_request_wait(&request, nullptr), TW_ERR_INVALID);
    access.placement = TW_IN_ORDER;
    EXPECT_EQ(tw_file_access_all(file, group, &access, nullptr), TW_ERR_INVALID);
  });
  EXPECT_EQ(tw_file_close(&file), TW_OK);
  const std::string hole(5, '\0');
  const std::string all = data[0] + data[1] + data[2];
  std::string whole;
  for (std::size_t at = 0; at < 60; at += 5) whole += all.substr(at, 5) + (at % 20 == 15 ? "" : hole);
  EXPECT_EQ(content(), whole) << "the extent of 35 bytes has no hole behind the last block";
}

// A billion pieces, four of which are accessed.
TEST_F(ViewCalls, TouchAFewOfManyPieces) {
  on_file(2, [&](tw_file* file, int task) {
    const tw_distributed_dim dimensions[] = {{1'000'000'000, 1, 0, TW_NOT_DISTRIBUTED}, {2, 2, 0, TW_CYCLIC}};
    const ViewPtr view = made(tw_view_distributed, 2, dimensions, task, TW_ROW_MAJOR, nullptr);
    EXPECT_EQ(tw_view_size(view.get()), 1'000'000'000);
    ASSERT_EQ(tw_file_set_view(file, 0, view.get()), TW_OK) << tw_last_error();
    const std::string data = task == 0 ? "aceg" : "bdfh";
    EXPECT_EQ(tw_file_write_at_all(file, data.data(), 4, 999'999'996), TW_OK) << tw_last_error();
    std::string back(8, '#');
    const tw_extent end{back.data(), 8, 1'999'999'992};
    EXPECT_EQ(read_list_all(file, &end, 1, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(back, "abcdefgh");
  });
}

TEST_F(ViewCalls, RefuseWrongArguments) {
  const std::int64_t good[] = {4, 4};
  const std::int64_t bad[] = {4, -4};
  const std::int64_t most[] = {INT64_MAX, INT64_MAX};
  const tw_view* const elements[] = {nullptr, nullptr};
  tw_view* view = nullptr;
  tw_distributed_dim dimension{8, 2, 0, TW_BLOCK};
  const auto distributed = [&](auto&& spoil, std::int64_t rank) {
    tw_distributed_dim spoilt = dimension;
    spoil(spoilt);
    return tw_view_distributed(1, &spoilt, rank, TW_ROW_MAJOR, nullptr, &view);
  };
  const tw_slice slice{8, 4, 4};
  const auto sliced = [&](auto&& spoil) {
    tw_slice spoilt = slice;
    spoil(spoilt);
    return tw_view_subarray(1, &spoilt, TW_ROW_MAJOR, nullptr, &view);
  };
  const auto as_it_is = [](tw_distributed_dim&) {};
  const tw_status invalid[] = {
      tw_view_contiguous(-1, nullptr, &view),
      tw_view_contiguous(1, nullptr, nullptr),
      tw_view_strided(-1, 1, 1, nullptr, &view),
      tw_view_strided(1, -1, 1, nullptr, &view),
      tw_view_strided(1, 1, -1, nullptr, &view),
      tw_view_indexed(-1, good, good, nullptr, &view),
      tw_view_indexed(2, nullptr, good, nullptr, &view),
      tw_view_indexed(2, good, nullptr, nullptr, &view),
      tw_view_indexed(2, bad, good, nullptr, &view),
      tw_view_indexed(2, good, bad, nullptr, &view),
      tw_view_struct(-1, good, good, elements, &view),
      tw_view_struct(2, nullptr, good, elements, &view),
      tw_view_struct(2, good, nullptr, elements, &view),
      tw_view_struct(2, good, good, nullptr, &view),
      tw_view_struct(2, bad, good, elements, &view),
      tw_view_struct(2, good, bad, elements, &view),
      tw_view_subarray(0, &slice, TW_ROW_MAJOR, nullptr, &view),
      tw_view_subarray(-2, &slice, TW_ROW_MAJOR, nullptr, &view),
      tw_view_subarray(INT32_MAX, &slice, TW_ROW_MAJOR, nullptr, &view),
      tw_view_subarray(1, nullptr, TW_ROW_MAJOR, nullptr, &view),
      tw_view_subarray(1, &slice, 7, nullptr, &view),
      sliced([](auto& s) { s.size = -8; }),
      sliced([](auto& s) { s.start = -1; }),
      sliced([](auto& s) { s.start = 5; }),
      sliced([](auto& s) { s.length = -1; }),
      tw_view_distributed(0, &dimension, 0, TW_ROW_MAJOR, nullptr, &view),
      tw_view_distributed(1, nullptr, 0, TW_ROW_MAJOR, nullptr, &view),
      tw_view_distributed(1, &dimension, 0, -1, nullptr, &view),
      distributed(as_it_is, 2),
      distributed(as_it_is, -1),
      distributed([](auto& d) { d.size = -1; }, 0),
      distributed([](auto& d) { d.parts = -1; }, 0),
      distributed([](auto& d) { d.block = -1; }, 0),
      distributed([](auto& d) { d.block = 3; }, 0),
      distributed([](auto& d) { d.distribution = 3; }, 0),
      tw_view_resized(nullptr, 1, &view),
  };
  for (std::size_t i = 0; i < std::size(invalid); ++i) EXPECT_EQ(invalid[i], TW_ERR_INVALID) << "number " << i;
  EXPECT_EQ(tw_view_strided(2, 1, INT64_MAX, nullptr, &view), TW_ERR_RANGE);
  EXPECT_EQ(tw_view_indexed(2, most, most, nullptr, &view), TW_ERR_RANGE);
  EXPECT_EQ(tw_view_struct(2, most, most, elements, &view), TW_ERR_RANGE);
  EXPECT_NE(std::string(tw_last_error()).find("tw_view_struct: "), std::string::npos) << tw_last_error();
  const tw_slice large[] = {{INT64_MAX, 4, 4}, {INT64_MAX, 4, 4}};
  EXPECT_EQ(tw_view_subarray(2, large, TW_COLUMN_MAJOR, nullptr, &view), TW_ERR_RANGE);
  EXPECT_EQ(view, nullptr) << "nothing was made";
  EXPECT_EQ(sliced([](auto&) {}), TW_OK) << "as it is: " << tw_last_error();
  tw_view_free(&view);
  tw_view_free(nullptr);
  EXPECT_EQ(tw_view_size(nullptr), 0);
  EXPECT_EQ(tw_view_extent(nullptr), 0);
  const ViewPtr nothing = made(tw_view_indexed, 0, nullptr, nullptr, nullptr);
  EXPECT_EQ(tw_view_size(nothing.get()), 0);
  const ViewPtr none = made(tw_view_struct, 0, nullptr, nullptr, nullptr);
  EXPECT_EQ(tw_view_size(none.get()), 0);
}

}  // namespace
}  // namespace thalweg::test
