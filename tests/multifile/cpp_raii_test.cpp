// thalweg.hpp: the C++ types over the C calls.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thalweg/thalweg.hpp>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace {

using thalweg::Error;
using thalweg::Group;
using thalweg::Multifile;
using thalweg::Options;
using thalweg::Request;

static_assert(!std::is_copy_constructible_v<Multifile> && std::is_nothrow_move_constructible_v<Multifile>);
static_assert(!std::is_copy_constructible_v<Group> && std::is_nothrow_move_constructible_v<Group>);
static_assert(std::is_constructible_v<Multifile, Group, std::string, int>, "the open keeps what it needs");
static_assert(thalweg::traits::is_plain_target<std::vector<int>&>() &&
              !thalweg::traits::is_plain_target<const std::vector<int>&>());
static_assert(thalweg::traits::is_plain_range<std::string_view>() &&
              !thalweg::traits::is_plain_range<std::vector<std::string>>());

// Elements with addresses are meaningless in a file.
struct Particle {
  double x = 0, y = 0;
  std::array<char, 4> name{};
};
template <class T>
concept PlainElement =
    thalweg::traits::is_plain_range<std::vector<T>>() && thalweg::traits::is_plain_target<std::vector<T>&>();
static_assert(PlainElement<double> && PlainElement<Particle> && PlainElement<std::array<int, 3>> &&
              PlainElement<std::byte> && thalweg::traits::is_plain_range<int (&)[2][3]>());
static_assert(!PlainElement<const char*> && !PlainElement<void*> && !PlainElement<void (*)()>);
static_assert(!PlainElement<int Particle::*> && !PlainElement<void (Particle::*)()> && !PlainElement<std::nullptr_t>);
static_assert(!PlainElement<std::string_view> && !PlainElement<std::span<int>> && !PlainElement<std::span<int, 3>> &&
              !PlainElement<std::ranges::subrange<int*>> && !PlainElement<std::initializer_list<int>>);
static_assert(!PlainElement<std::reference_wrapper<int>> && !PlainElement<std::vector<int>::iterator>);
static_assert(!PlainElement<std::array<const char*, 2>> && !PlainElement<std::array<std::string_view, 2>> &&
              !PlainElement<std::optional<int*>> && !thalweg::traits::is_plain_range<const char* (&)[2][3]>());
static_assert(!PlainElement<std::variant<const char*, int>> && !PlainElement<std::variant<int, std::span<int>>> &&
              !PlainElement<std::optional<std::string_view>> &&
              !PlainElement<std::optional<std::variant<int, std::optional<int*>>>>);
static_assert(PlainElement<std::optional<int>> && PlainElement<std::variant<int, double, std::array<int, 3>>>);

template <class Data>
concept Written = requires(Multifile& file, const Data& data) { file.write(data); };
template <class Data>
concept WrittenAt = requires(Multifile& file, const Data& data) { file.write_at(data, 0); };
template <class T>
concept WrittenAsValue = requires(Multifile& file, const T& value) { file.write_value(value); };
template <class T>
concept ReadAsValue = requires(Multifile& file) { file.read_value<T>(); };

// "text" has a terminating NUL; the caller must state which part of a character array to write.
static_assert(!Written<char[5]> && !Written<wchar_t[5]> && !Written<char8_t[5]> && !Written<char16_t[5]> &&
              !Written<char32_t[5]> && !Written<const char*> && !Written<std::vector<const char*>>);
static_assert(!Written<char[2][3]> && !Written<const char[2][3]> && !WrittenAt<wchar_t[2][3][4]> && Written<int[2][3]>);
static_assert(!WrittenAt<char[5]> && !WrittenAt<wchar_t[5]> && !WrittenAt<std::vector<const char*>>);
static_assert(Written<std::string> && Written<std::string_view> && Written<std::span<char, 5>> &&
              Written<std::array<char, 5>> && Written<unsigned char[5]> && Written<int[5]> && WrittenAt<int[5]>);
static_assert(!WrittenAsValue<const char*> && !WrittenAsValue<char[5]> && !WrittenAsValue<std::string_view> &&
              !WrittenAsValue<std::nullptr_t> && !WrittenAsValue<std::reference_wrapper<int>>);
static_assert(!WrittenAsValue<std::variant<const char*>> && !WrittenAsValue<std::optional<std::string_view>> &&
              WrittenAsValue<std::optional<int>> && WrittenAsValue<std::variant<int, double>>);
static_assert(WrittenAsValue<double> && WrittenAsValue<Particle> && WrittenAsValue<std::array<int, 3>>);
static_assert(!ReadAsValue<const char*> && !ReadAsValue<std::string_view> && ReadAsValue<Particle>);
static_assert(
    requires(Multifile& file, char (&text)[5]) { file.read(text); }, "an array may be read into");

class CppRaii : public testing::Test {
 protected:
  CppRaii() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cpp_raii_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~CppRaii() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name = "file.tw") const { return folder_ / name; }

  // The status that `call` throws; TW_OK when it does not throw.
  template <class Call>
  static tw_status status_of(Call&& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_STRNE(error.what(), "");
      return error.status();
    }
    return TW_OK;
  }

  // A closed multifile of three logical files; file i holds 10 i, 10 i + 1, 10 i + 2.
  void write_three() const {
    Multifile file(path(), TW_CREATE | TW_TRUNCATE, Options().range(3, 0, 3));
    for (std::int32_t i = 0; i < 3; ++i) {
      file.seek_to(i);
      file.write(std::array{10 * i, 10 * i + 1, 10 * i + 2});
    }
    file.close();
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(CppRaii, WhatWasWrittenIsRead) {
  const auto group = Group::self();
  const std::vector<double> values{1.5, 2.5, 3.5};

  Multifile out(group, path(), TW_CREATE | TW_TRUNCATE);
  out.write(values);
  out.write_value(std::int64_t{7});
  out.write(std::string_view("end"));
  out.close();

  Multifile in(group, path(), TW_READ);
  std::vector<double> read(3);
  EXPECT_EQ(in.read(read), 3u);
  EXPECT_EQ(read, values);
  EXPECT_EQ(in.read_value<std::int64_t>(), 7);
  std::string text(3, ' ');
  EXPECT_EQ(in.read(text), 3u);
  EXPECT_EQ(text, "end");
  EXPECT_TRUE(in.eof());
  EXPECT_EQ(in.size(0), 3 * 8 + 8 + 3);
  in.close();
  EXPECT_FALSE(in.is_open());
}

TEST_F(CppRaii, ReadsComeShortOnlyAtTheEnd) {
  write_three();

  Multifile in(path(), TW_READ);
  std::vector<std::int32_t> five(5);
  in.seek_to(1, 0);
  EXPECT_EQ(in.read(five), 3u);
  EXPECT_EQ(five, (std::vector<std::int32_t>{10, 11, 12, 0, 0}));
  EXPECT_EQ(in.read_value<std::int32_t>(), std::nullopt);
  EXPECT_EQ(in.read_at(std::span(five).first(1), 8), 1u);
  EXPECT_EQ(five[0], 12);
  in.seek(10);
  EXPECT_EQ(in.read_value<std::int32_t>(), std::nullopt) << "two bytes are no number";
  EXPECT_EQ(in.tell(), 12);
}

TEST_F(CppRaii, EachLogicalFileKeepsItsPosition) {
  write_three();

  Multifile in(path(), TW_READ);
  EXPECT_EQ(in.summarize().n_logical, 3);
  in.seek_to(2, 4);
  in.seek_to(0);
  EXPECT_EQ(in.read_value<std::int32_t>(), 0);
  in.seek_to(2);
  EXPECT_EQ(in.current(), 2);
  EXPECT_EQ(in.read_value<std::int32_t>(), 21);
  in.close();
}

TEST_F(CppRaii, ServesTheRanksAskedFor) {
  write_three();

  const std::array<std::int64_t, 2> ranks{2, 0};
  Multifile in(path(), TW_READ, Options().ranks(-1, ranks));
  EXPECT_EQ(in.current(), 2);
  EXPECT_EQ(status_of([&] { in.seek_to(1); }), TW_ERR_NOT_FOUND);
  in.close();
}

TEST_F(CppRaii, PwriteKeepsThePosition) {
  Multifile out(path(), TW_CREATE | TW_TRUNCATE);
  out.write(std::string_view("abcdef"));
  out.write_at(std::string_view("XY"), 1);
  EXPECT_EQ(out.tell(), 6);
  out.flush();
  out.sync();
  out.close();

  Multifile in(path(), TW_READ);
  std::string text(6, ' ');
  in.read(text);
  EXPECT_EQ(text, "aXYdef");
}

TEST_F(CppRaii, ErrorsCarryStatusAndText) {
  try {
    Multifile(path("none.tw"), TW_READ);
    FAIL() << "opened a file that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), TW_ERR_NOT_FOUND);
    EXPECT_EQ(error.system_errno(), ENOENT);
    EXPECT_NE(std::string(error.what()).find("none.tw"), std::string::npos) << error.what();
  }
  EXPECT_EQ(status_of([&] { Multifile(path(), "w", Options().hint("chunk_byte", "1MiB")); }), TW_ERR_UNKNOWN_HINT);
  EXPECT_EQ(status_of([&] { Multifile(path(), TW_CREATE | TW_TRUNCATE, Options().range(2, 1, 5)); }), TW_ERR_INVALID);
  write_three();
  EXPECT_EQ(status_of([&] { Multifile(path(), TW_READ).write(std::string_view("x")); }), TW_ERR_MODE);
  EXPECT_EQ(status_of([&] { Multifile(path(), TW_CREATE | TW_EXCLUSIVE); }), TW_ERR_EXISTS);
}

TEST_F(CppRaii, TheDestructorCloses) {
  { Multifile(path(), TW_CREATE | TW_TRUNCATE).write(std::string_view("kept")); }

  Multifile in(path(), TW_READ);
  EXPECT_EQ(in.size(0), 4);
  EXPECT_EQ(in.summarize().closed, 1);
}

TEST_F(CppRaii, WhereAnExceptionLeavesItsScopeItIsNotClosed) {
  try {
    Multifile file(path(), TW_CREATE | TW_TRUNCATE);
    file.write(std::string_view("flushed"));
    throw std::runtime_error("cannot go on");
  } catch (const std::runtime_error&) {
  }

  EXPECT_EQ(status_of([&] { Multifile(path(), TW_READ); }), TW_ERR_NOT_CLOSED);
  EXPECT_EQ(tw_multifile_repair(path().c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  EXPECT_EQ(Multifile(path(), TW_READ).size(0), 7);
}

TEST_F(CppRaii, WhereItIsAbandonedItIsNotClosed) {
  Multifile file(path(), TW_CREATE | TW_TRUNCATE);
  file.write(std::string_view("flushed"));
  file.abandon();

  EXPECT_FALSE(file.is_open());
  EXPECT_EQ(status_of([&] { file.abandon(); }), TW_ERR_INVALID);
  EXPECT_EQ(status_of([&] { Multifile(path(), TW_READ); }), TW_ERR_NOT_CLOSED);
}

// What a destructor does while an exception unwinds is whole.
TEST_F(CppRaii, WhatIsOpenedWhileAnExceptionUnwindsIsClosed) {
  struct WritesAtItsEnd {
    std::string path;
    ~WritesAtItsEnd() { Multifile(path, TW_CREATE | TW_TRUNCATE).write(std::string_view("last words")); }
  };
  try {
    const WritesAtItsEnd object{path()};
    throw std::runtime_error("cannot go on");
  } catch (const std::runtime_error&) {
  }

  EXPECT_EQ(Multifile(path(), TW_READ).size(0), 10);
}

TEST_F(CppRaii, WhatEndsAfterAnExceptionWasCaughtIsClosed) {
  {
    Multifile file(path(), TW_CREATE | TW_TRUNCATE);
    try {
      Multifile moved = std::move(file);
      file = Multifile(path("other.tw"), TW_CREATE | TW_TRUNCATE);
      throw std::runtime_error("cannot go on");
    } catch (const std::runtime_error&) {
      file.write(std::string_view("caught"));
    }
  }

  EXPECT_EQ(status_of([&] { Multifile(path(), TW_READ); }), TW_ERR_NOT_CLOSED);
  EXPECT_EQ(Multifile(path("other.tw"), TW_READ).size(0), 6);
}

TEST_F(CppRaii, AMovedMultifileIsClosedOnce) {
  Multifile first(path(), TW_CREATE | TW_TRUNCATE);
  Multifile second(std::move(first));
  EXPECT_FALSE(first.is_open());  // NOLINT(bugprone-use-after-move): what is left is the question
  second.write(std::string_view("x"));
  Multifile third(path("other.tw"), TW_CREATE | TW_TRUNCATE);
  third = std::move(second);

  EXPECT_EQ(Multifile(path("other.tw"), TW_READ).summarize().closed, 1) << "the assignment closed it";
  third.close();
  EXPECT_EQ(Multifile(path(), TW_READ).size(0), 1);
}

TEST_F(CppRaii, AfterCloseCallsFailInsteadOfCrashing) {
  Multifile file(path(), TW_CREATE | TW_TRUNCATE);
  file.close();
  EXPECT_EQ(status_of([&] { file.write(std::string_view("x")); }), TW_ERR_INVALID);
  EXPECT_EQ(status_of([&] { file.close(); }), TW_ERR_INVALID);
}

TEST_F(CppRaii, AMovedFromMultifileFailsInsteadOfCrashing) {
  Multifile first(path(), TW_CREATE | TW_TRUNCATE);
  Multifile second(std::move(first));
  // NOLINTBEGIN(bugprone-use-after-move): what is left is the question
  EXPECT_EQ(status_of([&] { first.close(); }), TW_ERR_INVALID);
  EXPECT_EQ(status_of([&] { first.write(std::string_view("x")); }), TW_ERR_INVALID);
  EXPECT_EQ(status_of([&] { (void)first.fopen("w"); }), TW_ERR_INVALID);
  EXPECT_EQ(status_of([&] { (void)first.summarize(); }), TW_ERR_INVALID);
  EXPECT_EQ(status_of([&] { (void)first.strategy(); }), TW_ERR_INVALID);
  Group group = Group::self();
  const Group taken(std::move(group));
  EXPECT_EQ(status_of([&] { Multifile(group, path("other.tw"), TW_CREATE | TW_TRUNCATE); }), TW_ERR_INVALID);
  // NOLINTEND(bugprone-use-after-move)
}

TEST_F(CppRaii, AStreamThatIsStillOpenIsFlushedByClose) {
  Multifile out(path(), TW_CREATE | TW_TRUNCATE);
  const thalweg::Stream stream = out.fopen("w");
  ASSERT_GE(std::fputs("in the buffer of stdio", stream.get()), 0);
  out.close();

  EXPECT_EQ(Multifile(path(), TW_READ).size(0), 22);
}

TEST_F(CppRaii, AStreamThatOutlivesItsMultifileFailsInsteadOfCrashing) {
  Multifile out(path(), TW_CREATE | TW_TRUNCATE);
  thalweg::Stream writer = out.fopen("w");
  std::fputs("12 salmon", writer.get());
  out.close();
  std::fputs("too late", writer.get());
  errno = 0;
  EXPECT_EQ(std::fflush(writer.get()), EOF);
  EXPECT_EQ(errno, EBADF);
  writer.reset();

  thalweg::Stream reader;
  {
    Multifile in(path(), TW_READ);
    reader = in.fopen(0, "r");
    EXPECT_EQ(std::fgetc(reader.get()), '1');
  }
  EXPECT_EQ(std::fseek(reader.get(), 0, SEEK_END), -1);
  std::array<char, 20> text{};
  EXPECT_EQ(std::fread(text.data(), 1, text.size(), reader.get()), 8u) << "what stdio had read ahead";
  EXPECT_NE(std::ferror(reader.get()), 0);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(CppRaii, StreamsAreClosedInAnyOrder) {
  Multifile out(path(), TW_CREATE | TW_TRUNCATE, Options().range(5, 0, 5));
  std::vector<thalweg::Stream> streams;
  for (std::int64_t rank = 0; rank < 5; ++rank) {
    streams.push_back(out.fopen(rank, "w"));
    std::fprintf(streams.back().get(), "%d", static_cast<int>(rank));
  }
  streams[1].reset();
  streams[4].reset();
  streams[0].reset();
  streams[1] = out.fopen(1, "a");
  std::fputs("!", streams[1].get());
  out.close();

  const Multifile in(path(), TW_READ);
  for (std::int64_t rank = 0; rank < 5; ++rank) EXPECT_EQ(in.size(rank), rank == 1 ? 2 : 1) << rank;
}

TEST_F(CppRaii, StreamsAreStdio) {
  Multifile out(path(), TW_CREATE | TW_TRUNCATE);
  {
    const thalweg::Stream stream = out.fopen("w");
    std::fprintf(stream.get(), "%d salmon\n", 12);
  }
  out.close();

  Multifile in(path(), TW_READ);
  const thalweg::Stream stream = in.fopen(0, "r");
  int n = 0;
  EXPECT_EQ(std::fscanf(stream.get(), "%d salmon", &n), 1);
  EXPECT_EQ(n, 12);
}

TEST_F(CppRaii, NamesAndAttributes) {
  Multifile out(path(), TW_CREATE | TW_TRUNCATE, Options().range(2, 0, 2));
  out.seek_to(1);
  out.set_name("b/c.txt", 0100640);
  out.set_attribute("colour", "green");
  out.set_attribute("nothing", "");
  out.close();

  const Multifile in(path(), TW_READ);
  EXPECT_EQ(in.name(0), "");
  EXPECT_EQ(in.name(1), "b/c.txt");
  EXPECT_EQ(in.find("b/c.txt"), 1);
  EXPECT_EQ(in.find("c.txt"), std::nullopt);
  EXPECT_EQ(in.attribute("colour"), "green");
  EXPECT_EQ(in.attribute("nothing"), "");
  EXPECT_EQ(in.attribute("none"), std::nullopt);
  EXPECT_NE(in.strategy(), "");
}

TEST_F(CppRaii, AddsLogicalFilesByName) {
  Multifile out(path(), TW_CREATE | TW_TRUNCATE);
  out.add("run/log", 0100640);
  out.write(std::string_view("line"));
  out.add_part("pressure", 3);
  out.close();

  const Multifile in(path(), TW_READ);
  EXPECT_EQ(in.find("run/log"), 1);
  EXPECT_EQ(in.size(1), 4);
  EXPECT_EQ(in.part(1), std::nullopt);
  EXPECT_EQ(in.find_part("pressure", 3), 2);
  EXPECT_EQ(in.find_part("pressure", 0), std::nullopt);
  EXPECT_EQ(in.part(2), 3);
}

TEST_F(CppRaii, ASyncGoesOnWhileTheProgramWrites) {
  Multifile file(path(), TW_CREATE);
  file.write(std::string_view("abc"));
  Request first = file.isync();
  file.write(std::string_view("def"));
  EXPECT_EQ(first.wait(), 0u);
  EXPECT_FALSE(first.is_pending());
  const Request ends_before_the_file = file.isync();
  file.close();
  EXPECT_EQ(Multifile(path(), TW_READ).size(0), 6);
  EXPECT_THROW((void)Multifile(path(), TW_READ).isync(), Error);
}

TEST_F(CppRaii, ThreadsOfATeamWriteTogether) {
  constexpr int kThreads = 5;
  tw_team* team = nullptr;
  ASSERT_EQ(tw_team_create(kThreads, &team), TW_OK);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([this, team, i] {
        const auto group = Group::make(tw_group_team, team, i);
        Multifile file(group, path(), TW_CREATE | TW_TRUNCATE);
        file.write(std::vector<int>(static_cast<std::size_t>(i), i));
        file.close();
      });
    }
  }
  tw_team_free(&team);

  const Multifile in(path(), TW_READ);
  EXPECT_EQ(in.summarize().n_logical, kThreads);
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(in.size(i), i * 4);
}

}  // namespace
