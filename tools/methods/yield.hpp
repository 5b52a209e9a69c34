// Ranks that share a core give it away while they wait.
#pragma once

namespace methods {

// From now on, in this process: where the MPI is one that this can be done to.
void yield_while_waiting();
// Whether waiting ranks give their core away, by that or by a setting of MPI's own.
bool yields();

}  // namespace methods
