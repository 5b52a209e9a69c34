// MPI datatypes with automatic release, for blocks and lists of stretches. Counts beyond the limit of MPI calls use
// nested types.
#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

#include "array.hpp"

namespace probe {

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

// Consecutive elements of memory and of a file.
struct Stretch {
  std::int64_t in_file, in_memory, length;
};

inline constexpr std::int64_t kMostElements = std::int64_t{1} << 28;  // of one call: 1 GiB, within the limits of every
                                                                      // MPI

// All are committed. `elements` consecutive elements.
Datatype contiguous_type(std::int64_t elements);
// A block with elements, in the whole array.
Datatype subarray_type(const Array& array, const Block& block);
// `place` selects the member of a stretch: in_file or in_memory.
Datatype indexed_type(const std::vector<Stretch>& stretches, std::int64_t Stretch::*place);

}  // namespace probe
