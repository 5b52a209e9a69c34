// Ends the program when a task can neither continue nor report a failure: the other tasks would wait for ever.
#pragma once

#include "base/visibility.hpp"

namespace thalweg {

// `end` ends the other processes of the program (MPI_Abort where there are ranks) and may not return. Set once; not
// called in a child of fork.
TW_SHARED void set_end_of_others(void (*end)());

// Writes "thalweg: WHAT, WHERE; the program ends" to standard error, ends the other processes, and then this one with
// status 1. Takes no memory. Nothing is flushed, and no file is marked as complete: open files stay "not closed".
// Threads: any; only the first call writes a line.
[[noreturn]] TW_SHARED void end_program(const char* what, const char* where) noexcept;

}  // namespace thalweg
