#include "mpi_name.hpp"

#include <mpi.h>

#include <array>

namespace probe {

std::string mpi_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string name(text.data());
  name.resize(std::min(name.size(), name.find_first_of("\n,")));
  const std::string word = " Version:";  // of MPICH and its derivatives, followed by a tab
  const auto at = name.find(word);
  if (at != std::string::npos) name.erase(at, word.size());
  for (char& c : name)
    if (c == '\t') c = ' ';
  name.erase(name.find_last_not_of(' ') + 1);
  return name;
}

}  // namespace probe
