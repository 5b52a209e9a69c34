// The names of MPI: each function of the chapter on I/O under MPI_ and PMPI_, made from one table of signatures, and the
// calls outside of it that concern files: those that complete requests, and those that begin MPI.
//
// docs/howto/mpi_programs.md lists the functions.
#include <mpi.h>

#include "mpiio/calls.hpp"
#include "mpiio/communicator.hpp"
#include "mpiio/failure.hpp"
#include "mpiio/mpi_library.hpp"
#include "mpiio/open_file.hpp"
#include "mpiio/request.hpp"

// An MPI library that has no calls for large counts does not declare them.
#define TW_EXPORT [[gnu::visibility("default")]]

// FUNCTION(result, name after MPI_, parameters, what is returned)
#define FUNCTION(result, name, parameters, ...)                  \
  extern "C" TW_EXPORT result MPI_##name parameters;             \
  extern "C" TW_EXPORT result PMPI_##name parameters;            \
  extern "C" result MPI_##name parameters {                      \
    [[maybe_unused]] constexpr auto layer = m::Layer::tool;      \
    return __VA_ARGS__;                                          \
  }                                                              \
  extern "C" result PMPI_##name parameters {                     \
    [[maybe_unused]] constexpr auto layer = m::Layer::profiling; \
    return __VA_ARGS__;                                          \
  }

namespace m = thalweg::mpiio;
using m::Pointer;

// --- data access ------------------------------------------------------------------------------------------------------

// ACCESS(name, direction, pointer, collective, (parameters before the buffer), offset): blocking, int and MPI_Count.
#define UNPACK(...) __VA_ARGS__
#define ASKED(name, direction, pointer, collective, offset) \
  m::DataAccess { "MPI_File_" name, TW_ACCESS_##direction, Pointer::pointer, collective, offset, buf, count, type }

#define BLOCKING(name, direction, buffer, pointer, collective, first, offset)                                         \
  FUNCTION(int, File_##name, (UNPACK first, buffer buf, int count, MPI_Datatype type, MPI_Status* status),            \
           m::access(fh, ASKED(#name, direction, pointer, collective, offset), status))                               \
  FUNCTION(int, File_##name##_c, (UNPACK first, buffer buf, MPI_Count count, MPI_Datatype type, MPI_Status * status), \
           m::access(fh, ASKED(#name "_c", direction, pointer, collective, offset), status))
#define NONBLOCKING(name, direction, buffer, pointer, collective, first, offset)                             \
  FUNCTION(int, File_##name, (UNPACK first, buffer buf, int count, MPI_Datatype type, MPI_Request* request), \
           m::start(fh, ASKED(#name, direction, pointer, collective, offset), request))                      \
  FUNCTION(int, File_##name##_c,                                                                             \
           (UNPACK first, buffer buf, MPI_Count count, MPI_Datatype type, MPI_Request * request),            \
           m::start(fh, ASKED(#name "_c", direction, pointer, collective, offset), request))
#define SPLIT(name, direction, buffer, pointer, first, offset)                                         \
  FUNCTION(int, File_##name##_begin, (UNPACK first, buffer buf, int count, MPI_Datatype type),         \
           m::begin_split(fh, ASKED(#name "_begin", direction, pointer, true, offset)))                \
  FUNCTION(int, File_##name##_begin_c, (UNPACK first, buffer buf, MPI_Count count, MPI_Datatype type), \
           m::begin_split(fh, ASKED(#name "_begin_c", direction, pointer, true, offset)))              \
  FUNCTION(int, File_##name##_end, (MPI_File fh, buffer, MPI_Status * status),                         \
           m::end_split(fh, "MPI_File_" #name "_end", "MPI_File_" #name "_begin", status))

// All accesses of one direction: `name` is read or write.
#define AT (MPI_File fh, MPI_Offset offset)
#define HERE (MPI_File fh)
#define DIRECTION(name, direction, buffer)                                  \
  BLOCKING(name##_at, direction, buffer, given, false, AT, offset)          \
  BLOCKING(name##_at_all, direction, buffer, given, true, AT, offset)       \
  BLOCKING(name, direction, buffer, individual, false, HERE, 0)             \
  BLOCKING(name##_all, direction, buffer, individual, true, HERE, 0)        \
  BLOCKING(name##_shared, direction, buffer, shared, false, HERE, 0)        \
  BLOCKING(name##_ordered, direction, buffer, ordered, true, HERE, 0)       \
  NONBLOCKING(i##name##_at, direction, buffer, given, false, AT, offset)    \
  NONBLOCKING(i##name##_at_all, direction, buffer, given, true, AT, offset) \
  NONBLOCKING(i##name, direction, buffer, individual, false, HERE, 0)       \
  NONBLOCKING(i##name##_all, direction, buffer, individual, true, HERE, 0)  \
  NONBLOCKING(i##name##_shared, direction, buffer, shared, false, HERE, 0)  \
  SPLIT(name##_at_all, direction, buffer, given, AT, offset)                \
  SPLIT(name##_all, direction, buffer, individual, HERE, 0)                 \
  SPLIT(name##_ordered, direction, buffer, ordered, HERE, 0)

DIRECTION(read, READ, void*)
DIRECTION(write, WRITE, const void*)

// --- files ------------------------------------------------------------------------------------------------------------

namespace {

int type_extent(MPI_File fh, MPI_Datatype type, MPI_Aint* extent) {
  MPI_Count wide = 0;
  const int error = m::get_type_extent(fh, type, &wide);
  if (error == MPI_SUCCESS) *extent = static_cast<MPI_Aint>(wide);
  return error;
}

}  // namespace

FUNCTION(int, File_open, (MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File* fh),
         m::open(comm, name, amode, info, fh))
FUNCTION(int, File_close, (MPI_File * fh), m::close(fh))
FUNCTION(int, File_delete, (const char* name, MPI_Info), m::remove(name))
FUNCTION(int, File_set_size, (MPI_File fh, MPI_Offset size), m::set_size(fh, size))
FUNCTION(int, File_preallocate, (MPI_File fh, MPI_Offset size), m::preallocate(fh, size))
FUNCTION(int, File_get_size, (MPI_File fh, MPI_Offset* size), m::get_size(fh, size))
FUNCTION(int, File_get_group, (MPI_File fh, MPI_Group* group), m::get_group(fh, group))
FUNCTION(int, File_get_amode, (MPI_File fh, int* amode), m::get_amode(fh, amode))
FUNCTION(int, File_set_info, (MPI_File fh, MPI_Info info), m::set_info(fh, info))
FUNCTION(int, File_get_info, (MPI_File fh, MPI_Info* info), m::get_info(fh, info))
FUNCTION(int, File_set_view,
         (MPI_File fh, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* datarep,
          MPI_Info info),
         m::set_view(fh, displacement, etype, filetype, datarep, info))
FUNCTION(int, File_get_view,
         (MPI_File fh, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype, char* datarep),
         m::get_view(fh, displacement, etype, filetype, datarep))
FUNCTION(int, File_seek, (MPI_File fh, MPI_Offset offset, int whence), m::seek(fh, offset, whence))
FUNCTION(int, File_get_position, (MPI_File fh, MPI_Offset* offset), m::get_position(fh, offset))
FUNCTION(int, File_get_byte_offset, (MPI_File fh, MPI_Offset offset, MPI_Offset* displacement),
         m::get_byte_offset(fh, offset, displacement))
FUNCTION(int, File_seek_shared, (MPI_File fh, MPI_Offset offset, int whence), m::seek_shared(fh, offset, whence))
FUNCTION(int, File_get_position_shared, (MPI_File fh, MPI_Offset* offset), m::get_position_shared(fh, offset))
FUNCTION(int, File_get_type_extent, (MPI_File fh, MPI_Datatype type, MPI_Aint* extent), type_extent(fh, type, extent))
FUNCTION(int, File_get_type_extent_c, (MPI_File fh, MPI_Datatype type, MPI_Count* extent),
         m::get_type_extent(fh, type, extent))
FUNCTION(int, File_set_atomicity, (MPI_File fh, int flag), m::set_atomicity(fh, flag))
FUNCTION(int, File_get_atomicity, (MPI_File fh, int* flag), m::get_atomicity(fh, flag))
FUNCTION(int, File_sync, (MPI_File fh), m::sync(fh))
FUNCTION(int, Register_datarep,
         (const char* name, MPI_Datarep_conversion_function* read, MPI_Datarep_conversion_function* write,
          MPI_Datarep_extent_function* extent, void* state),
         m::register_datarep(name, read, write, extent, state))
FUNCTION(int, Register_datarep_c,
         (const char* name, m::LargeConversion* read, m::LargeConversion* write, MPI_Datarep_extent_function* extent,
          void* state),
         m::register_datarep(name, read, write, extent, state))
FUNCTION(MPI_Fint, File_c2f, (MPI_File fh), m::number_of(fh))
FUNCTION(MPI_File, File_f2c, (MPI_Fint fh), m::handle_of_number(fh))
// MPI 5 has these in place of both in its standard binary interface.
FUNCTION(int, File_toint, (MPI_File fh), m::number_of(fh))
FUNCTION(MPI_File, File_fromint, (int fh), m::handle_of_number(fh))
FUNCTION(int, File_create_errhandler, (MPI_File_errhandler_function * function, MPI_Errhandler* handler),
         m::create_handler(function, handler))
FUNCTION(int, File_set_errhandler, (MPI_File fh, MPI_Errhandler handler), m::set_handler(fh, handler))
FUNCTION(int, File_get_errhandler, (MPI_File fh, MPI_Errhandler* handler), m::get_handler(fh, handler))
FUNCTION(int, File_call_errhandler, (MPI_File fh, int code), m::call_handler(fh, code))

// --- outside of the chapter -------------------------------------------------------------------------------------------

namespace {

int free_handler(m::Layer layer, MPI_Errhandler* handler) {
  int error = MPI_SUCCESS;
  if (m::release_handler(handler, &error)) return error;
  return m::next_mpi<int(MPI_Errhandler*)>("PMPI_Errhandler_free", layer)(handler);
}

int error_string(m::Layer layer, int code, char* text, int* length) {
  if (m::last_message(code, text, length)) return MPI_SUCCESS;
  return m::next_mpi<int(int, char*, int*)>("PMPI_Error_string", layer)(code, text, length);
}

// The library's thread advances accesses while the program computes, for which MPI must permit calls of any thread.
int begin_mpi(m::Layer layer, int* argc, char*** argv, int required, int* provided) {
  m::check_family();
  const auto begin = m::next_mpi<int(int*, char***, int, int*)>("PMPI_Init_thread", layer);
  const int error = begin(argc, argv, MPI_THREAD_MULTIPLE, provided);
  if (required == MPI_THREAD_MULTIPLE) m::threads_may_call();
  if (error == MPI_SUCCESS) m::watch_the_end();
  return error;
}

int begin_mpi(m::Layer layer, int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  return begin_mpi(layer, argc, argv, provided, &provided);
}

}  // namespace

FUNCTION(int, Errhandler_free, (MPI_Errhandler * handler), free_handler(layer, handler))
FUNCTION(int, Error_string, (int code, char* text, int* length), error_string(layer, code, text, length))
FUNCTION(int, Init, (int* argc, char*** argv), begin_mpi(layer, argc, argv))
FUNCTION(int, Init_thread, (int* argc, char*** argv, int required, int* provided),
         begin_mpi(layer, argc, argv, required, provided))
FUNCTION(int, Wait, (MPI_Request * request, MPI_Status* status), m::wait(layer, request, status))
FUNCTION(int, Test, (MPI_Request * request, int* flag, MPI_Status* status), m::test(layer, request, flag, status))
FUNCTION(int, Waitall, (int n, MPI_Request* requests, MPI_Status* statuses), m::wait_all(layer, n, requests, statuses))
FUNCTION(int, Testall, (int n, MPI_Request* requests, int* flag, MPI_Status* statuses),
         m::test_all(layer, n, requests, flag, statuses))
FUNCTION(int, Waitany, (int n, MPI_Request* requests, int* index, MPI_Status* status),
         m::wait_any(layer, n, requests, index, status))
FUNCTION(int, Testany, (int n, MPI_Request* requests, int* index, int* flag, MPI_Status* status),
         m::test_any(layer, n, requests, index, flag, status))
FUNCTION(int, Waitsome, (int n, MPI_Request* requests, int* n_done, int* indices, MPI_Status* statuses),
         m::wait_some(layer, n, requests, n_done, indices, statuses))
FUNCTION(int, Testsome, (int n, MPI_Request* requests, int* n_done, int* indices, MPI_Status* statuses),
         m::test_some(layer, n, requests, n_done, indices, statuses))
FUNCTION(int, Request_get_status, (MPI_Request request, int* flag, MPI_Status* status),
         m::request_get_status(layer, request, flag, status))
// Those of MPI 4.1, which an older MPI library lacks: they are looked up when they are called.
FUNCTION(int, Request_get_status_any, (int n, const MPI_Request* requests, int* index, int* flag, MPI_Status* status),
         (m::advance(n, requests),
          m::next_mpi<int(int, const MPI_Request*, int*, int*, MPI_Status*)>("PMPI_Request_get_status_any",
                                                                             layer)(n, requests, index, flag, status)))
FUNCTION(int, Request_get_status_all, (int n, const MPI_Request* requests, int* flag, MPI_Status* statuses),
         (m::advance(n, requests),
          m::next_mpi<int(int, const MPI_Request*, int*, MPI_Status*)>("PMPI_Request_get_status_all",
                                                                       layer)(n, requests, flag, statuses)))
FUNCTION(int, Request_get_status_some,
         (int n, const MPI_Request* requests, int* n_done, int* indices, MPI_Status* statuses),
         (m::advance(n, requests), m::next_mpi<int(int, const MPI_Request*, int*, int*, MPI_Status*)>(
                                       "PMPI_Request_get_status_some", layer)(n, requests, n_done, indices, statuses)))
FUNCTION(int, Request_free, (MPI_Request * request), m::request_free(layer, request))
