// Failure: why a call of MPI-IO failed; and what a file does about it, its error handler.
#pragma once

#include <mpi.h>

#include <string>

#include "thalweg/status.h"

namespace thalweg::mpiio {

struct OpenFile;

struct Failure {
  int error_class = MPI_SUCCESS;
  std::string message;
  bool none() const { return error_class == MPI_SUCCESS; }
};

// The failure of the library's call that has just returned on this thread.
Failure failure_of(tw_status status);
// The error class that a system call's errno stands for.
int class_of_errno(int os_errno);

// Ends a call: invokes the error handler of the file (null: that of MPI_FILE_NULL) on a failure, and returns the error
// class, which is the error code too. MPI_Error_string() then gives the message on this thread.
int conclude(OpenFile* file, const Failure& failure);

// The handlers of files. A handler counts its users: the program, and each file that has it.
int create_handler(MPI_File_errhandler_function* function, MPI_Errhandler* handler);
// A handler of a Fortran program, which takes the numbers of files; MPI has made it.
using FortranHandler = void(MPI_Fint* file, MPI_Fint* code, ...);
void keep_handler(FortranHandler* function, MPI_Errhandler handler);
int set_handler(MPI_File handle, MPI_Errhandler handler);
int get_handler(MPI_File handle, MPI_Errhandler* handler);
int call_handler(MPI_File handle, int error_code);
// Drops one user; false where the handler was not made by create_handler(), so that MPI frees it.
bool release_handler(MPI_Errhandler* handler, int* error);
// The handler of MPI_FILE_NULL for a new file, which becomes a user of it; and the end of that.
MPI_Errhandler take_default_handler();
void drop_handler(MPI_Errhandler handler);
// Puts the message of this thread's last failure, if it is of this class, into `text`.
bool last_message(int error_class, char* text, int* length);

}  // namespace thalweg::mpiio
