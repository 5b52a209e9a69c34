// Tasks on several nodes see each other's writes after a sync, and at the next open (docs/reference/visibility.md). On one
// node the file system keeps these promises by itself; tests/nodes/run_nodes.sh has nodes whose mounts have caches of
// their own.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/engine/accesses.hpp"
#include "support/files/open_options.hpp"
#include "support/groups/process_mpi.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

constexpr int kRounds = 4;

char byte_of(int round, std::int64_t at) { return static_cast<char>('a' + (round * 7 + at % 1013 + at / 4096) % 26); }

std::string bytes_of(int round, std::int64_t from, std::int64_t n) {
  std::string bytes(static_cast<std::size_t>(n), ' ');
  for (std::int64_t i = 0; i < n; ++i) bytes[static_cast<std::size_t>(i)] = byte_of(round, from + i);
  return bytes;
}

class MpiVisibility : public testing::Test {
 protected:
  tw_file* open(const std::string& path, int mode, tw_group* group) const {
    tw_file* file = nullptr;
    EXPECT_EQ(tw_file_open(group, path.c_str(), mode, nullptr, &file), TW_OK) << tw_last_error();
    return file;
  }
  void expect_content(tw_file* file, int round, std::int64_t bytes) const {
    std::string found(static_cast<std::size_t>(bytes + 1), '#');
    std::size_t n = 0;
    EXPECT_EQ(tw_file_read_at(file, found.data(), found.size(), 0, &n), TW_OK) << tw_last_error();
    found.resize(n);
    EXPECT_TRUE(found == bytes_of(round, 0, bytes)) << "round " << round << ": " << n << " of " << bytes << " bytes";
  }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
};

// Pieces of 100 bytes, so that every page has bytes of every rank; what a page held before must not come back.
TEST_F(MpiVisibility, AfterASyncOfWritesThatShareAllPages) {
  constexpr std::int64_t kPiece = 100, kPieces = 500;
  const std::int64_t all = kPiece * kPieces * world_.size();
  tw_file* file = open(folder_.path("shared"), TW_READ | TW_WRITE | TW_CREATE, world_.group());
  ASSERT_NE(file, nullptr);
  for (int round = 0; round < kRounds; ++round) {
    std::string data;
    std::vector<tw_extent> pieces;
    for (std::int64_t i = 0; i < kPieces; ++i)
      data += bytes_of(round, (i * world_.size() + world_.rank()) * kPiece, kPiece);
    for (std::int64_t i = 0; i < kPieces; ++i)
      pieces.push_back({data.data() + i * kPiece, kPiece, (i * world_.size() + world_.rank()) * kPiece});
    EXPECT_EQ(write_list_all(file, pieces.data(), kPieces), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error();
    expect_content(file, round, all);
    world_.barrier();
  }
  EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
}

// Shares that meet within a page.
TEST_F(MpiVisibility, AfterASyncOfSharesThatMeetWithinAPage) {
  constexpr std::int64_t kShare = 99'999;
  tw_file* file = open(folder_.path("shares"), TW_READ | TW_WRITE | TW_CREATE, world_.group());
  ASSERT_NE(file, nullptr);
  for (int round = 0; round < kRounds; ++round) {
    const std::string data = bytes_of(round, world_.rank() * kShare, kShare);
    EXPECT_EQ(tw_file_write_at_all(file, data.data(), data.size(), world_.rank() * kShare), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error();
    expect_content(file, round, kShare * world_.size());
    world_.barrier();
  }
  EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
}

// Records that all write one after the other begin in the page in which the one before has ended.
TEST_F(MpiVisibility, AfterOneSyncOfRecordsThatMeetWithinPages) {
  constexpr std::int64_t kShare = 33'333;
  tw_file* file = open(folder_.path("records"), TW_READ | TW_WRITE | TW_CREATE, world_.group());
  ASSERT_NE(file, nullptr);
  for (std::int64_t round = 0; round < kRounds; ++round) {
    const std::int64_t offset = (round * world_.size() + world_.rank()) * kShare;
    const std::string data = bytes_of(0, offset, kShare);
    EXPECT_EQ(tw_file_write_at_all(file, data.data(), data.size(), offset), TW_OK) << tw_last_error();
  }
  EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error();
  expect_content(file, 0, kRounds * kShare * world_.size());
  EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
}

// The last rank alone makes the file longer.
TEST_F(MpiVisibility, OfTheSizeAfterASync) {
  tw_file* file = open(folder_.path("longer"), TW_READ | TW_WRITE | TW_CREATE, world_.group());
  ASSERT_NE(file, nullptr);
  for (int round = 1; round <= kRounds; ++round) {
    const std::int64_t wanted = round * 70'001;
    const std::string data = bytes_of(0, wanted - 1000, 1000);
    if (world_.rank() == world_.size() - 1) {
      EXPECT_EQ(tw_file_write_at(file, data.data(), data.size(), wanted - 1000), TW_OK) << tw_last_error();
    }
    EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error();
    std::int64_t size = 0;
    EXPECT_EQ(tw_file_size(file, &size), TW_OK) << tw_last_error();
    EXPECT_EQ(size, wanted);
    std::string end(1001, '#');
    std::size_t n = 0;
    EXPECT_EQ(tw_file_read_at(file, end.data(), end.size(), wanted - 1000, &n), TW_OK) << tw_last_error();
    EXPECT_EQ(end.substr(0, n), data);
    world_.barrier();
  }
  EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
}

// Each round another rank replaces the file alone; then all open it.
TEST_F(MpiVisibility, AtTheNextOpen) {
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t bytes = round % 2 == 0 ? 10'000 : 200'000 + round;
    if (world_.rank() == round % world_.size()) {
      const std::string data = bytes_of(round, 0, bytes);
      tw_file* file = open(folder_.path("replaced"), TW_WRITE | TW_CREATE | TW_TRUNCATE, nullptr);
      ASSERT_NE(file, nullptr);
      EXPECT_EQ(tw_file_write_at(file, data.data(), data.size(), 0), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
    }
    world_.barrier();
    tw_file* file = open(folder_.path("replaced"), TW_READ, world_.group());
    ASSERT_NE(file, nullptr);
    expect_content(file, round, bytes);
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  }
}

// Each node has the round before in its caches. While the other ranks write, rank 0 reads the file, so that its node
// caches pages of both rounds.
TEST_F(MpiVisibility, OfFilesThatAreOpenedAloneAfterTheirClose) {
  constexpr std::int64_t kPages = 3, kPage = 4096;  // GlusterFS keeps whole files up to 64 KiB
  constexpr int kFiles = 8;
  const std::int64_t all = kPages * kPage * world_.size();
  const auto path = [&](int number) { return folder_.path("alone" + std::to_string(number)); };
  for (int round = 0; round < kRounds; ++round) {
    for (int number = 0; number < kFiles; ++number) {
      tw_file* file = open(path(number), TW_READ | TW_WRITE | TW_CREATE, world_.group());
      ASSERT_NE(file, nullptr);
      std::string before(static_cast<std::size_t>(all), ' ');
      for (std::int64_t page = 0; page < kPages; ++page) {
        const std::int64_t offset = (page * world_.size() + world_.rank()) * kPage;
        const std::string data = bytes_of(round, offset, kPage);
        EXPECT_EQ(tw_file_write_at(file, data.data(), data.size(), offset), TW_OK) << tw_last_error();
        if (world_.rank() != 0) continue;
        EXPECT_EQ(tw_file_read_at(file, before.data(), before.size(), 0, nullptr), TW_OK) << tw_last_error();
      }
      EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
    }
    if (on_several_nodes()) ::usleep(1'100'000);  // mounts keep sizes and small files for a second
    for (int number = 0; number < kFiles; ++number) {
      tw_file* file = open(path(number), TW_READ, nullptr);
      ASSERT_NE(file, nullptr);
      expect_content(file, round, all);
      EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
    }
    world_.barrier();
  }
}

// A multifile grows session after session; after each all ranks read what all have written.
TEST_F(MpiVisibility, OfEverySessionOfAMultifile) {
  constexpr std::int64_t kShare = 30'000;
  for (const char* physical_files : {"1", "auto"}) {
    const std::string path = folder_.path(std::string("sessions_") + physical_files + ".tw");
    for (int round = 0; round < kRounds; ++round) {
      OpenWith options;
      if (round == 0) options.hints(std::string("physical_files=") + physical_files);
      tw_multifile* file = nullptr;
      ASSERT_EQ(tw_multifile_open(world_.group(), path.c_str(), round == 0 ? TW_CREATE | TW_TRUNCATE : TW_APPEND,
                                  options, &file),
                TW_OK)
          << tw_last_error();
      const std::string data = bytes_of(world_.rank(), round * kShare, kShare);
      EXPECT_EQ(tw_multifile_write(file, data.data(), data.size()), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
      OpenWith reading;
      reading.range(-1, 0, world_.size());
      ASSERT_EQ(tw_multifile_open(world_.group(), path.c_str(), TW_READ, reading, &file), TW_OK) << tw_last_error();
      for (int rank = 0; rank < world_.size(); ++rank) {
        std::string found(static_cast<std::size_t>((round + 1) * kShare + 1), '#');
        std::size_t n = 0;
        EXPECT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK) << tw_last_error();
        EXPECT_EQ(tw_multifile_read(file, found.data(), found.size(), &n), TW_OK) << tw_last_error();
        found.resize(n);
        EXPECT_TRUE(found == bytes_of(rank, 0, (round + 1) * kShare)) << "round " << round << ", rank " << rank;
      }
      EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    }
  }
}

// The first rank writes, and the last one repairs; where locks do not reach its node, that is known before bytes are lost.
class MpiRepair : public MpiVisibility, public testing::WithParamInterface<bool> {
 protected:
  static constexpr std::int64_t kVps[] = {1};
  std::string path_ = folder_.path("repaired");

  tw_status repair(std::int32_t flags) const {
    return GetParam() ? tw_vpfile_repair(path_.c_str(), flags, 0, nullptr, nullptr, nullptr, nullptr, nullptr)
                      : tw_multifile_repair(path_.c_str(), flags, nullptr, nullptr, nullptr, nullptr);
  }
  tw_status verify() const {
    return GetParam() ? tw_vpfile_verify(path_.c_str(), nullptr, nullptr, nullptr, nullptr)
                      : tw_multifile_verify(path_.c_str(), nullptr, nullptr, nullptr, nullptr);
  }
  tw_status open() {
    return GetParam() ? tw_vpfile_open(nullptr, path_.c_str(), TW_CREATE, OpenWith().shape(1, kVps), &vpfile_)
                      : tw_multifile_open(nullptr, path_.c_str(), TW_CREATE, nullptr, &multifile_);
  }
  tw_status write(const std::string& text) {
    const tw_status written = GetParam() ? tw_vpfile_write(vpfile_, 0, text.data(), text.size(), nullptr)
                                         : tw_multifile_write(multifile_, text.data(), text.size());
    if (written != TW_OK) return written;
    return GetParam() ? tw_vpfile_sync_all(vpfile_) : tw_multifile_sync(multifile_);
  }
  tw_status close() { return GetParam() ? tw_vpfile_close(&vpfile_) : tw_multifile_close(&multifile_); }
  // What the last rank was told, on all.
  tw_status told(tw_status status) const {
    int value = status;
    MPI_Bcast(&value, 1, MPI_INT, world_.size() - 1, world_.comm());
    return static_cast<tw_status>(value);
  }

 private:
  tw_vpfile* vpfile_ = nullptr;
  tw_multifile* multifile_ = nullptr;
};

TEST_P(MpiRepair, OfAFileThatIsWrittenFailsOrTheCloseDoes) {
  const bool writes = world_.rank() == 0, repairs = world_.rank() == world_.size() - 1;
  if (writes) {
    EXPECT_EQ(open(), TW_OK) << tw_last_error();
    EXPECT_EQ(write(std::string(5000, 'a')), TW_OK) << tw_last_error();
  }
  world_.barrier();
  EXPECT_EQ(told(repairs ? repair(0) : TW_OK), TW_ERR_UNSAFE) << tw_last_error();
  const tw_status repaired = told(repairs ? repair(TW_REPAIR_FORCE) : TW_OK);
  EXPECT_TRUE(repaired == TW_OK || repaired == TW_ERR_UNSAFE) << repaired << ": " << tw_last_error();
  if (!writes) return;
  const tw_status closed = close();
  EXPECT_EQ(closed, repaired == TW_OK ? TW_ERR_UNSAFE : TW_OK) << tw_last_error();
  EXPECT_EQ(verify(), TW_OK) << tw_last_error();
  RecordProperty("repaired", repaired == TW_OK);
}

INSTANTIATE_TEST_SUITE_P(Files, MpiRepair, testing::Values(false, true),
                         [](const auto& instance) { return instance.param ? "Vpfile" : "Multifile"; });

// Whether a file can be accessed past the page cache is told before it exists.
TEST_F(MpiVisibility, OfDirectIo) {
  const std::string path = folder_.path("direct_" + std::to_string(world_.rank()));
  std::int64_t alignment[2] = {};
  tw_file* file = nullptr;
  for (std::int64_t& found : alignment) {
    tw_storage_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(tw_storage_describe(path.c_str(), &info), TW_OK) << tw_last_error();
    found = info.direct_alignment;
    if (file == nullptr) file = open(path, TW_WRITE | TW_CREATE | TW_DIRECT, nullptr);
  }
  EXPECT_EQ(alignment[0], alignment[1]);
  ASSERT_NE(file, nullptr);
  const std::string data(std::size_t{1} << 20, 'x');
  EXPECT_EQ(tw_file_write_at_all(file, data.data(), data.size(), 0), TW_OK) << tw_last_error();
  const std::string plan = tw_file_last_plan(file);
  EXPECT_NE(plan.find(alignment[0] > 0 ? "past the page cache" : "this file system has no direct I/O"),
            std::string::npos)
      << plan;
  EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
}

}  // namespace
}  // namespace thalweg::test
