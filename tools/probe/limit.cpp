#include "limit.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>

#include "caches.hpp"
#include "posix_file.hpp"
#include "records.hpp"
#include "stopwatch.hpp"

namespace probe {

namespace {

constexpr std::size_t kCall = 4 << 20;

// Calls `move(bytes, offset)` for one piece of the memory after the other.
void in_pieces(std::span<std::byte> memory,
               const std::function<void(std::span<std::byte> bytes, std::int64_t offset)>& move) {
  for (std::size_t at = 0; at < memory.size(); at += kCall)
    move(memory.subspan(at, std::min(kCall, memory.size() - at)), static_cast<std::int64_t>(at));
}

double timed(const Ranks& ranks, const std::function<void()>& act) {
  ranks.start_together();
  const double begin = now();
  act();
  return ranks.most(now() - begin);
}

}  // namespace

void measure_limit(const Options& options, const Ranks& ranks, const Cell& cell, int repetition,
                   const std::string& folder) {
  const bool direct = options.cache == Cache::direct && !lives_in_memory(folder);
  const Block block = block_of(cell.array, cell.grid, ranks.rank());
  const auto bytes = static_cast<std::size_t>(block.bytes());
  const std::string path = folder + "/limit." + std::to_string(ranks.rank());
  const auto record = [&](const char* phase, double seconds) {
    if (!ranks.first() || repetition == 0) return;
    print_record({{"kind", "limit"},
                  {"cell", json_of(cell, ranks.size(), options.cache)},
                  {"phase", phase},
                  {"repetition", repetition},
                  {"seconds", seconds},
                  {"bytes", cell.array.bytes()}});
  };

  const Buffer written(bytes);
  fill(cell.array, block, options.seed, written.span());
  PosixFile made(path, PosixFile::Use::create, direct);
  const auto write = [&](std::span<std::byte> piece, std::int64_t offset) { made.write(piece, offset); };
  in_pieces(written.span(), write);  // from now on the file has its blocks and pages
  if (options.syncs()) made.sync();
  const double write_seconds = timed(ranks, [&] {
    in_pieces(written.span(), write);
    if (options.syncs()) made.sync();
  });
  made.close();
  record("write", write_seconds);

  ranks.meet();
  if (options.drops() && ranks.first_of_node()) (void)drop_pages(folder);
  ranks.meet();
  const Buffer found(bytes);
  std::memset(found.span().data(), 0xFF, found.size());
  PosixFile opened(path, PosixFile::Use::read, direct);
  const double read_seconds = timed(ranks, [&] {
    in_pieces(found.span(), [&](std::span<std::byte> piece, std::int64_t offset) { opened.read(piece, offset); });
  });
  opened.close();
  check(cell.array, block, options.seed, found.span());
  record("read", read_seconds);
  ranks.meet();
  std::filesystem::remove(path);
}

}  // namespace probe
