#include "numpy_peer.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "support/scratch.hpp"

namespace bench {

namespace {

constexpr const char* kProgram = R"(
import sys, time, numpy
values = numpy.arange(int(sys.argv[2]), dtype=float)
begin = time.perf_counter()
values.tofile(sys.argv[1])
wrote = time.perf_counter() - begin
begin = time.perf_counter()
back = numpy.fromfile(sys.argv[1])
print(wrote, time.perf_counter() - begin, int((back == values).all()))
)";

// Output of the command; empty when it fails.
std::string output_of(const std::string& command) {
  std::FILE* out = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): of our own text and a scratch folder
  if (out == nullptr) return "";
  std::string text(256, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), out));
  return pclose(out) == 0 ? text : "";
}

}  // namespace

std::string python_with_numpy() {
  for (const char* python : {"python3", "/usr/bin/python3"})
    if (!output_of(fmt::format("{} -c 'import numpy; print(1)' 2>/dev/null", python)).empty()) return python;
  return "";
}

std::vector<double> write_and_read_by_numpy(const std::string& python, const std::string& path, std::int64_t doubles) {
  const std::string text = output_of(fmt::format("{} -c '{}' '{}' {}", python, kProgram, path, doubles));
  double wrote = 0;
  double read = 0;
  int right = 0;
  if (std::sscanf(text.c_str(), "%lf %lf %d", &wrote, &read, &right) != 3 || right != 1)
    give_up("NumPy did not read what it wrote");
  return {wrote, read};
}

}  // namespace bench
