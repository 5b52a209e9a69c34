// The ways to access a file at explicit offsets: blocking, nonblocking and split; independent and collective.
#pragma once

#include <mpi.h>

#include "mpiio/mpiio_support.hpp"

namespace thalweg::test {

enum class Way { blocking, blocking_all, nonblocking, nonblocking_all, split };
constexpr Way kWays[] = {Way::blocking, Way::blocking_all, Way::nonblocking, Way::nonblocking_all, Way::split};

// One access that is waited for.
inline int write_at(Way way, MPI_File file, MPI_Offset offset, const void* data, int count, MPI_Datatype type,
                    MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  int error = MPI_SUCCESS;
  switch (way) {
    case Way::blocking:
      return MPI_File_write_at(file, offset, data, count, type, status);
    case Way::blocking_all:
      return MPI_File_write_at_all(file, offset, data, count, type, status);
    case Way::split:
      error = MPI_File_write_at_all_begin(file, offset, data, count, type);
      return error != MPI_SUCCESS ? error : MPI_File_write_at_all_end(file, data, status);
    case Way::nonblocking:
      error = MPI_File_iwrite_at(file, offset, data, count, type, &request);
      break;
    case Way::nonblocking_all:
      error = MPI_File_iwrite_at_all(file, offset, data, count, type, &request);
      break;
  }
  return error != MPI_SUCCESS ? error : MPI_Wait(&request, status);
}

inline int read_at(Way way, MPI_File file, MPI_Offset offset, void* data, int count, MPI_Datatype type,
                   MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  int error = MPI_SUCCESS;
  switch (way) {
    case Way::blocking:
      return MPI_File_read_at(file, offset, data, count, type, status);
    case Way::blocking_all:
      return MPI_File_read_at_all(file, offset, data, count, type, status);
    case Way::split:
      error = MPI_File_read_at_all_begin(file, offset, data, count, type);
      return error != MPI_SUCCESS ? error : MPI_File_read_at_all_end(file, data, status);
    case Way::nonblocking:
      error = MPI_File_iread_at(file, offset, data, count, type, &request);
      break;
    case Way::nonblocking_all:
      error = MPI_File_iread_at_all(file, offset, data, count, type, &request);
      break;
  }
  return error != MPI_SUCCESS ? error : MPI_Wait(&request, status);
}

}  // namespace thalweg::test
