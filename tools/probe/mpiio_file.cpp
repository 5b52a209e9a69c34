#include "mpiio_file.hpp"

#include <climits>

#include "mpi_info.hpp"

namespace probe {

MpiioFile::MpiioFile(const Task& task, const std::string& path, Direction direction) : direction_(direction) {
  MPI_Info info = MPI_INFO_NULL;
  if (task.direct) {  // by ROMIO's names, which other implementations ignore
    must_mpi(MPI_Info_create(&info), "MPI_Info_create");
    for (const char* name : {"direct_read", "direct_write"}) must_mpi(MPI_Info_set(info, name, "true"), "MPI_Info_set");
  }
  const int mode = direction == Direction::write ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
  must_mpi(MPI_File_open(task.comm, path.c_str(), mode, info, &file_), "MPI_File_open '" + path + "'");
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
}

void MpiioFile::close() { must_mpi(MPI_File_close(&file_), "MPI_File_close"); }

void MpiioFile::view_elements(std::int64_t bytes) {
  must_mpi(MPI_File_set_view(file_, bytes, MPI_FLOAT, MPI_FLOAT, "native", MPI_INFO_NULL), "MPI_File_set_view");
}

void MpiioFile::view_type(MPI_Datatype type) {
  must_mpi(MPI_File_set_view(file_, 0, MPI_FLOAT, type, "native", MPI_INFO_NULL), "MPI_File_set_view");
}

void MpiioFile::move(std::byte* memory, int count, MPI_Datatype type, bool together) {
  MPI_Status* const none = MPI_STATUS_IGNORE;
  if (direction_ == Direction::write) {
    if (together) return must_mpi(MPI_File_write_all(file_, memory, count, type, none), "MPI_File_write_all");
    return must_mpi(MPI_File_write(file_, memory, count, type, none), "MPI_File_write");
  }
  if (together) return must_mpi(MPI_File_read_all(file_, memory, count, type, none), "MPI_File_read_all");
  must_mpi(MPI_File_read(file_, memory, count, type, none), "MPI_File_read");
}

MPI_Request MpiioFile::start_all(std::byte* memory, int count, MPI_Datatype type) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (direction_ == Direction::write)
    must_mpi(MPI_File_iwrite_all(file_, memory, count, type, &request), "MPI_File_iwrite_all");
  else
    must_mpi(MPI_File_iread_all(file_, memory, count, type, &request), "MPI_File_iread_all");
  return request;
}

void MpiioFile::move_at(std::int64_t offset, std::byte* memory, std::int64_t elements, bool together) {
  MPI_Status* const none = MPI_STATUS_IGNORE;
  const int n = static_cast<int>(elements);
  if (direction_ == Direction::write) {
    if (together)
      return must_mpi(MPI_File_write_at_all(file_, offset, memory, n, MPI_FLOAT, none), "MPI_File_write_at_all");
    return must_mpi(MPI_File_write_at(file_, offset, memory, n, MPI_FLOAT, none), "MPI_File_write_at");
  }
  if (together)
    return must_mpi(MPI_File_read_at_all(file_, offset, memory, n, MPI_FLOAT, none), "MPI_File_read_at_all");
  must_mpi(MPI_File_read_at(file_, offset, memory, n, MPI_FLOAT, none), "MPI_File_read_at");
}

std::map<std::string, std::string> MpiioFile::hints() const { return hints_of(file_); }

MemoryType::MemoryType(std::int64_t elements) {
  if (elements <= INT_MAX) {
    count = static_cast<int>(elements);
    return;
  }
  made = contiguous_type(elements);
  type = made.get();
  count = 1;
}

}  // namespace probe
