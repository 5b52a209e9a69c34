// NULL for every [out] pointer of the C headers: TW_ERR_INVALID, on all tasks of a collective call, or success where
// the header permits NULL.
#include <array>
#include <cstring>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "sharedfile/out_pointer_rows.hpp"

namespace thalweg::test {
namespace {

std::vector<Row> rows_of_groups() {
  return {
      {"tw_group_self", "group", Null::refused, Call::alone, [](Open&, bool) { return tw_group_self(nullptr); }},
      {"tw_team_create", "team", Null::refused, Call::alone, [](Open&, bool) { return tw_team_create(1, nullptr); }},
      {"tw_group_team", "group", Null::refused, Call::alone,
       [](Open&, bool) {
         tw_team* team = nullptr;
         EXPECT_EQ(tw_team_create(1, &team), TW_OK);
         const tw_status status = tw_group_team(team, 0, nullptr);
         tw_team_free(&team);
         return status;
       }},
      {"tw_group_hybrid", "group", Null::refused, Call::collective,
       [](Open& o, bool null) {
         tw_group *ranks = nullptr, *made = nullptr;
         EXPECT_EQ(tw_group_self(&ranks), TW_OK);
         const tw_status status = tw_group_hybrid(o.group, ranks, unless(null, &made));
         const std::string why = tw_last_error();
         tw_group_free(&made);
         tw_group_free(&ranks);
         EXPECT_EQ(tw_last_error(), why);
         return status;
       }},
      {"tw_group_callbacks", "group", Null::refused, Call::alone,
       [](Open&, bool) {
         tw_transport alone{};
         alone.struct_size = sizeof alone;
         alone.size = 1;
         alone.send_receive = [](void*, const void*, std::size_t, std::int64_t, void*, std::size_t, std::int64_t) {
           return 1;
         };
         return tw_group_callbacks(&alone, nullptr);
       }},
      {"tw_group_duplicate", "copy", Null::refused, Call::collective,
       [](Open& o, bool null) {
         tw_group* copy = nullptr;
         const tw_status status = tw_group_duplicate(o.group, unless(null, &copy));
         tw_group_free(&copy);
         return status;
       }},
      {"tw_group_broadcast", "data", Null::refused, Call::collective,
       [](Open& o, bool null) {
         int data = 0;
         return tw_group_broadcast(o.group, unless(null, &data), sizeof data, 0);
       }},
      {"tw_group_allreduce", "values", Null::refused, Call::collective,
       [](Open& o, bool null) {
         std::int64_t value = 0;
         return tw_group_allreduce(o.group, unless(null, &value), 1, TW_MAX);
       }},
  };
}

std::vector<Row> rows_of_files() {
  return {
      {"tw_file_open", "file", Null::refused, Call::collective,
       [](Open& o, bool null) {
         tw_file* file = nullptr;
         const std::string path = o.folder + "/opened";
         return tw_file_open(o.group, path.c_str(), TW_WRITE | TW_CREATE, nullptr, unless(null, &file));
       }},
      {"tw_file_size", "nbytes", Null::refused, Call::collective,
       [](Open& o, bool null) {
         std::int64_t nbytes = 0;
         return tw_file_size(o.file, unless(null, &nbytes));
       }},
      {"tw_file_seek", "position", Null::allowed, Call::collective,
       [](Open& o, bool null) {
         std::int64_t position = 0;
         return tw_file_seek(o.file, 0, SEEK_SET, unless(null, &position));
       }},
      {"tw_file_seek_view", "position", Null::allowed, Call::alone,
       [](Open& o, bool) { return tw_file_seek_view(o.file, 0, SEEK_SET, nullptr); }},
      {"tw_file_view_offset", "offset", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_file_view_offset(o.file, 0, nullptr); }},
      {"tw_file_goes_alone", "alone", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_file_goes_alone(o.file, nullptr); }},
      {"tw_file_end", "nbytes", Null::refused, Call::alone, [](Open& o, bool) { return tw_file_end(o.file, nullptr); }},
      {"tw_file_progress", "effective", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_file_progress(o.file, TW_PROGRESS_DEFAULT, nullptr); }},
      {"tw_file_access_all", "moved", Null::allowed, Call::collective,
       [](Open& o, bool null) {
         std::size_t moved = 0;
         const tw_access nothing = access_of(TW_ACCESS_READ, TW_AT_EXTENTS, nullptr, 0);
         return tw_file_access_all(o.file, nullptr, &nothing, unless(null, &moved));
       }},
      {"tw_file_iaccess_all", "request", Null::refused, Call::alone,
       [](Open& o, bool) {
         const tw_access nothing = access_of(TW_ACCESS_READ, TW_AT_EXTENTS, nullptr, 0);
         return tw_file_iaccess_all(o.file, nullptr, &nothing, nullptr);
       }},
      {"tw_file_access", "moved", Null::allowed, Call::alone,
       [](Open& o, bool) {
         const tw_access nothing = access_of(TW_ACCESS_READ, TW_AT_EXTENTS, nullptr, 0);
         return tw_file_access(o.file, &nothing, nullptr);
       }},
      {"tw_file_iaccess", "request", Null::refused, Call::alone,
       [](Open& o, bool) {
         const tw_access nothing = access_of(TW_ACCESS_READ, TW_AT_EXTENTS, nullptr, 0);
         return tw_file_iaccess(o.file, &nothing, nullptr);
       }},
  };
}

// The short forms, which differ only in their names.
using Read = tw_status (*)(tw_file*, void*, std::size_t, std::size_t*);
using ReadAt = tw_status (*)(tw_file*, void*, std::size_t, std::int64_t, std::size_t*);
using Start = tw_status (*)(tw_file*, void*, std::size_t, tw_request**);
using StartAt = tw_status (*)(tw_file*, void*, std::size_t, std::int64_t, tw_request**);
using StartWrite = tw_status (*)(tw_file*, const void*, std::size_t, tw_request**);
using StartWriteAt = tw_status (*)(tw_file*, const void*, std::size_t, std::int64_t, tw_request**);

std::array<char, 8> g_memory;
template <class F>
constexpr bool kAt = std::is_same_v<F, ReadAt> || std::is_same_v<F, StartAt> || std::is_same_v<F, StartWriteAt>;

template <class F>
void add_read(std::vector<Row>& rows, const char* name, Call call, F f) {
  const auto act = [f](Open& o, bool no_data, bool no_count) {
    std::size_t n = 0;
    if constexpr (kAt<F>) {
      return f(o.file, unless(no_data, g_memory.data()), 8, 0, unless(no_count, &n));
    } else {
      return f(o.file, unless(no_data, g_memory.data()), 8, unless(no_count, &n));
    }
  };
  rows.push_back({name, "nread", Null::allowed, call, [act](Open& o, bool null) { return act(o, false, null); }});
  rows.push_back({name, "data", Null::refused, call, [act](Open& o, bool null) { return act(o, null, false); }});
}
// Without a request no access starts, and no other task waits for it.
template <class F>
void add_start(std::vector<Row>& rows, const char* name, Call call, F f) {
  const auto act = [f](Open& o, bool no_data, bool no_request) {
    tw_request* request = nullptr;
    tw_request** out = unless(no_request, &request);
    auto* data = unless(no_data, g_memory.data());
    tw_status started = TW_OK;
    if constexpr (kAt<F>) {
      started = f(o.file, data, 8, 0, out);
    } else {
      started = f(o.file, data, 8, out);
    }
    return started == TW_OK ? tw_request_wait(&request, nullptr) : started;
  };
  rows.push_back({name, "request", Null::refused, Call::alone, [act](Open& o, bool) { return act(o, false, true); }});
  if constexpr (std::is_same_v<F, Start> || std::is_same_v<F, StartAt>)
    rows.push_back({name, "data", Null::refused, call, [act](Open& o, bool null) { return act(o, null, false); }});
}

std::vector<Row> rows_of_short_forms() {
  std::vector<Row> rows;
#define READ(name, call) add_read(rows, #name, call, name)
#define START(name, call) add_start(rows, #name, call, name)
  READ(tw_file_read_all, Call::collective);
  READ(tw_file_read_at_all, Call::collective);
  READ(tw_file_read_view_all, Call::collective);
  READ(tw_file_read_at, Call::alone);
  READ(tw_file_read_view, Call::alone);
  START(tw_file_iread_all, Call::collective);
  START(tw_file_iread_at_all, Call::collective);
  START(tw_file_iread_view_all, Call::collective);
  START(tw_file_iread_at, Call::alone);
  START(tw_file_iread_view, Call::alone);
  START(tw_file_iwrite_all, Call::collective);
  START(tw_file_iwrite_at_all, Call::collective);
  START(tw_file_iwrite_view_all, Call::collective);
  START(tw_file_iwrite_at, Call::alone);
  START(tw_file_iwrite_view, Call::alone);
#undef READ
#undef START
  return rows;
}

// What calls on several requests are given, of which there is none.
struct Some {
  tw_request* none = nullptr;
  int done = 0;
  std::int64_t n_done = 0;
  std::int64_t indices[1] = {};
  tw_status statuses[1] = {};
  std::size_t moved[1] = {};
};
Some& some() {
  thread_local Some one;
  return one;
}
tw_status testall(tw_request** requests, int* done, tw_status* statuses, std::size_t* moved) {
  return tw_request_testall(1, requests, done, statuses, moved);
}
tw_status testany(tw_request** requests, int* done, std::int64_t* index, std::size_t* moved) {
  return tw_request_testany(1, requests, done, index, moved);
}

std::vector<Row> rows_of_requests() {
  return {
      {"tw_request_wait", "request", Null::refused, Call::alone,
       [](Open&, bool) { return tw_request_wait(nullptr, nullptr); }},
      {"tw_request_wait", "moved", Null::allowed, Call::alone,
       [](Open&, bool) {
         tw_request* none = nullptr;
         return tw_request_wait(&none, nullptr);
       }},
      {"tw_request_test", "request", Null::refused, Call::alone,
       [](Open&, bool) {
         int done = 0;
         return tw_request_test(nullptr, &done, nullptr);
       }},
      {"tw_request_test", "done", Null::refused, Call::alone,
       [](Open&, bool) {
         tw_request* none = nullptr;
         return tw_request_test(&none, nullptr, nullptr);
       }},
      {"tw_request_test", "moved", Null::allowed, Call::alone,
       [](Open&, bool) {
         tw_request* none = nullptr;
         int done = 0;
         return tw_request_test(&none, &done, nullptr);
       }},
      {"tw_request_waitall", "requests", Null::refused, Call::alone,
       [](Open&, bool) { return tw_request_waitall(1, nullptr, nullptr, nullptr); }},
      {"tw_request_waitall", "statuses", Null::allowed, Call::alone,
       [](Open&, bool) {
         tw_request* none = nullptr;
         std::size_t moved = 0;
         return tw_request_waitall(1, &none, nullptr, &moved);
       }},
      {"tw_request_waitall", "moved", Null::allowed, Call::alone,
       [](Open&, bool) {
         tw_request* none = nullptr;
         tw_status status = TW_OK;
         return tw_request_waitall(1, &none, &status, nullptr);
       }},
      {"tw_request_waitany", "requests", Null::refused, Call::alone,
       [](Open&, bool) {
         std::int64_t index = 0;
         return tw_request_waitany(1, nullptr, &index, nullptr);
       }},
      {"tw_request_waitany", "index", Null::refused, Call::alone,
       [](Open&, bool) {
         tw_request* none = nullptr;
         return tw_request_waitany(1, &none, nullptr, nullptr);
       }},
      {"tw_request_waitany", "moved", Null::allowed, Call::alone,
       [](Open&, bool) {
         tw_request* none = nullptr;
         std::int64_t index = 0;
         return tw_request_waitany(1, &none, &index, nullptr);
       }},
      {"tw_request_testall", "requests", Null::refused, Call::alone,
       [](Open&, bool) { return testall(nullptr, &some().done, some().statuses, some().moved); }},
      {"tw_request_testall", "done", Null::refused, Call::alone,
       [](Open&, bool) { return testall(&some().none, nullptr, some().statuses, some().moved); }},
      {"tw_request_testall", "statuses", Null::allowed, Call::alone,
       [](Open&, bool) { return testall(&some().none, &some().done, nullptr, some().moved); }},
      {"tw_request_testall", "moved", Null::allowed, Call::alone,
       [](Open&, bool) { return testall(&some().none, &some().done, some().statuses, nullptr); }},
      {"tw_request_testany", "requests", Null::refused, Call::alone,
       [](Open&, bool) { return testany(nullptr, &some().done, some().indices, some().moved); }},
      {"tw_request_testany", "done", Null::refused, Call::alone,
       [](Open&, bool) { return testany(&some().none, nullptr, some().indices, some().moved); }},
      {"tw_request_testany", "index", Null::refused, Call::alone,
       [](Open&, bool) { return testany(&some().none, &some().done, nullptr, some().moved); }},
      {"tw_request_testany", "moved", Null::allowed, Call::alone,
       [](Open&, bool) { return testany(&some().none, &some().done, some().indices, nullptr); }},
  };
}

std::vector<Row> rows_of_some() {
  using Take = tw_status (*)(std::int64_t, tw_request**, std::int64_t*, std::int64_t*, tw_status*, std::size_t*);
  std::vector<Row> rows;
  for (const auto& [name, take] : std::initializer_list<std::pair<const char*, Take>>{
           {"tw_request_waitsome", tw_request_waitsome}, {"tw_request_testsome", tw_request_testsome}}) {
    const char* const arguments[] = {"requests", "n_done", "indices", "statuses", "moved"};
    for (int i = 0; i < 5; ++i) {
      rows.push_back(
          {name, arguments[i], i < 3 ? Null::refused : Null::allowed, Call::alone, [take = take, i](Open&, bool) {
             Some& s = some();
             return take(1, unless(i == 0, &s.none), unless(i == 1, &s.n_done), unless(i == 2, s.indices),
                         unless(i == 3, s.statuses), unless(i == 4, s.moved));
           }});
    }
  }
  return rows;
}

std::vector<Row> rows_of_arrays() {
  static const tw_dim dim{8, 0, 8, 0, 0};
  return {
      {"tw_file_read_array", "data", Null::refused, Call::collective,
       [](Open& o, bool null) {
         return tw_file_read_array(o.file, unless(null, g_memory.data()), 1, 1, &dim, TW_ROW_MAJOR, 0, nullptr);
       }},
      {"tw_file_read_array", "nread", Null::allowed, Call::collective,
       [](Open& o, bool) { return tw_file_read_array(o.file, g_memory.data(), 1, 1, &dim, TW_ROW_MAJOR, 0, nullptr); }},
      {"tw_file_iread_array", "data", Null::refused, Call::collective,
       [](Open& o, bool null) {
         tw_request* request = nullptr;
         void* data = unless(null, g_memory.data());
         const tw_status started = tw_file_iread_array(o.file, data, 1, 1, &dim, TW_ROW_MAJOR, 0, &request);
         return started == TW_OK ? tw_request_wait(&request, nullptr) : started;
       }},
      {"tw_file_iread_array", "request", Null::refused, Call::alone,
       [](Open& o, bool) {
         return tw_file_iread_array(o.file, g_memory.data(), 1, 1, &dim, TW_ROW_MAJOR, 0, nullptr);
       }},
      {"tw_file_iwrite_array", "request", Null::refused, Call::alone,
       [](Open& o, bool) {
         return tw_file_iwrite_array(o.file, g_memory.data(), 1, 1, &dim, TW_ROW_MAJOR, 0, nullptr);
       }},
  };
}

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (const auto& some :
       {rows_of_groups(), rows_of_files(), rows_of_short_forms(), rows_of_arrays(), rows_of_requests(), rows_of_some(),
        rows_of_multifiles(), rows_of_views_and_storage(), rows_of_vpfiles(), rows_of_one_vp()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

// ---- Which arguments there are, by the headers themselves.

std::string without_comments(const std::string& name) {
  std::ifstream in(TW_TESTS_DIR "/../include/thalweg/" + name);
  std::ostringstream text;
  text << in.rdbuf();
  return std::regex_replace(text.str(), std::regex(R"(/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|//[^\n]*)"), "");
}

// The target may be set: it is not const, and neither a handle nor memory that is only passed on.
bool is_out(const std::string& type, const std::string& name) {
  static const std::set<std::string> handles = {"tw_file*", "tw_group*", "tw_multifile*", "tw_vpfile*",
                                                "tw_team*", "tw_view*",  "tw_options*"};
  if (type.empty() || type.back() != '*' || handles.count(type) != 0 || name == "user") return false;
  return type.ends_with("**") ? type.find("*const*") == std::string::npos : !type.starts_with("const ");
}

// Whether the call takes the address of a handle that it sets to NULL.
bool frees_a_handle(const std::string& function) {
  return function.ends_with("_close") || function.ends_with("_abandon") || function.ends_with("_free");
}

std::set<std::string> out_pointers_of_headers() {
  std::set<std::string> found;
  const std::regex declaration(
      R"(TW_API(?:_STATUS)?\s+[\w\s]+\*?\s*\b(tw_\w+)\(([^;]*?)\)\s*(?:TW_VP_FORMAT_\([^)]*\))?\s*;)");
  const std::regex parameter(R"(^\s*(.*?)\s*(\w+)\s*$)");
  for (const char* header : {"file.h", "group.h", "health.h", "multifile.h", "open.h", "request.h", "status.h",
                             "storage.h", "version.h", "view.h", "vpfile.h"}) {
    const std::string text = without_comments(header);
    for (std::sregex_iterator one(text.begin(), text.end(), declaration), end; one != end; ++one) {
      if (frees_a_handle((*one)[1].str())) continue;
      std::istringstream parameters((*one)[2].str());
      std::smatch parts;
      for (std::string each; std::getline(parameters, each, ',');) {
        if (!std::regex_match(each, parts, parameter)) continue;
        const std::string type = std::regex_replace(parts[1].str(), std::regex(R"(\s*\*\s*)"), "*");
        if (is_out(type, parts[2])) found.insert((*one)[1].str() + ": " + parts[2].str());
      }
    }
  }
  return found;
}

class OutPointers : public SharedFiles {
 protected:
  void make_files(tw_group* group, int task) const {
    tw_multifile* file = nullptr;
    ASSERT_EQ(tw_multifile_open(group, path("read").c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &file), TW_OK)
        << tw_last_error();
    ASSERT_EQ(tw_multifile_write(file, "12345678", 8), TW_OK);
    ASSERT_EQ(tw_multifile_set_name(file, ("name" + std::to_string(task)).c_str(), 0), TW_OK);
    ASSERT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    const std::string own = std::to_string(task);
    ASSERT_EQ(tw_multifile_open(nullptr, path("repaired" + own).c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &file),
              TW_OK);
    ASSERT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    tw_vpfile* streams = nullptr;
    ASSERT_EQ(
        tw_vpfile_open(group, path("read.vp").c_str(), TW_CREATE | TW_TRUNCATE, OpenWith().shape(1, &kTasks), &streams),
        TW_OK);
    ASSERT_EQ(tw_vpfile_close(&streams), TW_OK) << tw_last_error();
    ASSERT_EQ(tw_vpfile_open(nullptr, path("repaired.vp" + own).c_str(), TW_CREATE | TW_TRUNCATE,
                             OpenWith().shape(1, &kTasks), &streams),
              TW_OK);
    ASSERT_EQ(tw_vpfile_close(&streams), TW_OK) << tw_last_error();
  }

  Open open_all(tw_group* group, int task) const {
    Open o{group, folder_, open(group), nullptr, nullptr, nullptr, task};
    EXPECT_EQ(tw_multifile_open(group, path("write").c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &o.writing), TW_OK);
    EXPECT_EQ(tw_multifile_open(group, path("read").c_str(), TW_READ, nullptr, &o.reading), TW_OK);
    EXPECT_EQ(tw_vpfile_open(group, path("rw.vp").c_str(), TW_READ | TW_CREATE | TW_TRUNCATE,
                             OpenWith().shape(1, &kTasks), &o.streams),
              TW_OK);
    return o;
  }
  static void close_all(Open& o) {
    EXPECT_EQ(tw_file_close(&o.file), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_close(&o.writing), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_close(&o.reading), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_close(&o.streams), TW_OK) << tw_last_error();
  }

  static bool says(const char* part) { return std::strstr(tw_last_error(), part) != nullptr; }

  static void expect_row(const Row& row, Open& o) {
    for (std::int64_t who = 0; who < (row.call == Call::collective ? kTasks : 1); ++who) {
      const bool null = row.call == Call::alone || tw_group_rank(o.group) == who;
      const tw_status status = row.act(o, null);
      const std::string what = std::string(row.function) + "(" + row.argument + ")";
      EXPECT_EQ(status, row.null == Null::allowed ? TW_OK : TW_ERR_INVALID) << what << ": " << tw_last_error();
      if (row.null == Null::refused) {
        EXPECT_TRUE(says(row.argument) || says("has no memory")) << what << ": " << tw_last_error();
      }
    }
  }
};

TEST_F(OutPointers, AreAllInTheTable) {
  std::set<std::string> rows;
  for (const Row& row : all_rows()) {
    const bool fresh = rows.insert(std::string(row.function) + ": " + row.argument).second;
    EXPECT_TRUE(fresh) << row.function << ", " << row.argument << ": twice";
  }
  const std::set<std::string> arguments = out_pointers_of_headers();
  EXPECT_GT(arguments.size(), 100u) << "the headers are not read as they should be";
  for (const std::string& argument : arguments) EXPECT_EQ(rows.count(argument), 1u) << argument << " is not tested";
  for (const std::string& row : rows) EXPECT_EQ(arguments.count(row), 1u) << row << " is not in the headers";
}

TEST_F(OutPointers, ThatAreNullAreRefusedOrUnused) {
  on_team(static_cast<int>(kTasks), [&](tw_group* group, int task) {
    make_files(group, task);
    Open o = open_all(group, task);
    for (const Row& row : all_rows()) {
      expect_row(row, o);
      EXPECT_EQ(tw_group_barrier(group), TW_OK);
    }
    close_all(o);
  });
}

}  // namespace
}  // namespace thalweg::test
