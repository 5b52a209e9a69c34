// thalweg-probe: measures ways of writing a distributed array on the ranks of an MPI program, or predicts accesses on
// larger machines by simulation. `thalweg methods`, `advise` and `tune` start it and read the records on its standard
// output (docs/design/methods.md); `thalweg check` becomes it.
#include <cstdio>
#include <exception>
#include <iostream>
#include <string_view>

#include "check.hpp"
#include "folder.hpp"
#include "measuring.hpp"
#include "predict.hpp"

int main(int argc, char** argv) {
  try {
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (first == "--predict" && argc == 2) return probe::predict(std::cin), 0;
    if (first == "--storage" && argc == 3) return probe::describe_storage(argv[2]), 0;
    if (first == "--check" && argc == 4)
      return probe::on_ranks([&](const thalweg::Group& ranks) { return probe::check_mount(ranks, argv[2], argv[3]); });
    return probe::measure(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "thalweg-probe: %s\n", error.what());
    return probe::kWrongOptions;
  }
}
