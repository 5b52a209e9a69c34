#include "omp_file/disk_limit.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "support/clock.hpp"
#include "support/fio.hpp"

namespace bench {

namespace {

constexpr std::size_t kCall = std::size_t{1} << 20;
constexpr std::size_t kPage = 4096;

struct Free {
  void operator()(char* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<char, Free>;

double seconds_of_loop(const std::filesystem::path& path, int threads, std::size_t each) {
  const int fd = static_cast<int>(
      must(::open(path.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0666), "open " + path.string()));
  static_cast<void>(::fallocate(fd, 0, 0, static_cast<off_t>(each * static_cast<std::size_t>(threads))));
  std::vector<Memory> blocks(static_cast<std::size_t>(threads));
  for (Memory& block : blocks) {
    block.reset(static_cast<char*>(std::aligned_alloc(kPage, kCall)));
    if (block == nullptr) give_up("no memory for the limit of the disk");
    std::memset(block.get(), 'd', kCall);
  }
  const double seconds = seconds_of([&] {
#pragma omp parallel num_threads(threads)
    {
      const auto t = static_cast<std::size_t>(omp_get_thread_num());
      for (std::size_t at = 0; at < each; at += kCall)
        must(::pwrite(fd, blocks[t].get(), kCall, static_cast<off_t>(t * each + at)), "pwrite");
    }
    must(::fdatasync(fd), "fdatasync");
  });
  ::close(fd);
  return seconds;
}

}  // namespace

DiskLimit measure_disk(Scratch& scratch, int threads, std::size_t bytes) {
  const std::size_t each = std::max(bytes / static_cast<std::size_t>(threads) / kCall, std::size_t{1}) * kCall;
  DiskLimit limit{"fio", 0};
  for (int i = 0; i < 3; ++i) {
    scratch.settle();
    const auto folder = scratch.fresh();
    std::optional<double> speed;
    if (limit.name == "fio") speed = ask_fio(folder / "fio", {threads, each, kCall, 1});
    if (!speed) {
      limit.name = "O_DIRECT loop (no fio)";
      speed = static_cast<double>(each) * threads / seconds_of_loop(folder / "loop", threads, each);
    }
    limit.bytes_per_second = std::max(limit.bytes_per_second, *speed);
    scratch.drop_bytes(folder);
  }
  return limit;
}

}  // namespace bench
