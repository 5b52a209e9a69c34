// (h) The restart file of a particle code, 56 bytes per particle: rank 0 gathers through a buffer and writes, round after
// round, as a program does that predates parallel I/O; or each rank writes its own particles by one call, into a logical
// file of a multifile, a shared file, or a file of its own. A time runs from open to close.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thalweg/thalweg.hpp>

#include "collective/parts.hpp"

namespace bench {

namespace {

constexpr std::int64_t kParticleBytes = 56;
constexpr std::int64_t kGatherBytes = std::int64_t{16} << 20;  // memory of rank 0 for the particles of others
constexpr int kTag = 1;

// Moves the bytes of `memory` to or from files at `path`. Collective.
struct Way {
  std::string name;
  void (*move)(const Bench& bench, const std::string& path, Memory& memory, bool writes);
  bool one_file;  // one plain file in rank order, which can be verified as such
};

int open_plain(const std::string& path, bool writes) {
  const int flags = writes ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY;
  return static_cast<int>(must(::open(path.c_str(), flags | O_CLOEXEC, 0666), "cannot open '" + path + "'"));
}

void move_plain(int fd, char* data, std::int64_t bytes, std::int64_t offset, bool writes) {
  while (bytes > 0) {
    const std::int64_t done = must(writes ? ::pwrite(fd, data, static_cast<std::size_t>(bytes), offset)
                                          : ::pread(fd, data, static_cast<std::size_t>(bytes), offset),
                                   "cannot move particles");
    if (done == 0) give_up("a file of particles is too short");
    data += done;
    offset += done;
    bytes -= done;
  }
}

// Waiting ranks sleep, as everywhere in this benchmark.
void finish(MPI_Request request) {
  for (int done = 0; done == 0;) {
    must_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) usleep(50);
  }
}

void pass(char* data, std::int64_t bytes, int peer, bool sends) {
  MPI_Request request = MPI_REQUEST_NULL;
  const auto n = static_cast<int>(bytes);
  must_mpi(sends ? MPI_Isend(data, n, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &request)
                 : MPI_Irecv(data, n, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &request),
           "MPI_Isend or MPI_Irecv");
  finish(request);
}

// All ranks have equally many particles.
void gather_and_write(const Bench& bench, const std::string& path, Memory& memory, bool writes) {
  const Ranks& ranks = bench.ranks;
  const std::int64_t round = std::min(memory.bytes(), kGatherBytes);
  if (!ranks.first()) {
    for (std::int64_t at = 0; at < memory.bytes(); at += round)
      pass(memory.data() + at, std::min(round, memory.bytes() - at), 0, writes);
    return;
  }
  Memory buffer(round);
  const int fd = open_plain(path, writes);
  move_plain(fd, memory.data(), memory.bytes(), 0, writes);
  for (int rank = 1; rank < ranks.size(); ++rank) {
    for (std::int64_t at = 0; at < memory.bytes(); at += round) {
      const std::int64_t n = std::min(round, memory.bytes() - at), offset = rank * memory.bytes() + at;
      if (!writes) move_plain(fd, buffer.data(), n, offset, false);
      pass(buffer.data(), n, rank, !writes);
      if (writes) move_plain(fd, buffer.data(), n, offset, true);
    }
  }
  ::close(fd);
}

void multifile(const Bench& bench, const std::string& path, Memory& memory, bool writes) {
  tw_multifile* file = nullptr;
  must_tw(tw_multifile_open(bench.group, path.c_str(), writes ? TW_CREATE | TW_TRUNCATE : TW_READ,
                            thalweg::Options().hint("physical_files", "1").get(), &file),
          "tw_multifile_open");
  const auto bytes = static_cast<std::size_t>(memory.bytes());
  std::size_t moved = bytes;
  must_tw(
      writes ? tw_multifile_write(file, memory.data(), bytes) : tw_multifile_read(file, memory.data(), bytes, &moved),
      "tw_multifile_write or tw_multifile_read");
  if (moved != bytes) give_up("a logical file of particles is too short");
  must_tw(tw_multifile_close(&file), "tw_multifile_close");
}

void shared_file(const Bench& bench, const std::string& path, Memory& memory, bool writes) {
  tw_file* file = nullptr;
  must_tw(
      tw_file_open(bench.group, path.c_str(), writes ? TW_WRITE | TW_CREATE | TW_TRUNCATE : TW_READ, nullptr, &file),
      "tw_file_open");
  const std::int64_t offset = bench.ranks.rank() * memory.bytes();
  must_tw(writes ? tw_file_write_at_all(file, memory.data(), memory.bytes(), offset)
                 : tw_file_read_at_all(file, memory.data(), memory.bytes(), offset, nullptr),
          "tw_file_write_at_all or tw_file_read_at_all");
  must_tw(tw_file_close(&file), "tw_file_close");
}

void mpi_file(const Bench& bench, const std::string& path, Memory& memory, bool writes) {
  const auto file = mpi_collective()(path, Layout());
  Access all;
  all.memory = memory.data();
  all.bytes = memory.bytes();
  all.skipped = bench.ranks.rank() * memory.bytes();
  if (writes) {
    file->write(all);
  } else {
    file->read(all);
  }
}

void file_per_rank(const Bench& bench, const std::string& path, Memory& memory, bool writes) {
  const int fd = open_plain(fmt::format("{}.{}", path, bench.ranks.rank()), writes);
  move_plain(fd, memory.data(), memory.bytes(), 0, writes);
  ::close(fd);
}

const std::vector<Way>& ways() {
  static const std::vector<Way> all = {{"gather and write", gather_and_write, true},
                                       {"ours, multifile", multifile, false},
                                       {"ours, shared file", shared_file, true},
                                       {"MPI_File_write_at_all", mpi_file, true},
                                       {"a file per rank", file_per_rank, false}};
  return all;
}

std::vector<double> write_and_read(Bench& bench, const Way& way, const Layout& layout, Memory& memory, int repetition) {
  const std::string path = bench.storage.fresh_path(static_cast<double>(layout.file_bytes));
  const std::uint32_t seed = next_seed();
  memory.fill(layout, seed);
  const double written = bench.ranks.timed([&] { way.move(bench, path, memory, true); });
  if (way.one_file)
    must_be_right(wrong_on_all(bench, path, layout.file_bytes, seed, repetition), bench.named(way.name));
  memory.clear();
  const double was_read = bench.ranks.timed([&] { way.move(bench, path, memory, false); });
  must_be_right(memory.wrong(layout, seed), bench.named(way.name));
  bench.storage.drop(path);
  return {written, was_read};
}

void compare(Bench& bench, std::int64_t particles) {
  const std::int64_t each = particles / bench.ranks.size() * kParticleBytes;
  const Layout layout = contiguous(each, 1, bench.ranks.rank(), bench.ranks.size());
  Memory memory(each);
  Together together(bench.ranks, bench.named(fmt::format("restart of {} particles", particles)),
                    {static_cast<double>(layout.file_bytes), "byte"}, {"write", "read"});
  for (const Way& way : ways())
    together.add(way.name, [&](int repetition) { return write_and_read(bench, way, layout, memory, repetition); });
  together.add("limit: one stream", [&, stream = one_stream(bench, {layout, memory})](int repetition) {
    const std::vector<double> seconds = stream(repetition);
    return std::vector<double>{seconds.front(), seconds.back()};
  });
  together.run(bench.plan(together.variants()));
  bench.say(together);
  for (const char* phase : {"write", "read"}) {
    for (const char* peer : {"gather and write", "a file per rank", "MPI_File_write_at_all"})
      bench.ask(together, "ours, multifile", peer, phase, bench.ranks.nodes() > 1 ? 1 : 0);
  }
}

}  // namespace

void bench_particles(Bench& bench) {
  const auto sizes =
      pick<std::vector<std::int64_t>>(bench.effort, {1000}, {100'000, 1'000'000}, {100'000, 1'000'000, 10'000'000});
  for (const std::int64_t particles : sizes) compare(bench, particles);
}

}  // namespace bench
