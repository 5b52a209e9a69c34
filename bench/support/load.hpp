// A checkpoint-like load: each of n tasks has a stream of equal blocks; and two ways to write it without a library: a
// file per task, and one stream by one task. All calls use blocks of the pattern's size.
#ifndef BENCH_SUPPORT_LOAD_HPP
#define BENCH_SUPPORT_LOAD_HPP

#include <cstdint>
#include <filesystem>
#include <vector>

#include "support/pattern.hpp"

namespace bench {

struct Load {
  std::vector<Pattern> streams;  // one per task
  std::int64_t blocks_per_task = 0;
  bool sync = false;  // the data must reach the device before the close

  int tasks() const { return static_cast<int>(streams.size()); }
  std::size_t block_bytes() const { return streams.front().block_bytes(); }
  double bytes() const { return static_cast<double>(blocks_per_task) * static_cast<double>(block_bytes()) * tasks(); }
};

Load make_load(int tasks, double bytes, std::size_t block_bytes, Content content = Content::random);

// Memory that blocks are read into: a ring as large as a pattern's, similar to arrays of a program.
class ReadRing {
 public:
  explicit ReadRing(const Load& load);
  std::byte* block(std::int64_t i) { return bytes_.data() + static_cast<std::size_t>(i) % blocks_ * block_bytes_; }

 private:
  std::size_t block_bytes_, blocks_;
  std::vector<std::byte> bytes_;
};

// How thoroughly read bytes are verified.
enum class Check { stamps, all_bytes };
// Ends the program unless `data` is block i of `stream`.
void check_block(const Pattern& stream, std::int64_t i, const std::byte* data, Check check);

// Seconds from open to close, for all tasks. Files are new.
double write_task_local(const std::filesystem::path& folder, Load& load);
double write_one_stream(const std::filesystem::path& folder, Load& load);
double read_task_local(const std::filesystem::path& folder, const Load& load, Check check);
double read_one_stream(const std::filesystem::path& folder, const Load& load, Check check);

// `readers` tasks share all blocks of all task-local files evenly.
double read_task_local_shared(const std::filesystem::path& folder, const Load& load, int readers, Check check);

// One stream with direct I/O: the speed of the device. Negative when the file system has no O_DIRECT.
double write_direct_stream(const std::filesystem::path& folder, const Load& load);
// Copies the data from memory to memory, with one task per stream.
double copy_in_memory(Load& load);

}  // namespace bench

#endif
