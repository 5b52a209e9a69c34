#include "datatype.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include "method.hpp"

namespace probe {

namespace {

Datatype committed(MPI_Datatype type) {
  Datatype out(type);
  must_mpi(MPI_Type_commit(&type), "MPI_Type_commit");
  return out;
}

// Not committed: blocks of kMostElements, and a remainder.
MPI_Datatype make_contiguous(std::int64_t elements) {
  MPI_Datatype out = MPI_DATATYPE_NULL;
  if (elements <= INT_MAX) {
    must_mpi(MPI_Type_contiguous(static_cast<int>(elements), MPI_FLOAT, &out), "MPI_Type_contiguous");
    return out;
  }
  MPI_Datatype part = MPI_DATATYPE_NULL;
  must_mpi(MPI_Type_contiguous(static_cast<int>(kMostElements), MPI_FLOAT, &part), "MPI_Type_contiguous");
  const Datatype one(part);
  must_mpi(MPI_Type_contiguous(static_cast<int>(elements / kMostElements), part, &part), "MPI_Type_contiguous");
  const Datatype parts(part);
  const std::int64_t rest = elements % kMostElements;
  const std::array<int, 2> lengths = {1, static_cast<int>(rest)};
  const std::array<MPI_Aint, 2> places = {0, (elements - rest) * kElement};
  const std::array<MPI_Datatype, 2> types = {parts.get(), MPI_FLOAT};
  must_mpi(MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &out), "MPI_Type_create_struct");
  return out;
}

}  // namespace

Datatype contiguous_type(std::int64_t elements) { return committed(make_contiguous(elements)); }

Datatype subarray_type(const Array& array, const Block& block) {
  std::vector<int> sizes;
  std::vector<int> counts;
  std::vector<int> starts;
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

Datatype indexed_type(const std::vector<Stretch>& stretches, std::int64_t Stretch::*place) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  for (const Stretch& stretch : stretches) {
    for (std::int64_t done = 0; done < stretch.length; done += kMostElements) {
      lengths.push_back(static_cast<int>(std::min(kMostElements, stretch.length - done)));
      places.push_back((stretch.*place + done) * kElement);
    }
  }
  if (lengths.size() > INT_MAX) throw Failed("more pieces than an indexed type of MPI can have");
  MPI_Datatype out = MPI_DATATYPE_NULL;
  must_mpi(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_FLOAT, &out),
           "MPI_Type_create_hindexed");
  return committed(out);
}

}  // namespace probe
