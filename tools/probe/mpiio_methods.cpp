// Methods 4 to 11 and 16: MPI-IO without hints. The file is the array, or the consecutive blocks of the ranks.
//
// The elements are moved by one of the four levels of MPI-IO: a call for each run of elements, independent (0) or
// collective (1); a view with all runs and one call, independent (2) or collective (3).
// After Thakur, Gropp and Lusk, A Case for Using MPI's Derived Datatypes to Improve I/O Performance, 1998.
#include <algorithm>

#include "datatype.hpp"
#include "method.hpp"
#include "ranks.hpp"

namespace probe {

namespace {

// Not closed by itself: a close is collective, and after a failure other ranks may be elsewhere.
class MpiioFile {
 public:
  explicit MpiioFile(const Task& task) : writes_(task.writes) {
    const std::string path = task.folder + "/array";
    const int mode = writes_ ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
    must_mpi(MPI_File_open(task.comm, path.c_str(), mode, MPI_INFO_NULL, &file_), "MPI_File_open '" + path + "'");
  }
  void close() { must_mpi(MPI_File_close(&file_), "MPI_File_close"); }

  // Collective: from offset `bytes` on this rank sees what a type has.
  void view(std::int64_t bytes, MPI_Datatype type) {
    must_mpi(MPI_File_set_view(file_, bytes, MPI_FLOAT, type, "native", MPI_INFO_NULL), "MPI_File_set_view");
  }
  // Moves at an offset in the view: bytes, unless a view was set. Collective or not.
  void move(std::int64_t at, std::byte* memory, int count, MPI_Datatype type, bool together) {
    const auto write = together ? MPI_File_write_at_all : MPI_File_write_at;
    const auto read = together ? MPI_File_read_at_all : MPI_File_read_at;
    must_mpi(writes_ ? write(file_, at, memory, count, type, MPI_STATUS_IGNORE)
                     : read(file_, at, memory, count, type, MPI_STATUS_IGNORE),
             writes_ ? "a write of MPI-IO" : "a read of MPI-IO");
  }
  // Starts a nonblocking collective transfer.
  MPI_Request start(std::byte* memory, int count, MPI_Datatype type) {
    MPI_Request request = MPI_REQUEST_NULL;
    must_mpi(writes_ ? MPI_File_iwrite_all(file_, memory, count, type, &request)
                     : MPI_File_iread_all(file_, memory, count, type, &request),
             writes_ ? "MPI_File_iwrite_all" : "MPI_File_iread_all");
    return request;
  }

 private:
  MPI_File file_ = MPI_FILE_NULL;
  bool writes_;
};

// The elements that a rank moves, in rising order of the file; one call can move each run.
std::vector<Run> runs_of(const Task& task, bool chunks) {
  std::vector<Run> runs;
  const auto add = [&](Run run) {
    for (; run.length > 0; run.length -= kMostElements) {
      runs.push_back({run.in_block, run.in_other, std::min(run.length, kMostElements)});
      run.in_block += kMostElements;
      run.in_other += kMostElements;
    }
  };
  if (!chunks) for_each_run(*task.array, task.block, add);
  for (const Piece& piece : chunks ? task.pieces : std::vector<Piece>())
    for_each_shared_run(*task.array, task.block, piece.block, [&](const Run& run) {
      add({run.in_block, run.in_other + piece.offset, run.length});
    });
  return runs;
}

// One call per run. Collectively, all ranks make as many calls as the rank with most runs.
void move_runs(MpiioFile& file, const Task& task, const std::vector<Run>& runs, bool together) {
  std::int64_t calls = std::ssize(runs);
  if (together) must_mpi(MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_INT64_T, MPI_MAX, task.comm), "MPI_Allreduce");
  for (const Run& run : runs)
    file.move(run.in_other * kElement, task.memory_of(run.in_block, run.length).data(), static_cast<int>(run.length),
              MPI_FLOAT, together);
  for (calls -= std::ssize(runs); calls > 0; --calls) file.move(0, task.memory.data(), 0, MPI_FLOAT, true);
}

// Chunks in a view: one run needs no type; several need one for the file and one for memory.
void move_chunks_in_view(MpiioFile& file, const Task& task, bool together) {
  const std::vector<Run> runs = runs_of(task, true);
  if (runs.size() <= 1) {
    file.view(runs.empty() ? 0 : runs.front().in_other * kElement, MPI_FLOAT);
    return file.move(0, task.memory.data(), static_cast<int>(task.block.elements()), MPI_FLOAT, together);
  }
  const Datatype view = indexed_type(runs, &Run::in_other);
  const Datatype memory = indexed_type(runs, &Run::in_block);
  file.view(0, view.get());
  file.move(0, task.memory.data(), 1, memory.get(), together);
}

class MpiioMethod : public Method {
 public:
  explicit MpiioMethod(std::string_view id)
      : Method(mpi_name()),
        nonblocking_(id == "mpiio-nonblocking"),
        chunks_(id.starts_with("mpiio-chunk-")),
        together_((id.back() - '0') % 2 == 1),
        views_(id.back() - '0' >= 2) {}

  Parts move(const Task& task) override {
    return use([&] { return MpiioFile(task); },
               [&](MpiioFile& file) {
                 if (!views_)
                   move_runs(file, task, runs_of(task, chunks_), together_);
                 else if (chunks_)
                   move_chunks_in_view(file, task, together_);
                 else
                   move_block(file, task);
               });
  }

 private:
  void move_block(MpiioFile& file, const Task& task) const {
    const bool nothing = task.block.elements() == 0;
    const Datatype type = nothing ? Datatype() : block_type(*task.array, task.block);
    file.view(0, nothing ? MPI_FLOAT : type.get());  // which keeps the type
    const MemoryType memory(task.block.elements());
    if (!nonblocking_) return file.move(0, task.memory.data(), memory.count, memory.type, together_);
    MPI_Request request = file.start(task.memory.data(), memory.count, memory.type);
    if (task.compute)
      task.compute([&] {
        int done = 0;  // afterwards the request is null, which tests as complete
        must_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      });
    must_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  }

  bool nonblocking_, chunks_, together_, views_;
};

}  // namespace

std::unique_ptr<Method> make_mpiio_method(std::string_view id) { return std::make_unique<MpiioMethod>(id); }

}  // namespace probe
