// Calls that concern a file as a whole.
#include <string>

#include "mpiio/calls.hpp"
#include "mpiio/hints.hpp"
#include "mpiio/open_file.hpp"

namespace thalweg::mpiio {

namespace {

// Carries out `body` on the open file, and concludes with its failure.
template <class Body>
int on_file(MPI_File handle, const char* call, Body&& body) {
  const auto file = file_of(handle);
  if (file == nullptr) return conclude(nullptr, not_open(call));
  Failure failure = body(*file);
  if (!failure.none()) failure.message = std::string(call) + ": " + failure.message;
  return conclude(file.get(), failure);
}

// The amode is equal on all ranks: they all return.
Failure check_resizable(const OpenFile& file) {
  if ((file.amode & MPI_MODE_RDONLY) != 0)
    return {MPI_ERR_READ_ONLY, "'" + file.path + "' was opened with MPI_MODE_RDONLY"};
  if ((file.amode & MPI_MODE_SEQUENTIAL) != 0)
    return {MPI_ERR_UNSUPPORTED_OPERATION, "'" + file.path + "' was opened with MPI_MODE_SEQUENTIAL"};
  return {};
}

}  // namespace

int set_size(MPI_File handle, MPI_Offset size) {
  return on_file(handle, "MPI_File_set_size", [&](OpenFile& file) {
    Failure failure = check_resizable(file);
    if (failure.none()) failure = failure_of(tw_file_truncate(file.file, size));
    return failure;
  });
}

int get_size(MPI_File handle, MPI_Offset* size) {
  return on_file(handle, "MPI_File_get_size", [&](OpenFile& file) {
    std::int64_t bytes = 0;
    Failure failure = failure_of(tw_file_end(file.file, &bytes));
    *size = bytes;
    return failure;
  });
}

int preallocate(MPI_File handle, MPI_Offset size) {
  return on_file(handle, "MPI_File_preallocate", [&](OpenFile& file) {
    Failure failure = check_resizable(file);
    // A negative size becomes a negative offset, which fails on all ranks.
    const bool negative = size < 0;
    if (failure.none())
      failure = failure_of(
          tw_file_preallocate(file.file, negative ? 0 : static_cast<std::size_t>(size), negative ? size : 0));
    return failure;
  });
}

int sync(MPI_File handle) {
  return on_file(handle, "MPI_File_sync", [](OpenFile& file) { return failure_of(tw_file_sync(file.file)); });
}

int get_group(MPI_File handle, MPI_Group* group) {
  return on_file(handle, "MPI_File_get_group", [&](OpenFile& file) {
    MPI_Comm_group(file.communicator->ranks, group);
    return Failure{};
  });
}

int get_amode(MPI_File handle, int* amode) {
  return on_file(handle, "MPI_File_get_amode", [&](OpenFile& file) {
    *amode = file.amode;
    return Failure{};
  });
}

int set_info(MPI_File handle, MPI_Info info) {
  return on_file(handle, "MPI_File_set_info", [&](OpenFile& file) {
    const std::scoped_lock lock(file.mutex);
    add_hints(info, file.communicator->rank == 0, file.info);
    return Failure{};
  });
}

int get_info(MPI_File handle, MPI_Info* info) {
  return on_file(handle, "MPI_File_get_info", [&](OpenFile& file) {
    const std::scoped_lock lock(file.mutex);
    Hints shown = file.info;
    show_stripes(file.path, shown);
    to_info(shown, info);
    return Failure{};
  });
}

int set_atomicity(MPI_File handle, int flag) {
  return on_file(handle, "MPI_File_set_atomicity", [&](OpenFile& file) {
    Failure mine = flag != 0 ? file.locks.open(file.path.c_str(), file.amode) : Failure{};
    std::int64_t most[3] = {flag != 0, flag == 0, mine.error_class};
    Failure failure = failure_of(tw_group_allreduce(file.group, most, 3, TW_MAX));
    if (failure.none() && most[0] == most[1]) failure = {MPI_ERR_NOT_SAME, "the flag differs between ranks"};
    if (failure.none() && most[2] != MPI_SUCCESS)
      failure = mine.none() ? Failure{static_cast<int>(most[2]), "another rank cannot lock the file"} : mine;
    if (failure.none()) file.atomic = flag != 0;
    return failure;
  });
}

int get_atomicity(MPI_File handle, int* flag) {
  return on_file(handle, "MPI_File_get_atomicity", [&](OpenFile& file) {
    *flag = file.atomic ? 1 : 0;
    return Failure{};
  });
}

}  // namespace thalweg::mpiio
