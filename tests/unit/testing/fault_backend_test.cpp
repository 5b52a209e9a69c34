// The fault backend: scripted failures, and the states that it leaves behind.
#include "testing/fault_backend.hpp"
#include "sim/memory_backend.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

namespace thalweg {
namespace {

using Bytes = std::vector<std::byte>;

Bytes filled(std::size_t bytes, int value) { return Bytes(bytes, static_cast<std::byte>(value)); }

std::unique_ptr<StoredFile> open(Backend& backend, OpenMode mode, const std::string& path = "dir/file") {
  auto file = backend.open(path, mode);
  EXPECT_TRUE(file.has_value()) << file.status().message();
  return std::move(file).value();
}

Bytes content(Backend& backend, const std::string& path = "dir/file") {
  const auto file = open(backend, OpenMode::read, path);
  Bytes out(file->size().value());
  EXPECT_EQ(file->read(0, out).value(), out.size());
  return out;
}

TEST(FaultBackend, FailsTheChosenCallOnce) {
  FaultScript script;
  script.rules = {{.kind = CallKind::write, .at = 2, .os_errno = ENOSPC}};
  const auto backend = make_fault_backend(make_memory_backend(), script);
  const auto file = open(*backend, OpenMode::create);

  EXPECT_EQ(file->write(0, filled(10, 1)).code(), Code::ok);
  const Status second = file->write(10, filled(10, 2));
  EXPECT_EQ(file->write(20, filled(10, 3)).code(), Code::ok);

  EXPECT_EQ(second.code(), Code::no_space);
  EXPECT_EQ(second.os_errno(), ENOSPC);
  Bytes expected = filled(30, 1);
  std::fill(expected.begin() + 10, expected.begin() + 20, std::byte{0});
  std::fill(expected.begin() + 20, expected.end(), std::byte{3});
  EXPECT_EQ(content(*backend->wrapped()), expected);
}

TEST(FaultBackend, FailsFromTheChosenCallOn) {
  FaultScript script;
  script.rules = {{.kind = {}, .at = 3, .lasting = true, .os_errno = EIO}};
  const auto backend = make_fault_backend(make_memory_backend(), script);
  const auto file = open(*backend, OpenMode::create);

  EXPECT_EQ(file->write(0, filled(10, 1)).code(), Code::ok);
  EXPECT_EQ(file->write(0, filled(10, 1)).code(), Code::io_error);
  EXPECT_EQ(file->size().status().code(), Code::io_error);
  EXPECT_EQ(backend->open("other", OpenMode::create).status().code(), Code::io_error);
  EXPECT_FALSE(backend->dead());
}

TEST(FaultBackend, RulesCanBeBoundToPaths) {
  FaultScript script;
  script.rules = {{.kind = CallKind::write, .at = 1, .lasting = true, .path_part = ".000001"}};
  const auto backend = make_fault_backend(make_memory_backend(), script);
  const auto first = open(*backend, OpenMode::create, "a");
  const auto second = open(*backend, OpenMode::create, "a.000001");

  EXPECT_EQ(first->write(0, filled(10, 1)).code(), Code::ok);
  EXPECT_EQ(second->write(0, filled(10, 1)).code(), Code::io_error);
}

TEST(FaultBackend, APartialFailureWritesTheFirstHalf) {
  FaultScript script;
  script.rules = {{.kind = CallKind::write, .partial = true}};
  const auto backend = make_fault_backend(make_memory_backend(), script);
  const auto file = open(*backend, OpenMode::create);

  EXPECT_EQ(file->write(0, filled(10, 1)).code(), Code::io_error);

  EXPECT_EQ(content(*backend->wrapped()), filled(5, 1));
}

TEST(FaultBackend, AFailedSyncStaysFailed) {
  FaultScript script;
  script.rules = {{.kind = CallKind::sync}};
  const auto backend = make_fault_backend(make_memory_backend(), script);
  const auto file = open(*backend, OpenMode::create);

  EXPECT_EQ(file->sync().code(), Code::io_error);
  EXPECT_EQ(file->sync().code(), Code::io_error);
  EXPECT_EQ(open(*backend, OpenMode::read)->sync().code(), Code::ok);
}

TEST(FaultBackend, TheDeadProcessLeavesWhatItWroteBefore) {
  FaultScript script;
  script.death = DeathPoint{.at = 3, .kind = CallKind::write};
  const auto backend = make_fault_backend(make_memory_backend(), script);
  const auto file = open(*backend, OpenMode::create);
  for (int i = 0; i < 4; ++i) {
    const bool alive = file->write(static_cast<std::uint64_t>(i) * 10, filled(10, 1 + i)).ok();
    EXPECT_EQ(alive, i < 2);
  }

  EXPECT_TRUE(backend->dead());
  EXPECT_EQ(backend->exists("dir/file").status().code(), Code::io_error);
  EXPECT_EQ(file->close().code(), Code::io_error);
  Bytes expected = filled(20, 1);
  std::fill(expected.begin() + 10, expected.end(), std::byte{2});
  EXPECT_EQ(content(*backend->wrapped()), expected);
}

TEST(FaultBackend, ADyingWriteCanBeTornAtPages) {
  std::set<std::size_t> sizes;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    FaultScript script;
    script.death = DeathPoint{.at = 1, .kind = CallKind::write, .tear = Tear::pages, .seed = seed};
    const auto backend = make_fault_backend(make_memory_backend(), script);
    EXPECT_FALSE(open(*backend, OpenMode::create)->write(100, filled(10000, 7)).ok());
    sizes.insert(content(*backend->wrapped()).size());
  }

  EXPECT_EQ(sizes, (std::set<std::size_t>{0, 4096, 8192, 10100}));
}

TEST(FaultBackend, ADyingWriteCanStopInTheMiddle) {
  FaultScript script;
  script.death = DeathPoint{.at = 1, .kind = CallKind::write, .tear = Tear::half};
  const auto backend = make_fault_backend(make_memory_backend(), script);

  EXPECT_FALSE(open(*backend, OpenMode::create)->write(0, filled(100, 7)).ok());

  EXPECT_EQ(content(*backend->wrapped()), filled(50, 7));
}

TEST(FaultBackend, TheDeadMachineKeepsWhatWasSynced) {
  std::set<Bytes> outcomes;
  for (std::uint64_t seed = 0; seed < 240; ++seed) {
    const auto backend = make_fault_backend(make_memory_backend(), {.keep_journal = true});
    const auto file = open(*backend, OpenMode::create);
    EXPECT_TRUE(file->write(0, filled(1024, 1)).ok());
    EXPECT_TRUE(file->sync().ok());
    EXPECT_TRUE(backend->sync_directory_of("dir/file").ok());
    EXPECT_TRUE(file->write(512, filled(512, 2)).ok());
    EXPECT_TRUE(file->write(512, filled(1024, 3)).ok());

    backend->kill(Death::machine, seed);

    const Bytes left = content(*backend->wrapped());
    ASSERT_GE(left.size(), 1024u);
    EXPECT_EQ(Bytes(left.begin(), left.begin() + 512), filled(512, 1));
    for (std::size_t at = 512; at < left.size(); at += 512) {  // a sector has one of its states, never a mixture
      EXPECT_EQ(
          std::set<std::byte>(left.begin() + static_cast<long>(at), left.begin() + static_cast<long>(at) + 512).size(),
          1u);
    }
    outcomes.insert(left);
  }

  EXPECT_TRUE(outcomes.count(filled(1024, 1)));  // all of it lost
  Bytes kept = filled(512, 1);
  kept.resize(1536, std::byte{3});
  EXPECT_TRUE(outcomes.count(kept));  // nothing lost
  Bytes between = filled(512, 1);
  between.resize(1024, std::byte{2});
  EXPECT_TRUE(outcomes.count(between));  // a state in between
}

TEST(FaultBackend, TheDeadMachineMayBringBackWhatWasCutOff) {
  std::set<Bytes> outcomes;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto backend = make_fault_backend(make_memory_backend(), {.keep_journal = true});
    {
      const auto file = open(*backend, OpenMode::create);
      EXPECT_TRUE(file->write(0, filled(600, 1)).ok());
      EXPECT_TRUE(file->sync().ok() && backend->sync_directory_of("dir/file").ok());
    }
    EXPECT_TRUE(open(*backend, OpenMode::create)->write(0, filled(512, 2)).ok());
    backend->kill(Death::machine, seed);
    outcomes.insert(content(*backend->wrapped()));
  }

  EXPECT_TRUE(outcomes.count(filled(600, 1)));
  EXPECT_TRUE(outcomes.count(filled(512, 2)));
}

TEST(FaultBackend, TheDeadMachineMayForgetANewNameUntilItsFolderIsSynced) {
  for (const bool sync_folder : {false, true}) {
    std::size_t lost = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      FaultScript script;
      script.keep_journal = true;
      const auto backend = make_fault_backend(make_memory_backend(), script);
      const auto file = open(*backend, OpenMode::create);
      EXPECT_TRUE(file->sync().ok());
      if (sync_folder) {
        EXPECT_TRUE(backend->sync_directory_of("dir/another").ok());
      }
      backend->kill(Death::machine, seed);
      lost += !backend->wrapped()->exists("dir/file").value();
    }
    EXPECT_EQ(lost > 0, !sync_folder);
    EXPECT_LT(lost, 40u);
  }
}

TEST(FaultBackend, SpaceRunsOutByBlocksAndComesBack) {
  FaultScript script;
  script.space_bytes = 3 * 4096;
  const auto backend = make_fault_backend(make_memory_backend(), script);
  const auto file = open(*backend, OpenMode::create);

  EXPECT_EQ(file->write(100, filled(8192, 1)).code(), Code::ok);         // three blocks
  EXPECT_EQ(file->write(0, filled(3 * 4096, 2)).code(), Code::ok);       // overwrites these blocks
  EXPECT_EQ(file->write(8192, filled(8192, 3)).code(), Code::no_space);  // the third block fails; there is no fourth
  EXPECT_EQ(file->size().value(), 3u * 4096);
  EXPECT_EQ(file->preallocate(1 << 20, 1).code(), Code::no_space);
  EXPECT_EQ(file->truncate(4096).code(), Code::ok);
  EXPECT_EQ(file->write(1 << 20, filled(8192, 4)).code(), Code::ok);
  EXPECT_EQ(file->write(1 << 21, filled(1, 4)).code(), Code::no_space);
  EXPECT_EQ(file->close().code(), Code::ok);
  EXPECT_EQ(backend->remove("dir/file").code(), Code::ok);
  EXPECT_EQ(open(*backend, OpenMode::create, "x")->write(0, filled(3 * 4096, 5)).code(), Code::ok);
}

TEST(FaultBackend, CountsAndRecordsCalls) {
  FaultScript script;
  script.record = true;
  script.rules = {{.kind = CallKind::sync}};
  const auto backend = make_fault_backend(make_memory_backend(), script);
  const auto file = open(*backend, OpenMode::create);
  const Bytes a = filled(3, 1), b = filled(4, 2);
  const Piece pieces[] = {piece_of(a), piece_of(b)};

  EXPECT_TRUE(file->transfer(Direction::write, 5, pieces).has_value());
  EXPECT_FALSE(file->sync().ok());

  const auto records = backend->records();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(backend->calls(), 3u);
  EXPECT_EQ(backend->calls(CallKind::write), 1u);
  EXPECT_EQ(records[1].kind, CallKind::write);
  EXPECT_EQ(records[1].offset, 5u);
  EXPECT_EQ(records[1].bytes, 7u);
  EXPECT_EQ(records[2].result, Code::io_error);
  EXPECT_EQ(records[2].path, "dir/file");
}

TEST(FaultBackend, StartsOverWithANewScript) {
  FaultScript script;
  script.death = DeathPoint{.at = 1};
  const auto backend = make_fault_backend(make_memory_backend(), script);
  EXPECT_FALSE(backend->open("f", OpenMode::create).has_value());

  backend->restart({});

  EXPECT_FALSE(backend->dead());
  EXPECT_EQ(backend->calls(), 0u);
  EXPECT_TRUE(backend->open("f", OpenMode::create).has_value());
}

}  // namespace
}  // namespace thalweg
