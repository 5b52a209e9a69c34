#include "assemble.hpp"

#include <map>

namespace grayscott {

std::vector<std::int64_t> whole_steps(thalweg::Multifile& file) {
  const std::int64_t n_logical = file.summarize().n_logical;
  std::map<std::int64_t, std::int64_t> holders;  // by step: number of logical files that contain it
  for (std::int64_t rank = 0; rank < n_logical; ++rank) {
    for (const Record& record : whole_records(file, rank)) ++holders[record.header.step];
  }
  std::vector<std::int64_t> steps;
  for (const auto& [step, n_holders] : holders) {
    if (n_holders == n_logical) steps.push_back(step);
  }
  return steps;
}

Fields assemble(thalweg::Multifile& file, std::int64_t step) {
  const std::int64_t n_logical = file.summarize().n_logical;
  const std::int64_t size = record_of_step(file, 0, step).header.size;
  Fields fields(Box{.nx = size, .ny = size});
  for (std::int64_t rank = 0; rank < n_logical; ++rank) {
    read_cells(file, record_of_step(file, rank, step), fields.box(), fields);
  }
  return fields;
}

}  // namespace grayscott
