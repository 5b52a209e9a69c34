// Methods 2 and 3: each rank has a file with its block as in memory; all in one folder, or a given number in each of
// several sub-folders. Readers of different blocks take their runs from the files.
#include "file_per_task.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "pieces.hpp"
#include "posix_file.hpp"
#include "stopwatch.hpp"

namespace probe {

namespace {

int& files_per_folder() {
  static int files = 32;
  return files;
}

class FilePerTask : public Method {
 public:
  explicit FilePerTask(bool in_folders) : per_folder_(in_folders ? files_per_folder() : 0) {}
  bool can_direct() const override { return true; }
  bool was_direct() const override { return was_direct_; }

  Parts write(const Task& task) override {
    Parts parts;
    Lap lap;
    if (per_folder_ > 0) make_folder(task);
    PosixFile file(path_of(task.folder, task.rank), PosixFile::Use::create, task.direct);
    was_direct_ = file.direct();
    parts.open = lap();
    file.write(task.memory, 0);
    parts.transfer = lap();
    file.close();
    parts.close = lap();
    return parts;
  }

  Parts read(const Task& task) override {
    Parts parts;
    was_direct_ = false;
    for (const Piece& piece : task.pieces) {
      Lap lap;
      PosixFile file(path_of(task.folder, piece.writer), PosixFile::Use::read, task.direct);
      was_direct_ = file.direct();
      parts.open += lap();
      for_each_shared_run(*task.array, piece.block, task.block, [&](const SharedRun& run) {
        file.read(task.memory.subspan(static_cast<std::size_t>(run.in_second * kElement),
                                      static_cast<std::size_t>(run.length * kElement)),
                  run.in_first * kElement);
      });
      parts.transfer += lap();
      file.close();
      parts.close += lap();
    }
    return parts;
  }

  void read_serial(const Array& array, const std::vector<int>& grid, const std::string& folder,
                   const See& see) override {
    for (int rank = 0; rank < ranks_of(grid); ++rank) {
      PosixFile file(path_of(folder, rank), PosixFile::Use::read, false);
      see_block(
          array, block_of(array, grid, rank),
          [&](std::int64_t in_block, std::span<std::byte> bytes) { file.read(bytes, in_block * kElement); }, see);
      file.close();
    }
  }

  std::map<std::string, std::string> hints() const override {
    if (per_folder_ == 0) return {};
    return {{"files_per_folder", std::to_string(per_folder_)}};
  }

 private:
  std::string folder_of(const std::string& folder, int rank) const {
    return per_folder_ == 0 ? folder : folder + "/" + std::to_string(rank / per_folder_);
  }
  std::string path_of(const std::string& folder, int rank) const {
    return folder_of(folder, rank) + "/block." + std::to_string(rank);
  }
  // Created by the first rank whose file goes there; the others wait for it.
  void make_folder(const Task& task) {
    const std::string path = folder_of(task.folder, task.rank);
    if (task.rank % per_folder_ == 0 && ::mkdir(path.c_str(), 0777) != 0) fail_errno("make the folder", path);
    must_mpi(MPI_Barrier(task.comm), "MPI_Barrier");
  }

  int per_folder_;  // 0: all files in one folder
  bool was_direct_ = false;
};

}  // namespace

std::unique_ptr<Method> make_file_per_task(bool in_folders) { return std::make_unique<FilePerTask>(in_folders); }

void set_files_per_folder(int files) { files_per_folder() = files; }

}  // namespace probe
