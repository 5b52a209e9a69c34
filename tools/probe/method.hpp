// Interface of a method: how the ranks of a communicator write their blocks of one array into an empty folder, and how
// any number of ranks read theirs.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thalweg/base.hpp>
#include <utility>
#include <vector>

#include "array.hpp"
#include "posix_file.hpp"
#include "stopwatch.hpp"

namespace probe {

// The compared methods: numbers, names and fixed properties. Source of the list: M. Haefele, Comparison of different
// methods for performing parallel I/O, 2010; methods 16 to 22 are additions.
struct MethodInfo {
  int number;
  std::string_view id;     // stable: used in records and options
  std::string_view title;  // for display
  std::string_view needs;  // required library: "", "HDF5", "PnetCDF", "SIONlib"
  // Files left in the folder. "array": one file that is the array, or has it at a fixed offset; "chunks": one file with
  // the consecutive blocks of the ranks; "separate": a file per rank; "library": files that only the library can read.
  std::string_view outcome;
  bool collective;           // all ranks make the transfer call together
  bool nonblocking = false;  // can compute while it writes
};

// In order of their numbers. Static storage.
std::span<const MethodInfo> method_table();

// One task's part of a write or read. All ranks of `comm` make the call, with equal values except rank, block and memory.
struct Task {
  MPI_Comm comm = MPI_COMM_NULL;
  const thalweg::Group* group = nullptr;  // of the communicator
  int rank = 0, size = 1;
  bool writes = false;
  const Array* array = nullptr;
  std::vector<int> grid;  // of these ranks: rank r has part r + shift of it
  int shift = 0;
  Block block;                // of this rank
  std::vector<Piece> pieces;  // where the block lies in what the writers wrote
  Buffer buffer;
  std::span<std::byte> memory;  // the block, in the buffer
  std::string folder;           // of this method only; empty before a write
  // Nonblocking methods call it once between start and wait, unless it is empty: the computation of this rank. It calls
  // `between` after each of many slices, where a method may drive its progress.
  std::function<void(const std::function<void()>& between)> compute;

  Block block_of_rank(int r) const { return block_of(*array, grid, (r + shift) % size); }
  std::span<std::byte> memory_of(std::int64_t first, std::int64_t elements) const {
    return memory.subspan(static_cast<std::size_t>(first * kElement), static_cast<std::size_t>(elements * kElement));
  }
};

// Seconds of this rank.
struct Parts {
  double open = 0, transfer = 0, close = 0;
};

class Method {
 public:
  // `library`: name and version of the I/O library; "": the C library.
  explicit Method(std::string library = {}) : library_(std::move(library)) {}
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  virtual ~Method() = default;

  // "": the method can write this array, otherwise the reason why not.
  virtual std::string unfit_for(const Array& /*array*/) const { return {}; }
  // Collective: writes or reads. Throws Failed. The caller syncs, if at all.
  virtual Parts move(const Task& task) = 0;

  const std::string& library() const { return library_; }
  // What the library tells about the last write of this process; "": nothing.
  const std::string& plan() const { return plan_; }

 protected:
  // The times of a file that open() returns, act(file) uses and file.close() ends.
  template <class Open, class Act>
  static Parts use(Open open, Act act) {
    Parts parts;
    Lap lap;
    auto file = open();
    parts.open = lap();
    act(file);
    parts.transfer = lap();
    file.close();
    parts.close = lap();
    return parts;
  }
  // Reads the block from the pieces of the writers: open(piece) returns a file with read(bytes, offset) and close().
  template <class Open>
  static Parts read_pieces(const Task& task, Open open) {
    Parts all;
    for (const Piece& piece : task.pieces) {
      const auto [opening, transfer, close] =
          use([&] { return open(piece); },
              [&](auto& file) {
                for_each_shared_run(*task.array, piece.block, task.block, [&](const Run& run) {
                  file.read(task.memory_of(run.in_other, run.length), run.in_block * kElement);
                });
              });
      all = {all.open + opening, all.transfer + transfer, all.close + close};
    }
    return all;
  }

  std::string plan_;

 private:
  std::string library_;
};

// Factories, by ids of the table: one file each. Those of libraries return null where their file is not linked.
std::unique_ptr<Method> make_posix_method(std::string_view id);
std::unique_ptr<Method> make_mpiio_method(std::string_view id);
std::unique_ptr<Method> make_hdf5_method(std::string_view id);
std::unique_ptr<Method> make_pnetcdf_method();
std::unique_ptr<Method> make_thalweg_method(std::string_view id);
std::unique_ptr<Method> make_sionlib_method();
// Any method of the table; null without its library.
std::unique_ptr<Method> make_method(const MethodInfo& info);

}  // namespace probe
