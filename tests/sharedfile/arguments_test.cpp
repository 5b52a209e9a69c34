// Wrong arguments of each kind, on each task of a team: all tasks get one status, none hangs, and the next access
// works.
#include <cerrno>

#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

constexpr std::int64_t kMost = INT64_MAX;

struct Wrong {
  const char* name;
  std::function<void(tw_access&, tw_extent*)> spoil;  // a valid access of two extents
  tw_status expected = TW_ERR_INVALID;
};

std::vector<Wrong> wrongs() {
  return {
      {"a negative length", [](auto&, auto* e) { e[1].length = -1; }},
      {"a negative offset", [](auto&, auto* e) { e[0].offset = -7; }},
      {"no memory", [](auto&, auto* e) { e[1].address = nullptr; }},
      {"a negative number of extents", [](auto& a, auto*) { a.n = -2; }},
      {"no extents", [](auto& a, auto*) { a.extents = nullptr; }},
      {"no direction", [](auto& a, auto*) { a.direction = 5; }},
      {"a placement that is none", [](auto& a, auto*) { a.placement = TW_IN_VIEW + 1; }},
      {"a placement below all", [](auto& a, auto*) { a.placement = -1; }},
      {"a progress that is none", [](auto& a, auto*) { a.progress = 4; }},
      {"a struct of another size", [](auto& a, auto*) { a.struct_size = 8; }},
      {"a negative offset of all",
       [](auto& a, auto*) {
         a.placement = TW_AT_OFFSET;
         a.offset = -1;
       }},
      {"an end behind the last offset", [](auto&, auto* e) { e[1].offset = kMost - 3; }, TW_ERR_RANGE},
      {"a sum behind the last offset", [](auto&, auto* e) { e[0].length = e[1].length = kMost / 2 + 10; },
       TW_ERR_RANGE},
      {"what the caller says", [](auto& a, auto*) { a.status = TW_ERR_NO_MEMORY; }, TW_ERR_NO_MEMORY},
  };
}

class Arguments : public SharedFiles {
 protected:
  // A valid access of all tasks after an error.
  static void expect_works(tw_file* file, int task) {
    std::string data = text_of(task, 50);
    EXPECT_EQ(tw_file_write_at_all(file, data.data(), 50, task * 50), TW_OK) << tw_last_error();
  }
};

TEST_F(Arguments, OfAnAccessAreToldToAllTasks) {
  for (const int tasks : {1, 2, 3}) {
    on_file(tasks, [&](tw_file* file, int task) {
      for (const Wrong& wrong : wrongs()) {
        for (int who = 0; who < 2 * tasks; ++who) {
          char data[20] = {};
          tw_extent extents[2] = {{data, 10, task * 20}, {data + 10, 10, task * 20 + 10}};
          tw_access access = access_of(who < tasks ? TW_ACCESS_WRITE : TW_ACCESS_READ, TW_AT_EXTENTS, extents, 2);
          if (task == who % tasks) wrong.spoil(access, extents);
          std::size_t moved = 999;
          EXPECT_EQ(tw_file_access_all(file, nullptr, &access, &moved), wrong.expected) << wrong.name << " on " << who;
          EXPECT_EQ(moved, 0u);
          if (tasks > 1) {
            EXPECT_NE(std::string(tw_last_error()).find("task " + std::to_string(who % tasks) + ": "),
                      std::string::npos)
                << wrong.name << ": " << tw_last_error();
          }
          tw_request* request = nullptr;
          EXPECT_EQ(tw_file_iaccess_all(file, nullptr, &access, &request), TW_OK) << wrong.name;
          EXPECT_EQ(tw_request_wait(&request, &moved), wrong.expected) << wrong.name;
        }
        expect_works(file, task);
      }
    });
  }
}

TEST_F(Arguments, OfAnIndependentAccessAreToldToItsTask) {
  on_file(2, [&](tw_file* file, int task) {
    for (const Wrong& wrong : wrongs()) {
      char data[20] = {};
      tw_extent extents[2] = {{data, 10, 0}, {data + 10, 10, 10}};
      tw_access access = access_of(TW_ACCESS_WRITE, TW_AT_EXTENTS, extents, 2);
      if (task == 1) wrong.spoil(access, extents);
      EXPECT_EQ(tw_file_access(file, &access, nullptr), task == 1 ? wrong.expected : TW_OK) << wrong.name;
      tw_request* request = nullptr;
      EXPECT_EQ(tw_file_iaccess(file, &access, &request), TW_OK) << wrong.name;
      EXPECT_EQ(tw_request_wait(&request, nullptr), task == 1 ? wrong.expected : TW_OK) << wrong.name;
    }
    const tw_access in_order = access_of(TW_ACCESS_WRITE, TW_IN_ORDER, nullptr, 0);
    EXPECT_EQ(tw_file_access(file, &in_order, nullptr), TW_ERR_INVALID);
    tw_request* request = nullptr;
    EXPECT_EQ(tw_file_iaccess(file, &in_order, &request), TW_OK);
    EXPECT_EQ(tw_request_wait(&request, nullptr), TW_ERR_INVALID);
    EXPECT_EQ(tw_file_access(file, nullptr, nullptr), TW_ERR_INVALID);
    EXPECT_EQ(tw_file_access(nullptr, &in_order, nullptr), TW_ERR_INVALID);
    EXPECT_EQ(tw_file_iaccess(nullptr, &in_order, &request), TW_ERR_INVALID);
    EXPECT_EQ(tw_file_iaccess(file, &in_order, nullptr), TW_ERR_INVALID);
  });
}

// The arguments of each task are valid, but inconsistent.
TEST_F(Arguments, ThatDifferAreToldToAllTasks) {
  const std::vector<Wrong> differences = {
      {"directions", [](auto& a, auto*) { a.direction = TW_ACCESS_READ; }},
      {"common", [](auto& a, auto*) { a.common = 1; }},
      {"placements", [](auto& a, auto*) { a.placement = TW_IN_ORDER; }},
  };
  for (const int tasks : {2, 3, 5}) {
    on_file(tasks, [&](tw_file* file, int task) {
      for (const Wrong& difference : differences) {
        for (int who = 0; who < tasks; ++who) {
          char data[20] = {};
          tw_extent extents[2] = {{data, 10, 0}, {data + 10, 10, 10}};
          tw_access access = access_of(TW_ACCESS_WRITE, TW_AT_EXTENTS, extents, 2);
          if (task == who) difference.spoil(access, extents);
          EXPECT_EQ(tw_file_access_all(file, nullptr, &access, nullptr), TW_ERR_INVALID) << difference.name << who;
        }
        expect_works(file, task);
      }
      std::int64_t position = -1;
      EXPECT_EQ(tw_file_seek(file, 0, SEEK_CUR, &position), TW_OK);
      EXPECT_EQ(position, 0) << "an access that fails does not move the shared position";
    });
  }
}

TEST_F(Arguments, OfACommonAccessMustBeTheSame) {
  char memory[40] = {};
  char other[40] = {};
  const std::vector<Wrong> differences = {
      {"lengths", [](auto&, auto* e) { e[0].length = 9; }},
      {"offsets", [](auto&, auto* e) { e[1].offset = 11; }},
      {"numbers", [](auto& a, auto*) { a.n = 1; }},
      {"memory of a list", [&](auto&, auto* e) { e[1].address = other; }},
  };
  on_file(3, [&](tw_file* file, int task) {
    for (const Wrong& difference : differences) {
      for (int who = 0; who < 3; ++who) {
        tw_extent extents[2] = {{memory, 10, 0}, {memory + 10, 10, 20}};
        tw_access access = common(list_of(TW_ACCESS_WRITE, extents, 2));
        if (task == who) difference.spoil(access, extents);
        EXPECT_EQ(tw_file_access_all(file, nullptr, &access, nullptr), TW_ERR_INVALID) << difference.name << who;
      }
    }
    const auto write_one = [&](tw_placement placement, char* address, std::int64_t length, std::int64_t offset) {
      const tw_extent extent{address, length, 0};
      tw_access access = common(access_of(TW_ACCESS_WRITE, placement, &extent, 1));
      access.offset = offset;
      return tw_file_access_all(file, nullptr, &access, nullptr);
    };
    EXPECT_EQ(write_one(TW_AT_OFFSET, task == 1 ? other : memory, 10, 0), TW_ERR_INVALID) << "one extent";
    EXPECT_EQ(write_one(TW_AT_OFFSET, memory, 10, task == 2 ? 1 : 0), TW_ERR_INVALID);
    EXPECT_EQ(write_one(TW_IN_ORDER, memory, 10 + task, 0), TW_ERR_INVALID);
    EXPECT_EQ(write_one(TW_IN_ORDER, memory, 10, 0), TW_OK) << tw_last_error();
  });
}

// Only the sum of the lengths exceeds the largest offset; also where it exceeds 64 bits.
TEST_F(Arguments, ThatAreTooMuchTogetherAreOutOfRange) {
  for (const int tasks : {2, 4, 5}) {
    on_file(tasks, [&](tw_file* file, int task) {
      char byte = 0;
      EXPECT_EQ(tw_file_write_all(file, &byte, std::int64_t{1} << 62), TW_ERR_RANGE);
      tw_request* request = nullptr;
      EXPECT_EQ(tw_file_iread_all(file, &byte, std::int64_t{1} << 62, &request), TW_OK);
      EXPECT_EQ(tw_request_wait(&request, nullptr), TW_ERR_RANGE);
      EXPECT_EQ(tw_file_seek(file, kMost - 1, SEEK_SET, nullptr), TW_OK);
      EXPECT_EQ(tw_file_write_all(file, &byte, 1), TW_ERR_RANGE);
      expect_works(file, task);
    });
  }
}

// One task passes no request: it gets the error at once, the others when they wait.
TEST_F(Arguments, WithoutARequestTheOthersHearOfIt) {
  for (int who = 0; who < 3; ++who) {
    on_file(3, [&](tw_file* file, int task) {
      char byte = 'x';
      tw_request* request = nullptr;
      const tw_status started = tw_file_iwrite_at_all(file, &byte, 1, task, task == who ? nullptr : &request);
      EXPECT_EQ(started, task == who ? TW_ERR_INVALID : TW_OK);
      if (task != who) {
        EXPECT_EQ(tw_request_wait(&request, nullptr), TW_ERR_INVALID);
      }
      expect_works(file, task);
    });
  }
  EXPECT_EQ(tw_file_iaccess_all(nullptr, nullptr, nullptr, nullptr), TW_ERR_INVALID);
}

TEST_F(Arguments, NullAccessOnOneTaskIsToldToAll) {
  on_file(3, [&](tw_file* file, int task) {
    const tw_access access = access_of(TW_ACCESS_WRITE, TW_IN_ORDER, nullptr, 0);
    for (int who = 0; who < 3; ++who)
      EXPECT_EQ(tw_file_access_all(file, nullptr, task == who ? nullptr : &access, nullptr), TW_ERR_INVALID);
    expect_works(file, task);
  });
}

TEST_F(Arguments, OfRequestCallsAreChecked) {
  int done = 0;
  std::int64_t index = 7, n_done = 7;
  tw_request* none = nullptr;
  std::size_t moved = 7;

  EXPECT_EQ(tw_request_wait(nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_request_test(nullptr, &done, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_request_test(&none, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_request_waitall(1, nullptr, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_request_waitany(1, nullptr, &index, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_request_waitany(1, &none, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_request_waitall(-1, &none, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_STREQ(tw_last_error(), "tw_request_waitall: n is -1; 0 or more requests");
  EXPECT_EQ(tw_request_testall(-1, &none, &done, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_request_waitany(-1, &none, &index, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_request_testany(-1, &none, &done, &index, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_request_waitsome(-1, &none, &n_done, &index, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_request_testsome(-1, &none, &n_done, &index, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(index, 7);
  EXPECT_EQ(n_done, 7);
  EXPECT_EQ(tw_request_wait(&none, &moved), TW_OK);
}

TEST_F(Arguments, OfCallsThatChangeTheFileMustBeTheSame) {
  on_file(3, [&](tw_file* file, int task) {
    for (int who = 0; who < 3; ++who) {
      EXPECT_EQ(tw_file_truncate(file, task == who ? 5 : 6), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_truncate(file, task == who ? -5 : 6), TW_ERR_INVALID);
      EXPECT_NE(std::string(tw_last_error()).find("nbytes is -5"), std::string::npos) << tw_last_error();
      EXPECT_EQ(tw_file_preallocate(file, 6, task == who ? 1 : 0), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_preallocate(file, task == who ? 7 : 6, 0), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_preallocate(file, 6, task == who ? -1 : 0), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_seek(file, task == who ? 1 : 0, SEEK_SET, nullptr), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_seek(file, 0, task == who ? SEEK_CUR : SEEK_SET, nullptr), TW_ERR_INVALID);
      EXPECT_EQ(tw_file_seek(file, 0, task == who ? 9 : SEEK_SET, nullptr), TW_ERR_INVALID);
    }
    EXPECT_EQ(tw_file_preallocate(file, 1, kMost), TW_ERR_RANGE) << tw_last_error();
    EXPECT_EQ(tw_file_seek(file, -1, SEEK_SET, nullptr), TW_ERR_INVALID);
    EXPECT_EQ(tw_file_seek(file, kMost, SEEK_SET, nullptr), TW_OK);
    EXPECT_EQ(tw_file_seek(file, 1, SEEK_CUR, nullptr), TW_ERR_INVALID);
    std::int64_t size = -1;
    EXPECT_EQ(tw_file_size(file, &size), TW_OK);
    EXPECT_EQ(size, 0);
  });
  EXPECT_EQ(tw_file_size(nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_file_sync(nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_file_close(nullptr), TW_ERR_INVALID);
  EXPECT_STREQ(tw_file_last_plan(nullptr), "");
}

}  // namespace
}  // namespace thalweg::test
