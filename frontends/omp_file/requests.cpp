#include "omp_file/requests.hpp"

#include <new>

#include "omp_file/number_table.hpp"

namespace thalweg::omp_file {

namespace {

// Never destroyed: threads may be at work while the process ends.
NumberTable<Team>& table() {
  static auto& operations = *new NumberTable<Team>({.first = 1, .slot_bits = 24, .generation_bits = 38});
  return operations;
}

}  // namespace

omp_file_request add_request(Team* team) {
  try {
    const omp_file_request request = table().add(team);
    return request == NumberTable<Team>::kNone ? OMP_FILE_REQUEST_NULL : request;
  } catch (const std::bad_alloc&) {
    return OMP_FILE_REQUEST_NULL;
  }
}

Team* claim_request(omp_file_request request) {
  return table().with(request, [](Team* operation) -> Team* {
    if (operation == nullptr || operation->claimed) return nullptr;
    operation->claimed = true;
    return operation;
  });
}

void give_up_claim(omp_file_request request) {
  table().with(request, [](Team* operation) {
    if (operation != nullptr) operation->claimed = false;
  });
}

void forget_request(omp_file_request request) { table().remove(request); }

}  // namespace thalweg::omp_file
