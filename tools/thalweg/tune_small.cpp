// Costs of system calls and copies, and of files: making them, and the speed of all threads that write to one, to few, or to
// one each.
#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <filesystem>
#include <set>

#include "common.hpp"
#include "tune_measure.hpp"

namespace tool {
namespace {

constexpr int kCalls = 400;  // as short as a time slice of a busy core
constexpr int kGatheredCalls = 40;
constexpr int kPieces = 256;
constexpr size_t kPieceBytes = 64;
constexpr size_t kPieceDistance = 320;  // in memory
constexpr int64_t kCallDistance = 4096;

// Calls of 64 bytes, each in another page.
void small_calls(const Workbench& bench, bool writes) {
  const std::span<std::byte> memory = (writes ? bench.source : bench.target).span();
  for (int64_t i = 0; i < kCalls; ++i) {
    const int64_t at = i * kCallDistance % std::ssize(memory);
    plain_move(writes, bench.cached, memory, {at, at + int64_t{kPieceBytes}});
  }
}

// Calls of 256 pieces scattered in memory, or of one piece of equal size.
void gathered_calls(const Workbench& bench, bool pieces) {
  std::vector<iovec> parts(pieces ? kPieces : 1);
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = {bench.source.span().data() + i * kPieceDistance, pieces ? kPieceBytes : kPieces * kPieceBytes};
  for (int i = 0; i < kGatheredCalls; ++i) {
    if (pwritev(bench.cached.fd(), parts.data(), static_cast<int>(parts.size()), 0) < 0)
      fail_with_errno("write", bench.cached.path());
  }
}

// Copies memory into staging, in blocks.
void large_copies(std::span<const std::byte> memory, std::span<std::byte> staging) {
  for (; memory.size() >= staging.size(); memory = memory.subspan(staging.size()))
    std::memcpy(staging.data(), memory.data(), staging.size());
}

// Copies the pieces of gathered_calls() into staging. Lengths alternate, so that the compiler and processor cannot
// assume a fixed length.
void small_copies(std::span<const std::byte> memory, std::span<std::byte> staging) {
  size_t longer = 0;
  for (int i = 0; i < kGatheredCalls; ++i) {
    std::byte* to = staging.data();
    for (size_t piece = 0; piece < kPieces; ++piece) {
      const size_t bytes = kPieceBytes - 16 + longer;
      longer = 32 - longer;
      std::memcpy(to, memory.data() + piece * kPieceDistance, bytes);
      to += bytes;
    }
  }
}

constexpr int kFiles = 500;
constexpr int64_t kAccessBytes = 8 * kMiB;

// In a new folder that stays until all are measured: ext4 searches long near recently freed inodes.
double make_files(const Workbench& bench, int& folders) {
  const std::string folder = fmt::format("{}/{}", bench.folder.path, folders++);
  std::filesystem::create_directory(folder);
  Lap lap;
  for (int i = 0; i < kFiles; ++i) const PosixFile made(fmt::format("{}/{:06d}", folder, i), PosixFile::Use::create);
  return lap();
}

// Threads that write their shares of some files, all at once.
double write_files(const Workbench& bench, int64_t tasks, const std::vector<PosixFile>& files, int64_t share) {
  return together(tasks, [&](int64_t rank, const auto& /*begin*/) {
    const int64_t begin = rank / std::ssize(files) * share;
    const PosixFile& file = files[static_cast<size_t>(rank) % files.size()];
    plain_move(true, file, bench.source.span(), {begin, begin + share});
  });
}

}  // namespace

void measure_small(Workbench& bench) {
  const Buffer staging(kMiB);
  bench.plain_run(true, true, 1);
  // A function that returns the nanoseconds of one of `n` parts of the work.
  const auto add = [&](double n, const std::function<void()>& work) {
    const Timed& run = bench.add("", [work] {
      Lap lap;
      return work(), lap();
    });
    return [&run, n] { return run.median() * 1e9 / n; };
  };
  const auto writes = add(kCalls, [&] { small_calls(bench, true); });
  const auto reads = add(kCalls, [&] { small_calls(bench, false); });
  const auto pieces = add(kGatheredCalls, [&] { gathered_calls(bench, true); });
  const auto one_piece = add(kGatheredCalls, [&] { gathered_calls(bench, false); });
  const auto copied_byte =
      add(static_cast<double>(bench.source.span().size()), [&] { large_copies(bench.source.span(), staging.span()); });
  const auto copied_piece = add(double{kGatheredCalls} * kPieces, [&] {
    small_copies(bench.source.span(), staging.span());  // in a core's cache, where bytes cost almost nothing
  });
  bench.take_turns(5);  // short runs
  bench.found.entry["buffered"] = {{"call_ns", rounded((writes() + reads()) / 2)},
                                   {"piece_ns", rounded(std::max(0.0, pieces() - one_piece()) / (kPieces - 1))},
                                   {"copy_byte_ns", rounded(copied_byte())},
                                   {"copy_piece_ns", rounded(copied_piece())}};
}

void measure_files(Workbench& bench) {
  int folders = 0;
  const Timed& making = bench.add("", [&] { return make_files(bench, folders); });
  bench.take_turns();
  // The minimum: recent deletions on the file system slow the others down.
  bench.found.entry["create_ns"] = rounded(std::ranges::min(making.seconds) * 1e9 / kFiles);

  const int64_t tasks = std::min<int64_t>(bench.options.tasks, 8);
  const int64_t share = std::max(kAccessBytes / tasks / kMiB * kMiB, kMiB);
  const std::set<int64_t> numbers = {1, std::min(tasks, kFilesPerNode), tasks};
  std::deque<std::vector<PosixFile>> all;
  std::vector<const Timed*> runs;
  for (const int64_t n : numbers) {
    std::vector<PosixFile>& files = all.emplace_back();
    for (int64_t i = 0; i < n; ++i)
      files.emplace_back(fmt::format("{}/{}of{}", bench.folder.path, i, n), PosixFile::Use::create);
    const auto write = [&bench, &files, tasks, share] { return write_files(bench, tasks, files, share); };
    write();  // allocates pages
    runs.push_back(&bench.add(fmt::format("write, {} to {}", count_text(tasks, "thread"), count_text(n, "file")), write,
                              tasks * share));
  }
  bench.take_turns();
  double best = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const double speed = 1 / runs[i]->median();
    if (speed < 1.2 * best) continue;  // more files only where they are clearly faster
    bench.found.entry["physical_files"] = all[i].size();
    best = speed;
  }
}

}  // namespace tool
