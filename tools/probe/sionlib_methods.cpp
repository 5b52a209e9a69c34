// Method 23: a SIONlib file, one physical file with a chunk for the block of each rank. Open and close are collective,
// each rank writes its chunk independently. Readers open the chunks they need one after the other, since a collective
// open for reading requires as many ranks as wrote.
#include <sion.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "method.hpp"
#include "pieces.hpp"
#include "stopwatch.hpp"

namespace probe {

namespace {

constexpr sion_int32 kBlockOfFileSystem = -1;  // detected by the library

std::string file_of(const std::string& folder) { return folder + "/array.sion"; }

void must(bool good, const char* what, const std::string& path) {
  if (!good) throw Failed(std::string("cannot ") + what + " '" + path + "': SIONlib says why on standard error");
}

// The chunk of one writer, opened by one reader.
class Chunk {
 public:
  Chunk(std::string path, int writer) : path_(std::move(path)) {
    sion_int64 bytes = 0;
    sion_int32 block = kBlockOfFileSystem;
    sid_ = sion_open_rank(path_.data(), "rb", &bytes, &block, &writer, nullptr);
    must(sid_ >= 0, "open", path_);
  }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;
  ~Chunk() {
    if (sid_ >= 0) sion_close(sid_);
  }

  void read(std::span<std::byte> bytes, std::int64_t offset) {
    must(sion_seek(sid_, SION_CURRENT_RANK, 0, offset) == SION_SUCCESS, "seek in", path_);
    must(sion_fread(bytes.data(), 1, bytes.size(), sid_) == bytes.size(), "read", path_);
  }
  void close() { must(sion_close(std::exchange(sid_, -1)) == SION_SUCCESS, "close", path_); }

 private:
  std::string path_;
  int sid_ = -1;
};

class SionlibMethod : public Method {
 public:
  std::string library() const override {
    int major = 0, minor = 0, patch = 0, format = 0;
    sion_get_version(&major, &minor, &patch, &format);
    return "SIONlib " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  }

  Parts write(const Task& task) override {
    std::string path = file_of(task.folder);  // not const for older versions of the library
    Parts parts;
    Lap lap;
    int files = 1, rank = task.rank;
    MPI_Comm of_file = task.comm;
    sion_int64 chunk = std::max<sion_int64>(task.block.bytes(), kElement);  // the library refuses empty chunks
    sion_int32 block = kBlockOfFileSystem;
    const int sid =
        sion_paropen_mpi(path.data(), "wb", &files, task.comm, &of_file, &chunk, &block, &rank, nullptr, nullptr);
    must(sid >= 0, "create", path);
    parts.open = lap();
    const std::size_t bytes = task.memory.size();
    must(bytes == 0 || sion_fwrite(task.memory.data(), 1, bytes, sid) == bytes, "write", path);
    parts.transfer = lap();
    hints_ = {{"block_of_file_system", std::to_string(block)}, {"chunk_bytes", std::to_string(chunk)}};
    must(sion_parclose_mpi(sid) == SION_SUCCESS, "close", path);
    parts.close = lap();
    return parts;
  }

  Parts read(const Task& task) override {
    Parts parts;
    for (const Piece& piece : task.pieces) {
      Lap lap;
      Chunk chunk(file_of(task.folder), piece.writer);
      parts.open += lap();
      for_each_shared_run(*task.array, piece.block, task.block, [&](const SharedRun& run) {
        chunk.read(task.memory.subspan(static_cast<std::size_t>(run.in_second * kElement),
                                       static_cast<std::size_t>(run.length * kElement)),
                   run.in_first * kElement);
      });
      parts.transfer += lap();
      chunk.close();
      parts.close += lap();
    }
    return parts;
  }

  void read_serial(const Array& array, const std::vector<int>& grid, const std::string& folder,
                   const See& see) override {
    for (int rank = 0; rank < ranks_of(grid); ++rank) {
      const Block block = block_of(array, grid, rank);
      if (block.elements() == 0) continue;
      Chunk chunk(file_of(folder), rank);
      see_block(
          array, block,
          [&](std::int64_t in_block, std::span<std::byte> bytes) { chunk.read(bytes, in_block * kElement); }, see);
      chunk.close();
    }
  }

  std::map<std::string, std::string> hints() const override { return hints_; }

 private:
  std::map<std::string, std::string> hints_;
};

}  // namespace

std::unique_ptr<Method> make_sionlib_method(std::string_view /*id*/) { return std::make_unique<SionlibMethod>(); }

}  // namespace probe
