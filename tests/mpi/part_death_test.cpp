// A part of the machines dies while ranks write: a server of the file system, the daemon of a mount, a node. Collective
// calls end alike on all tasks, nobody hangs, and what was flushed or synced is there afterwards.
// tests/nodes/run_nodes.sh kills the part, brings it back, has the files repaired, and starts the second test. The
// program and the script meet in a local folder, TW_DEATH: the ranks make the file `ready`, the script the file `done`.
// Without that folder nothing dies.
//   TW_DEATH_NAMES   names, in TMPDIR, of the shared file, the multifile and the vpfile
//   TW_DEATH_KEEPS   `flush` or `sync`: the call from which on bytes survive this death; `all`: no call may fail
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "support/crash/process_journal.hpp"
#include "support/files/open_options.hpp"
#include "support/groups/process_mpi.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

constexpr unsigned kMostSeconds = 90;  // then the program ends
constexpr std::uint64_t kRoundsBefore = 6, kRoundsAfter = 4;
constexpr std::uint64_t kMostRounds = 2'000;  // the file `done` is long there by then

std::string from_environment(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

std::size_t bytes_of(std::uint64_t round) { return round % 3 == 0 ? 700 : round % 3 == 1 ? 5'003 : 40'000; }
std::size_t bytes_before(std::uint64_t round) {
  std::size_t bytes = 0;
  for (std::uint64_t i = 0; i < round; ++i) bytes += bytes_of(i);
  return bytes;
}
std::string bytes_in(int rank, std::uint64_t round) {
  std::string bytes(bytes_of(round), ' ');
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>('a' + (static_cast<std::uint64_t>(rank) * 5 + round * 7 + i + i / 1013) % 26);
  return bytes;
}
std::string stream_of(int rank, std::uint64_t rounds) {
  std::string stream;
  for (std::uint64_t i = 0; i < rounds; ++i) stream += bytes_in(rank, i);
  return stream;
}

tw_status finished(tw_status started, tw_request** request) {
  return started == TW_OK ? tw_request_wait(request, nullptr) : started;
}

// A file of one kind. Each rank writes a stream, round after round.
class Target {
 public:
  explicit Target(const Comm& comm) : comm_(comm) {}
  virtual ~Target() = default;
  virtual tw_status create(const std::string& path) = 0;
  virtual tw_status open_for_reading(const std::string& path) = 0;
  virtual tw_status write(std::uint64_t round, const std::string& bytes) = 0;
  virtual tw_status flush() = 0;
  virtual tw_status sync() = 0;
  virtual tw_status close() = 0;
  // The first `rounds` rounds of the stream of a rank, as far as they are there.
  virtual tw_status read(int rank, std::uint64_t rounds, std::string& bytes) = 0;
  // Whether each task can read the streams of all.
  virtual bool reads_all() const { return true; }
  // Whether tasks write, flush and sync together.
  virtual bool is_collective() const { return true; }
  // Whether bytes that were not flushed are told from others.
  virtual bool proves_bytes() const { return false; }

 protected:
  const Comm& comm_;
};

class SharedTarget final : public Target {
 public:
  using Target::Target;
  tw_status create(const std::string& path) override {
    return open(path, TW_READ | TW_WRITE | TW_CREATE | TW_TRUNCATE);
  }
  tw_status open_for_reading(const std::string& path) override { return open(path, TW_READ); }
  tw_status write(std::uint64_t round, const std::string& bytes) override {
    const std::int64_t at = place(comm_.rank(), round);
    if (round % 4 < 2) return tw_file_write_at_all(file_, bytes.data(), bytes.size(), at);
    tw_request* request = nullptr;
    return finished(tw_file_iwrite_at_all(file_, bytes.data(), bytes.size(), at, &request), &request);
  }
  tw_status flush() override { return TW_OK; }
  tw_status sync() override { return tw_file_sync(file_); }
  tw_status close() override { return tw_file_close(&file_); }
  tw_status read(int rank, std::uint64_t rounds, std::string& bytes) override {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      std::string part(bytes_of(round), '#');
      std::size_t n = 0;
      const tw_status status = tw_file_read_at(file_, part.data(), part.size(), place(rank, round), &n);
      bytes += part.substr(0, n);
      if (status != TW_OK || n < part.size()) return status;
    }
    return TW_OK;
  }

 private:
  tw_status open(const std::string& path, int flags) {
    return tw_file_open(comm_.group(), path.c_str(), flags, nullptr, &file_);
  }
  std::int64_t place(int rank, std::uint64_t round) const {
    return static_cast<std::int64_t>(bytes_before(round) * static_cast<std::size_t>(comm_.size()) +
                                     bytes_of(round) * static_cast<std::size_t>(rank));
  }

  tw_file* file_ = nullptr;
};

class MultifileTarget final : public Target {
 public:
  using Target::Target;
  tw_status create(const std::string& path) override {
    return tw_multifile_open(comm_.group(), path.c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &file_);
  }
  tw_status open_for_reading(const std::string& path) override {
    return tw_multifile_open(comm_.group(), path.c_str(), TW_READ, OpenWith().range(-1, 0, comm_.size()), &file_);
  }
  tw_status write(std::uint64_t, const std::string& bytes) override {
    return tw_multifile_write(file_, bytes.data(), bytes.size());
  }
  tw_status flush() override {
    tw_request* request = nullptr;
    return finished(tw_multifile_iflush(file_, &request), &request);
  }
  tw_status sync() override {
    if (++syncs_ % 2 != 0) return tw_multifile_sync(file_);
    tw_request* request = nullptr;
    return finished(tw_multifile_isync(file_, &request), &request);
  }
  tw_status close() override { return tw_multifile_close(&file_); }
  tw_status read(int rank, std::uint64_t rounds, std::string& bytes) override {
    bytes.resize(bytes_before(rounds) + 1);
    std::size_t n = 0;
    tw_status status = tw_multifile_seek_to(file_, rank, 0);
    if (status == TW_OK) status = tw_multifile_read(file_, bytes.data(), bytes.size(), &n);
    bytes.resize(n);
    return status;
  }
  bool is_collective() const override { return false; }
  bool proves_bytes() const override { return true; }

 private:
  tw_multifile* file_ = nullptr;
  int syncs_ = 0;
};

class VpfileTarget final : public Target {
 public:
  using Target::Target;
  tw_status create(const std::string& path) override { return open(path, TW_READ | TW_CREATE | TW_TRUNCATE); }
  tw_status open_for_reading(const std::string& path) override { return open(path, TW_READ); }
  tw_status write(std::uint64_t, const std::string& bytes) override {
    return tw_vpfile_write_all(file_, TW_VPFILE_PACKED(bytes.data(), bytes.size()), nullptr, nullptr);
  }
  tw_status flush() override { return tw_vpfile_flush_all(file_); }
  tw_status sync() override { return tw_vpfile_sync_all(file_); }
  tw_status close() override { return tw_vpfile_close(&file_); }
  tw_status read(int rank, std::uint64_t rounds, std::string& bytes) override {
    bytes.resize(bytes_before(rounds) + 1);
    std::size_t n = 0;
    const tw_status status = tw_vpfile_read(file_, rank, bytes.data(), bytes.size(), &n);
    bytes.resize(n);
    return status;
  }
  bool reads_all() const override { return false; }

 private:
  tw_status open(const std::string& path, int flags) {
    return tw_vpfile_open(comm_.group(), path.c_str(), flags, OpenWith().shape({comm_.size()}), &file_);
  }

  tw_vpfile* file_ = nullptr;
};

class MpiPartDeath : public testing::Test {
 protected:
  MpiPartDeath() : journal_(meets_ ? meeting_ + "/journal" : folder_->path("journal")) {
    std::istringstream words(from_environment("TW_DEATH_NAMES", "shared multi vp"));
    for (std::string& path : paths_) {
      words >> path;
      path = meets_ ? std::filesystem::temp_directory_path() / path : std::filesystem::path(folder_->path(path));
    }
    targets_[0] = std::make_unique<SharedTarget>(world_);
    targets_[1] = std::make_unique<MultifileTarget>(world_);
    targets_[2] = std::make_unique<VpfileTarget>(world_);
  }
  void SetUp() override { ::alarm(kMostSeconds); }
  void TearDown() override { ::alarm(0); }

  JournalFile& noted(std::size_t kind, int rank) {
    return journal_->files[kind * (kMostLogical / kKinds) + static_cast<std::size_t>(rank)];
  }

  // A collective call ends alike on all tasks. The status of one that failed somewhere.
  tw_status alike(tw_status mine, const char* call) const {
    int most[2] = {mine, -mine};
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT, MPI_MAX, world_.comm());
    EXPECT_EQ(most[0], -most[1]) << call << ": " << tw_status_name(mine) << " here: " << tw_last_error();
    return static_cast<tw_status>(-most[1]);
  }
  tw_status heard(const Target& target, tw_status mine, const char* call) const {
    return target.is_collective() ? alike(mine, call) : mine;
  }

  void expect_part_to_die() const {
    world_.barrier();
    if (meets_ && world_.rank() == 0) std::ofstream(meeting_ + "/ready");
  }
  bool part_has_died() const {
    int died = meets_ ? 0 : 1;
    if (meets_ && world_.rank() == 0) died = std::filesystem::exists(meeting_ + "/done") ? 1 : 0;
    if (meets_ && died == 0) ::usleep(5'000);
    MPI_Bcast(&died, 1, MPI_INT, 0, world_.comm());
    return died != 0;
  }

  tw_status write_round(std::size_t kind, std::uint64_t round) {
    Target& target = *targets_[kind];
    JournalFile& mine = noted(kind, world_.rank());
    const bool syncs = round % 2 != 0;
    mine.begun = round + 1;
    tw_status status = heard(target, target.write(round, bytes_in(world_.rank(), round)), "write");
    if (status == TW_OK) status = heard(target, syncs ? target.sync() : target.flush(), syncs ? "sync" : "flush");
    if (status == TW_OK && (syncs || keeps_ != "sync")) mine.flushed = round + 1;
    return status;
  }

  // Until the part has died, and a few rounds longer.
  void write_rounds(tw_status (&statuses)[3]) {
    std::uint64_t after = 0;
    for (std::uint64_t round = 0; after < kRoundsAfter; ++round) {
      ASSERT_LT(round, kMostRounds) << "nothing died";
      if (round == kRoundsBefore) expect_part_to_die();
      if (round > kRoundsBefore && part_has_died()) ++after;
      for (std::size_t kind = 0; kind < kKinds; ++kind)
        if (statuses[kind] == TW_OK) statuses[kind] = write_round(kind, round);
    }
  }

  // Each task reads what all ranks have written.
  void expect_content() {
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      Target& target = *targets_[kind];
      ASSERT_EQ(target.open_for_reading(paths_[kind]), TW_OK) << tw_last_error();
      for (int rank = 0; rank < world_.size(); ++rank) {
        if (!target.reads_all() && rank != world_.rank()) continue;
        const std::uint64_t begun = noted(kind, rank).begun;
        const std::size_t kept = bytes_before(noted(kind, rank).flushed);
        const std::string written = stream_of(rank, begun);
        std::string found;
        const tw_status status = target.read(rank, begun, found);
        const std::string what = paths_[kind] + " of rank " + std::to_string(rank) + ": " +
                                 std::to_string(found.size()) + " bytes, kept " + std::to_string(kept) + ", written " +
                                 std::to_string(written.size());
        EXPECT_TRUE(status == TW_OK || (status == TW_ERR_CORRUPT && keeps_ == "sync"))
            << what << ": " << tw_last_error();
        EXPECT_GE(noted(kind, rank).flushed, kRoundsBefore) << what;
        EXPECT_GE(found.size(), kept) << what;
        EXPECT_TRUE(written.starts_with(std::string_view(found).substr(0, target.proves_bytes() ? found.size() : kept)))
            << what;
      }
      EXPECT_EQ(target.close(), TW_OK) << tw_last_error();
    }
  }

  static constexpr std::size_t kKinds = 3;
  Comm world_{MPI_COMM_WORLD};
  const std::string meeting_ = from_environment("TW_DEATH", "");
  const bool meets_ = !meeting_.empty();
  const std::unique_ptr<SharedFolder> folder_ = meets_ ? nullptr : std::make_unique<SharedFolder>(world_);
  const std::string keeps_ = from_environment("TW_DEATH_KEEPS", "all");
  MappedJournal journal_;
  std::string paths_[kKinds];
  std::unique_ptr<Target> targets_[kKinds];
};

TEST_F(MpiPartDeath, WhileRanksWrite) {
  tw_status statuses[kKinds] = {};
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    ASSERT_EQ(alike(targets_[kind]->create(paths_[kind]), "create"), TW_OK) << tw_last_error();
  write_rounds(statuses);

  // The failure stays, and other files fail on all tasks or on none.
  if (statuses[0] != TW_OK) {
    EXPECT_NE(alike(targets_[0]->sync(), "another sync"), TW_OK);
  }
  SharedTarget other(world_);
  if (alike(other.create(paths_[0] + ".beside"), "create") == TW_OK) alike(other.close(), "close");
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const tw_status closed = alike(targets_[kind]->close(), "close");
    EXPECT_EQ(closed == TW_OK, keeps_ == "all")
        << paths_[kind] << ": " << tw_status_name(closed) << ": " << tw_last_error();
  }
  if (keeps_ == "all") expect_content();
}

TEST_F(MpiPartDeath, LeavesWhatWasKept) {
  if (!meets_) GTEST_SKIP() << "tests/nodes/run_nodes.sh starts it";
  expect_content();
}

}  // namespace
}  // namespace thalweg::test
