// Method 18: a logical file for each rank, with its block as in memory. A chunk holds a block, whose size is known
// beforehand; all other settings are the library's defaults, including checksums.
#include <thalweg/thalweg.hpp>

#include <algorithm>

#include "pieces.hpp"
#include "stopwatch.hpp"
#include "thalweg_methods.hpp"

namespace probe {

namespace {

std::string file_of(const std::string& folder) { return folder + "/array.tw"; }

void read_all(thalweg::Multifile& file, std::span<std::byte> bytes) {
  const std::size_t got = file.read(bytes.data(), bytes.size());
  if (got != bytes.size()) throw Failed("a logical file of the multifile is too short");
}

class MultifileMethod : public Method {
 public:
  std::string library() const override { return thalweg_name(); }

  Parts write(const Task& task) override {
    Parts parts;
    Lap lap;
    thalweg::Options config;
    chunk_bytes_ = std::to_string(std::max<std::int64_t>(1, task.block.bytes()));
    config.hint("chunk_bytes", chunk_bytes_);
    thalweg::Multifile file(group_of(task.comm), file_of(task.folder), TW_CREATE | TW_TRUNCATE, config);
    parts.open = lap();
    file.write(task.memory.data(), task.memory.size());
    if (task.rank == 0) plan_ = file.strategy();
    parts.transfer = lap();
    file.close();
    parts.close = lap();
    return parts;
  }

  Parts read(const Task& task) override {
    Parts parts;
    Lap lap;
    std::vector<std::int64_t> writers;
    writers.reserve(task.pieces.size());
    for (const Piece& piece : task.pieces) writers.push_back(piece.writer);
    thalweg::Options config;
    config.ranks(-1, writers);
    thalweg::Multifile file(group_of(task.comm), file_of(task.folder), TW_READ, config);
    parts.open = lap();
    for (const Piece& piece : task.pieces) read_piece(file, task, piece);
    parts.transfer = lap();
    file.close();
    parts.close = lap();
    return parts;
  }

  void read_serial(const Array& array, const std::vector<int>& grid, const std::string& folder,
                   const See& see) override {
    thalweg::Multifile file(file_of(folder), TW_READ);
    for (int rank = 0; rank < ranks_of(grid); ++rank) {
      file.seek_to(rank, 0);
      see_block(
          array, block_of(array, grid, rank),
          [&](std::int64_t /*in_block*/, std::span<std::byte> bytes) { read_all(file, bytes); }, see);
    }
    file.close();
  }

  std::map<std::string, std::string> hints() const override { return {{"chunk_bytes", chunk_bytes_}}; }
  std::string plan() const override { return plan_; }

 private:
  static void read_piece(thalweg::Multifile& file, const Task& task, const Piece& piece) {
    file.seek_to(piece.writer, 0);
    if (piece.wanted_whole) return read_all(file, task.memory);
    for_each_shared_run(*task.array, piece.block, task.block, [&](const SharedRun& run) {
      const auto bytes = static_cast<std::size_t>(run.length * kElement);
      const auto place = task.memory.subspan(static_cast<std::size_t>(run.in_second * kElement), bytes);
      if (file.read_at(place, run.in_first * kElement) != bytes)
        throw Failed("logical file " + std::to_string(piece.writer) + " of the multifile is too short");
    });
  }

  std::string chunk_bytes_, plan_;
};

}  // namespace

std::unique_ptr<Method> make_multifile_method() { return std::make_unique<MultifileMethod>(); }

}  // namespace probe
