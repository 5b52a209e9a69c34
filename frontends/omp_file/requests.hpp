// Nonblocking operations by number. A number is garbage until it was found here.
#pragma once

#include "omp_file/omp_file.h"
#include "omp_file/team.hpp"

namespace thalweg::omp_file {

// The number of the operation that `team` stands for, from now on; OMP_FILE_REQUEST_NULL without memory.
omp_file_request add_request(Team* team);

// An operation is used by one team at a time, which claims it when all of its threads have arrived, so that it needs
// nobody else to go on. These wait until it is free.
// The operation of this number, for the caller; nullptr when there is none.
Team* claim_request(omp_file_request request);
// One on this file that has begun; nullptr when there is none.
Team* claim_request_on(const OpenFile* file);
void give_up_claim(omp_file_request request);
// The same of an operation that is complete and has nothing to do with its file any more, whose reference is returned.
OpenFile* give_up_claim_and_file(omp_file_request request);

// The operation is over, or did not begin.
void forget_request(omp_file_request request);

// Completes the operations on a file that is about to be closed, of which the caller has a reference. Their requests
// stay, complete.
void settle_requests_on(OpenFile* file);

}  // namespace thalweg::omp_file
