// What a method is: how the ranks of a communicator write their blocks of one array into an empty folder, how any other
// ranks read theirs, and how one plain reader gets the whole.
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

namespace methods {

enum class Cache { warm, sync, drop, direct };

// A method failed: its message names file, call and reason. The program then ends all ranks (MPI_Abort).
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One task's part in writing or reading. All ranks of `comm` make the call, and give the same but for block and memory.
struct Task {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  const Array* array = nullptr;
  std::vector<int> written_grid;  // of those who write, or wrote: also where a reader finds pieces
  Block block;                    // of this rank; when reading it may be any block of the array, of any number of ranks
  std::span<std::byte> memory;    // block.bytes()
  std::string folder;             // of this method alone; empty before it writes
  bool direct = false;            // past the page cache, where the method can
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

  // "" : the method can be used here. Else why not ("not built: ...").
  virtual std::string missing() const { return {}; }
  // Name and version of the library that moves the bytes; "" where that is the C library.
  virtual std::string library() const { return {}; }
  virtual bool can_direct() const { return false; }
  // Whether the last write() or read() of this process with `direct` really opened a file past the page cache.
  virtual bool was_direct() const { return false; }

  // Collective. Throw Failed. Bytes are where the method's calls put them: synced by who calls, if at all.
  virtual Parts write(const Task& task) = 0;
  virtual Parts read(const Task& task) = 0;

  // By one process alone, with plain means: a file that is the array by read(2); what only a library takes apart by its
  // serial interface. Gives every element exactly once: elements of the array from `first` on, in any order. `array`
  // and `grid` are those that were written.
  using See = std::function<void(std::int64_t first, std::span<const std::byte> bytes)>;
  virtual void read_serial(const Array& array, const std::vector<int>& grid, const std::string& folder,
                           const See& see) = 0;

  // Of the last write() of this process: what the library really used, and how it says that it went.
  virtual std::map<std::string, std::string> hints() const { return {}; }
  virtual std::string plan() const { return {}; }
};

// Nonblocking methods can also compute while they write.
class OverlappingMethod : public Method {
 public:
  // All of this rank's computing, some seconds long. Calls `between` after each of many slices: where a method moves
  // only while it is asked, it asks there.
  using Compute = std::function<void(const std::function<void()>& between)>;
  // As write(), but calls `compute` once between start and wait.
  virtual Parts write_while(const Task& task, const Compute& compute) = 0;
};

// The makers: one file each, or an _absent one chosen by CMake. `id` is that of the table.
std::unique_ptr<Method> make_posix_method(std::string_view id);    // 1 to 3
std::unique_ptr<Method> make_mpiio_method(std::string_view id);    // 4 to 11, 16
std::unique_ptr<Method> make_hdf5_method(std::string_view id);     // 12 to 15
std::unique_ptr<Method> make_pnetcdf_method(std::string_view id);  // 17
std::unique_ptr<Method> make_thalweg_method(std::string_view id);  // 18 to 21
std::unique_ptr<Method> make_adios2_method(std::string_view id);   // 22
std::unique_ptr<Method> make_sionlib_method(std::string_view id);  // 23
// Any of them; never null.
std::unique_ptr<Method> make_method(std::string_view id);

// A method whose library is not there: missing() says so.
std::unique_ptr<Method> absent_method(const char* library, const char* remedy);

// Throws Failed unless `code` is MPI_SUCCESS. "WHAT: error text".
void must_mpi(int code, const std::string& what);
// Throws Failed with the text of errno: "cannot ACTION 'PATH': TEXT".
[[noreturn]] void fail_errno(const std::string& action, const std::string& path);

}  // namespace methods
