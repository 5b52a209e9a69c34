// Methods 4 to 11 and 16: MPI-IO without hints. The file is the array, or the consecutive blocks of the ranks.
#include <memory>

#include "direct_method.hpp"
#include "mpi_info.hpp"
#include "mpiio_access.hpp"
#include "mpiio_file.hpp"
#include "pieces.hpp"
#include "posix_file.hpp"

namespace probe {

namespace {

template <class Kind>
class MpiioMethod : public DirectMethod<Kind> {  // if the MPI library supports the hint
 public:
  std::string library() const override { return mpi_name(); }
  std::map<std::string, std::string> hints() const override { return hints_; }

 protected:
  Parts run(const Task& task, Direction direction, const std::function<void(MpiioFile&)>& act) {
    const auto open = [&] { return MpiioFile(task, this->file_of(task.folder), direction); };
    return this->use(task, open, [&](MpiioFile& file) {
      act(file);
      // Queried once, in a warm-up: they stay constant, and the query takes time.
      if (direction == Direction::write && hints_.empty()) hints_ = file.hints();
    });
  }

 private:
  std::map<std::string, std::string> hints_;
};

// Methods 4 to 11.
class LevelMethod : public MpiioMethod<Method> {
 public:
  LevelMethod(int level, bool chunks) : level_(level), chunks_(chunks) {}
  Parts write(const Task& task) override { return move(task, Direction::write); }
  Parts read(const Task& task) override { return move(task, Direction::read); }

  void read_serial(const Array& array, const std::vector<int>& grid, const std::string& folder,
                   const See& see) override {
    if (!chunks_) return Method::read_serial(array, grid, folder, see);
    PosixFile file(file_of(folder), PosixFile::Use::read, false);
    std::int64_t before = 0;
    for (int rank = 0; rank < ranks_of(grid); ++rank) {
      const Block block = block_of(array, grid, rank);
      see_block(
          array, block,
          [&](std::int64_t in_block, std::span<std::byte> bytes) { file.read(bytes, (before + in_block) * kElement); },
          see);
      before += block.elements();
    }
    file.close();
  }

 private:
  Parts move(const Task& task, Direction direction) {
    return run(task, direction, [&](MpiioFile& file) {
      if (chunks_)
        move_in_chunks(file, task, level_);
      else
        move_in_array(file, task, level_);
    });
  }

  int level_;
  bool chunks_;
};

// Method 16.
class NonblockingMethod : public MpiioMethod<OverlappingMethod> {
 public:
  Parts write(const Task& task) override {
    return move(task, Direction::write, [](const auto& /*between*/) {});
  }
  Parts read(const Task& task) override {
    return move(task, Direction::read, [](const auto& /*between*/) {});
  }
  Parts write_while(const Task& task, const Compute& compute) override { return move(task, Direction::write, compute); }

 private:
  Parts move(const Task& task, Direction direction, const Compute& compute) {
    return run(task, direction, [&](MpiioFile& file) {
      view_block(file, task);
      const MemoryType memory(task.block.elements());
      MPI_Request request = file.start_all(task.memory.data(), memory.count, memory.type);
      compute([&] {
        int done = 0;  // afterwards the request is null, which tests as complete
        must_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      });
      must_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    });
  }
};

}  // namespace

std::unique_ptr<Method> make_mpiio_method(std::string_view id) {
  if (id == "mpiio-nonblocking") return std::make_unique<NonblockingMethod>();
  return std::make_unique<LevelMethod>(id.back() - '0', id.starts_with("mpiio-chunk-"));
}

}  // namespace probe
