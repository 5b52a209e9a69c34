// First bytes of files of foreign formats, for tests that must not damage such files.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace thalweg::test {

struct ForeignFile {
  std::string name;  // as messages name the format
  std::string bytes;
};

inline std::string padded(std::string begin, std::size_t bytes = 600) {
  begin.resize(std::max(bytes, begin.size()), '\x5a');
  return begin;
}

inline std::vector<ForeignFile> foreign_files() {
  using namespace std::string_literals;
  const std::string hdf5 = "\x89HDF\r\n\x1a\n\x00\x00\x00\x00\x00\x08\x08\x00"s;
  std::vector<ForeignFile> files = {{"HDF5", padded(hdf5)}};
  for (const std::size_t user_block : {512, 1024, 2048, 4096, 65536})
    files.push_back({"HDF5", std::string(user_block, 'u') + padded(hdf5)});
  for (const char version : {'\x01', '\x02'})
    files.push_back({"NetCDF", padded("CDF"s + version + "\x00\x00\x00\x00\x00\x00\x00\x0a\x00\x00\x00\x01"s)});
  files.push_back({"NetCDF", padded("CDF\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"s)});
  files.push_back({"NetCDF", padded("CDF\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0a\x00\x00\x00\x00"s)});
  files.push_back({"SIONlib", padded("sion\x00\x00\x00\x00\xef\x03\x00\x00\x06\x00\x00\x00\x05\x00\x00\x00"s)});
  files.push_back({"SIONlib", padded("sion\x00\x01\x01\x00\xef\x03\x00\x00\x06\x00\x00\x00\x05\x00\x00\x00"s)});
  files.push_back({"SIONlib", padded("sion\x01\x01\x01\x01\x00\x00\x03\xef\x00\x00\x00\x06\x00\x00\x00\x05"s)});
  return files;
}

// Files that begin similarly and belong to no known format.
inline std::vector<std::string> raw_files() {
  using namespace std::string_literals;
  return {padded("sionara, and thanks for all the bytes"s),
          padded("CDF\x03\x00\x00\x00\x00\x00\x00\x00\x00"s),
          padded("CDF\x01 is how NetCDF begins"s),
          "CDF\x01\x00\x00\x00\x00"s,
          padded("\x89HDG\r\n\x1a\n"s),
          std::string(700, 'x') + "\x89HDF\r\n\x1a\n"s};
}

}  // namespace thalweg::test
