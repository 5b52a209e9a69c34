// Makes waiting ranks that share a core yield.
#pragma once

namespace probe {

// Turns yielding on in this process, where the MPI permits it.
void yield_while_waiting();
// Whether waiting ranks yield, by that or by a setting of MPI.
bool yields();

}  // namespace probe
