// Method 22: a SIONlib file, one physical file with a chunk for the block of each rank. Open and close are collective,
// each rank writes its chunk independently. Readers open the chunks they need one after the other, since a collective
// open for reading requires as many ranks as wrote.
#include <sion.h>

#include <algorithm>

#include "method.hpp"

namespace probe {

namespace {

constexpr sion_int32 kBlockOfFileSystem = -1;  // detected by the library

void must(bool good, const char* what, const std::string& path) {
  if (!good) throw Failed(std::string("cannot ") + what + " '" + path + "': SIONlib says why on standard error");
}

// The chunk of one writer, opened by one reader. Not closed by itself: the program ends after a failure.
class Chunk {
 public:
  Chunk(std::string path, int writer) : path_(std::move(path)) {
    sion_int64 bytes = 0;
    sion_int32 block = kBlockOfFileSystem;
    sid_ = sion_open_rank(path_.data(), "rb", &bytes, &block, &writer, nullptr);
    must(sid_ >= 0, "open", path_);
  }
  void read(std::span<std::byte> bytes, std::int64_t offset) {
    must(sion_seek(sid_, SION_CURRENT_RANK, 0, offset) == SION_SUCCESS, "seek in", path_);
    must(sion_fread(bytes.data(), 1, bytes.size(), sid_) == bytes.size(), "read", path_);
  }
  void close() const { must(sion_close(sid_) == SION_SUCCESS, "close", path_); }

 private:
  std::string path_;
  int sid_ = -1;
};

// The file that all ranks write. Not closed by itself: a close is collective.
struct Written {
  const std::string& path;
  int sid;

  void close() const { must(sion_parclose_mpi(sid) == SION_SUCCESS, "close", path); }
};

class SionlibMethod : public Method {
 public:
  SionlibMethod() : Method(name()) {}

  Parts move(const Task& task) override {
    std::string path = task.folder + "/array.sion";  // not const for older versions of the library
    if (!task.writes) return read_pieces(task, [&](const Piece& piece) { return Chunk(path, piece.writer); });
    return use([&] { return create(task, path); },
               [&](const Written& file) {
                 const std::size_t bytes = task.memory.size();
                 must(bytes == 0 || sion_fwrite(task.memory.data(), 1, bytes, file.sid) == bytes, "write", path);
               });
  }

 private:
  static std::string name() {
    int major = 0, minor = 0, patch = 0, format = 0;
    sion_get_version(&major, &minor, &patch, &format);
    return "SIONlib " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  }

  static Written create(const Task& task, std::string& path) {
    int files = 1, rank = task.rank;
    MPI_Comm of_file = task.comm;
    sion_int64 chunk = std::max<sion_int64>(task.block.bytes(), kElement);  // the library refuses empty chunks
    sion_int32 block = kBlockOfFileSystem;
    const int sid =
        sion_paropen_mpi(path.data(), "wb", &files, task.comm, &of_file, &chunk, &block, &rank, nullptr, nullptr);
    must(sid >= 0, "create", path);
    return {path, sid};
  }
};

}  // namespace

std::unique_ptr<Method> make_sionlib_method() { return std::make_unique<SionlibMethod>(); }

}  // namespace probe
