// For an MPI without the calls for large counts.
#include "mpiio/layout.hpp"
#include "mpiio/type_contents.hpp"

namespace thalweg::mpiio {

void TypeContents::read(MPI_Datatype type) {
  int n_integers = 0, n_addresses = 0, n_types = 0;
  MPI_Type_get_envelope(type, &n_integers, &n_addresses, &n_types, &combiner);
  if (combiner == MPI_COMBINER_NAMED) return;
  std::vector<int> integers(static_cast<std::size_t>(n_integers));
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(n_addresses));
  types.resize(static_cast<std::size_t>(n_types));
  MPI_Type_get_contents(type, n_integers, n_addresses, n_types, integers.data(), addresses.data(), types.data());
  numbers.assign(integers.begin(), integers.end());
  numbers.insert(numbers.end(), addresses.begin(), addresses.end());
}

bool is_predefined(MPI_Datatype type) {
  int n_integers = 0, n_addresses = 0, n_types = 0, combiner = MPI_COMBINER_NAMED;
  MPI_Type_get_envelope(type, &n_integers, &n_addresses, &n_types, &combiner);
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

}  // namespace thalweg::mpiio
