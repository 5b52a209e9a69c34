// The C++ types of a shared file: results equal those of the C calls, and destructors clean up.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/engine/accesses.hpp"
#include "thalweg/thalweg.hpp"

namespace {

using thalweg::File;
template <class Data>
concept Written = requires(File& file, const Data& data) { file.write_all(data); };
template <class Data>
concept WrittenAt = requires(File& file, const Data& data) { file.write_at_all(data, 0); };
template <class Data>
concept WrittenAlone = requires(File& file, const Data& data) { file.write_at(data, 0); };
template <class Data>
concept WrittenInView = requires(File& file, const Data& data) { file.write_view_all(data); };
template <class Data>
concept Started = requires(File& file, const Data& data) { file.iwrite_all(data); };
template <class Data>
concept StartedAt = requires(File& file, const Data& data) { file.iwrite_at_all(data, 0); };
template <class Data>
concept StartedInView = requires(File& file, const Data& data) { file.iwrite_view_all(data); };
template <class Data>
concept StartedAlone = requires(File& file, const Data& data) {
  file.iwrite_at(data, 0);
  file.iwrite_view(data);
  file.write_view(data);
};
template <class Data>
constexpr bool kAll = Written<Data> && WrittenAt<Data> && WrittenAlone<Data> && WrittenInView<Data> && Started<Data> &&
                      StartedAt<Data> && StartedInView<Data> && StartedAlone<Data>;
template <class Data>
constexpr bool kAny = Written<Data> || WrittenAt<Data> || WrittenAlone<Data> || WrittenInView<Data> || Started<Data> ||
                      StartedAt<Data> || StartedInView<Data> || StartedAlone<Data>;
static_assert(kAll<std::string> && kAll<std::string_view> && kAll<std::vector<double>> && kAll<int[2]>);
static_assert(!kAny<char[5]> && !kAny<wchar_t[5]> && !kAny<char8_t[5]> && !kAny<char16_t[5]> && !kAny<char32_t[5]>,
              "the terminating NUL would be written");
static_assert(!kAny<std::vector<const char*>> && !kAny<std::array<std::string_view, 2>> && !kAny<std::nullptr_t[2]>,
              "addresses would be written");
static_assert(
    requires(File& file, char (&text)[5]) { file.read_at_all(text, 0); }, "an array may be read into");
template <class T>
concept AnElement = requires { thalweg::View::of<T>(); };
static_assert(AnElement<double> && AnElement<double[3]> && !AnElement<double*> && !AnElement<std::string>);

class CppFile : public testing::Test {
 protected:
  void SetUp() override {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr ? base : "/tmp") + "/cpp_file_" + std::to_string(::getpid());
    std::iota(values_.begin(), values_.end(), 0.5);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  static constexpr std::int32_t kNew = TW_READ | TW_WRITE | TW_CREATE;
  std::string path_;
  std::vector<double> values_ = std::vector<double>(100);
  thalweg::Group group_ = thalweg::Group::self();
};

TEST_F(CppFile, WritesAndReadsInEveryForm) {
  thalweg::File file(group_, path_, kNew, thalweg::Options().hints("io=buffered"));
  file.write_all(values_);
  file.write_at_all(values_, 800);
  file.iwrite_at_all(values_, 1600).wait();
  tw_extent last = {values_.data(), 800, 2400};
  EXPECT_EQ(file.access_all(thalweg::test::list_of(TW_ACCESS_WRITE, &last, 1)), 800u);

  std::array<double, 401> back{};
  EXPECT_EQ(file.read_at_all(back, 0), 3200);
  for (std::size_t i = 0; i < 400; ++i) ASSERT_EQ(back[i], values_[i % 100]);
  EXPECT_EQ(back[400], 0);
  EXPECT_EQ(file.size(), 3200);
  EXPECT_NE(file.last_plan(), "");
  file.sync();
  file.close();
}

TEST_F(CppFile, StartsEveryForm) {
  thalweg::File file(group_, path_, kNew);
  file.iwrite_all(values_).wait();
  file.iwrite_at_all(values_, 800).wait();
  tw_extent last = {values_.data(), 800, 1600};
  file.iaccess_all(thalweg::test::list_of(TW_ACCESS_WRITE, &last, 1)).wait();
  EXPECT_EQ(file.size(), 2400);
  EXPECT_EQ(file.end(), 2400);

  std::vector<double> back(300);
  last = {back.data() + 100, 1600, 800};
  thalweg::Request list = file.iaccess_all(thalweg::test::list_of(TW_ACCESS_READ, &last, 1));
  thalweg::Request at = file.iread_at_all(std::span(back).first(100), 0);
  EXPECT_EQ(list.wait(), 1600);
  EXPECT_EQ(at.wait(), 800);
  for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(back[i], values_[i % 100]);
  EXPECT_EQ(file.iread_all(back).wait(), 1600) << "behind what was written in order";
  file.close();
}

TEST_F(CppFile, ThrowsWhatTheCallSays) {
  EXPECT_THROW(thalweg::File(group_, path_, TW_READ), thalweg::Error);
  thalweg::File file(group_, path_, TW_WRITE | TW_CREATE);
  try {
    file.read_at_all(values_, 0);
    FAIL() << "a file for writing was read";
  } catch (const thalweg::Error& error) {
    EXPECT_EQ(error.status(), TW_ERR_MODE);
    EXPECT_NE(std::string(error.what()).find(path_), std::string::npos) << error.what();
  }
}

// Every third number of the file, then a row of a matrix after its view was destroyed.
TEST_F(CppFile, SeesTheFileThroughViews) {
  thalweg::File file(group_, path_, kNew);
  file.write_at_all(std::vector<double>(301, -1), 0);
  const auto number = thalweg::View::of<double>();
  file.set_view(8, number.resized(24));
  file.write_view_all(std::span(values_).first(50));
  file.iwrite_view_all(std::span(values_).subspan(50)).wait();

  EXPECT_EQ(file.seek_view(-8, SEEK_END), 99 * 8);
  std::array<double, 2> back{};
  EXPECT_EQ(file.iread_view_all(back).wait(), 8) << "the file ends";
  EXPECT_EQ(back[0], values_[99]);
  const std::array<tw_slice, 2> slices = {{{10, 4, 1}, {10, 0, 10}}};
  file.set_view(0, thalweg::View::subarray(slices, number));
  std::array<double, 10> row{};
  EXPECT_EQ(file.read_view_all(row), 80);
  for (std::size_t i = 0; i < row.size(); ++i) EXPECT_EQ(row[i], i % 3 == 0 ? values_[13 + i / 3] : -1) << i;
  file.reset_view();
  EXPECT_EQ(file.read_at_all(back, 0), 16);
  EXPECT_EQ(back[1], values_[0]);
}

TEST_F(CppFile, ViewsSayWhatIsWrong) {
  const auto byte = thalweg::View::contiguous(1);
  const std::array<std::int64_t, 2> two = {0, 9};
  const std::array<std::int64_t, 1> one = {3};
  EXPECT_THROW((void)thalweg::View::contiguous(-1, byte), thalweg::Error);
  EXPECT_THROW((void)thalweg::View::indexed(two, one, byte), std::invalid_argument);
  EXPECT_EQ(thalweg::View::indexed(two, two, byte).extent(), 18);
  const std::array<const tw_view*, 2> elements = {byte.get(), nullptr};
  EXPECT_EQ(thalweg::View::structure(two, two, elements).extent(), 18);
  EXPECT_THROW((void)thalweg::View::structure(two, one, elements), std::invalid_argument);
  EXPECT_THROW((void)thalweg::View::structure(one, one, elements), std::invalid_argument);
  EXPECT_EQ(thalweg::View::strided(3, 1, 4, byte).size(), 3);
  const std::array<tw_distributed_dim, 1> dealt = {{{10, 3, 0, TW_BLOCK}}};
  EXPECT_EQ(thalweg::View::distributed(dealt, 2, byte).size(), 2);
}

TEST_F(CppFile, AfterCloseCallsFailInsteadOfCrashing) {
  const auto status_of = [](const auto& act) {
    try {
      act();
    } catch (const thalweg::Error& error) {
      return error.status();
    }
    return tw_status{TW_OK};
  };
  File file(group_, path_, kNew);
  thalweg::Request request = file.iwrite_all(values_);
  file.close();
  EXPECT_EQ(request.wait(), 800);
  File moved(std::move(file));
  for (File* gone : {&file, &moved}) {  // NOLINT(bugprone-use-after-move): what is left is the question
    EXPECT_EQ(status_of([&] { gone->close(); }), TW_ERR_INVALID) << "nothing to close";
    EXPECT_EQ(status_of([&] { gone->write_all(values_); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { (void)gone->iwrite_all(values_); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { gone->write_at(values_, 0); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { (void)gone->size(); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { gone->sync(); }), TW_ERR_INVALID);
    EXPECT_EQ(status_of([&] { gone->reset_view(); }), TW_ERR_INVALID);
    EXPECT_EQ(gone->last_plan(), "");
  }
}

TEST_F(CppFile, WritesAndReadsPartsOfArrays) {
  thalweg::File file(group_, path_, kNew);
  const std::array<tw_dim, 2> rows = {{{12, 2, 8, 1, 1}, {10, 0, 10, 0, 0}}};
  file.write_array(values_, rows);  // rows 1 .. 8 of 10 rows in memory
  std::array<double, 20> back{};
  const std::array<tw_dim, 2> two = {{{12, 4, 2, 0, 0}, {10, 0, 10, 0, 0}}};
  EXPECT_EQ(file.read_array(back, two), 160u);
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i], values_[30 + i]) << i;
  file.iwrite_array(std::span(values_).first(20), two, TW_ROW_MAJOR, 8).wait();
  EXPECT_EQ(file.iread_array(back, two, TW_ROW_MAJOR, 8).wait(), 160u);
  EXPECT_EQ(back[19], values_[19]);
  for (const auto& act : {std::function<void()>([&] { file.write_array(back, rows); }),
                          std::function<void()>([&] { file.read_array(std::span(back).first(19), two); }),
                          std::function<void()>([&] { file.iread_array(std::span(back).first(19), two).wait(); })}) {
    try {
      act();
      FAIL() << "the memory is too short";
    } catch (const thalweg::Error& error) {
      EXPECT_EQ(error.status(), TW_ERR_INVALID);
      EXPECT_NE(std::string(error.what()).find("fewer than the part and its halo"), std::string::npos) << error.what();
    }
  }
  file.close();
}

TEST_F(CppFile, MovesItsPositionsAndItsEnd) {
  thalweg::File file(group_, path_, kNew);
  file.preallocate(500, 300);
  EXPECT_EQ(file.size(), 800);
  file.truncate(80);
  EXPECT_EQ(file.seek(-8, SEEK_END), 72);
  file.write_all(std::span(values_).first(1));
  EXPECT_EQ(file.size(), 80);
  file.set_view(16, thalweg::View::contiguous(8).resized(24));
  EXPECT_EQ(file.view_offset(9), 41);
  file.write_view(std::span(values_).first(2));
  file.iwrite_view(std::span(values_).first(1)).wait();
  std::array<double, 3> back{};
  EXPECT_EQ(file.seek_view(0, SEEK_SET), 0);
  EXPECT_EQ(file.read_view(std::span(back).first(2)), 16u);
  EXPECT_EQ(file.iread_view(std::span(back).last(1)).wait(), 8u);
  EXPECT_EQ(back, (std::array<double, 3>{values_[0], values_[1], values_[0]}));
}

TEST_F(CppFile, WaitsForListsOfRequests) {
  using thalweg::Request;
  thalweg::File file(group_, path_, kNew);
  const auto start = [&](std::size_t n) {
    std::vector<Request> all;
    for (std::size_t i = 0; i < n; ++i)
      all.push_back(file.iwrite_at(std::span(values_).first(i + 1), static_cast<std::int64_t>(1000 * i)));
    return all;
  };
  std::vector<Request> all = start(3);
  EXPECT_EQ(Request::waitall(all), (std::vector<std::size_t>{8, 16, 24}));
  EXPECT_FALSE(all[0].is_pending());
  EXPECT_EQ(Request::waitall(all), std::vector<std::size_t>(3));
  EXPECT_FALSE(Request::waitany(all).has_value());
  EXPECT_FALSE(Request::testany({}).has_value());
  EXPECT_TRUE(Request::waitsome(all).empty());
  EXPECT_TRUE(Request::testsome(all).empty());
  EXPECT_TRUE(Request::testall(all).has_value());
  all = start(3);
  while (const std::optional<thalweg::Completed> one = Request::waitany(all))
    EXPECT_EQ(one->moved, 8 * (one->index + 1));
  all = start(3);
  for (std::size_t found = 0; found < 3;) {
    for (const thalweg::Completed& one : Request::waitsome(all)) {
      EXPECT_EQ(one.moved, 8 * (one.index + 1));
      EXPECT_EQ(one.status, TW_OK);
      ++found;
    }
  }
  all = start(2);
  while (!Request::testall(all).has_value()) {
  }
  all = start(1);
  all.push_back(file.iread_at(std::span(values_).first(1), -1));
  EXPECT_THROW(Request::waitall(all), thalweg::Error);
  EXPECT_FALSE(all[0].is_pending() || all[1].is_pending());
  all[1] = file.iread_at(std::span(values_).first(1), -1);
  const std::optional<thalweg::Completed> failed = Request::waitany(all);
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->index, 1u);
  EXPECT_EQ(failed->status, TW_ERR_INVALID);
}

TEST_F(CppFile, ARequestThatIsForgottenIsWaitedFor) {
  thalweg::File file(group_, path_, kNew);
  {
    const std::vector<char> large(10'000'000, 'x');
    thalweg::Request request = file.iwrite_at_all(large, 0);
  }
  EXPECT_EQ(file.size(), 10'000'000);
}

}  // namespace
