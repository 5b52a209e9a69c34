// Datatypes of MPI that are freed, and those that blocks and lists of stretches need. Counts beyond those of MPI calls
// are made of nested types.
#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

#include "array.hpp"

namespace methods {

class Datatype {
 public:
  Datatype() = default;
  explicit Datatype(MPI_Datatype made) : type_(made) {}
  Datatype(Datatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  Datatype& operator=(Datatype&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;
  ~Datatype() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// Elements of memory and of a file.
struct Stretch {
  std::int64_t in_file, in_memory, length;
};

inline constexpr std::int64_t kMostElements = std::int64_t{1} << 28;  // of one call: 1 GiB, which every MPI can move

// All are committed. `elements` one behind the other.
Datatype contiguous_type(std::int64_t elements);
// A block that has elements, in the whole array.
Datatype subarray_type(const Array& array, const Block& block);
// `place` says which member of a stretch counts: in_file or in_memory.
Datatype indexed_type(const std::vector<Stretch>& stretches, std::int64_t Stretch::*place);

}  // namespace methods
