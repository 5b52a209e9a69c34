#include "datatype.hpp"

#include <algorithm>
#include <climits>

#include "posix_file.hpp"
#include "ranks.hpp"

namespace probe {

namespace {

Datatype committed(MPI_Datatype type) {
  Datatype out(type);
  must_mpi(MPI_Type_commit(&type), "MPI_Type_commit");
  return out;
}

Datatype subarray_type(const Array& array, const Block& block) {
  std::vector<int> sizes, counts, starts;
  for (std::size_t d = 0; d < array.shape.size(); ++d) {
    if (array.shape[d] > INT_MAX)
      throw Failed("a dimension of " + std::to_string(array.shape[d]) +
                   " elements is more than a subarray type of MPI can have (2147483647); take a smaller one");
    sizes.push_back(static_cast<int>(array.shape[d]));
    counts.push_back(static_cast<int>(block.count[d]));
    starts.push_back(static_cast<int>(block.start[d]));
  }
  MPI_Datatype out = MPI_DATATYPE_NULL;
  must_mpi(MPI_Type_create_subarray(static_cast<int>(sizes.size()), sizes.data(), counts.data(), starts.data(),
                                    array.order == Order::c ? MPI_ORDER_C : MPI_ORDER_FORTRAN, MPI_FLOAT, &out),
           "MPI_Type_create_subarray");
  return committed(out);
}

}  // namespace

Datatype block_type(const Array& array, const Block& block) {
  if (!array.ragged && block.elements() > 0) return subarray_type(array, block);
  std::vector<Run> rows;
  for_each_run(array, block, [&](const Run& row) { rows.push_back(row); });
  return indexed_type(rows, &Run::in_other);
}

Datatype indexed_type(const std::vector<Run>& runs, std::int64_t Run::*place) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  for (const Run& run : runs) {
    for (std::int64_t done = 0; done < run.length; done += kMostElements) {
      lengths.push_back(static_cast<int>(std::min(kMostElements, run.length - done)));
      places.push_back((run.*place + done) * kElement);
    }
  }
  if (lengths.size() > INT_MAX) throw Failed("more pieces than an indexed type of MPI can have");
  MPI_Datatype out = MPI_DATATYPE_NULL;
  must_mpi(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_FLOAT, &out),
           "MPI_Type_create_hindexed");
  return committed(out);
}

MemoryType::MemoryType(std::int64_t elements)
    : made(elements > INT_MAX ? indexed_type({{0, 0, elements}}, &Run::in_block) : Datatype()),
      count(elements > INT_MAX ? 1 : static_cast<int>(elements)),
      type(elements > INT_MAX ? made.get() : MPI_FLOAT) {}

}  // namespace probe
