// (f) Two ranks of two threads each: the four blocks of coll_perf, one per thread. MPI has no collectives of threads,
// so a rank moves the blocks of both threads in one call, through datatypes that combine them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collective/parts.hpp"
#include "collective/team.hpp"

namespace bench {

namespace {

using Accesses = std::array<Access, kThreads>;

// One file, opened by both threads; an access covers the rank, and each thread moves its own part.
class HybridFile : public SharedFile {
 public:
  HybridFile(const Groups& groups, const Accesses& accesses, const std::string& path) : accesses_(accesses) {
    on_both([&](std::size_t t) { files_.at(t) = ours(groups.at(t))(path, Layout()); });
  }
  ~HybridFile() override {
    on_both([&](std::size_t t) { files_.at(t).reset(); });
  }
  HybridFile(const HybridFile&) = delete;
  HybridFile& operator=(const HybridFile&) = delete;
  void write(const Access&) override {
    on_both([&](std::size_t t) { files_.at(t)->write(accesses_.at(t)); });
  }
  void read(const Access&) override {
    on_both([&](std::size_t t) { files_.at(t)->read(accesses_.at(t)); });
  }
  std::unique_ptr<Pending> start_write(const Access&) override { give_up("no part starts hybrid writes"); }
  std::unique_ptr<Pending> start_read(const Access&) override { give_up("no part starts hybrid reads"); }

 private:
  const Accesses& accesses_;
  std::array<std::unique_ptr<SharedFile>, kThreads> files_;
};

Datatype indexed(const std::vector<int>& words, const std::vector<MPI_Aint>& places, std::int64_t length) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  must_mpi(MPI_Type_create_hindexed(static_cast<int>(words.size()), words.data(), places.data(), MPI_INT, &type),
           "MPI_Type_create_hindexed");
  if (length == 0) return Datatype(type);
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  must_mpi(MPI_Type_create_resized(type, 0, length, &whole), "MPI_Type_create_resized");
  MPI_Type_free(&type);
  return Datatype(whole);
}

// The data of a rank: pieces of both threads in file order.
struct OfRank {
  Layout layout;  // only its view is used
  Datatype memory;
  Access access;

  OfRank(const Accesses& accesses, std::int64_t file_bytes) {
    for (const Access& one : accesses) {
      access.extents.insert(access.extents.end(), one.extents.begin(), one.extents.end());
      access.bytes += one.bytes;
    }
    std::sort(access.extents.begin(), access.extents.end(),
              [](const tw_extent& a, const tw_extent& b) { return a.offset < b.offset; });
    std::vector<int> words;
    std::vector<MPI_Aint> offsets, addresses;
    for (const tw_extent& extent : access.extents) {
      words.push_back(static_cast<int>(extent.length / kWord));
      offsets.push_back(extent.offset);
      addresses.push_back(0);
      must_mpi(MPI_Get_address(extent.address, &addresses.back()), "MPI_Get_address");
    }
    layout.view = indexed(words, offsets, file_bytes);
    memory = indexed(words, addresses, 0);
    access.memory_type = memory.get();
  }
};

}  // namespace

void bench_hybrid(Bench& bench) {
  if (bench.ranks.size() != 2) return;
  const int n = pick(bench.effort, 16, 256, 512);
  const int first = bench.ranks.rank() * kThreads;
  const std::array<Layout, kThreads> layouts = {block_of_cube(n, first, 4), block_of_cube(n, first + 1, 4)};
  std::array<Memory, kThreads> memories = {Memory(layouts[0].bytes), Memory(layouts[1].bytes)};
  const Accesses accesses = {whole_of(layouts[0], memories[0]), whole_of(layouts[1], memories[1])};
  const OfRank whole(accesses, layouts[0].file_bytes);
  const std::vector<Block> shares = {{layouts[0], memories[0]}, {layouts[1], memories[1]}};
  const Team team(bench.group);

  Together together(bench.ranks, bench.named(fmt::format("2 ranks x 2 threads, {}^3", n)),
                    {static_cast<double>(layouts[0].file_bytes), "byte"}, kWriteAndRead);
  const auto add = [&](const char* name, const OpenFile& open) {
    together.add(name, write_and_read(bench, name, open, shares, whole.access));
  };
  add("ours, all threads", [&](const std::string& path, const Layout&) {
    return std::make_unique<HybridFile>(team.groups(), accesses, path);
  });
  add("ours, ranks only", ours(bench.group));
  const OpenFile mpi = mpi_collective();
  add("MPI_File_write_all", [&](const std::string& path, const Layout&) { return mpi(path, whole.layout); });
  together.run(bench.plan(together.variants()));
  bench.say(together);
  for (const char* phase : {"write", "read"}) {
    bench.ask(together, "ours, all threads", "MPI_File_write_all", phase, 0);
    bench.ask(together, "ours, all threads", "ours, ranks only", phase, 0);
  }
}

}  // namespace bench
