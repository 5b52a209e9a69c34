// The calls of the chapter on I/O, by what they do. bindings.cpp makes the names of MPI of them.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "thalweg/file.h"

namespace thalweg::mpiio {

// --- open_close.cpp ---------------------------------------------------------------------------------------------------
int open(MPI_Comm communicator, const char* path, int amode, MPI_Info info, MPI_File* handle);
int close(MPI_File* handle);
int remove(const char* path);

// --- whole_file.cpp ---------------------------------------------------------------------------------------------------
int set_size(MPI_File handle, MPI_Offset size);
int get_size(MPI_File handle, MPI_Offset* size);
int preallocate(MPI_File handle, MPI_Offset size);
int sync(MPI_File handle);
int get_group(MPI_File handle, MPI_Group* group);
int get_amode(MPI_File handle, int* amode);
int set_info(MPI_File handle, MPI_Info info);
int get_info(MPI_File handle, MPI_Info* info);
int set_atomicity(MPI_File handle, int flag);
int get_atomicity(MPI_File handle, int* flag);

// --- file_view.cpp ----------------------------------------------------------------------------------------------------
int set_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* datarep,
             MPI_Info info);
int get_view(MPI_File handle, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype, char* datarep);
int get_byte_offset(MPI_File handle, MPI_Offset offset, MPI_Offset* displacement);
int get_type_extent(MPI_File handle, MPI_Datatype type, MPI_Count* extent);
// A conversion function with a large count, which an MPI before 4.0 does not declare.
using LargeConversion = int(void* memory, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position,
                            void* state);
int register_datarep(const char* name, MPI_Datarep_conversion_function* read, MPI_Datarep_conversion_function* write,
                     MPI_Datarep_extent_function* extent, void* state);
int register_datarep(const char* name, LargeConversion* read, LargeConversion* write,
                     MPI_Datarep_extent_function* extent, void* state);

// --- positions.cpp ----------------------------------------------------------------------------------------------------
int seek(MPI_File handle, MPI_Offset offset, int whence);
int get_position(MPI_File handle, MPI_Offset* offset);
int seek_shared(MPI_File handle, MPI_Offset offset, int whence);
int get_position_shared(MPI_File handle, MPI_Offset* offset);

// --- data_access.cpp --------------------------------------------------------------------------------------------------
// Where an access begins.
enum class Pointer : std::uint8_t { given, individual, shared, ordered };

// One access to data. All of MPI's are {read, write} x Pointer x {independent, collective} x {blocking, nonblocking,
// split}.
struct DataAccess {
  const char* call;
  tw_direction direction;
  Pointer pointer;
  bool collective;
  MPI_Offset offset;  // in etypes, for Pointer::given
  const void* data;
  MPI_Count count;
  MPI_Datatype type;
};
int access(MPI_File handle, const DataAccess& asked, MPI_Status* status);
int start(MPI_File handle, const DataAccess& asked, MPI_Request* request);
int begin_split(MPI_File handle, const DataAccess& asked);
int end_split(MPI_File handle, const char* call, const char* begun_by, MPI_Status* status);

}  // namespace thalweg::mpiio
