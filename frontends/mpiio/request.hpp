// Request: a nonblocking access, which a program has as a generalised request of its MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "mpiio/failure.hpp"
#include "mpiio/mpi_library.hpp"
#include "mpiio/representation.hpp"
#include "thalweg/request.h"

namespace thalweg::mpiio {

struct OpenFile;

struct Request {
  tw_request* operation = nullptr;  // null: complete
  std::shared_ptr<OpenFile> file;   // whose error handler a failure invokes
  const char* call = "";
  tw_direction direction = TW_ACCESS_READ;
  std::int64_t moved = 0;                  // bytes of the program's memory
  std::unique_ptr<Conversion> conversion;  // of a read: what the file gives is converted at the end
  Failure failure;

  void wait();
  bool test();  // true: complete

 private:
  void finish(tw_status status, std::size_t bytes);
};

// Makes a request of MPI of it.
MPI_Request publish(std::unique_ptr<Request> request);

// Sets how many bytes an access moved; MPI_STATUS_IGNORE is left alone.
void set_status(MPI_Status* status, std::int64_t moved);

// The calls of MPI that complete requests, which advance and complete those of files first.
int wait(Layer layer, MPI_Request* request, MPI_Status* status);
int test(Layer layer, MPI_Request* request, int* flag, MPI_Status* status);
int wait_all(Layer layer, int n, MPI_Request* requests, MPI_Status* statuses);
int test_all(Layer layer, int n, MPI_Request* requests, int* flag, MPI_Status* statuses);
int wait_any(Layer layer, int n, MPI_Request* requests, int* index, MPI_Status* status);
int test_any(Layer layer, int n, MPI_Request* requests, int* index, int* flag, MPI_Status* status);
int wait_some(Layer layer, int n, MPI_Request* requests, int* n_done, int* indices, MPI_Status* statuses);
int test_some(Layer layer, int n, MPI_Request* requests, int* n_done, int* indices, MPI_Status* statuses);
int request_get_status(Layer layer, MPI_Request request, int* flag, MPI_Status* status);
// Before a call that only asks: advances the requests of files in a list, and tells MPI which are complete.
void advance(int n, const MPI_Request* requests);
int request_free(Layer layer, MPI_Request* request);

}  // namespace thalweg::mpiio
