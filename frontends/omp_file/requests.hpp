// Nonblocking operations by number. A number is garbage until it was found here.
#pragma once

#include "omp_file/omp_file.h"
#include "omp_file/team.hpp"

namespace thalweg::omp_file {

// The number of the operation that `team` stands for, from now on; OMP_FILE_REQUEST_NULL without memory.
omp_file_request add_request(Team* team);

// Gives the operation to the caller, who waits for it; nullptr when there is none, or another team waits for it.
Team* claim_request(omp_file_request request);
void give_up_claim(omp_file_request request);

// The operation is over, or did not begin.
void forget_request(omp_file_request request);

}  // namespace thalweg::omp_file
