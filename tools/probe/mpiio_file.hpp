// A file of MPI-IO: open, views, the four ways of moving stretches, and the library's hints.
#pragma once

#include <mpi.h>

#include <functional>
#include <map>
#include <string>

#include "datatype.hpp"
#include "method.hpp"

namespace probe {

enum class Direction { write, read };

class MpiioFile {
 public:
  MpiioFile(const Task& task, const std::string& path, Direction direction);
  MpiioFile(const MpiioFile&) = delete;
  MpiioFile& operator=(const MpiioFile&) = delete;
  ~MpiioFile() = default;  // not closed: a close is collective, and after a failure other ranks may be elsewhere

  void close();

  // Collective. From offset `bytes` on this rank sees consecutive elements, or a type.
  void view_elements(std::int64_t bytes);
  void view_type(MPI_Datatype type);
  // Moves `count` of `type`, which is committed, at the position in the view. Collective or not.
  void move(std::byte* memory, int count, MPI_Datatype type, bool together);
  // Starts a nonblocking collective transfer.
  MPI_Request start_all(std::byte* memory, int count, MPI_Datatype type);
  // Moves elements at an offset in the view, in its units: bytes, unless a view was set. At most kMostElements.
  void move_at(std::int64_t offset, std::byte* memory, std::int64_t elements, bool together);

  std::map<std::string, std::string> hints() const;

 private:
  MPI_File file_ = MPI_FILE_NULL;
  Direction direction_;
};

// Memory of a call: a count of a type.
struct MemoryType {
  int count = 0;
  MPI_Datatype type = MPI_FLOAT;
  Datatype made;  // where one is needed

  explicit MemoryType(std::int64_t elements);
};

}  // namespace probe
