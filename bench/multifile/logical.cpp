// Writes and reads multifiles through the public interface.
#include "multifile/logical.hpp"

#include <algorithm>

#include "support/clock.hpp"
#include "support/scratch.hpp"
#include "support/tasks.hpp"

namespace bench {

namespace {

struct Reading {
  const Load& load;
  ReadRing& ring;
  Check check;
};

void read_blocks(thalweg::Multifile& file, Share share, const Reading& reading) {
  const Load& load = reading.load;
  ReadRing& ring = reading.ring;
  for (std::int64_t at = share.first; at < share.first + share.count;) {
    const std::int64_t owner = at / load.blocks_per_task;
    const std::int64_t end = std::min(share.first + share.count, (owner + 1) * load.blocks_per_task);
    const std::int64_t first = at % load.blocks_per_task;
    file.seek_to(owner, first * static_cast<std::int64_t>(load.block_bytes()));
    for (std::int64_t i = first; at < end; ++i, ++at) {
      if (file.read(ring.block(i), load.block_bytes()) != load.block_bytes()) give_up("a logical file is too short");
      check_block(load.streams[static_cast<std::size_t>(owner)], i, ring.block(i), reading.check);
    }
  }
}

// Writes the logical files first .. first+count-1.
void write_small(thalweg::Multifile& file, Share share, Pattern& pattern) {
  tw_multifile* handle = file.get();
  for (std::int64_t rank = share.first; rank < share.first + share.count; ++rank) {
    thalweg::check(tw_multifile_seek_to(handle, rank, 0));
    thalweg::check(tw_multifile_write(handle, pattern.block(static_cast<std::uint64_t>(rank)), pattern.block_bytes()));
  }
}

}  // namespace

double write_multifile(const std::filesystem::path& folder, Load& load, const thalweg::Options& config) {
  return time_tasks(load.tasks(), [&](const Task& task) {
    Pattern& stream = load.streams[static_cast<std::size_t>(task.rank)];
    thalweg::Multifile file(task.group, multifile_in(folder), TW_CREATE | TW_TRUNCATE, config);
    for (std::int64_t i = 0; i < load.blocks_per_task; ++i)
      file.write(stream.block(static_cast<std::uint64_t>(i)), load.block_bytes());
    if (load.sync) file.sync();
    file.close();
  });
}

double read_multifile(const std::filesystem::path& folder, const Load& load, Check check) {
  return read_multifile_shared(folder, load, load.tasks(), check);
}

double read_multifile_shared(const std::filesystem::path& folder, const Load& load, int readers, Check check) {
  std::vector<ReadRing> rings(static_cast<std::size_t>(readers), ReadRing(load));
  return time_tasks(readers, [&](const Task& task) {
    const Share share = share_of(load.blocks_per_task * load.tasks(), task.rank, task.size);
    const std::int64_t first = share.first / load.blocks_per_task;
    const std::int64_t last = (share.first + share.count + load.blocks_per_task - 1) / load.blocks_per_task;
    thalweg::Options config;
    config.range(-1, first, std::max<std::int64_t>(last - first, 0));
    thalweg::Multifile file(task.group, multifile_in(folder), TW_READ, config);
    read_blocks(file, share, {load, rings[static_cast<std::size_t>(task.rank)], check});
    file.close();
  });
}

std::string strategy_in(const std::filesystem::path& folder, int tasks) {
  std::string strategy;
  time_tasks(tasks, [&](const Task& task) {
    thalweg::Multifile file(task.group, multifile_in(folder), TW_CREATE | TW_TRUNCATE);
    if (task.rank == 0) strategy = file.strategy();
    file.close();
  });
  return strategy;
}

double create_logical(const std::filesystem::path& folder, std::int64_t files, int tasks,
                      std::vector<Pattern>& contents) {
  if (tasks == 0)
    return seconds_of([&] {
      thalweg::Multifile file(multifile_in(folder), TW_CREATE | TW_TRUNCATE, thalweg::Options().range(files, 0, files));
      if (!contents.empty()) write_small(file, {0, files}, contents.front());
      file.close();
    });
  return time_tasks(tasks, [&](const Task& task) {
    const Share share = share_of(files, task.rank, task.size);
    thalweg::Multifile file(task.group, multifile_in(folder), TW_CREATE | TW_TRUNCATE,
                            thalweg::Options().range(files, share.first, share.count));
    if (!contents.empty()) write_small(file, share, contents[static_cast<std::size_t>(task.rank)]);
    file.close();
  });
}

}  // namespace bench
