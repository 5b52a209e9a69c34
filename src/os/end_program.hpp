// The end of a program in which a task can neither go on nor tell the others, who would wait for it for ever.
#pragma once

#include "base/visibility.hpp"

namespace thalweg {

// `end` ends the other processes of the program (MPI_Abort, where there are ranks) and may not return. Set once; a
// child of fork does not call it.
TW_SHARED void set_end_of_others(void (*end)());

// Writes "thalweg: WHAT, WHERE; the program ends" to standard error, ends the other processes, and then this one with
// status 1. Takes no memory. Nothing is flushed and nothing is marked as whole: open files stay "not closed".
// Threads: any; only the first call writes a line.
[[noreturn]] TW_SHARED void end_program(const char* what, const char* where) noexcept;

}  // namespace thalweg
