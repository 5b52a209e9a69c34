// Methods 1 to 3: one rank holds the whole array, and each rank has a file with its block as in memory; all of them in
// one folder, or 32 in each of several sub-folders.
//
// The gathering rank receives the blocks at their places in the array, by datatypes, and writes one stream.
#include <sys/stat.h>

#include <optional>

#include "datatype.hpp"
#include "method.hpp"
#include "ranks.hpp"

namespace probe {

namespace {

constexpr int kFilesPerFolder = 32;

PosixFile::Use use_of(const Task& task) { return task.writes ? PosixFile::Use::create : PosixFile::Use::read; }

// The array and its file, on rank 0.
struct Gathered {
  std::optional<PosixFile> file;
  Buffer whole;

  explicit Gathered(const Task& task) {
    if (task.rank != 0) return;
    file.emplace(task.folder + "/array", use_of(task));
    whole = Buffer(static_cast<std::size_t>(task.array->bytes()));
  }
  void close() {
    if (file) file->close();
  }
};

class GatherMethod : public Method {
 public:
  Parts move(const Task& task) override {
    return use([&] { return Gathered(task); },
               [&](Gathered& gathered) {
                 if (gathered.file && !task.writes) gathered.file->read(gathered.whole.span(), 0);
                 exchange(task, gathered.whole.span().data());
                 if (gathered.file && task.writes) gathered.file->write(gathered.whole.span(), 0);
               });
  }

 private:
  // Each block travels between its rank and its place in the array on rank 0.
  static void exchange(const Task& task, std::byte* whole) {
    const MemoryType mine(task.block.elements());
    MPI_Request request = MPI_REQUEST_NULL;
    must_mpi(task.writes ? MPI_Isend(task.memory.data(), mine.count, mine.type, 0, 0, task.comm, &request)
                         : MPI_Irecv(task.memory.data(), mine.count, mine.type, 0, 0, task.comm, &request),
             "a message to or from rank 0");
    for (int rank = 0; task.rank == 0 && rank < task.size; ++rank) {
      const Block block = task.block_of_rank(rank);
      const Datatype type = block_type(*task.array, block);
      const int count = block.elements() > 0 ? 1 : 0;
      must_mpi(task.writes ? MPI_Recv(whole, count, type.get(), rank, 0, task.comm, MPI_STATUS_IGNORE)
                           : MPI_Send(whole, count, type.get(), rank, 0, task.comm),
               "a message of rank 0");
    }
    must_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  }
};

class FilePerTask : public Method {
 public:
  explicit FilePerTask(bool in_folders) : in_folders_(in_folders) {}

  Parts move(const Task& task) override {
    const auto open = [&](int rank) {
      return PosixFile(folder_of(task, rank) + "/block." + std::to_string(rank), use_of(task));
    };
    if (!task.writes) return read_pieces(task, [&](const Piece& piece) { return open(piece.writer); });
    return use(
        [&] {
          if (in_folders_) make_folder(task);
          return open(task.rank);
        },
        [&](PosixFile& file) { file.write(task.memory, 0); });
  }

 private:
  std::string folder_of(const Task& task, int rank) const {
    return in_folders_ ? task.folder + "/" + std::to_string(rank / kFilesPerFolder) : task.folder;
  }
  // Created by the first rank whose file goes there; the others wait for it.
  void make_folder(const Task& task) const {
    const std::string path = folder_of(task, task.rank);
    if (task.rank % kFilesPerFolder == 0 && ::mkdir(path.c_str(), 0777) != 0) fail_errno("make the folder", path);
    must_mpi(MPI_Barrier(task.comm), "MPI_Barrier");
  }

  bool in_folders_;
};

}  // namespace

std::unique_ptr<Method> make_posix_method(std::string_view id) {
  if (id == "gather") return std::make_unique<GatherMethod>();
  return std::make_unique<FilePerTask>(id == "file-per-task-dirs");
}

}  // namespace probe
