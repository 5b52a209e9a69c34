// A program that finalizes MPI before it has waited for its requests and closed its files.
#include <gtest/gtest.h>
#include <mpi.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/files/open_options.hpp"
#include "support/groups/process_mpi.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

constexpr std::int64_t kPiece = 5000;
constexpr int kRounds = 12;
constexpr std::array kModes = {TW_PROGRESS_THREAD, TW_PROGRESS_POLL};

char byte_of(std::int64_t task, int round) { return static_cast<char>('a' + (task * 5 + round) % 26); }

// An open file with outstanding requests.
struct Left {
  tw_file* file = nullptr;
  std::vector<std::string> data;
  std::vector<tw_request*> requests;

  void start(tw_group* group, const std::string& path, const char* hints) {
    OpenWith options;
    options.hints(hints);
    const std::int64_t task = tw_group_rank(group);
    const std::int64_t tasks = tw_group_size(group);
    ASSERT_EQ(tw_file_open(group, path.c_str(), TW_WRITE | TW_CREATE, options, &file), TW_OK) << tw_last_error();
    for (int i = 0; i < kRounds; ++i) data.emplace_back(static_cast<std::size_t>(kPiece), byte_of(task, i));
    for (int i = 0; i < kRounds; ++i) {
      const tw_extent extent{data[static_cast<std::size_t>(i)].data(), kPiece, (i * tasks + task) * kPiece};
      tw_access access{};
      access.struct_size = sizeof access;
      access.direction = TW_ACCESS_WRITE;
      access.progress = kModes[static_cast<std::size_t>(i) % kModes.size()];
      access.extents = &extent;
      access.n = 1;
      requests.push_back(nullptr);
      ASSERT_EQ(tw_file_iaccess_all(file, nullptr, &access, &requests.back()), TW_OK) << tw_last_error();
    }
  }
  // After MPI_Finalize: started requests are complete, and no other can start.
  void expect_ended() {
    for (tw_request*& request : requests) {
      std::size_t moved = 0;
      EXPECT_EQ(tw_request_wait(&request, &moved), TW_OK) << tw_last_error();
      EXPECT_EQ(moved, kPiece);
    }
    const std::string late = "late";
    EXPECT_EQ(tw_file_write_at_all(file, late.data(), 4, 0), TW_ERR_INVALID);
    EXPECT_NE(std::string(tw_last_error()).find("MPI"), std::string::npos) << tw_last_error();
    tw_request* request = nullptr;
    tw_status started = tw_file_iwrite_at_all(file, late.data(), 4, 0, &request);
    if (started == TW_OK) started = tw_request_wait(&request, nullptr);  // of one rank alone
    EXPECT_EQ(started, TW_ERR_INVALID);
    EXPECT_EQ(tw_file_close(&file), TW_ERR_INVALID);
  }
};

void expect_written(const std::string& path, std::int64_t tasks) {
  std::string expected;
  for (int i = 0; i < kRounds; ++i)
    for (std::int64_t task = 0; task < tasks; ++task)
      expected.append(static_cast<std::size_t>(kPiece), byte_of(task, i));
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(in), {}) == expected) << path;
}

// Whether this rank closes the files that only some ranks leave open: the odd ranks do, or with TW_CLOSERS=even the
// even ones.
bool is_closer(std::int64_t rank) {
  const char* closers = std::getenv("TW_CLOSERS");
  const bool even = closers != nullptr && std::string(closers) == "even";
  return (rank % 2 == 0) == even;
}

// A multifile and a vpfile that all or some ranks never close. MPI_Finalize flushes their buffered data, that of the
// vpfile by all ranks together.
class Unclosed {
 public:
  Unclosed(tw_group* group, std::string folder, bool closed_by_some)
      : folder_(std::move(folder)),
        rank_(tw_group_rank(group)),
        ranks_(tw_group_size(group)),
        closed_by_some_(closed_by_some && ranks_ > 1) {
    std::filesystem::create_directories(folder_);
    EXPECT_EQ(tw_multifile_open(group, multifile_path().c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &multifile_), TW_OK)
        << tw_last_error();
    EXPECT_EQ(tw_multifile_write(multifile_, "record", 6), TW_OK) << tw_last_error();
    EXPECT_EQ(
        tw_vpfile_open(group, vpfile_path().c_str(), TW_CREATE | TW_TRUNCATE, OpenWith().shape(1, &ranks_), &vpfile_),
        TW_OK)
        << tw_last_error();
    char together[] = "abcd";
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(tw_vpfile_write_all(vpfile_, TW_VPFILE_PACKED(together, 4), nullptr, nullptr), TW_OK)
          << tw_last_error();
    EXPECT_EQ(tw_vpfile_write(vpfile_, rank_, "alone", 5, nullptr), TW_OK) << tw_last_error();
  }
  void close_on_some_ranks() {
    if (closed_by_some_ && is_closer(rank_)) close_here();
  }
  // After MPI_Finalize, which wrote `said` to standard error. Each rank reports that its locks are released; then rank
  // 0 checks the files.
  void expect_flushed(const std::string& said) {
    const bool is_open = vpfile_ != nullptr;
    const std::int64_t first_that_forgot = closed_by_some_ && is_closer(0) ? 1 : 0;
    EXPECT_EQ(is_told(said, vpfile_path()), rank_ == first_that_forgot) << said;
    EXPECT_EQ(is_told(said, multifile_path()), rank_ == 0 && is_open) << said;
    if (is_open) {
      EXPECT_EQ(tw_multifile_write(multifile_, "late", 4), TW_ERR_INVALID);
      EXPECT_EQ(tw_multifile_close(&multifile_), TW_ERR_INVALID);
      EXPECT_EQ(tw_vpfile_close(&vpfile_), TW_ERR_INVALID);
    }
    std::ofstream(folder_ + "/left." + std::to_string(rank_));
    if (rank_ != 0) return;
    for (std::int64_t i = 0; i < ranks_; ++i)
      while (!std::filesystem::exists(folder_ + "/left." + std::to_string(i))) std::this_thread::yield();
    EXPECT_EQ(tw_multifile_repair(multifile_path().c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK)
        << tw_last_error();
    EXPECT_EQ(tw_vpfile_repair(vpfile_path().c_str(), 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr), TW_OK)
        << tw_last_error();
    tw_multifile* in = nullptr;
    ASSERT_EQ(tw_multifile_open(nullptr, multifile_path().c_str(), TW_READ, nullptr, &in), TW_OK) << tw_last_error();
    tw_vpfile* vps = nullptr;
    ASSERT_EQ(tw_vpfile_open(nullptr, vpfile_path().c_str(), TW_READ, nullptr, &vps), TW_OK) << tw_last_error();
    for (std::int64_t i = 0; i < ranks_; ++i) {
      std::string text(30, '-');
      std::size_t got = 0;
      EXPECT_EQ(tw_multifile_seek_to(in, i, 0), TW_OK);
      EXPECT_EQ(tw_multifile_read(in, text.data(), text.size(), &got), TW_OK);
      EXPECT_EQ(text.substr(0, got), "record") << i;
      EXPECT_EQ(tw_vpfile_read(vps, i, text.data(), text.size(), &got), TW_OK);
      EXPECT_EQ(text.substr(0, got), "abcdabcdabcdalone") << i;
    }
    EXPECT_EQ(tw_multifile_close(&in), TW_OK);
    EXPECT_EQ(tw_vpfile_close(&vps), TW_OK);
  }

 private:
  // Whether a line names the file and the command.
  static bool is_told(const std::string& said, const std::string& path) {
    const std::size_t at = said.find("thalweg: '" + path + "' was not closed; ");
    if (at == std::string::npos) return false;
    const std::string line = said.substr(at, said.find('\n', at) - at);
    EXPECT_TRUE(line.ends_with("; `thalweg repair " + path + "` makes it readable")) << line;
    return true;
  }
  // The close tells that other ranks do not close.
  void close_here() {
    EXPECT_EQ(tw_multifile_close(&multifile_), TW_ERR_NOT_CLOSED);
    EXPECT_EQ(tw_vpfile_close(&vpfile_), TW_ERR_NOT_CLOSED);
    EXPECT_NE(std::string(tw_last_error()).find("MPI_Finalize"), std::string::npos) << tw_last_error();
  }
  std::string multifile_path() const { return folder_ + "/run.tw"; }
  std::string vpfile_path() const { return folder_ + "/run.vp"; }

  std::string folder_;
  std::int64_t rank_, ranks_;
  bool closed_by_some_;
  tw_multifile* multifile_ = nullptr;
  tw_vpfile* vpfile_ = nullptr;
};

std::string folder_of_all() {
  std::array<char, 1024> name{};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    const std::string made = (std::filesystem::temp_directory_path() / "thalweg_mpi_XXXXXX").string();
    made.copy(name.data(), name.size() - 1);
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
  }
  MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  return name.data();
}

// Threads of a rank start requests of a hybrid group, too, and exit.
void start_on_threads(tw_group* ranks, const std::string& path, Left (&left)[2], tw_group* (&groups)[2]) {
  tw_team* team = nullptr;
  ASSERT_EQ(tw_team_create(2, &team), TW_OK);
  const auto one = [&](int thread) {
    tw_group* mine = nullptr;
    EXPECT_EQ(tw_group_team(team, thread, &mine), TW_OK);
    EXPECT_EQ(tw_group_hybrid(mine, thread == 0 ? ranks : nullptr, &groups[thread]), TW_OK) << tw_last_error();
    left[thread].start(groups[thread], path, nullptr);
    tw_group_free(&mine);
  };
  std::thread second([&] { one(1); });
  one(0);
  second.join();
  tw_team_free(&team);
}

// A file that this rank opened alone outlives MPI; a group of MPI does not, not even one of a single rank.
void expect_group_ended(tw_file* file, tw_group* group) {
  char late[] = "late";
  const tw_extent extent{late, 4, 0};
  for (const tw_placement placement : {TW_AT_EXTENTS, TW_IN_ORDER}) {
    tw_access access{};
    access.struct_size = sizeof access;
    access.direction = TW_ACCESS_WRITE;
    access.placement = placement;
    access.extents = &extent;
    access.n = 1;
    EXPECT_EQ(tw_file_access_all(file, group, &access, nullptr), TW_ERR_INVALID);
    EXPECT_NE(std::string(tw_last_error()).find("MPI"), std::string::npos) << tw_last_error();
  }
  EXPECT_EQ(tw_file_write_at_all(file, late, 4, 0), TW_OK) << tw_last_error();
}

// A multifile in a tier, which a thread of the library drains when it is closed.
void close_in_tier(tw_group* group, const std::string& folder) {
  const std::string tier = folder + "/tier";
  std::filesystem::create_directories(tier);
  tw_multifile* file = nullptr;
  ASSERT_EQ(tw_multifile_open(group, (folder + "/drained").c_str(), TW_CREATE,
                              OpenWith().hints("drain=async,tier=" + tier), &file),
            TW_OK)
      << tw_last_error();
  const std::string data(3'000'000, 'd');
  EXPECT_EQ(tw_multifile_write(file, data.data(), data.size()), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
}

TEST(MpiFinalize, CompletesWhatWasStartedAndEndsTheRest) {
  const std::string folder = folder_of_all();
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  tw_group* group = nullptr;
  ASSERT_EQ(tw_group_mpi(MPI_COMM_WORLD, &group), TW_OK) << tw_last_error();
  tw_group* of_one = nullptr;
  tw_file* opened_alone = nullptr;
  ASSERT_EQ(tw_group_mpi(MPI_COMM_SELF, &of_one), TW_OK) << tw_last_error();
  ASSERT_EQ(tw_file_open(nullptr, (folder + "/alone." + std::to_string(rank)).c_str(), TW_WRITE | TW_CREATE, nullptr,
                         &opened_alone),
            TW_OK)
      << tw_last_error();
  Left direct;
  Left two_phase;
  Left threads[2];
  tw_group* hybrid[2] = {};
  direct.start(group, folder + "/direct", "method=direct");
  two_phase.start(group, folder + "/two_phase", "method=aggregate");
  start_on_threads(group, folder + "/threads", threads, hybrid);
  close_in_tier(group, folder);
  Unclosed unclosed(group, folder + "/all", false);
  Unclosed half_closed(group, folder + "/some", true);
  half_closed.close_on_some_ranks();

  testing::internal::CaptureStderr();
  EXPECT_EQ(MPI_Finalize(), MPI_SUCCESS);
  const std::string said = testing::internal::GetCapturedStderr();

  if (rank == 0) {
    expect_written(folder + "/direct", ranks);
    expect_written(folder + "/two_phase", ranks);
    expect_written(folder + "/threads", 2 * ranks);
    EXPECT_EQ(tw_multifile_verify((folder + "/drained").c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK);
  }
  direct.expect_ended();
  two_phase.expect_ended();
  std::thread second([&] { threads[1].expect_ended(); });
  threads[0].expect_ended();
  second.join();
  expect_group_ended(opened_alone, of_one);
  EXPECT_EQ(tw_file_close(&opened_alone), TW_OK) << tw_last_error();
  tw_group_free(&of_one);
  unclosed.expect_flushed(said);
  half_closed.expect_flushed(said);
  for (tw_group* of_thread : hybrid) tw_group_free(&of_thread);
  tw_group_free(&group);
  if (rank == 0) std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace thalweg::test
