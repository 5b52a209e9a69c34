// Two-phase accesses of real processes whose memory the kernel makes inaccessible to aggregators, or partly so.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "os/node_id.hpp"
#include "os/peer_memory.hpp"
#include "support/engine/accesses.hpp"
#include "support/files/open_options.hpp"
#include "support/groups/process_mpi.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

constexpr std::int64_t kPiece = 3000;
constexpr std::int64_t kPieces = 200;
constexpr const char* kHints = "method=aggregate,aggregator_bytes=256KiB";

// Number of copies between processes that succeed; later ones fail.
int good_copies = 0;
std::atomic<int> foreign_copies{0};
PeerCopyCall real_copy = nullptr;

Status copy_or_fail(Direction direction, std::int64_t process, std::span<iovec> here, std::span<iovec> there) {
  if (process == ::getpid() || ++foreign_copies <= good_copies) return real_copy(direction, process, here, there);
  return Status::failed_call(Code::io_error, EPERM, "the memory of another process cannot be reached");
}

char byte_of(std::int64_t task, std::int64_t at) { return static_cast<char>('a' + (task * 5 + at % 1009) % 26); }

class MpiTwoPhase : public testing::Test {
 protected:
  void SetUp() override {
    real_copy = peer_copy_call();
    peer_copy_call() = copy_or_fail;
    good_copies = 1 << 30;
  }
  void TearDown() override { peer_copy_call() = real_copy; }

  tw_file* open() const {
    OpenWith options;
    options.hints(kHints);
    tw_file* file = nullptr;
    EXPECT_EQ(tw_file_open(world_.group(), folder_.path("f").c_str(), TW_READ | TW_WRITE | TW_CREATE, options, &file),
              TW_OK)
        << tw_last_error();
    return file;
  }

  // All ranks write interleaved and read back; after `copies` copies between processes all further ones fail.
  void write_and_read(int copies) {
    const std::int64_t task = world_.rank();
    std::string data(static_cast<std::size_t>(kPiece * kPieces), ' ');
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = byte_of(task, static_cast<std::int64_t>(i));
    const std::string before = data;
    std::vector<tw_extent> list;
    for (std::int64_t i = 0; i < kPieces; ++i)
      list.push_back({data.data() + i * kPiece, kPiece, (i * world_.size() + task) * (kPiece + 11)});
    tw_file* file = open();
    foreign_copies = 0;
    good_copies = copies;
    EXPECT_EQ(write_list_all(file, list.data(), kPieces), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error();
    if (copies == 0 && world_.rank() == 0 && world_.size() > 1 && !on_several_nodes()) {
      EXPECT_GT(foreign_copies, 0) << "nothing was to be fetched";
    }
    std::fill(data.begin(), data.end(), '#');
    foreign_copies = 0;
    EXPECT_EQ(read_list_all(file, list.data(), kPieces, nullptr), TW_OK) << tw_last_error();
    EXPECT_TRUE(data == before) << copies;
    for (std::int64_t i = 0; i < kPieces; ++i)
      EXPECT_EQ(
          tw_file_read_at(file, data.data() + i * kPiece, kPiece, list[static_cast<std::size_t>(i)].offset, nullptr),
          TW_OK);
    EXPECT_TRUE(data == before) << copies;
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
};

bool can_copy_here() {
  char from = 'x';
  char to = 0;
  iovec local{&to, 1};
  iovec remote{&from, 1};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == 1;
}

TEST_F(MpiTwoPhase, GoesOnByMessagesWhenMemoryIsOutOfReach) {
  if (!can_copy_here()) GTEST_SKIP() << "this kernel keeps the memory of others to itself";
  for (const int copies : {0, 1, 2, 7, 30}) write_and_read(copies);
}

// Kernel pages mapped in every process: the processor can read them, process_vm_readv cannot.
struct Pages {
  char* memory = nullptr;
  std::int64_t bytes = 0;
};

Pages pages_of_the_kernel() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (line.find("[vvar]") == std::string::npos) continue;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2) continue;
    char byte = 0;
    iovec local{&byte, 1};
    iovec remote{reinterpret_cast<void*>(begin), 1};
    if (::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == 1) return {};
    return {reinterpret_cast<char*>(begin), 4096};
  }
  return {};
}

TEST_F(MpiTwoPhase, WritesMemoryThatOnlyItsOwnerCanRead) {
  const Pages pages = pages_of_the_kernel();
  const int mine = pages.memory != nullptr ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, world_.comm());
  if (all == 0) GTEST_SKIP() << "there is no such memory here";
  const std::int64_t task = world_.rank();
  std::string data(static_cast<std::size_t>(kPiece), 'd');
  const std::int64_t share = kPiece + pages.bytes;
  tw_extent list[] = {{data.data(), kPiece, task * share}, {pages.memory, pages.bytes, task * share + kPiece}};
  tw_file* file = open();

  EXPECT_EQ(write_list_all(file, list, 2), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error();

  std::string back(static_cast<std::size_t>(kPiece), '#');
  const std::int64_t other = (task + 1) % world_.size();
  std::size_t n = 0;
  EXPECT_EQ(tw_file_read_at_all(file, back.data(), kPiece, other * share, &n), TW_OK) << tw_last_error();
  EXPECT_EQ(n, kPiece);
  EXPECT_TRUE(back == data);
  std::int64_t size = 0;
  EXPECT_EQ(tw_file_size(file, &size), TW_OK);
  EXPECT_EQ(size, world_.size() * share);
  EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
}

// Treats ranks of this machine as ranks on several nodes: inter-node data goes by messages, with or without relays.
enum class Nodes { pairs, in_turn, one_apart };

std::int64_t rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

class MpiNodes : public testing::TestWithParam<Nodes> {
 protected:
  void SetUp() override {
    if (on_several_nodes()) GTEST_SKIP() << "nodes that see each other's writes at once are pretended";
  }
  MpiNodes() : real_(node_id_call()) {
    if (GetParam() == Nodes::pairs) node_id_call() = [] { return rank_of_world() / 2; };
    if (GetParam() == Nodes::in_turn) node_id_call() = [] { return rank_of_world() % 2; };
    if (GetParam() == Nodes::one_apart) node_id_call() = []() -> std::int64_t { return rank_of_world() == 1 ? 1 : 0; };
    world_.emplace(MPI_COMM_WORLD);
    folder_.emplace(*world_);
  }
  ~MpiNodes() override {
    folder_.reset();
    world_.reset();
    node_id_call() = real_;
  }

  static void write_and_read(tw_group* group, const std::string& path, const std::string& hints, std::int64_t piece) {
    const std::int64_t task = tw_group_rank(group);
    const std::int64_t tasks = tw_group_size(group);
    OpenWith options;
    options.hints(hints.c_str());
    tw_file* file = nullptr;
    ASSERT_EQ(tw_file_open(group, path.c_str(), TW_READ | TW_WRITE | TW_CREATE, options, &file), TW_OK)
        << tw_last_error();
    std::string data(static_cast<std::size_t>(piece * kPieces), ' ');
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = byte_of(task, static_cast<std::int64_t>(i));
    const std::string before = data;
    std::vector<tw_extent> list;
    for (std::int64_t i = 0; i < kPieces; ++i)
      list.push_back({data.data() + i * piece, piece, (i * tasks + task) * (piece + 3)});
    EXPECT_EQ(write_list_all(file, list.data(), kPieces), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error();
    std::fill(data.begin(), data.end(), '#');
    EXPECT_EQ(read_list_all(file, list.data(), kPieces, nullptr), TW_OK) << tw_last_error();
    EXPECT_TRUE(data == before) << hints;
    std::string back(static_cast<std::size_t>(piece), '#');
    for (std::int64_t i = 0; i < kPieces; ++i) {
      const tw_extent& extent = list[static_cast<std::size_t>(i)];
      EXPECT_EQ(tw_file_read_at(file, back.data(), piece, extent.offset, nullptr), TW_OK);
      EXPECT_EQ(back, before.substr(static_cast<std::size_t>(i * piece), static_cast<std::size_t>(piece)));
    }
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  }

  NodeIdCall real_;
  std::optional<Comm> world_;
  std::optional<SharedFolder> folder_;
};

TEST_P(MpiNodes, SendEachOtherWhatBelongsElsewhere) {
  for (const char* node_relay : {"auto", "off", "on"}) {
    for (const int aggregators : {1, 2, 5}) {
      const std::string hints = std::string("method=aggregate,aggregator_bytes=256KiB,node_relay=") + node_relay +
                                ",aggregators=" + std::to_string(aggregators);
      for (const std::int64_t piece : {10, 3000}) write_and_read(world_->group(), folder_->path("f"), hints, piece);
    }
  }
}

TEST_P(MpiNodes, AndTheirThreads) {
  on_threads_of_ranks(*world_, 2, [&](tw_group* group) {
    write_and_read(group, folder_->path("t"), "method=aggregate,aggregator_bytes=256KiB,node_relay=on", 100);
  });
}

std::string name_of(const testing::TestParamInfo<Nodes>& layout) {
  const char* const names[] = {"Pairs", "InTurn", "OneApart"};
  return names[static_cast<int>(layout.param)];
}

INSTANTIATE_TEST_SUITE_P(Layouts, MpiNodes, testing::Values(Nodes::pairs, Nodes::in_turn, Nodes::one_apart), name_of);

}  // namespace
}  // namespace thalweg::test
