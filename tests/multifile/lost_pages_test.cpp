// A closed multifile with a lost or outdated page, or with a short read: reading returns the written bytes or an error
// that names the file, never fewer bytes.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "group/groups.hpp"
#include "multifile/multifile.hpp"
#include "support/files/on_disk.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::int64_t kRanks = 6;

class LostPages : public OnDisk, public testing::WithParamInterface<const char*> {
 protected:
  using Files = std::map<std::string, std::string>;  // by path

  bool checked() const { return std::string(GetParam()) != "none"; }
  static std::string text(std::int64_t rank, int session) {
    std::string bytes(static_cast<std::size_t>(rank % 2 == 0 ? 9000 + 100 * rank : 50 + rank), ' ');
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>(
          'a' + (i * 7 + static_cast<std::size_t>(rank) * 3 + static_cast<std::size_t>(session)) % 26);
    return bytes;
  }
  static std::string name(std::int64_t rank) { return "logical file " + std::to_string(rank); }

  void session(int number) {
    tw_multifile* file = open(number == 0 ? TW_CREATE | TW_TRUNCATE : TW_APPEND);
    ASSERT_NE(file, nullptr);
    for (std::int64_t rank = 0; rank < kRanks; ++rank) {
      const std::string bytes = text(rank, number);
      EXPECT_EQ(tw_multifile_seek_to(file, rank, -1), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_multifile_write(file, bytes.data(), bytes.size()), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_multifile_set_name(file, name(rank).c_str(), 0), TW_OK) << tw_last_error();
    }
    const std::string value = "value " + std::to_string(number);
    EXPECT_EQ(tw_multifile_set_attribute(file, "key", value.data(), value.size()), TW_OK);
    close(file);
  }
  void SetUp() override {
    OnDisk::SetUp();
    hint("physical_files", "2");
    hint("checksum", GetParam());
    ASSERT_EQ(tw_options_set_range(config_, kRanks, 0, kRanks), TW_OK);
  }

  Files files() const {
    Files all;
    for (const std::string& path : {path_, path_ + ".000001"}) {
      std::ifstream in(path, std::ios::binary);
      all[path] = {std::istreambuf_iterator<char>(in), {}};
    }
    return all;
  }
  static void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

  void expect_named(tw_status status) const {
    EXPECT_TRUE(status == TW_ERR_CORRUPT || status == TW_ERR_NOT_CLOSED) << status;
    EXPECT_NE(std::string(tw_last_error()).find(path_), std::string::npos) << tw_last_error();
  }
  // Number of refused files; all others must have the data of `sessions` sessions.
  std::size_t refused(int sessions) {
    tw_multifile* file = nullptr;
    if (const tw_status status = tw_multifile_open(nullptr, path_.c_str(), TW_READ, nullptr, &file); status != TW_OK) {
      expect_named(status);
      return 100;
    }
    std::size_t count = 0;
    const auto right = [&](tw_status status, const std::string& found, const std::string& expected, const char* what) {
      if (status == TW_OK)
        EXPECT_EQ(found, expected) << what;
      else
        expect_named(status);
      count += status == TW_OK ? 0 : 1;
    };
    for (std::int64_t rank = 0; rank < kRanks; ++rank) {
      std::string expected;
      for (int number = 0; number < sessions; ++number) expected += text(rank, number);
      std::int64_t size = 0;
      tw_status status = tw_multifile_size(file, rank, &size);
      right(status, std::to_string(size), std::to_string(expected.size()), "size");
      std::string back(expected.size() + 1, '.');
      std::size_t got = 0;
      status = tw_multifile_seek_to(file, rank, 0);
      if (status == TW_OK) status = tw_multifile_read(file, back.data(), back.size(), &got);
      back.resize(got);
      if (!checked()) std::ranges::fill(back, '.');  // without checksums lost data is not detected, a wrong length is
      if (!checked()) std::ranges::fill(expected, '.');
      right(status, back, expected, "bytes");
      std::string called(64, '\0');
      std::size_t length = 0;
      status = tw_multifile_name(file, rank, called.data(), called.size(), &length, nullptr);
      called.resize(length);
      right(status, called, name(rank), "name");
    }
    const void* value = nullptr;
    std::size_t bytes = 0;
    const tw_status status = tw_multifile_attribute(file, "key", &value, &bytes);
    right(status, status == TW_OK ? std::string(static_cast<const char*>(value), bytes) : "",
          "value " + std::to_string(sessions - 1), "attribute");
    close(file);
    return count;
  }
};

TEST_P(LostPages, OfZerosAreRefused) {
  for (int number = 0; number < 3; ++number) session(number);
  ASSERT_EQ(refused(3), 0u);
  std::size_t missed = 0;
  for (const auto& [path, whole] : files()) {
    for (std::size_t at = 0; at < whole.size() && !HasFailure(); at += kPage) {
      SCOPED_TRACE(path + ", page at " + std::to_string(at));
      std::string damaged = whole;
      const std::size_t n = std::min(kPage, whole.size() - at);
      damaged.replace(at, n, std::string(n, '\0'));
      put(path, damaged);
      if (refused(3) > 0) ++missed;
    }
    put(path, whole);
  }
  EXPECT_GT(missed, 10u);
}

// Except the first page, which holds both state slots: with an old one the whole file is the old one.
TEST_P(LostPages, ThatFellBackToTheSessionBeforeAreRefused) {
  for (int number = 0; number < 2; ++number) session(number);
  const Files before = files();
  session(2);
  std::size_t missed = 0;
  for (const auto& [path, whole] : files()) {
    const std::string& old = before.at(path);
    for (std::size_t at = kPage; at < whole.size() && !HasFailure(); at += kPage) {
      SCOPED_TRACE(path + ", page at " + std::to_string(at));
      const std::size_t n = std::min(kPage, whole.size() - at);
      std::string page = at < old.size() ? old.substr(at, n) : "";
      page.resize(n);
      std::string damaged = whole;
      damaged.replace(at, n, page);
      if (damaged == whole) continue;
      put(path, damaged);
      if (refused(3) > 0) ++missed;
    }
    put(path, whole);
  }
  EXPECT_GT(missed, 4u);
}

TEST_P(LostPages, AtTheEndAreRefused) {
  for (int number = 0; number < 3; ++number) session(number);
  for (const auto& [path, whole] : files()) {
    for (std::size_t size = 0; size < whole.size() && !HasFailure(); size += kPage / 2) {
      SCOPED_TRACE(path + " of " + std::to_string(size));
      put(path, whole.substr(0, size));
      EXPECT_GT(refused(3), 0u);
    }
    put(path, whole);
  }
  EXPECT_EQ(refused(3), 0u);
}

// For any of its reads.
TEST_P(LostPages, AReadThatEndsEarlyOnceIsAnError) {
  for (int number = 0; number < 2; ++number) session(number);
  const auto group = make_self_group();
  bool reached = true;
  for (std::uint64_t at = 1; reached && !HasFailure(); ++at) {
    SCOPED_TRACE("read " + std::to_string(at));
    FaultScript script;
    script.rules = {{.kind = CallKind::read, .at = at, .short_read = true}};
    const auto faulty = make_fault_backend(posix_backend(), script);
    OpenRequest request;
    request.backend = faulty;
    request.path = path_;
    auto file = run(open_multifile(*group, std::move(request)));
    for (std::uint64_t rank = 0; file.has_value() && rank < kRanks; ++rank) {
      ReadHandle& reading = *file.value()->reading;
      const std::string expected = text(static_cast<std::int64_t>(rank), 0) + text(static_cast<std::int64_t>(rank), 1);
      std::string back(expected.size() + 1, '.');
      std::size_t got = 0;
      const auto reader = reading.reader(rank);
      if (reader.has_value() && reader.value()->read(0, std::as_writable_bytes(std::span(back)), got).ok()) {
        EXPECT_EQ(back.substr(0, got), expected) << rank;
      }
      std::uint32_t mode = 0;
      const auto called = reading.name(rank, mode);
      EXPECT_TRUE(!called.has_value() || called.value() == name(static_cast<std::int64_t>(rank)));
      const auto attributes = reading.attributes();
      EXPECT_TRUE(!attributes.has_value() || attributes.value()->at("key") == "value 1");
    }
    if (file.has_value()) {
      EXPECT_TRUE(run(close_multifile(*group, std::move(file).value())).ok());
    }
    reached = faulty->calls(CallKind::read) >= at;
  }
}

INSTANTIATE_TEST_SUITE_P(Checksums, LostPages, testing::Values("crc32c", "none"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace thalweg::test
