// Multifiles of MPI ranks from an MPI program's view: every rank writes several logical files, in few physical files or
// many; an equal number of ranks, fewer and more read and append.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/groups/process_mpi.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

// The number of logical files is independent of the number of ranks.
constexpr std::int64_t kLogical = 13;

std::size_t bytes_of(std::int64_t file, int session) {
  if (file == 4) return 0;
  if (file == 7) return 700'000;
  return static_cast<std::size_t>(100 + file * 3001 + session * 517);
}

std::vector<char> content(std::int64_t file, int session) {
  std::vector<char> data(bytes_of(file, session));
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<char>(i * 7 + i / 256 + static_cast<std::size_t>(file) * 31 +
                                static_cast<std::size_t>(session) * 101);
  return data;
}

// Logical files of one rank: all with number = rank modulo the number of ranks; not consecutive.
std::vector<std::int64_t> files_of(const Comm& comm, std::int64_t shift = 0) {
  std::vector<std::int64_t> files;
  for (std::int64_t f = 0; f < kLogical; ++f)
    if ((f + shift) % comm.size() == comm.rank()) files.push_back(f);
  return files;
}

struct Choice {
  const char* name;
  const char* physical_files;
  tw_mapping_fn mapping;
};
void PrintTo(const Choice& choice, std::ostream* out) { *out << choice.name; }

std::int32_t scattered(std::int64_t rank, std::int64_t, std::int32_t m, void* calls) {
  ++*static_cast<int*>(calls);
  return static_cast<std::int32_t>(rank * 5 % m);
}

class MpiMultifile : public testing::TestWithParam<Choice> {
 protected:
  tw_multifile* open(const Comm& comm, int mode, const std::vector<std::int64_t>& files) {
    tw_options* config = nullptr;
    tw_multifile* file = nullptr;
    int calls = 0;
    EXPECT_EQ(tw_options_create(&config), TW_OK);
    EXPECT_EQ(
        tw_options_set_ranks(config, mode == (TW_CREATE | TW_TRUNCATE) ? kLogical : -1, files.data(), files.size()),
        TW_OK);
    if (mode == (TW_CREATE | TW_TRUNCATE)) {
      EXPECT_EQ(tw_options_set_hint(config, "physical_files", GetParam().physical_files), TW_OK);
      EXPECT_EQ(tw_options_set_hint(config, "chunk_bytes", "16KiB"), TW_OK);
      if (GetParam().mapping != nullptr) {
        EXPECT_EQ(tw_options_set_mapping(config, GetParam().mapping, &calls), TW_OK);
      }
    }
    EXPECT_EQ(tw_multifile_open(comm.group(), folder_.path("run.tw").c_str(), mode, config, &file), TW_OK)
        << tw_last_error();
    if (mode == (TW_CREATE | TW_TRUNCATE) && GetParam().mapping != nullptr) {
      EXPECT_EQ(calls, comm.rank() == 0 ? kLogical : 0) << "task 0 asks, once for each logical file";
    }
    tw_options_free(&config);
    return file;
  }

  void write(const Comm& comm, int mode, int session, std::int64_t shift = 0) {
    const auto files = files_of(comm, shift);
    tw_multifile* file = open(comm, mode, files);
    ASSERT_NE(file, nullptr);
    for (const std::int64_t f : files) {
      const std::vector<char> data = content(f, session);
      const std::size_t half = data.size() / 2;
      ASSERT_EQ(tw_multifile_seek_to(file, f, -1), TW_OK) << tw_last_error();
      ASSERT_EQ(tw_multifile_write(file, data.data(), half), TW_OK) << tw_last_error();
      if (f % 2 == 0) {
        ASSERT_EQ(tw_multifile_flush(file), TW_OK) << tw_last_error();
      }
      ASSERT_EQ(tw_multifile_write(file, data.data() + half, data.size() - half), TW_OK) << tw_last_error();
    }
    ASSERT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
  }

  void check(const Comm& comm, const std::vector<std::int64_t>& files, int sessions) {
    tw_multifile* file = open(comm, TW_READ, files);
    ASSERT_NE(file, nullptr);
    for (const std::int64_t f : files) {
      std::vector<char> expected;
      for (int session = 0; session < sessions; ++session) {
        const std::vector<char> part = content(f, session);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      std::vector<char> data(expected.size() + 1);
      std::size_t got = 0;
      ASSERT_EQ(tw_multifile_seek_to(file, f, 0), TW_OK) << tw_last_error();
      ASSERT_EQ(tw_multifile_read(file, data.data(), data.size(), &got), TW_OK) << tw_last_error();
      data.resize(got);
      ASSERT_TRUE(data == expected) << "logical file " << f << " has " << got << " of " << expected.size() << " bytes";
    }
    ASSERT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
  }

  static std::vector<std::int64_t> all_files() {
    std::vector<std::int64_t> files;
    for (std::int64_t f = 0; f < kLogical; ++f) files.push_back(f);
    return files;
  }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
};

TEST_P(MpiMultifile, GivesBackToEachRankWhatItWrote) {
  write(world_, TW_CREATE | TW_TRUNCATE, 0);

  check(world_, files_of(world_), 1);
}

TEST_P(MpiMultifile, GivesEveryRankEverything) {
  write(world_, TW_CREATE | TW_TRUNCATE, 0);

  check(world_, all_files(), 1);
}

// Written by some ranks, read by all and by one; appended to by others, with a different distribution.
TEST_P(MpiMultifile, IsRestartedWithFewerAndMoreRanks) {
  const bool few = world_.rank() < (world_.size() + 1) / 2;
  const Comm part(MPI_COMM_WORLD, few ? 0 : 1, world_.size() - world_.rank());
  if (few) write(part, TW_CREATE | TW_TRUNCATE, 0);
  world_.barrier();

  check(world_, files_of(world_, 1), 1);
  write(world_, TW_APPEND, 1, 2);
  world_.barrier();
  if (few) write(part, TW_APPEND, 2, 1);
  world_.barrier();
  check(world_, files_of(world_), 3);
  const Comm alone(MPI_COMM_WORLD, world_.rank(), 0);
  check(alone, all_files(), 3);
}

// Without a mapping, logical files are distributed evenly over any number of tasks.
TEST_P(MpiMultifile, SharesTheLogicalFilesOut) {
  write(world_, TW_CREATE | TW_TRUNCATE, 0);
  tw_multifile* file = nullptr;
  ASSERT_EQ(tw_multifile_open(world_.group(), folder_.path("run.tw").c_str(), TW_READ, nullptr, &file), TW_OK);

  const std::int64_t first = kLogical * world_.rank() / world_.size();
  const std::int64_t end = kLogical * (world_.rank() + 1) / world_.size();
  for (std::int64_t f = 0; f < kLogical; ++f)
    EXPECT_EQ(tw_multifile_seek_to(file, f, 0), f >= first && f < end ? TW_OK : TW_ERR_NOT_FOUND) << f;
  tw_multifile_summary summary{};
  summary.struct_size = sizeof summary;
  EXPECT_EQ(tw_multifile_summarize(file, &summary), TW_OK);
  EXPECT_EQ(summary.n_logical, kLogical);
  const std::string wanted = GetParam().physical_files;
  if (wanted == "node") {
    EXPECT_TRUE(summary.n_physical == 1 || on_several_nodes()) << "all ranks are on this node";
  } else if (wanted != "auto") {
    EXPECT_EQ(std::to_string(summary.n_physical), wanted);
  }
  EXPECT_EQ(tw_multifile_close(&file), TW_OK);
}

// Each rank adds as many logical files as its number says, in two sessions; ranks of earlier ones stay.
TEST_P(MpiMultifile, NumbersWhatRanksAddByNames) {
  const auto name_of = [](int session, int rank, int i) {
    return std::to_string(session) + "/" + std::to_string(rank) + "/" + std::to_string(i);
  };
  std::vector<std::string> names;
  for (int session = 0; session < 2; ++session) {
    tw_multifile* file = open(world_, session == 0 ? TW_CREATE | TW_TRUNCATE : TW_APPEND, files_of(world_));
    ASSERT_NE(file, nullptr);
    for (int i = 0; i <= world_.rank(); ++i) {
      const std::string name = name_of(session, world_.rank(), i), text(i == 0 ? 200'000 : 20, 'a');
      ASSERT_EQ(tw_multifile_add(file, name.c_str(), 0), TW_OK) << tw_last_error();
      ASSERT_EQ(tw_multifile_write(file, text.data(), text.size()), TW_OK) << tw_last_error();
      ASSERT_EQ(tw_multifile_write(file, name.data(), name.size()), TW_OK) << tw_last_error();
    }
    ASSERT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    for (int rank = 0; rank < world_.size(); ++rank)
      for (int i = 0; i <= rank; ++i) names.push_back(name_of(session, rank, i));
    world_.barrier();

    std::vector<std::int64_t> all = all_files();
    for (std::size_t i = 0; i < names.size(); ++i) all.push_back(kLogical + static_cast<std::int64_t>(i));
    file = open(world_, TW_READ, all);
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::int64_t found = -1;
      ASSERT_EQ(tw_multifile_find(file, names[i].c_str(), &found), TW_OK) << tw_last_error();
      EXPECT_EQ(found, all[kLogical + i]);
      const std::int64_t before = names[i].back() == '0' ? 200'000 : 20;
      std::string text(names[i].size(), '?');
      ASSERT_EQ(tw_multifile_seek_to(file, found, before), TW_OK) << tw_last_error();
      ASSERT_EQ(tw_multifile_read(file, text.data(), text.size(), nullptr), TW_OK) << tw_last_error();
      EXPECT_EQ(text, names[i]);
    }
    ASSERT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    world_.barrier();
  }
}

// A name that all ranks add fails the close on all of them where the hint says so, and nothing is lost.
TEST_P(MpiMultifile, TellsAllRanksOfADuplicateName) {
  tw_options* options = nullptr;
  tw_multifile* file = nullptr;
  const std::string path = folder_.path("twice.tw");
  ASSERT_EQ(tw_options_create(&options), TW_OK);
  ASSERT_EQ(tw_options_set_hints(options, "duplicates=error"), TW_OK);
  ASSERT_EQ(tw_multifile_open(world_.group(), path.c_str(), TW_CREATE | TW_TRUNCATE, options, &file), TW_OK);
  ASSERT_EQ(tw_multifile_add(file, "log", 0), TW_OK) << tw_last_error();
  ASSERT_EQ(tw_multifile_write(file, "text", 4), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_multifile_close(&file), world_.size() > 1 ? TW_ERR_EXISTS : TW_OK) << tw_last_error();
  tw_options_free(&options);
  world_.barrier();
  if (on_several_nodes()) ::sleep(2);  // GlusterFS shows a task that opens alone an old file for a second
  EXPECT_EQ(tw_multifile_verify(path.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  world_.barrier();
}

// Names and attributes of all ranks; when several set an attribute, the lowest rank wins.
TEST_P(MpiMultifile, KeepsNamesAndAttributesOfAllRanks) {
  const auto files = files_of(world_);
  tw_multifile* file = open(world_, TW_CREATE | TW_TRUNCATE, files);
  for (const std::int64_t f : files) {
    ASSERT_EQ(tw_multifile_seek_to(file, f, 0), TW_OK);
    ASSERT_EQ(tw_multifile_set_name(file, ("name " + std::to_string(f)).c_str(), 0), TW_OK);
  }
  const std::string mine = std::to_string(world_.rank());
  ASSERT_EQ(tw_multifile_set_attribute(file, "common", mine.data(), mine.size()), TW_OK);
  ASSERT_EQ(tw_multifile_set_attribute(file, ("of " + mine).c_str(), mine.data(), mine.size()), TW_OK);
  ASSERT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();

  file = open(world_, TW_READ, all_files());

  for (std::int64_t f = 0; f < kLogical; ++f) {
    char name[16] = "";
    EXPECT_EQ(tw_multifile_name(file, f, name, sizeof name, nullptr, nullptr), TW_OK);
    EXPECT_EQ(std::string(name), "name " + std::to_string(f));
  }
  for (int rank = -1; rank < world_.size(); ++rank) {
    const void* value = nullptr;
    std::size_t bytes = 0;
    const std::string key = rank < 0 ? "common" : "of " + std::to_string(rank);
    EXPECT_EQ(tw_multifile_attribute(file, key.c_str(), &value, &bytes), TW_OK) << key;
    EXPECT_EQ(std::string(static_cast<const char*>(value), bytes), std::to_string(std::max(rank, 0)));
  }
  EXPECT_EQ(tw_multifile_close(&file), TW_OK);
}

INSTANTIATE_TEST_SUITE_P(PhysicalFiles, MpiMultifile,
                         testing::Values(Choice{"Auto", "auto", nullptr}, Choice{"One", "1", nullptr},
                                         Choice{"Three", "3", nullptr}, Choice{"PerNode", "node", nullptr},
                                         Choice{"Mapped", "4", scattered}),
                         [](const auto& instance) { return instance.param.name; });

// All threads of all ranks; ranks have different numbers of threads.
TEST(MpiMultifileOfThreads, GivesBackWhatEachThreadWrote) {
  Comm world(MPI_COMM_WORLD);
  SharedFolder folder(world);
  const std::string path = folder.path("run.tw");
  on_threads_of_ranks(world, 1 + (world.rank() + 1) % 3, [&](tw_group* group) {
    const std::int64_t task = tw_group_rank(group);
    const std::vector<char> written = content(task % kLogical, 5);
    std::vector<char> read(written.size() + 1);
    std::size_t got = 0;
    tw_multifile* file = nullptr;
    ASSERT_EQ(tw_multifile_open(group, path.c_str(), TW_CREATE | TW_TRUNCATE, nullptr, &file), TW_OK)
        << tw_last_error();
    EXPECT_EQ(tw_multifile_write(file, written.data(), written.size()), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    ASSERT_EQ(tw_multifile_open(group, path.c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_read(file, read.data(), read.size(), &got), TW_OK) << tw_last_error();
    read.resize(got);
    EXPECT_TRUE(read == written) << "task " << task;
    EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
  });
}

// All ranks but one, or those that serve nothing, need the same later physical file; which of them makes it is open.
TEST(MpiMultifileLater, RanksMakeOneAtTheSameTime) {
  const Comm world(MPI_COMM_WORLD);
  const SharedFolder folder(world);
  const std::string path = folder.path("later.tw");
  std::vector<char> data(3 << 20);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<char>(i * 13 + i / 1000 + static_cast<std::size_t>(world.rank()) * 71);
  const std::string name = "of rank " + std::to_string(world.rank());
  for (int round = 0; round < 5 && !testing::Test::HasFailure(); ++round) {
    tw_options* config = nullptr;
    ASSERT_EQ(tw_options_create(&config), TW_OK);
    ASSERT_EQ(tw_options_set_range(config, 2, std::min(world.rank(), 2), world.rank() < 2 ? 1 : 0), TW_OK);
    tw_multifile* file = nullptr;
    ASSERT_EQ(tw_multifile_open(world.group(), path.c_str(), TW_CREATE | TW_TRUNCATE, config, &file), TW_OK)
        << tw_last_error();
    tw_options_free(&config);
    EXPECT_TRUE(!std::filesystem::exists(path + ".000001") || on_several_nodes());
    world.barrier();
    ASSERT_EQ(tw_multifile_add(file, name.c_str(), 0600), TW_OK) << tw_last_error();
    ASSERT_EQ(tw_multifile_write(file, data.data(), data.size()), TW_OK) << tw_last_error();
    ASSERT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    EXPECT_TRUE(std::filesystem::exists(path + ".000001") == (world.size() > 1) || on_several_nodes());
    ASSERT_EQ(tw_multifile_open(world.group(), path.c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();
    std::int64_t rank = -1;
    ASSERT_EQ(tw_multifile_find(file, name.c_str(), &rank), TW_OK) << tw_last_error();
    EXPECT_EQ(rank, 2 + world.rank());
    ASSERT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    ASSERT_EQ(tw_multifile_open(nullptr, path.c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();
    std::vector<char> found(data.size() + 1);
    std::size_t got = 0;
    ASSERT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_read(file, found.data(), found.size(), &got), TW_OK) << tw_last_error();
    found.resize(got);
    EXPECT_TRUE(found == data) << name << " has " << got << " bytes";
    ASSERT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_verify(path.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
    world.barrier();
  }
}

// Eight ranks of 300 KB each in one physical file showed 88 MB in `ls -l`.
TEST(MpiMultifileSize, LittleDataMakeASmallFile) {
  const Comm world(MPI_COMM_WORLD);
  const SharedFolder folder(world);
  const std::string path = folder.path("little.tw");
  tw_options* config = nullptr;
  ASSERT_EQ(tw_options_create(&config), TW_OK);
  ASSERT_EQ(tw_options_set_hint(config, "physical_files", "1"), TW_OK);
  ASSERT_EQ(tw_options_set_range(config, world.size(), world.rank(), 1), TW_OK);
  tw_multifile* file = nullptr;
  ASSERT_EQ(tw_multifile_open(world.group(), path.c_str(), TW_CREATE | TW_TRUNCATE, config, &file), TW_OK)
      << tw_last_error();
  const std::vector<char> data(300'000, 'd');
  ASSERT_EQ(tw_multifile_write(file, data.data(), data.size()), TW_OK) << tw_last_error();
  ASSERT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
  tw_options_free(&config);
  if (world.rank() == 0 && !on_several_nodes()) {
    EXPECT_LT(std::filesystem::file_size(path), static_cast<std::uintmax_t>(world.size()) * 700'000);
  }
}

}  // namespace
}  // namespace thalweg::test
