// The MPI library behind this one: its own versions of the functions that this library defines.
//
// This library is not linked to an MPI: it takes the one of the program, also where that is loaded later, and privately
// (as Python modules are). So the addresses of MPI's variables are looked up when they are first used (mpi_globals.h),
// and its functions are bound at their first call.
#pragma once

#include <cstdint>

namespace thalweg::mpiio {

// The function of this name behind this library in the order of lookup: a tool's, or that of MPI. Never null: a program
// that has none is ended with a message.
void* next_symbol(const char* name);

// A call continues under the name by which it came: a tool behind this library that defines MPI_Wait goes on by
// PMPI_Wait, which this library defines too.
enum class Layer : std::uint8_t { tool, profiling };

// Ends the program with a message where its MPI is of another family than the one that this library was compiled for:
// their handles differ.
void check_family();

// `name`: that of the profiling interface, PMPI_...
template <class Function>
Function* next_mpi(const char* name, Layer layer = Layer::profiling) {
  return reinterpret_cast<Function*>(next_symbol(layer == Layer::profiling ? name : name + 1));
}

}  // namespace thalweg::mpiio
