// Error handlers of Fortran programs. All other calls of Fortran reach the names of C; these keep the procedure to
// themselves, and it takes the number of a file in place of its handle.
#include <mpi.h>

#include "mpiio/failure.hpp"
#include "mpiio/mpi_library.hpp"

namespace m = thalweg::mpiio;

namespace {

using Create = void(m::FortranHandler*, MPI_Fint*, MPI_Fint*);

// `error` is optional in mpi_f08.
void create(const char* name, m::FortranHandler* function, MPI_Fint* handler, MPI_Fint* error) {
  MPI_Fint result = MPI_SUCCESS;
  m::next_mpi<Create>(name)(function, handler, &result);
  if (result == MPI_SUCCESS) m::keep_handler(function, MPI_Errhandler_f2c(*handler));
  if (error != nullptr) *error = result;
}

}  // namespace

// mpif.h and the module mpi; mpi_f08 with MPICH; mpi_f08 with Open MPI.
#define FORTRAN_NAME(name)                                                                            \
  extern "C" [[gnu::visibility("default")]] void name(m::FortranHandler* function, MPI_Fint* handler, \
                                                      MPI_Fint* error);                               \
  extern "C" void name(m::FortranHandler* function, MPI_Fint* handler, MPI_Fint* error) {             \
    create(#name, function, handler, error);                                                          \
  }

FORTRAN_NAME(mpi_file_create_errhandler_)
FORTRAN_NAME(pmpi_file_create_errhandler_)
FORTRAN_NAME(mpi_file_create_errhandler_f08_)
FORTRAN_NAME(ompi_file_create_errhandler_f)
