// The methods of ADIOS2 without the library.
#include "method.hpp"

namespace methods {

std::unique_ptr<Method> make_adios2_method(std::string_view /*id*/) {
  return absent_method("ADIOS2", "install ADIOS2 with MPI and configure again");
}

}  // namespace methods
