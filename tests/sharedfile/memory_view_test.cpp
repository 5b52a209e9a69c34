// Accesses whose memory is a view: in every placement and form, its bytes are moved, in its order.
#include <cstddef>
#include <cstring>
#include <memory>

#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

constexpr std::size_t kMemory = 60;  // bytes of memory of a task
constexpr std::size_t kBytes = 12;   // of which this many are moved

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

enum Kind { kComb, kOneRun, kFalling, kTwice, kKinds };

// The view of memory, and where its bytes lie.
ViewPtr view_of(int kind) {
  constexpr std::int64_t kAt = 17, kRun = kBytes;
  if (kind == kComb) return made(tw_view_strided, 6, 2, 5, nullptr);
  if (kind == kOneRun) return made(tw_view_indexed, 1, &kAt, &kRun, nullptr);
  if (kind == kTwice) return made(tw_view_strided, 3, 4, 2, nullptr);
  const ViewPtr comb = made(tw_view_strided, 2, 1, 3, nullptr);
  const std::int64_t displacements[] = {40, 11, 20, 0}, lengths[] = {2, 2, 1, 4};
  const tw_view* const elements[] = {comb.get(), nullptr, comb.get(), nullptr};
  return made(tw_view_struct, 4, displacements, lengths, elements);
}

std::vector<std::size_t> places_of(int kind) {
  if (kind == kFalling) return {40, 43, 44, 47, 11, 12, 20, 23, 0, 1, 2, 3};
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < kBytes; ++i) {
    const std::size_t at[] = {i / 2 * 5 + i % 2, 17 + i, 0, i / 4 * 2 + i % 4};
    places.push_back(at[kind]);
  }
  return places;
}

std::string seen(int kind, const std::string& memory) {
  std::string bytes;
  for (const std::size_t at : places_of(kind)) bytes += memory[at];
  return bytes;
}

enum Form { kAll, kIAll, kOne, kIOne, kForms };

// Moves the bytes of a view that is freed as soon as the call has returned.
tw_status move(tw_file* file, tw_group* group, tw_access access, std::string& memory, int kind, int form,
               std::int64_t offset, std::size_t* moved) {
  ViewPtr view = view_of(kind);
  auto extent = std::make_unique<tw_extent>(tw_extent{memory.data(), tw_view_size(view.get()), offset});
  access.memory = view.get();
  access.extents = extent.get();
  access.n = 1;
  access.offset = offset;
  tw_request* request = nullptr;
  if (form == kAll) return tw_file_access_all(file, group, &access, moved);
  if (form == kOne) return tw_file_access(file, &access, moved);
  const tw_status started =
      form == kIAll ? tw_file_iaccess_all(file, group, &access, &request) : tw_file_iaccess(file, &access, &request);
  if (started != TW_OK) return started;
  *extent = {nullptr, -1, -1};
  extent.reset();
  view.reset();
  return tw_request_wait(&request, moved);
}

// A placement, whether the handle has a view, and a form.
struct Case {
  tw_placement placement;
  bool has_view;
  int form;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (int form = 0; form < kForms; ++form) {
    for (const bool has_view : {false, true})
      for (const tw_placement placement : {TW_AT_EXTENTS, TW_AT_OFFSET, TW_IN_VIEW})
        all.push_back({placement, has_view, form});
    if (form == kAll || form == kIAll) all.push_back({TW_IN_ORDER, false, form});
  }
  return all;
}

class MemoryViews : public SharedFiles, public testing::WithParamInterface<int> {
 protected:
  // Where byte i of a task lies in the file, for an access from the task's 5th byte on: 5 bytes at a time through a
  // view, which counts from 3, else all together.
  std::size_t place(const Case& what, int task, std::size_t i) const {
    const auto tasks = static_cast<std::size_t>(GetParam()), mine = static_cast<std::size_t>(task);
    const bool through = what.has_view && what.placement != TW_AT_EXTENTS;
    if (through) return 3 + (5 + i) / 5 * 5 * tasks + 5 * mine + (5 + i) % 5;
    return (what.placement == TW_IN_ORDER ? 0 : 5) + mine * kBytes + i;
  }
  // Sets the view of the task, and its position; returns the offset of the access.
  std::int64_t prepare(tw_file* file, const Case& what, int task) const {
    const ViewPtr view = made(tw_view_strided, 2, 5, 5 * GetParam(), nullptr);
    const ViewPtr sized = made(tw_view_resized, view.get(), 10 * GetParam());
    if (what.has_view) {
      EXPECT_EQ(tw_file_set_view(file, 3 + 5 * task, sized.get()), TW_OK) << tw_last_error();
    }
    const bool through = what.has_view && what.placement != TW_AT_EXTENTS;
    const std::int64_t offset = through ? 5 : 5 + task * static_cast<std::int64_t>(kBytes);
    if (what.placement == TW_IN_VIEW) {
      EXPECT_EQ(tw_file_seek_view(file, offset, SEEK_SET, nullptr), TW_OK);
    }
    return offset;
  }
  static void expect_moved(tw_file* file, const Case& what, std::int64_t offset) {
    std::int64_t position = -1;
    EXPECT_EQ(tw_file_seek_view(file, 0, SEEK_CUR, &position), TW_OK);
    EXPECT_EQ(position, what.placement == TW_IN_VIEW ? offset + static_cast<std::int64_t>(kBytes) : 0);
  }
  void for_each_case(const std::function<void(const Case&, int kind, const char* hints)>& body) {
    for (int kind = 0; kind < kKinds; ++kind) {
      for (const Case& what : cases()) {
        SCOPED_TRACE("kind " + std::to_string(kind) + ", placement " + std::to_string(what.placement) +
                     (what.has_view ? " in a view" : "") + ", form " + std::to_string(what.form));
        for (const char* hints : {"", "method=aggregate,aggregators=2"}) body(what, kind, hints);
      }
    }
  }
};

TEST_P(MemoryViews, AreWrittenInEveryPlacement) {
  for_each_case([&](const Case& what, int kind, const char* hints) {
    std::string expected;
    for (int task = 0; task < GetParam(); ++task) {
      const std::string bytes = seen(kind, text_of(task, kMemory));
      for (std::size_t i = 0; i < kBytes; ++i) {
        const std::size_t at = place(what, task, i);
        if (expected.size() <= at) expected.resize(at + 1, '\0');
        expected[at] = bytes[i];
      }
    }
    const auto body = [&](tw_file* file, int task) {
      const std::int64_t offset = prepare(file, what, task);
      std::string memory = text_of(task, kMemory);
      std::size_t moved = 0;
      const tw_access access = access_of(TW_ACCESS_WRITE, what.placement, nullptr, 0);
      EXPECT_EQ(move(file, nullptr, access, memory, kind, what.form, offset, &moved), TW_OK) << tw_last_error();
      EXPECT_EQ(moved, kBytes);
      EXPECT_EQ(memory, text_of(task, kMemory));
      expect_moved(file, what, offset);
    };
    on_file(GetParam(), body, kNew, hints);
    EXPECT_EQ(content(), expected);
  });
}

// The file ends within the bytes of the last task. Each byte that is seen twice is from one of its places.
TEST_P(MemoryViews, AreReadInEveryPlacement) {
  for_each_case([&](const Case& what, int kind, const char* hints) {
    const std::string whole = text_of(7, place(what, GetParam() - 1, kBytes - 1) - 2);
    put(whole);
    const auto body = [&](tw_file* file, int task) {
      const std::int64_t offset = prepare(file, what, task);
      std::string memory(kMemory, '#'), expected = memory;
      std::size_t moved = 0, there = 0;
      const tw_access access = access_of(TW_ACCESS_READ, what.placement, nullptr, 0);
      EXPECT_EQ(move(file, nullptr, access, memory, kind, what.form, offset, &moved), TW_OK) << tw_last_error();
      std::map<std::size_t, std::string> allowed;
      const std::vector<std::size_t> places = places_of(kind);
      for (std::size_t i = 0; i < kBytes; ++i) {
        const std::size_t at = place(what, task, i);
        there += at < whole.size();
        allowed[places[i]] += at < whole.size() ? whole[at] : '#';
      }
      EXPECT_EQ(moved, there);
      for (std::size_t i = 0; i < kMemory; ++i) {
        const std::string any = allowed.contains(i) ? allowed[i] : "#";
        EXPECT_NE(any.find(memory[i]), std::string::npos) << i << ": " << memory[i] << ", not one of " << any;
      }
      expect_moved(file, what, offset);
    };
    on_file(GetParam(), body, TW_READ, hints);
  });
}

// One text in memory that all tasks share.
TEST_P(MemoryViews, ServeCommonAccesses) {
  for (int kind = 0; kind < kKinds; ++kind) {
    std::string memory = text_of(3, kMemory), back(kMemory, '#');
    on_file(GetParam(), [&](tw_file* file, int) {
      const tw_access write = common(access_of(TW_ACCESS_WRITE, TW_AT_OFFSET, nullptr, 0));
      const tw_access read = common(access_of(TW_ACCESS_READ, TW_AT_EXTENTS, nullptr, 0));
      std::size_t moved = 0;
      EXPECT_EQ(move(file, nullptr, write, memory, kind, kAll, 4, &moved), TW_OK) << tw_last_error();
      EXPECT_EQ(move(file, nullptr, read, back, kind, kIAll, 4, &moved), TW_OK) << tw_last_error();
      EXPECT_EQ(moved, kBytes);
    });
    EXPECT_EQ(content(), std::string(4, '\0') + seen(kind, memory));
    if (kind != kTwice) {
      EXPECT_EQ(seen(kind, back), seen(kind, memory));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Teams, MemoryViews, testing::Values(1, 2, 3, 5));

class MemoryViewCalls : public SharedFiles {};

// Threads of another group use one handle, whose view counts every second byte.
TEST_F(MemoryViewCalls, ServeOtherGroups) {
  for (int kind = 0; kind < kKinds; ++kind) {
    for (const int form : {kAll, kIAll}) {
      std::vector<std::string> memory;
      for (int task = 0; task < 3; ++task) memory.push_back(text_of(task, kMemory));
      tw_file* file = nullptr;
      on_team(1, [&](tw_group* group, int) { file = open(group); });
      const ViewPtr byte = made(tw_view_contiguous, 1, nullptr), second = made(tw_view_resized, byte.get(), 2);
      ASSERT_EQ(tw_file_set_view(file, 1, second.get()), TW_OK);
      on_team(3, [&](tw_group* group, int task) {
        std::string& mine = memory[static_cast<std::size_t>(task)];
        std::size_t moved = 0;
        tw_access access = access_of(TW_ACCESS_WRITE, TW_AT_OFFSET, nullptr, 0);
        EXPECT_EQ(move(file, group, access, mine, kind, form, 12 * task, &moved), TW_OK) << tw_last_error();
        EXPECT_EQ(moved, kBytes);
        access.placement = TW_AT_EXTENTS;
        EXPECT_EQ(move(file, group, access, mine, kind, form, 100 + 12 * task, &moved), TW_OK) << tw_last_error();
        access.placement = TW_IN_VIEW;
        EXPECT_EQ(move(file, group, access, mine, kind, form, 0, &moved), TW_ERR_INVALID);
        access.placement = TW_IN_ORDER;
        EXPECT_EQ(move(file, group, access, mine, kind, form, 0, &moved), TW_ERR_INVALID);
        EXPECT_EQ(move(task == 1 ? nullptr : file, group, access, mine, kind, form, 0, &moved), TW_ERR_INVALID);
      });
      EXPECT_EQ(tw_file_close(&file), TW_OK);
      std::string expected(100, '\0'), all;
      for (int task = 0; task < 3; ++task) all += seen(kind, memory[static_cast<std::size_t>(task)]);
      for (std::size_t i = 0; i < all.size(); ++i) expected[2 * i + 1] = all[i];
      EXPECT_EQ(content(), expected + all);
    }
  }
}

struct WrongMemory {
  const char* says;
  std::function<void(tw_access&, tw_extent&)> spoil;
  tw_status expected = TW_ERR_INVALID;
};

// One task is wrong, all fail; its position in its view stays.
TEST_F(MemoryViewCalls, RefuseWrongArguments) {
  const ViewPtr comb = view_of(kComb), run = view_of(kOneRun), nothing = made(tw_view_contiguous, 0, nullptr);
  const auto beyond = [](auto& a, auto& e) { a.placement = TW_AT_EXTENTS, e.offset = INT64_MAX - 11; };
  const WrongMemory wrongs[] = {
      {"n is 2; an access with a view of memory has 1 extent", [](auto& a, auto&) { a.n = 2; }},
      {"n is 0; an access with a view of memory has 1 extent", [](auto& a, auto&) { a.n = 0; }},
      {"n is 2; an access", [&](auto& a, auto& e) { a.n = 2, e.length = 0, a.memory = nothing.get(); }},
      {"extent 0 has length 11, but the view of memory has 12 bytes", [](auto&, auto& e) { e.length = 11; }},
      {"extent 0 has length 12, but the view of memory has 0 bytes", [&](auto& a, auto&) { a.memory = nothing.get(); }},
      {"extent 0 has length -12", [](auto&, auto& e) { e.length = -12; }},
      {"extents is NULL", [](auto& a, auto&) { a.extents = nullptr; }},
      {"extent 0 of 12 bytes has no memory", [](auto&, auto& e) { e.address = nullptr; }},
      {"extent 0 of 12 bytes has no memory", [&](auto& a, auto& e) { a.memory = run.get(), e.address = nullptr; }},
      {"struct_size of the access is", [](auto& a, auto&) { a.struct_size = offsetof(tw_access, memory); }},
      {"12 bytes from position 9223372036854775796 on", beyond, TW_ERR_RANGE},
      {"12 bytes from position 9223372036854775806 on",
       [](auto& a, auto&) { a.placement = TW_AT_OFFSET, a.offset = INT64_MAX - 1; }, TW_ERR_RANGE},
  };
  on_file(2, [&](tw_file* file, int task) {
    std::string memory = text_of(task, kMemory);
    for (const WrongMemory& wrong : wrongs) {
      for (int who = 0; who < 2; ++who) {
        tw_extent extents[2] = {{memory.data(), kBytes, task * 20}, {}};
        tw_access access = access_of(TW_ACCESS_WRITE, TW_IN_VIEW, extents, 1);
        access.memory = comb.get();
        if (task == who) wrong.spoil(access, extents[0]);
        EXPECT_EQ(tw_file_seek_view(file, 20 * task, SEEK_SET, nullptr), TW_OK);
        EXPECT_EQ(tw_file_access_all(file, nullptr, &access, nullptr), wrong.expected) << wrong.says;
        EXPECT_NE(std::string(tw_last_error()).find(wrong.says), std::string::npos) << tw_last_error();
        tw_request* request = nullptr;
        EXPECT_EQ(tw_file_iaccess_all(file, nullptr, &access, &request), TW_OK) << wrong.says;
        EXPECT_EQ(tw_request_wait(&request, nullptr), wrong.expected) << wrong.says;
        EXPECT_EQ(tw_file_access(file, &access, nullptr), task == who ? wrong.expected : TW_OK) << wrong.says;
        std::int64_t position = -1;
        EXPECT_EQ(tw_file_seek_view(file, 0, SEEK_CUR, &position), TW_OK);
        EXPECT_EQ(position, task == who ? 20 * task : 20 * task + 36) << wrong.says;
      }
    }
    for (const int n : {0, 1}) {
      const tw_extent none{nullptr, 0, 7};
      tw_access access = access_of(TW_ACCESS_WRITE, TW_IN_VIEW, n == 1 ? &none : nullptr, n);
      access.memory = nothing.get();
      EXPECT_EQ(tw_file_access_all(file, nullptr, &access, nullptr), TW_OK) << "no bytes: " << tw_last_error();
    }
  });
}

// A view of memory of 2^60 pieces: there is no memory for their list.
TEST_F(MemoryViewCalls, FailWhereTheirPiecesAreTooMany) {
  const ViewPtr fine = made(tw_view_strided, std::int64_t{1} << 60, 1, 2, nullptr);
  on_file(2, [&](tw_file* file, int task) {
    char byte = 0;
    const tw_extent all{&byte, tw_view_size(fine.get()), 0};
    tw_access access = access_of(TW_ACCESS_WRITE, TW_AT_EXTENTS, &all, task);
    access.memory = task == 0 ? nullptr : fine.get();
    EXPECT_EQ(tw_file_access_all(file, nullptr, &access, nullptr), TW_ERR_NO_MEMORY) << tw_last_error();
    tw_request* request = nullptr;
    EXPECT_EQ(tw_file_iaccess_all(file, nullptr, &access, &request), TW_OK);
    EXPECT_EQ(tw_request_wait(&request, nullptr), TW_ERR_NO_MEMORY);
  });
}

// One task asks alone, also for a file that has no name any more.
TEST_F(MemoryViewCalls, TellTheEndOfAFileToOneTask) {
  on_file(2, [&](tw_file* file, int task) {
    std::int64_t nbytes = -1;
    if (task == 1) {
      EXPECT_EQ(tw_file_end(file, &nbytes), TW_OK) << tw_last_error();
      EXPECT_EQ(nbytes, 0);
      EXPECT_EQ(tw_file_write_at(file, "abc", 3, 1000), TW_OK);
      EXPECT_EQ(tw_file_end(file, &nbytes), TW_OK);
      EXPECT_EQ(nbytes, 1003);
      std::filesystem::remove(path());
      EXPECT_EQ(tw_file_write_at(file, "abc", 3, 2000), TW_OK);
      EXPECT_EQ(tw_file_end(file, &nbytes), TW_OK) << tw_last_error();
      EXPECT_EQ(nbytes, 2003) << "the file has no name";
      EXPECT_EQ(tw_file_end(file, nullptr), TW_ERR_INVALID);
      EXPECT_NE(std::string(tw_last_error()).find("tw_file_end: nbytes is NULL"), std::string::npos);
    }
    EXPECT_EQ(tw_file_truncate(file, 77), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_end(file, &nbytes), TW_OK) << tw_last_error();
    EXPECT_EQ(nbytes, 77);
  });
  std::int64_t nbytes = -1;
  EXPECT_EQ(tw_file_end(nullptr, &nbytes), TW_ERR_INVALID);
  EXPECT_EQ(nbytes, -1);
}

}  // namespace
}  // namespace thalweg::test
