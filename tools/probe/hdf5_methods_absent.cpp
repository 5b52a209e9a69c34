// The methods of HDF5 without the library.
#include "method.hpp"

namespace probe {

std::unique_ptr<Method> make_hdf5_method(std::string_view /*id*/) {
  return absent_method("HDF5", "install a parallel HDF5 for the same MPI and configure again");
}

}  // namespace probe
