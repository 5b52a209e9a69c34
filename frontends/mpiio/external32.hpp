// external32: big-endian IEEE numbers of fixed sizes (MPI 4.1, 14.5.2).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace thalweg::mpiio {

// long_double: the format of C's type, where that is not the one of the file.
enum class NumberKind : std::uint8_t { bytes, integer, unsigned_integer, real, long_double };

// A predefined datatype: `components` numbers of one kind (2: complex); of a pair, the int that follows them.
struct ExternalForm {
  NumberKind kind = NumberKind::bytes;
  std::size_t components = 1;
  std::size_t number_bytes = 1;          // of a component, in memory
  std::size_t number_bytes_in_file = 1;  // of a component, in the file
  bool with_index = false;               // MPI_DOUBLE_INT and its like
  std::size_t memory_bytes = 1;          // of all
  std::size_t file_bytes = 1;
};

ExternalForm external_form(MPI_Datatype predefined);
// Convert one. False: the value is too large for the other form, and was cut.
bool to_external(const ExternalForm& form, const std::byte* memory, std::byte* file);
bool from_external(const ExternalForm& form, const std::byte* file, std::byte* memory);

}  // namespace thalweg::mpiio
