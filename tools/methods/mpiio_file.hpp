// A file of MPI-IO: open, views, the four ways of moving stretches, and what the library says of itself.
#pragma once

#include <mpi.h>

#include <functional>
#include <map>
#include <string>

#include "datatype.hpp"
#include "method.hpp"

namespace methods {

enum class Direction { write, read };

class MpiioFile {
 public:
  MpiioFile(const Task& task, const std::string& path, Direction direction);
  MpiioFile(const MpiioFile&) = delete;
  MpiioFile& operator=(const MpiioFile&) = delete;
  ~MpiioFile() = default;  // not closed: what failed cannot be, as others may be elsewhere

  void close();

  // Collective. From `bytes` on this rank sees elements one behind the other, or through a type.
  void view_elements(std::int64_t bytes);
  void view_type(MPI_Datatype type);
  // At the position in the view: `count` of `type`, which is committed. Collective or not.
  void move(std::byte* memory, int count, MPI_Datatype type, bool together);
  // The same, nonblocking and together.
  MPI_Request start_all(std::byte* memory, int count, MPI_Datatype type);
  // Elements at an offset in the view, counted in its units: bytes, as long as none was set. At most kMostElements.
  void move_at(std::int64_t offset, std::byte* memory, std::int64_t elements, bool together);

  std::map<std::string, std::string> hints() const;

 private:
  MPI_File file_ = MPI_FILE_NULL;
  Direction direction_;
};

// Memory of a call: so many of a type.
struct MemoryType {
  int count = 0;
  MPI_Datatype type = MPI_FLOAT;
  Datatype made;  // where one is needed

  explicit MemoryType(std::int64_t elements);
};

}  // namespace methods
