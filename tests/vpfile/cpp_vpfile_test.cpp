// The C++ type of a vpfile: results equal those of the C calls, with ranges, and the destructor closes.
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "support/files/vp_files.hpp"
#include "thalweg/thalweg.hpp"

namespace {

using thalweg::test::SharedFiles;
namespace vp = thalweg::vp;

template <class Data>
concept Written = requires(vp::File& file, const Data& data) { file.write_all(data, 1); };
template <class Data>
concept WrittenSome = requires(vp::File& file, const Data& data, std::size_t n, std::array<bool, 3> mask) {
  file.write_all(data, n, mask);
};
template <class Data>
concept WrittenRagged = requires(vp::File& file, const Data& data, std::vector<int> n) { file.write_all(data, n); };
template <class Data>
concept Streamed = requires(vp::Stream& stream, const Data& data) { stream.write(data); };
template <class T>
concept StreamedAsValue = requires(vp::Stream& stream, const T& value) { stream.write_value(value); };
template <class T>
concept StridedOf = requires(T* first) { vp::Strided(first, {1}, {1}); };
template <class Data>
constexpr bool kAll = Written<Data> && WrittenSome<Data> && WrittenRagged<Data> && Streamed<Data>;
template <class Data>
constexpr bool kAny = Written<Data> || WrittenSome<Data> || WrittenRagged<Data> || Streamed<Data>;
static_assert(kAll<std::string> && kAll<std::string_view> && kAll<std::vector<double>> && kAll<int[2]>);
static_assert(!kAny<char[5]> && !kAny<wchar_t[5]> && !kAny<char8_t[5]> && !kAny<char16_t[5]> && !kAny<char32_t[5]>,
              "the terminating NUL would be written");
static_assert(!kAny<std::vector<const char*>> && !kAny<std::array<std::string_view, 2>> && !kAny<std::nullptr_t[2]>,
              "addresses would be written");
static_assert(StreamedAsValue<double> && StreamedAsValue<std::array<int, 3>> && !StreamedAsValue<char[5]> &&
              !StreamedAsValue<const char*> && !StreamedAsValue<std::string_view>);
static_assert(StridedOf<double> && StridedOf<const double> && !StridedOf<const char*> && !StridedOf<std::span<int>>);
template <class T>
concept StreamedBack = requires(vp::Stream& stream) { stream.read_value<T>(); };
static_assert(StreamedBack<double> && !StreamedBack<char*>);

class CppVpfile : public SharedFiles {
 protected:
  void on_cpp_team(int tasks, const std::function<void(const thalweg::v1::Group&, int)>& body) const {
    tw_team* team = nullptr;
    ASSERT_EQ(tw_team_create(tasks, &team), TW_OK);
    thalweg::test::on_threads(tasks, [&](std::int64_t task) {
      const auto group = thalweg::v1::Group::make(tw_group_team, team, task);
      body(group, static_cast<int>(task));
    });
    tw_team_free(&team);
  }
};

TEST_F(CppVpfile, WritesAndReadsUniformRaggedMaskedAndStrided) {
  on_cpp_team(2, [&](const thalweg::v1::Group& group, int task) {
    vp::File file(group, path(), "w+", {2, 3});
    ASSERT_EQ(file.local_size(), 3u);
    EXPECT_EQ(file.size(), 6);
    EXPECT_EQ(file.shape()[1], 3);
    EXPECT_EQ(file.box_start()[0], task);
    EXPECT_EQ(file.box_count()[0], 1);
    EXPECT_EQ(file.number(1), 3 * task + 1);
    EXPECT_EQ(file.local(3 * task + 1), 1);
    EXPECT_EQ(file.local(3 - 3 * task), std::nullopt);

    const std::vector<double> pairs{1, 2, 3, 4, 5, 6};
    file.write_all(pairs, 2);
    EXPECT_EQ(file.last_mode(), vp::Mode::nb);
    const std::array<int, 3> lengths{2, 0, 1};
    std::vector<std::int64_t> counts(3);
    file.write_all(std::array{7.0, 8.0, 9.0}, lengths, vp::all, counts);
    EXPECT_EQ(counts, (std::vector<std::int64_t>{2, 0, 1}));
    file.write_all(std::array{10.0, 11.0}, 1, std::vector<bool>{true, false, true});
    EXPECT_EQ(file.last_cause(), "some take no part");
    file.write_all(std::array{12.0}, 1, [](std::int64_t local) { return local == 1; });
    std::array<double, 8> field{-1, 13, -1, 14, -1, 15, -1, -1};
    file.write_all(vp::Strided(&field[1], {1, 3}, {0, 2}));
    EXPECT_EQ(file.mode(), vp::Mode::ib);
    ASSERT_EQ(file.transitions().size(), 1u);
    EXPECT_EQ(file.transitions()[0].access, 1);

    file.rewind_all();
    std::vector<double> back(6);
    EXPECT_EQ(file.read_all(back, 2), (std::vector<std::int64_t>{2, 2, 2}));
    EXPECT_EQ(back, pairs);
    std::vector<double> ragged(3);
    EXPECT_EQ(file.read_all(ragged, lengths), (std::vector<std::int64_t>{2, 0, 1}));
    EXPECT_EQ(ragged, (std::vector<double>{7, 8, 9}));
    std::vector<double> masked(2);
    const std::vector<std::uint8_t> bytes{1, 0, 1};
    EXPECT_EQ(file.read_all(masked, 1, std::span<const std::uint8_t>(bytes)), (std::vector<std::int64_t>{1, 0, 1}));
    EXPECT_EQ(masked, (std::vector<double>{10, 11}));
    std::array<double, 6> items{};
    EXPECT_EQ(file.read_all(vp::Strided(items.data(), {1, 3, 2}, {6, 2, 1})), (std::vector<std::int64_t>{1, 2, 1}));
    EXPECT_EQ(items, (std::array<double, 6>{13, 0, 12, 14, 15, 0}));
    EXPECT_EQ(file.eof_all(), (std::vector<std::uint8_t>{1, 0, 1}));
    file.clear_all();
    EXPECT_EQ(file.eof_all(), (std::vector<std::uint8_t>{0, 0, 0}));
    EXPECT_EQ(file.error_all(), (std::vector<std::uint8_t>{0, 0, 0}));
    file.seek_all(8);
    file.seek_all(std::array<std::int64_t, 3>{8, 16, 0}, SEEK_CUR, [](std::int64_t local) { return local < 2; });
    EXPECT_EQ(file.tell_all(), (std::vector<std::int64_t>{16, 24, 8}));
    file.read_all(masked, 1, std::array{1, 0, 0}, counts);
    EXPECT_EQ(counts, (std::vector<std::int64_t>{1, 0, 0}));
    file.flush_all();
    file.sync_all();
    file.close();
    EXPECT_EQ(file.get(), nullptr);
  });
}

TEST_F(CppVpfile, CharactersAndTextOfAll) {
  on_cpp_team(2, [&](const thalweg::v1::Group& group, int task) {
    vp::File file(group, path(), "w+", {4}, thalweg::v1::Options().hints("block_bytes=32"));
    file.puts_all("all\n");
    const std::vector<std::string> own{"one\n", task == 0 ? "two\n" : "three\n"};
    file.puts_all(own);
    file.putc_all('+', [](std::int64_t local) { return local == 0; });
    const std::vector<int> numbers{3, 4};
    const double same = 2.5;
    file.printf_all("%d %g\n", {vp::each(numbers), vp::same(same)});

    file.rewind_all();
    EXPECT_EQ(file.getc_all(), (std::vector<int>{'a', 'a'}));
    file.ungetc_all('A');
    EXPECT_EQ(file.gets_all(20), (std::vector<std::string>{"All\n", "All\n"}));
    EXPECT_EQ(file.gets_all(20, std::array{false, true}), (std::vector<std::string>{"", own[1]}));
    EXPECT_EQ(file.gets_all(2, std::array{true, false}), (std::vector<std::string>{"on", ""}));
    file.seek_all(-7, SEEK_END);
    std::vector<int> back(2);
    std::vector<double> real(2);
    EXPECT_EQ(file.scanf_all("+%d %lf", {vp::each(back), vp::each(real)}, std::array{1, 0}),
              (std::vector<std::int64_t>{2, 0}));
    EXPECT_EQ(back[0], 3);
    EXPECT_EQ(real[0], 2.5);
    file.close();
  });
}

TEST_F(CppVpfile, StreamsOfOneVpEach) {
  {
    vp::File file(path(), "w+", {3});
    file.for_each([](vp::Stream stream) {
      stream.printf("%d of %s\n", static_cast<int>(stream.vp()), "three");
      stream.puts("no newline");
    });
    std::vector<std::int64_t> some{2, 0};
    file.for_each(some, [](vp::Stream stream) { stream.write(std::array{1.5, 2.5}); });
    vp::Stream second = file.stream(1);
    second.write_value(std::uint32_t{7});
    EXPECT_EQ(second.size(), 11 + 10 + 4);
    second.putc('!');
    second.flush();
  }  // closes

  vp::File moved = [&] { return vp::File(path(), "r"); }();
  for (const std::int64_t i : {0, 1, 2}) {
    vp::Stream stream = moved.stream(i);
    int number = -1;
    EXPECT_EQ(stream.scanf("%d of", &number), 1);
    EXPECT_EQ(number, i);
    EXPECT_EQ(stream.getline(), " three");
    EXPECT_EQ(stream.tell(), 11);
    std::string text(10, '.');
    EXPECT_EQ(stream.read(text), 10u);
    EXPECT_EQ(text, "no newline");
  }
  std::vector<double> values(5);
  EXPECT_EQ(moved.stream(0).read(values), 2u);
  EXPECT_EQ(values[1], 2.5);
  EXPECT_TRUE(moved.stream(0).eof());
  moved.stream(0).clear();
  EXPECT_FALSE(moved.stream(0).eof());
  EXPECT_FALSE(moved.stream(0).error());
  EXPECT_EQ(moved.stream(1).read_value<std::uint32_t>(), 7u);
  EXPECT_EQ(moved.stream(1).read_value<std::uint32_t>(), std::nullopt);
  moved.stream(1).seek(-1, SEEK_END);
  EXPECT_EQ(moved.stream(1).getc(), '!');
  EXPECT_EQ(moved.stream(1).getc(), -1);
  EXPECT_EQ(moved.stream(1).getline(), std::nullopt);
  moved.stream(1).rewind();
  EXPECT_EQ(std::getc(moved.stream(1).fopen("r").get()), '1');
  EXPECT_EQ(moved.stream(1).tell(), 1);
  moved.stream(1).rewind();
  EXPECT_EQ(moved.stream(1).getline(), "1 of three");
}

TEST_F(CppVpfile, LongLinesAreWhole) {
  const std::string text(1000, 'l');
  vp::File file(path(), "w+", {1});
  vp::Stream stream = file.stream(0);
  stream.puts(text + "\n\n" + text);
  stream.rewind();
  EXPECT_EQ(stream.getline(), text);
  EXPECT_EQ(stream.getline(), "");
  EXPECT_EQ(stream.getline(), text);
  EXPECT_EQ(stream.getline(), std::nullopt);
}

TEST_F(CppVpfile, AfterCloseCallsFailInsteadOfCrashing) {
  const auto status_of = [](const auto& act) {
    try {
      act();
    } catch (const thalweg::v1::Error& error) {
      return error.status();
    }
    return tw_status{TW_OK};
  };
  auto group = thalweg::v1::Group::self();
  const auto taken = std::move(group);
  EXPECT_EQ(status_of([&] { vp::File(group, path(), "w+", {3}); }), TW_ERR_INVALID);
  vp::File file(path(), "w+", {3});
  file.puts_all("x");
  file.close();
  vp::File moved(std::move(file));
  const std::vector<double> values(3);
  std::vector<double> back(3);
  for (vp::File* gone : {&file, &moved}) {  // NOLINT(bugprone-use-after-move): what is left is the question
    EXPECT_EQ(status_of([&] { gone->close(); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { gone->write_all(values, 1); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { gone->read_all(back, 1); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { gone->puts_all("x"); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { gone->flush_all(); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { (void)gone->shape(); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { (void)gone->mode(); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { (void)gone->last_cause(); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { (void)gone->transitions(); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { gone->for_each([](vp::Stream) {}); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { gone->stream(0).putc('x'); }), TW_ERR_INVALID);
    EXPECT_EQ(gone->get(), nullptr);
  }
}

TEST_F(CppVpfile, FailuresAreErrorsOnAllTasks) {
  on_cpp_team(3, [&](const thalweg::v1::Group& group, int task) {
    const auto status_of = [](const auto& act) {
      try {
        act();
      } catch (const thalweg::v1::Error& error) {
        return error.status();
      }
      return tw_status{TW_OK};
    };
    EXPECT_EQ(status_of([&] { vp::File(group, path(), "r", {3}); }), TW_ERR_NOT_FOUND);
    thalweg::v1::Options bad;
    const std::vector<std::int64_t> box{1, 2, 3};
    if (task == 1) bad.box(box, box);
    EXPECT_EQ(status_of([&] { vp::File(group, path(), "w", {3}, bad); }), TW_ERR_INVALID);
    vp::File file(group, path(), "w+", {3});
    const bool one = task == 1;
    const std::vector<int> data(one ? 1 : 2);
    std::vector<int> into(one ? 1 : 2);
    std::vector<std::int64_t> counts(one ? 2 : 1);
    const std::vector<std::int64_t> mask(one ? 2 : 1, 1);
    const std::vector<std::string> texts(one ? 2 : 1, "x");
    EXPECT_EQ(status_of([&] { file.write_all(data, 2); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.write_all(data, 1, vp::all, counts); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.write_all(data, 1, mask); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.write_all(data, counts); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.write_all(data, std::vector{2}); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.write_all(vp::Strided(data.data(), {one ? 2 : 1}, {1})); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.read_all(into, 2); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.getc_all(mask); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.putc_all('x', mask); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.puts_all("x", mask); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.puts_all(texts); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.gets_all(5, mask); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.printf_all("x", {}, mask); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.scanf_all("x", {}, mask); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.seek_all(0, SEEK_SET, mask); }), one ? TW_ERR_INVALID : TW_OK);
    EXPECT_EQ(status_of([&] { file.stream(task).seek(-1); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { file.stream((task + 1) % 3).tell(); }), TW_ERR_INVALID);
    file.puts_all("sound");
    file.close();
  });
  EXPECT_EQ(content(), "soundsoundsound");
}

}  // namespace
