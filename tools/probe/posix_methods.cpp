// Method 1, in which one rank holds the whole array, and the choice among methods 1 to 3.
//
// The blocks are gathered packed, as in the memory of their ranks; rank 0 moves them to their places and writes one
// stream. It needs memory for the array twice, the known cost of the method.
#include <algorithm>
#include <climits>
#include <cstring>

#include "file_per_task.hpp"
#include "method.hpp"
#include "posix_file.hpp"
#include "stopwatch.hpp"

namespace probe {

namespace {

std::string file_of(const std::string& folder) { return folder + "/array"; }

// The blocks of all ranks, on rank 0.
std::vector<Block> gathered_blocks(const Task& task) {
  const std::size_t dimensions = task.array->shape.size();
  std::vector<std::int64_t> mine(task.block.start);
  mine.insert(mine.end(), task.block.count.begin(), task.block.count.end());
  std::vector<std::int64_t> all(task.rank == 0 ? mine.size() * static_cast<std::size_t>(task.size) : 0);
  const int n = static_cast<int>(mine.size());
  must_mpi(MPI_Gather(mine.data(), n, MPI_INT64_T, all.data(), n, MPI_INT64_T, 0, task.comm), "MPI_Gather");
  std::vector<Block> blocks;
  for (auto at = all.begin(); at != all.end(); at += n) {
    const auto middle = at + static_cast<std::ptrdiff_t>(dimensions);
    blocks.push_back({{at, middle}, {middle, at + n}});
  }
  return blocks;
}

// Elements [begin, end) of each block, as many as MPI counts permit in one call: all, unless blocks are huge.
class Rounds {
 public:
  explicit Rounds(const Task& task) : most_(INT_MAX / task.size), mine_(task.block.elements()) {
    std::int64_t largest = 0;
    must_mpi(MPI_Allreduce(&mine_, &largest, 1, MPI_INT64_T, MPI_MAX, task.comm), "MPI_Allreduce");
    count_ = (largest + most_ - 1) / most_;
  }
  std::int64_t count() const { return count_; }
  std::int64_t begin(std::int64_t round, std::int64_t elements) const { return std::min(elements, round * most_); }
  int length(std::int64_t round, std::int64_t elements) const {
    return static_cast<int>(begin(round + 1, elements) - begin(round, elements));
  }
  std::int64_t my_begin(std::int64_t round) const { return begin(round, mine_); }
  int my_length(std::int64_t round) const { return length(round, mine_); }

 private:
  std::int64_t most_, mine_, count_ = 0;
};

// Data of one round on rank 0: consecutive stretches of all blocks.
struct Packed {
  std::vector<int> lengths, offsets;  // elements, per rank
  Buffer memory;

  Packed(const Rounds& rounds, std::int64_t round, const std::vector<Block>& blocks) {
    int all = 0;
    for (const Block& block : blocks) {
      offsets.push_back(all);
      lengths.push_back(rounds.length(round, block.elements()));
      all += lengths.back();
    }
    memory = Buffer(static_cast<std::size_t>(all) * kElement);
  }
};

// Copies elements [begin, begin + length) of a block between their packed and final places, `into` the latter.
void copy_stretch(const Array& array, const Block& block, std::int64_t begin, std::int64_t length, std::byte* packed,
                  std::byte* whole, bool into) {
  for_each_run(array, block, [&](const Run& run) {
    const std::int64_t lo = std::max(run.in_block, begin);
    const std::int64_t hi = std::min(run.in_block + run.length, begin + length);
    if (lo >= hi) return;
    std::byte* const there = whole + (run.in_array + lo - run.in_block) * kElement;
    std::byte* const here = packed + (lo - begin) * kElement;
    std::memcpy(into ? there : here, into ? here : there, static_cast<std::size_t>((hi - lo) * kElement));
  });
}

void copy_round(const Array& array, const std::vector<Block>& blocks, const Rounds& rounds, std::int64_t round,
                const Packed& packed, std::byte* whole, bool into) {
  for (std::size_t r = 0; r < blocks.size(); ++r) {
    const std::int64_t begin = rounds.begin(round, blocks[r].elements());
    copy_stretch(array, blocks[r], begin, packed.lengths[r],
                 packed.memory.span().data() + static_cast<std::ptrdiff_t>(packed.offsets[r]) * kElement, whole, into);
  }
}

class GatherMethod : public Method {
 public:
  bool can_direct() const override { return true; }
  bool was_direct() const override { return was_direct_; }

  Parts write(const Task& task) override { return move(task, true); }
  Parts read(const Task& task) override { return move(task, false); }

 private:
  Parts move(const Task& task, bool writes) {
    Parts parts;
    Lap lap;
    std::unique_ptr<PosixFile> file = opened(task, writes ? PosixFile::Use::create : PosixFile::Use::read);
    parts.open = lap();
    Buffer whole(task.rank == 0 ? static_cast<std::size_t>(task.array->bytes()) : 0);
    if (file && !writes) file->read(whole.span(), 0);
    const std::vector<Block> blocks = gathered_blocks(task);
    const Rounds rounds(task);
    for (std::int64_t round = 0; round < rounds.count(); ++round) {
      const Packed packed(rounds, round, blocks);
      std::byte* const mine = task.memory.data() + rounds.my_begin(round) * kElement;
      std::byte* const all = packed.memory.span().data();
      const int *const lengths = packed.lengths.data(), *const offsets = packed.offsets.data();
      const auto copy = [&](bool into) {
        copy_round(*task.array, blocks, rounds, round, packed, whole.span().data(), into);
      };
      if (writes) {
        must_mpi(MPI_Gatherv(mine, rounds.my_length(round), MPI_FLOAT, all, lengths, offsets, MPI_FLOAT, 0, task.comm),
                 "MPI_Gatherv");
        copy(true);
      } else {
        copy(false);
        must_mpi(MPI_Scatterv(all, lengths, offsets, MPI_FLOAT, mine, rounds.my_length(round), MPI_FLOAT, 0, task.comm),
                 "MPI_Scatterv");
      }
    }
    if (file && writes) file->write(whole.span(), 0);
    parts.transfer = lap();
    if (file) file->close();
    parts.close = lap();
    return parts;
  }

  std::unique_ptr<PosixFile> opened(const Task& task, PosixFile::Use use) {
    if (task.rank != 0) return nullptr;
    auto file = std::make_unique<PosixFile>(file_of(task.folder), use, task.direct);
    was_direct_ = file->direct();
    return file;
  }

  bool was_direct_ = false;
};

}  // namespace

std::unique_ptr<Method> make_posix_method(std::string_view id) {
  if (id == "gather") return std::make_unique<GatherMethod>();
  return make_file_per_task(id == "file-per-task-dirs");
}

}  // namespace probe
