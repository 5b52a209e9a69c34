#include "mpi_info.hpp"

#include <array>

namespace probe {

std::map<std::string, std::string> take_info(MPI_Info info) {
  std::map<std::string, std::string> values;
  int keys = 0;
  if (info == MPI_INFO_NULL || MPI_Info_get_nkeys(info, &keys) != MPI_SUCCESS) return values;
  for (int i = 0; i < keys; ++i) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int found = 0;
    MPI_Info_get_nthkey(info, i, key.data());
    MPI_Info_get(info, key.data(), MPI_MAX_INFO_VAL, value.data(), &found);
    if (found != 0) values.emplace(key.data(), value.data());
  }
  MPI_Info_free(&info);
  return values;
}

std::map<std::string, std::string> hints_of(MPI_File file) {
  MPI_Info info = MPI_INFO_NULL;
  if (MPI_File_get_info(file, &info) != MPI_SUCCESS) return {};
  return take_info(info);
}

}  // namespace probe
