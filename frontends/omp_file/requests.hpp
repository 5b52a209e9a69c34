// Nonblocking operations by number. A number is untrusted until found here.
#pragma once

#include "omp_file/omp_file.h"
#include "omp_file/team.hpp"

namespace thalweg::omp_file {

// Assigns a number to the operation of `team`; OMP_FILE_REQUEST_NULL when out of memory.
omp_file_request add_request(Team* team);

// One team at a time uses an operation. A team claims it after all of its threads have arrived, so that it depends on
// no other thread. These functions wait until the operation is free.
// Returns the operation of this number, for the caller, or nullptr.
Team* claim_request(omp_file_request request);
// Returns an operation on this file that has begun, or nullptr.
Team* claim_request_on(const OpenFile* file);
void give_up_claim(omp_file_request request);
// Releases a completed operation and detaches it from its file, whose reference is returned.
OpenFile* give_up_claim_and_file(omp_file_request request);

// Removes an operation that has ended or did not begin.
void forget_request(omp_file_request request);

// Completes the operations on a file before its close; the caller holds a reference. Their requests stay valid,
// complete.
void settle_requests_on(OpenFile* file);

}  // namespace thalweg::omp_file
