// The methods of SIONlib without the library.
#include "method.hpp"

namespace probe {

std::unique_ptr<Method> make_sionlib_method(std::string_view /*id*/) {
  return absent_method("SIONlib", "install SIONlib with MPI and configure again");
}

}  // namespace probe
