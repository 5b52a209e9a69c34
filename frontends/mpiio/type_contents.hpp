// TypeContents: how a datatype was made, as one list of numbers, whichever size its counts have.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace thalweg::mpiio {

struct TypeContents {
  int combiner = MPI_COMBINER_NAMED;
  // The arguments of the constructor in their order, integers before addresses: count, block lengths, displacements.
  std::vector<std::int64_t> numbers;
  std::vector<MPI_Datatype> types;  // freed with this object where they are not predefined

  explicit TypeContents(MPI_Datatype type);
  ~TypeContents();
  TypeContents(const TypeContents&) = delete;
  TypeContents& operator=(const TypeContents&) = delete;

 private:
  // type_contents_large.cpp or type_contents_small.cpp: with the calls for large counts of MPI 4, or without.
  void read(MPI_Datatype type);
};

}  // namespace thalweg::mpiio
