// Random datatypes, and the oracle for them: the typemap by the definitions of the constructors (MPI 4.1, 5.1). MPI_Pack
// would do as well, if it did: MPICH 4.0 divides by zero in some.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "mpiio/mpiio_support.hpp"

namespace thalweg::test {

struct TypeRules {
  int depth = 4;
  // What all is made of, in whole extents; null: any predefined datatypes, at any bytes.
  MPI_Datatype unit = MPI_DATATYPE_NULL;
  // As the types of files are: displacements are not negative and grow. (Mostly: typemap_of() decides.)
  bool ascending = false;
  // Only types that the MPI-IO of MPICH 4.0 and Open MPI 4.1 can use: the first six predefined types, no MPI_Type_dup, and
  // no constructors for large counts.
  bool plain = false;
};

using Places = std::vector<std::int64_t>;

struct RandomType {
  Type type;
  std::string text;  // how it was made
  Places places;     // of the bytes of one instance, in the order of the typemap, from the buffer argument on
  std::int64_t extent = 0;

  std::int64_t size() const { return static_cast<std::int64_t>(places.size()); }
  Places of(int count) const;  // instances
};

// Every constructor of MPI, nested. Where MPI has constructors for large counts, half of the types are made by these.
RandomType random_type(Random& random, const TypeRules& rules);

// A type that the program has made or that is predefined, with its bytes in a row.
RandomType plain_type(MPI_Datatype type);

bool overlaps(Places places);
// From 0 on, each beyond the one before.
bool ascends(const Places& places);
// What MPI_Pack says of `count` instances.
Places packed_places(const RandomType& type, int count);

// Memory that `count` instances of a datatype fit in, with a margin on both sides.
class Memory {
 public:
  // Byte i is not 0 and depends on i and `seed`.
  Memory(const RandomType& type, int count, unsigned seed);
  void* buffer() { return bytes_.data() + origin_; }
  char& at(std::int64_t place) { return bytes_[static_cast<std::size_t>(origin_ + place)]; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::int64_t origin_ = 0;
};

}  // namespace thalweg::test
