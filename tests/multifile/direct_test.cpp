// Multifiles that are written past the page cache, and tw_multifile_iflush().
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>
#include <string>
#include <vector>

#include "group/groups.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "support/files/held_syncs.hpp"
#include "support/files/on_disk.hpp"
#include "support/groups/run_on.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

class DirectMultifile : public OnDisk {
 protected:
  static void write(tw_multifile* file, const std::string& text) {
    ASSERT_EQ(tw_multifile_write(file, text.data(), text.size()), TW_OK) << tw_last_error();
  }
  tw_multifile* create_direct(const char* transfer_bytes = "64KiB") {
    hint("io", "direct");
    hint("transfer_bytes", transfer_bytes);
    return open(TW_CREATE | TW_TRUNCATE);
  }
  // False where the file system has no direct I/O. Then writes are buffered, and must give the same file.
  static bool is_direct(tw_multifile* file) {
    const std::string text = strategy(file);
    const bool direct = text.find("; direct writes of ") != std::string::npos;
    EXPECT_TRUE(direct || text.find(" has no direct I/O)") != std::string::npos) << text;
    return direct;
  }
  static std::string strategy(tw_multifile* file) {
    tw_multifile_summary summary{};
    summary.struct_size = sizeof summary;
    EXPECT_EQ(tw_multifile_summarize(file, &summary), TW_OK) << tw_last_error();
    return summary.strategy;
  }
};

TEST_F(DirectMultifile, TheStrategySaysSo) {
  hint("queue_depth", "8");
  tw_multifile* file = create_direct("1MiB");
  const std::string text = strategy(file);
  const bool names_both = text.find("direct writes of 1 MiB, 8 in flight (as asked for)") != std::string::npos;
  EXPECT_EQ(names_both, is_direct(file)) << text;
  close(file);
}

TEST_F(DirectMultifile, GivesBackWhatWasWritten) {
  std::mt19937 random(5);
  std::string all;
  tw_multifile* file = create_direct();
  for (int i = 0; i < 60; ++i) {
    const std::size_t bytes = random() % 3 == 0 ? random() % 3'000'000 : random() % 30'000;
    std::string part(bytes, '\0');
    for (char& c : part) c = static_cast<char>(random());
    write(file, part);
    all += part;
    EXPECT_EQ(random() % 4 == 0 ? tw_multifile_flush(file) : TW_OK, TW_OK) << tw_last_error();
    EXPECT_EQ(random() % 8 == 0 ? tw_multifile_sync(file) : TW_OK, TW_OK) << tw_last_error();
    if (random() % 5 == 0 && !all.empty()) {
      const std::size_t at = random() % all.size();
      const std::size_t n = std::min<std::size_t>(random() % 200'000, all.size() - at);
      ASSERT_EQ(tw_multifile_write_at(file, std::string(n, 'o').data(), n, static_cast<std::int64_t>(at)), TW_OK);
      all.replace(at, n, n, 'o');
    }
  }
  close(file);
  file = open(TW_READ);
  EXPECT_TRUE(read_all(file) == all);
  close(file);
  EXPECT_EQ(tw_multifile_verify(path_.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
}

TEST_F(DirectMultifile, NoReservedBlocksAreLeft) {
  const std::string part(1 << 20, 'a');
  tw_multifile* file = create_direct();
  for (int i = 0; i < 9; ++i) write(file, part);
  close(file);
  struct stat found {};
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_LT(found.st_blocks * 512, 10 << 20);
}

TEST_F(DirectMultifile, AnIflushIsCompleteInTheBackground) {
  const std::string part(300'000, 'a');
  tw_multifile* file = create_direct();
  std::vector<tw_request*> requests;
  {
    const HeldSyncs held;
    for (int i = 0; i < 5; ++i) {
      write(file, part);
      tw_request* request = nullptr;
      ASSERT_EQ(tw_multifile_iflush(file, &request), TW_OK) << tw_last_error();
      int done = 0;
      EXPECT_EQ(tw_request_test(&request, &done, nullptr), TW_OK);
      EXPECT_EQ(done, 0);
      requests.push_back(request);
    }
    EXPECT_EQ(tw_multifile_flush(file), TW_OK) << tw_last_error();  // does not wait for what holds the others
  }
  EXPECT_EQ(tw_request_waitall(std::ssize(requests), requests.data(), nullptr, nullptr), TW_OK);
  write(file, part);
  close(file);
  file = open(TW_READ);
  EXPECT_EQ(read_all(file).size(), 6 * part.size());
  close(file);
}

TEST_F(DirectMultifile, AnIflushThatNobodyWaitedForIsPartOfTheClose) {
  tw_multifile* file = create_direct();
  write(file, std::string(300'000, 'a'));
  tw_request* request = nullptr;
  ASSERT_EQ(tw_multifile_iflush(file, &request), TW_OK) << tw_last_error();
  close(file);
  EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK);
  file = open(TW_READ);
  EXPECT_EQ(read_all(file).size(), 300'000U);
  close(file);
}

class DirectPacks : public testing::Test {
 protected:
  static constexpr std::int64_t kProcesses = 2;
  static std::string name_of(std::int64_t task, std::int64_t i) { return fmt::format("{}/{}", task, i); }
  static std::string text_of(std::int64_t task, std::int64_t i) { return fmt::format("{:3000}", task * 1000 + i); }
  OpenRequest request(MultifileMode access) const {
    OpenRequest request;
    request.backend = backend_;
    request.path = "packs.tw";
    request.access = access;
    request.options.physical_files = 1;
    request.options.storage_hints = "io=direct";
    return request;
  }
  Op<Status> write(Group& group, std::int64_t n) {
    TW_CO_ASSIGN_OR_RETURN(auto file, co_await open_multifile(group, request(MultifileMode::create)));
    for (std::int64_t i = 0; i < n; ++i) {
      const std::string text = text_of(group.rank(), i);
      EXPECT_TRUE(file->writing->add(name_of(group.rank(), i), 0100644).ok());
      EXPECT_TRUE(file->writing->write(*file->writing->current(), std::as_bytes(std::span(text))).ok());
    }
    co_return co_await close_multifile(group, std::move(file));
  }
  void expect_all(std::int64_t n) {
    const auto alone = make_self_group();
    auto file = run(open_multifile(*alone, request(MultifileMode::read))).value();
    for (std::int64_t task = 0; task < kProcesses; ++task) {
      for (std::int64_t i = 0; i < n; ++i) {
        std::string got(3001, '.');
        std::size_t read = 0;
        ASSERT_TRUE(file->reading->seek_to(file->reading->find(name_of(task, i)).value(), 0).ok());
        const Status status = file->reading->current()->read(0, std::as_writable_bytes(std::span(got)), read);
        ASSERT_TRUE(status.ok()) << n << " pieces: " << status.message();
        got.resize(read);
        ASSERT_TRUE(got == text_of(task, i)) << name_of(task, i) << " of " << n;
      }
    }
  }

  const std::shared_ptr<Backend> backend_ = make_memory_backend();
};

// One of these numbers fills a pack, and leaves one piece, which travels to task 0 while the pack is on its way.
TEST_F(DirectPacks, OfSeveralProcessesAllArriveBeforeTheClose) {
  for (std::int64_t n = 330; n < 350 && !HasFailure(); ++n) {
    run_apart(kProcesses, [&](Group& group) { EXPECT_TRUE(run(write(group, n)).ok()); });
    expect_all(n);
  }
}

// Bytes that did not arrive are in no buffer any more, so that no later call can store them.
TEST(DirectFailure, LaterFlushesAndSyncsFailToo) {
  const auto storage = make_fault_backend(make_memory_backend(), {.direct_alignment = 512});
  OpenRequest request;
  request.backend = storage;
  request.path = "fails.tw";
  request.access = MultifileMode::create;
  request.options.storage_hints = "io=direct";
  const auto alone = make_self_group();
  auto file = run(open_multifile(*alone, std::move(request))).value();
  WriteHandle& handle = *file->writing;
  ASSERT_TRUE(handle.seek_to(0, 0).ok());
  ASSERT_TRUE(handle.write(*handle.current(), std::vector<std::byte>(300'000)).ok());
  storage->go_on({.rules = {{.kind = CallKind::write, .lasting = true}}, .direct_alignment = 512});
  EXPECT_EQ(handle.flush().code(), Code::io_error);

  storage->go_on({.direct_alignment = 512});

  for (const bool syncs : {false, true}) {
    auto begun = handle.begin(syncs);
    if (begun.has_value()) wait_for(**begun);
    EXPECT_EQ(begun.has_value() ? (*begun)->outcome().status.code() : begun.error().code(), Code::io_error) << syncs;
    EXPECT_EQ((syncs ? handle.sync() : handle.flush()).code(), Code::io_error) << syncs;
  }
  EXPECT_EQ(run(close_multifile(*alone, std::move(file))).code(), Code::io_error);
}

TEST_F(DirectMultifile, WrongHintsAreRefused) {
  EXPECT_EQ(tw_options_set_hint(config_, "queue_depth", "0"), TW_OK);
  tw_multifile* file = nullptr;
  EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_CREATE, config_, &file), TW_ERR_INVALID);
  EXPECT_NE(std::string(tw_last_error()).find("queue_depth"), std::string::npos) << tw_last_error();
}

}  // namespace
}  // namespace thalweg::test
