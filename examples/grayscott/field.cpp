// Assembles the square of one checkpoint from all logical files, as an analysis on a login node would. One task, no
// MPI.
//
//     grayscott_field CHECKPOINT.tw              list the complete steps
//     grayscott_field CHECKPOINT.tw STEP FIELD   write u, then v, of that step as plain numbers, row after row
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "assemble.hpp"

namespace {

void write_plain(const grayscott::Fields& fields, const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw std::runtime_error("cannot write '" + path + "'");
  const std::int64_t size = fields.box().nx;
  std::size_t written = 0;
  const auto row_bytes = static_cast<std::size_t>(size);
  for (std::int64_t y = 0; y < size; ++y) written += std::fwrite(fields.u(0, y), sizeof(double), row_bytes, file);
  for (std::int64_t y = 0; y < size; ++y) written += std::fwrite(fields.v(0, y), sizeof(double), row_bytes, file);
  if (std::fclose(file) != 0 || written != 2 * row_bytes * row_bytes) {
    throw std::runtime_error("could not write all of '" + path + "'");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2 && argc != 4) {
    std::fprintf(stderr, "usage: grayscott_field CHECKPOINT.tw [STEP FIELD]\n");
    return 2;
  }
  thalweg::Multifile file(argv[1], TW_READ);
  if (argc == 2) {
    for (const std::int64_t step : grayscott::whole_steps(file)) std::printf("%lld\n", static_cast<long long>(step));
  } else {
    write_plain(grayscott::assemble(file, std::atoll(argv[2])), argv[3]);
  }
  file.close();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "grayscott_field: %s\n", error.what());
  return 1;
}
