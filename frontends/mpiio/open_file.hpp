// OpenFile: a file that was opened by MPI_File_open(), and the handles that programs have of them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "mpiio/atomic_lock.hpp"
#include "mpiio/communicator.hpp"
#include "mpiio/failure.hpp"
#include "mpiio/layout.hpp"
#include "mpiio/report.hpp"
#include "mpiio/request.hpp"
#include "thalweg/file.h"

namespace thalweg::mpiio {

// The view of a file (MPI 4.1, 14.3). The library has it too, in bytes.
struct FileView {
  MPI_Offset displacement = 0;
  MPI_Datatype etype = MPI_BYTE;     // a duplicate where it is not predefined
  MPI_Datatype filetype = MPI_BYTE;  // a duplicate where it is not predefined
  std::string datarep = "native";
  const Representation* representation = nullptr;  // null: the bytes of memory
  std::int64_t etype_bytes = 1;                    // in the file
};

// The shared file pointer, in etypes: `base`, which all ranks know, and what they have added since it was set. The file has
// three numbers: two that hold what was added, one after the other, and the turn of ordered accesses.
struct SharedPointer {
  SharedSlot slot;
  int current = 0;  // which of the two
  std::int64_t base = 0;
  std::int64_t rounds = 0;  // of ordered accesses
};

struct OpenFile {
  tw_file* file = nullptr;
  std::shared_ptr<Communicator> communicator;
  tw_group* group = nullptr;  // the communicator's; of this file alone where threads may use several files at once
  std::string path;
  int amode = 0;
  FileView view;
  std::int64_t position = 0;  // the individual file pointer, in etypes
  SharedPointer shared;
  bool atomic = false;
  bool goes_alone = false;                  // collective accesses need no other rank (tw_file_goes_alone); equal on all
  LockFile locks;                           // of atomic mode
  std::map<std::string, std::string> info;  // in force
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  Activity activity;
  bool had_collective = false;     // data access
  std::unique_ptr<Request> split;  // of the split collective call that has begun
  const char* split_call = nullptr;
  std::list<std::unique_ptr<Request>> freed;  // by MPI_Request_free() before they were complete
  std::mutex mutex;                           // of the members from `view` on, and of starting accesses
};

// The handle of a file is the address of a slot that is never freed, so that a closed handle is recognised.
MPI_File register_file(std::shared_ptr<OpenFile> file);
void forget_file(MPI_File handle);
std::shared_ptr<OpenFile> file_of(MPI_File handle);  // null: not open
MPI_File handle_of(const OpenFile* file);            // MPI_FILE_NULL for null
MPI_Fint number_of(MPI_File handle);
MPI_File handle_of_number(MPI_Fint number);

// After the open, and after a change of the view.
void ask_whether_alone(OpenFile& file);

// Before MPI ends: a line on stderr for each file that is open.
void name_unclosed();

// MPI_ERR_FILE with the name of the call.
Failure not_open(const char* call);

}  // namespace thalweg::mpiio
