// Task-local files and sequential streams by system calls.
#include "support/load.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "support/clock.hpp"
#include "support/scratch.hpp"
#include "support/tasks.hpp"

namespace bench {

namespace {

class PlainFile {
 public:
  PlainFile(const std::filesystem::path& path, int flags)
      : name_(path.string()),
        fd_(static_cast<int>(must(open(name_.c_str(), flags, 0666), "cannot open '" + name_ + "'"))) {}
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  ~PlainFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  void write(const std::byte* data, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes;)
      done += static_cast<std::size_t>(must(::write(fd_, data + done, bytes - done), "cannot write '" + name_ + "'"));
  }
  void read(std::byte* data, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes;) {
      const auto got = must(::read(fd_, data + done, bytes - done), "cannot read '" + name_ + "'");
      if (got == 0) give_up("'" + name_ + "' is too short");
      done += static_cast<std::size_t>(got);
    }
  }
  void seek(std::int64_t offset) const { must(lseek(fd_, offset, SEEK_SET), "cannot seek '" + name_ + "'"); }
  void close(bool sync) {
    if (sync) must(fsync(fd_), "cannot sync '" + name_ + "'");
    must(::close(fd_), "cannot close '" + name_ + "'");
    fd_ = -1;
  }

 private:
  std::string name_;
  int fd_;
};

std::filesystem::path task_file(const std::filesystem::path& folder, int task) {
  return folder / ("task-" + std::to_string(task));
}

constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL;

}  // namespace

Load make_load(int tasks, double bytes, std::size_t block_bytes, Content content) {
  Load load;
  load.blocks_per_task = static_cast<std::int64_t>(bytes / tasks / static_cast<double>(block_bytes));
  const std::size_t ring_bytes = std::min(kRingBytes, static_cast<std::size_t>(bytes));
  for (int task = 0; task < tasks; ++task)
    load.streams.emplace_back(static_cast<std::uint64_t>(task) + 1, block_bytes, ring_bytes, content);
  return load;
}

ReadRing::ReadRing(const Load& load)
    : block_bytes_(load.block_bytes()),
      blocks_(std::min(static_cast<std::size_t>(load.blocks_per_task), kRingBytes / block_bytes_)),
      bytes_(blocks_ * block_bytes_) {}

void check_block(const Pattern& stream, std::int64_t i, const std::byte* data, Check check) {
  const auto block = static_cast<std::uint64_t>(i);
  const bool good = check == Check::stamps ? stream.stamped(block, data) : stream.equals(block, data);
  if (!good) give_up("wrong bytes were read in block " + std::to_string(i));
}

double write_task_local(const std::filesystem::path& folder, Load& load) {
  return time_tasks(load.tasks(), [&](const Task& task) {
    Pattern& stream = load.streams[static_cast<std::size_t>(task.rank)];
    PlainFile file(task_file(folder, task.rank), kNew);
    for (std::int64_t i = 0; i < load.blocks_per_task; ++i)
      file.write(stream.block(static_cast<std::uint64_t>(i)), load.block_bytes());
    file.close(load.sync);
  });
}

double write_one_stream(const std::filesystem::path& folder, Load& load) {
  return time_tasks(1, [&](const Task&) {
    PlainFile file(folder / "stream", kNew);
    for (Pattern& stream : load.streams)
      for (std::int64_t i = 0; i < load.blocks_per_task; ++i)
        file.write(stream.block(static_cast<std::uint64_t>(i)), load.block_bytes());
    file.close(load.sync);
  });
}

double read_task_local(const std::filesystem::path& folder, const Load& load, Check check) {
  return read_task_local_shared(folder, load, load.tasks(), check);
}

double read_one_stream(const std::filesystem::path& folder, const Load& load, Check check) {
  ReadRing ring(load);
  return time_tasks(1, [&](const Task&) {
    PlainFile file(folder / "stream", O_RDONLY);
    for (const Pattern& stream : load.streams)
      for (std::int64_t i = 0; i < load.blocks_per_task; ++i) {
        file.read(ring.block(i), load.block_bytes());
        check_block(stream, i, ring.block(i), check);
      }
    file.close(false);
  });
}

double read_task_local_shared(const std::filesystem::path& folder, const Load& load, int readers, Check check) {
  std::vector<ReadRing> rings(static_cast<std::size_t>(readers), ReadRing(load));
  return time_tasks(readers, [&](const Task& task) {
    ReadRing& ring = rings[static_cast<std::size_t>(task.rank)];
    const Share share = share_of(load.blocks_per_task * load.tasks(), task.rank, task.size);
    for (std::int64_t at = share.first; at < share.first + share.count;) {
      const auto owner = static_cast<int>(at / load.blocks_per_task);
      const std::int64_t end = std::min(share.first + share.count, (owner + 1) * load.blocks_per_task);
      PlainFile file(task_file(folder, owner), O_RDONLY);
      const std::int64_t first = at % load.blocks_per_task;
      if (first > 0) file.seek(first * static_cast<std::int64_t>(load.block_bytes()));
      for (std::int64_t i = first; at < end; ++i, ++at) {
        file.read(ring.block(i), load.block_bytes());
        check_block(load.streams[static_cast<std::size_t>(owner)], i, ring.block(i), check);
      }
      file.close(false);
    }
  });
}

double write_direct_stream(const std::filesystem::path& folder, const Load& load) {
  const auto name = (folder / "direct").string();
  const int fd = open(name.c_str(), kNew | O_DIRECT, 0666);
  if (fd < 0) return -1;
  constexpr std::size_t kAlignment = 4096;
  const std::size_t bytes = std::size_t{4} << 20;
  const auto total = static_cast<std::int64_t>(load.bytes());
  const std::unique_ptr<void, decltype(&std::free)> data(std::aligned_alloc(kAlignment, bytes), &std::free);
  std::memset(data.get(), 'd', bytes);
  const double seconds = seconds_of([&] {
    must(fallocate(fd, 0, 0, total), "cannot preallocate '" + name + "'");
    for (std::int64_t at = 0; at < total; at += static_cast<std::int64_t>(bytes))
      must(pwrite(fd, data.get(), bytes, at), "cannot write '" + name + "' directly");
    must(fsync(fd), "cannot sync '" + name + "'");
  });
  close(fd);
  return seconds;
}

double copy_in_memory(Load& load) {
  std::vector<ReadRing> rings(static_cast<std::size_t>(load.tasks()), ReadRing(load));
  return time_tasks(load.tasks(), [&](const Task& task) {
    const auto rank = static_cast<std::size_t>(task.rank);
    for (std::int64_t i = 0; i < load.blocks_per_task; ++i)
      std::memcpy(rings[rank].block(i), load.streams[rank].block(static_cast<std::uint64_t>(i)), load.block_bytes());
  });
}

}  // namespace bench
