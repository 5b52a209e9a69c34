#include "pieces.hpp"

#include <algorithm>

namespace probe {

namespace {

constexpr std::int64_t kPiece = std::int64_t{1} << 20;  // elements per read of a plain reader: 4 MiB

}  // namespace

int ranks_of(const std::vector<int>& grid) {
  int ranks = 1;
  for (const int parts : grid) ranks *= parts;
  return ranks;
}

std::vector<Piece> pieces_of(const Array& array, const std::vector<int>& grid, const Block& wanted) {
  std::vector<Piece> pieces;
  std::int64_t offset = 0;
  const int writers = ranks_of(grid);
  for (int writer = 0; writer < writers; ++writer) {
    Block block = block_of(array, grid, writer);
    const std::int64_t elements = block.elements();
    if (count_shared_runs(array, block, wanted) > 0) {
      const bool whole = block.start == wanted.start && block.count == wanted.count;
      pieces.push_back({writer, std::move(block), offset, whole});
    }
    offset += elements;
  }
  return pieces;
}

void see_block(const Array& array, const Block& block,
               const std::function<void(std::int64_t in_block, std::span<std::byte> bytes)>& read,
               const std::function<void(std::int64_t first, std::span<const std::byte> bytes)>& see) {
  const std::int64_t all = block.elements();
  std::vector<std::byte> memory(static_cast<std::size_t>(std::min(all, kPiece) * kElement));
  std::int64_t begin = 0;  // elements [begin, end) of the block are in memory
  std::int64_t end = 0;
  for_each_run(array, block, [&](const Run& run) {
    for (std::int64_t done = 0; done < run.length;) {
      if (run.in_block + done == end) {
        begin = end;
        end = std::min(all, begin + kPiece);
        read(begin, std::span(memory).first(static_cast<std::size_t>((end - begin) * kElement)));
      }
      const std::int64_t here = run.in_block + done;
      const std::int64_t n = std::min(run.length - done, end - here);
      see(run.in_array + done,
          std::span<const std::byte>(memory).subspan(static_cast<std::size_t>((here - begin) * kElement),
                                                     static_cast<std::size_t>(n * kElement)));
      done += n;
    }
  });
}

}  // namespace probe
