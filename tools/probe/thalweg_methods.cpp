#include "thalweg_methods.hpp"

#include <thalweg/version.h>

namespace probe {

std::string thalweg_name() { return std::string("Thalweg ") + tw_version_string(); }

std::unique_ptr<Method> make_thalweg_method(std::string_view id) {
  if (id == "tw-multifile") return make_multifile_method();
  if (id == "tw-collective") return make_collective_method();
  if (id == "tw-nonblocking") return make_nonblocking_method();
  return make_vpfile_method();
}

}  // namespace probe
