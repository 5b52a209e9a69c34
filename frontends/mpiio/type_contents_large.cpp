// For an MPI with the calls for large counts of MPI 4.
#include "mpiio/layout.hpp"
#include "mpiio/type_contents.hpp"

namespace thalweg::mpiio {

namespace {

// Where the counts belong among the integers (MPI 4.1, 5.1.13): the arguments of a constructor keep their order.
std::size_t place_of_counts(int combiner) {
  if (combiner == MPI_COMBINER_SUBARRAY) return 1;  // behind the number of dimensions
  if (combiner == MPI_COMBINER_DARRAY) return 3;    // behind size, rank and the number of dimensions
  return 0;
}

}  // namespace

void TypeContents::read(MPI_Datatype type) {
  MPI_Count n_integers = 0, n_addresses = 0, n_counts = 0, n_types = 0;
  MPI_Type_get_envelope_c(type, &n_integers, &n_addresses, &n_counts, &n_types, &combiner);
  if (combiner == MPI_COMBINER_NAMED) return;
  std::vector<int> integers(static_cast<std::size_t>(n_integers));
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(n_addresses));
  std::vector<MPI_Count> counts(static_cast<std::size_t>(n_counts));
  types.resize(static_cast<std::size_t>(n_types));
  MPI_Type_get_contents_c(type, n_integers, n_addresses, n_counts, n_types, integers.data(), addresses.data(),
                          counts.data(), types.data());
  numbers.assign(integers.begin(), integers.end());
  if (!counts.empty())
    numbers.insert(numbers.begin() + static_cast<std::ptrdiff_t>(place_of_counts(combiner)), counts.begin(),
                   counts.end());
  numbers.insert(numbers.end(), addresses.begin(), addresses.end());
}

bool is_predefined(MPI_Datatype type) {
  MPI_Count n_integers = 0, n_addresses = 0, n_counts = 0, n_types = 0;
  int combiner = MPI_COMBINER_NAMED;
  MPI_Type_get_envelope_c(type, &n_integers, &n_addresses, &n_counts, &n_types, &combiner);
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

}  // namespace thalweg::mpiio
