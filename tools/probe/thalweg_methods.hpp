// Methods 18 to 21: those of Thalweg.
#pragma once

#include <memory>
#include <string>
#include <thalweg/thalweg.hpp>

#include "method.hpp"

namespace probe {

std::unique_ptr<Method> make_multifile_method();    // 18
std::unique_ptr<Method> make_collective_method();   // 19
std::unique_ptr<Method> make_nonblocking_method();  // 20
std::unique_ptr<Method> make_vpfile_method();       // 21

std::string thalweg_name();  // "Thalweg 0.4.0"

// The group of a communicator, made at the first call, which is collective, and kept until the communicator is freed.
const thalweg::Group& group_of(MPI_Comm comm);

}  // namespace probe
