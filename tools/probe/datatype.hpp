// MPI datatypes with automatic release, for blocks and lists of runs. Counts beyond the limit of MPI calls use nested
// types.
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
  ~Datatype() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

inline constexpr std::int64_t kMostElements = std::int64_t{1} << 28;  // of one call: 1 GiB, within the limits of every
                                                                      // MPI

// All are committed. A block at its place in the whole array.
Datatype block_type(const Array& array, const Block& block);
// `place` selects the member of a run.
Datatype indexed_type(const std::vector<Run>& runs, std::int64_t Run::*place);

// Consecutive elements of memory: a count of a type.
struct MemoryType {
  explicit MemoryType(std::int64_t elements);

  Datatype made;  // where one is needed
  int count;
  MPI_Datatype type;
};

}  // namespace probe
