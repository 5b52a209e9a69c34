// Interface of a method: how the ranks of a communicator write their blocks of one array into an empty folder, how any
// number of ranks read theirs, and how a plain reader reads the whole.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "array.hpp"
#include "method_table.hpp"
#include "pieces.hpp"

namespace probe {

enum class Cache { warm, sync, drop, direct };

// A method failed: the message names file, call and reason. The program then ends all ranks (MPI_Abort).
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One task's part of a write or read. All ranks of `comm` make the call, with equal values except block and memory.
struct Task {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  const Array* array = nullptr;
  std::vector<int> written_grid;  // grid of the writers
  Block block;                    // of this rank; for reading any block of the array, with any number of ranks
  std::vector<Piece> pieces;      // where the block lies in what the writers wrote
  std::span<std::byte> memory;    // block.bytes()
  std::string folder;             // of this method only; empty before a write
  bool direct = false;            // direct I/O, where the method supports it
};

// Seconds of this rank.
struct Parts {
  double open = 0, transfer = 0, close = 0;
};

class Method {
 public:
  Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  virtual ~Method() = default;

  // "": the method is usable, otherwise the reason ("not built: ...").
  virtual std::string missing() const { return {}; }
  // Name and version of the I/O library; "": the C library.
  virtual std::string library() const { return {}; }
  virtual bool can_direct() const { return false; }
  // "": the method can write this array, otherwise the reason why not.
  virtual std::string unfit_for(const Array& /*array*/) const { return {}; }
  // Whether the last write() or read() of this process with `direct` opened a file with direct I/O.
  virtual bool was_direct() const { return false; }

  // Collective. Throw Failed. The caller syncs, if at all.
  virtual Parts write(const Task& task) = 0;
  virtual Parts read(const Task& task) = 0;

  // Called by one process, without MPI: reads a file that is the array by read(2), others through the library's serial
  // interface. Passes every element exactly once: elements of the array from `first` on, in any order. `array` and
  // `grid` are those of the write. Unless it is overridden, the file 'array' of the folder is the array.
  using See = std::function<void(std::int64_t first, std::span<const std::byte> bytes)>;
  virtual void read_serial(const Array& array, const std::vector<int>& grid, const std::string& folder, const See& see);

  // Settings and results reported by the library for the last write() of this process.
  virtual std::map<std::string, std::string> hints() const { return {}; }
  virtual std::string plan() const { return {}; }
};

// Nonblocking methods can compute while they write.
class OverlappingMethod : public Method {
 public:
  // The computation of this rank, some seconds long. It calls `between` after each of many slices, where a method may
  // drive its progress.
  using Compute = std::function<void(const std::function<void()>& between)>;
  // Like write(), but calls `compute` once between start and wait.
  virtual Parts write_while(const Task& task, const Compute& compute) = 0;
};

// Factories: one file each, or an _absent one chosen by CMake. `id` is that of the table.
std::unique_ptr<Method> make_posix_method(std::string_view id);    // 1 to 3
std::unique_ptr<Method> make_mpiio_method(std::string_view id);    // 4 to 11, 16
std::unique_ptr<Method> make_hdf5_method(std::string_view id);     // 12 to 15
std::unique_ptr<Method> make_pnetcdf_method(std::string_view id);  // 17
std::unique_ptr<Method> make_thalweg_method(std::string_view id);  // 18 to 21
std::unique_ptr<Method> make_sionlib_method(std::string_view id);  // 22
// Any method; never null.
std::unique_ptr<Method> make_method(std::string_view id);

// A method without its library: missing() returns the reason.
std::unique_ptr<Method> absent_method(const char* library, const char* remedy);

// Throws Failed unless `code` is MPI_SUCCESS. "WHAT: error text".
void must_mpi(int code, const std::string& what);
// Throws Failed with the text of errno: "cannot ACTION 'PATH': TEXT".
[[noreturn]] void fail_errno(const std::string& action, const std::string& path);

}  // namespace probe
