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
