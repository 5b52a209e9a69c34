#include "skeleton.hpp"

#include <fmt/format.h>

#include <array>

#include "methods/assets.hpp"

namespace tool {
namespace {

// A skeleton file, and its difference from the method; empty: none.
struct Shown {
  std::string_view file, remark;
};

struct Row {
  std::string_view prefix;  // of ids of methods
  Shown c, fortran, python;
};

constexpr std::string_view kStreams = "a vpfile has a stream for each rank, of any length, in one file";
constexpr std::string_view kDirs = "to be added: a folder per group of ranks, created by one of them";
constexpr std::string_view kLevel0 =
    "it writes with a view and collectively; level 0 is MPI_File_write_at for each row";
constexpr std::string_view kLevel1 = "it writes with a view; level 1 is MPI_File_write_at_all for each row";
constexpr std::string_view kLevel2 = "it writes collectively; level 2 is MPI_File_write in place of MPI_File_write_all";
constexpr std::string_view kChunk0 =
    "it writes collectively; level 0 is MPI_File_write_at in place of MPI_File_write_at_all";
constexpr std::string_view kChunk2 =
    "it writes at an offset and collectively; level 2 is MPI_File_set_view with that offset, then MPI_File_write";
constexpr std::string_view kChunk3 =
    "it writes at an offset; level 3 is MPI_File_set_view with that offset, then MPI_File_write_all";
constexpr std::string_view kWait = "it blocks; use MPI_File_iwrite_all, and MPI_Wait after other work";
constexpr std::string_view kNoModule = "HDF5's Fortran module resembles its C interface; this is MPI-IO";
constexpr std::string_view kIndependent = "it writes collectively; without the collective transfer it is independent";
constexpr std::string_view kChunked = "it writes a contiguous dataset; H5Pset_chunk makes chunks";
constexpr std::string_view kChunkedAlone =
    "it writes a contiguous dataset collectively; H5Pset_chunk makes chunks, and without the collective transfer it is "
    "independent";
constexpr std::string_view kPyChunked = "it writes a contiguous dataset; chunks=... of create_dataset makes chunks";
constexpr std::string_view kPyChunkedAlone =
    "it writes a contiguous dataset collectively; chunks=... of create_dataset makes chunks, and without "
    "array.collective "
    "it is independent";
constexpr std::string_view kNetcdf = "PnetCDF writes through MPI-IO; this is MPI-IO itself";
constexpr std::string_view kOfThatKind = "Thalweg's equivalent";

// The first matching row applies.
constexpr std::array kRows = {
    Row{"gather",
        {"gather.c", {}},
        {"mpiio_view.f90", "a view needs as few lines as a gather, and no memory"},
        {"mpiio.py", "a view needs as few lines as a gather, and no memory"}},
    Row{"file-per-task-dirs", {"file_per_task.c", kDirs}, {"file_per_task.f90", kDirs}, {"vpfile.py", kStreams}},
    Row{"file-per-task", {"file_per_task.c", {}}, {"file_per_task.f90", {}}, {"vpfile.py", kStreams}},
    Row{"mpiio-global-0", {"mpiio_view.c", kLevel0}, {"mpiio_view.f90", kLevel0}, {"mpiio.py", kLevel0}},
    Row{"mpiio-global-1", {"mpiio_view.c", kLevel1}, {"mpiio_view.f90", kLevel1}, {"mpiio.py", kLevel1}},
    Row{"mpiio-global-2", {"mpiio_view.c", kLevel2}, {"mpiio_view.f90", kLevel2}, {"mpiio.py", kLevel2}},
    Row{"mpiio-global-3", {"mpiio_view.c", {}}, {"mpiio_view.f90", {}}, {"mpiio.py", {}}},
    Row{"mpiio-chunk-0", {"mpiio_chunk.c", kChunk0}, {"mpiio_chunk.f90", kChunk0}, {"vpfile.py", kStreams}},
    Row{"mpiio-chunk-1", {"mpiio_chunk.c", {}}, {"mpiio_chunk.f90", {}}, {"vpfile.py", kStreams}},
    Row{"mpiio-chunk-2", {"mpiio_chunk.c", kChunk2}, {"mpiio_chunk.f90", kChunk2}, {"vpfile.py", kStreams}},
    Row{"mpiio-chunk-3", {"mpiio_chunk.c", kChunk3}, {"mpiio_chunk.f90", kChunk3}, {"vpfile.py", kStreams}},
    Row{"mpiio-nonblocking", {"mpiio_view.c", kWait}, {"mpiio_view.f90", kWait}, {"mpiio.py", kWait}},
    Row{"hdf5-contiguous-independent",
        {"hdf5.c", kIndependent},
        {"mpiio_view.f90", kNoModule},
        {"hdf5.py", kIndependent}},
    Row{"hdf5-contiguous-collective", {"hdf5.c", {}}, {"mpiio_view.f90", kNoModule}, {"hdf5.py", {}}},
    Row{"hdf5-chunked-independent",
        {"hdf5.c", kChunkedAlone},
        {"mpiio_view.f90", kNoModule},
        {"hdf5.py", kPyChunkedAlone}},
    Row{"hdf5-chunked-collective", {"hdf5.c", kChunked}, {"mpiio_view.f90", kNoModule}, {"hdf5.py", kPyChunked}},
    Row{"pnetcdf", {"mpiio_view.c", kNetcdf}, {"mpiio_view.f90", kNetcdf}, {"mpiio.py", kNetcdf}},
    Row{"tw-multifile", {"multifile.c", {}}, {"multifile.f90", {}}, {"vpfile.py", kStreams}},
    Row{"tw-vpfile",
        {"collective.c", "the same file by a collective write of an array"},
        {"collective.f90", "the same file by a collective write"},
        {"vpfile.py", {}}},
    Row{"tw-nonblocking",
        {"nonblocking.c", {}},
        {"collective.f90", "it blocks; use tw_file_iwrite_at_all, and tw_request_wait after other work"},
        {"vpfile.py", "the same array by a vpfile, blocking"}},
    Row{"tw-collective", {"collective.c", {}}, {"collective.f90", {}}, {"vpfile.py", "the same array by a vpfile"}},
    Row{"", {"multifile.c", kOfThatKind}, {"multifile.f90", kOfThatKind}, {"vpfile.py", kOfThatKind}},
};

// The transfer call of a skeleton file, and its reading counterpart.
struct Reading {
  std::string_view file, how;
};

constexpr std::array kReading = {
    Reading{"gather.c", "fread, then MPI_Scatterv"},
    Reading{"file_per_task.c", "fopen with \"rb\", then fread"},
    Reading{"file_per_task.f90", "status='old', action='read', then a read statement"},
    Reading{"mpiio_view.c", "MPI_MODE_RDONLY without MPI_File_set_size, then MPI_File_read_all"},
    Reading{"mpiio_view.f90", "mpi_mode_rdonly without mpi_file_set_size, then mpi_file_read_all"},
    Reading{"mpiio.py", "MPI.MODE_RDONLY without Set_size, then Read_all"},
    Reading{"mpiio_chunk.c", "MPI_MODE_RDONLY without MPI_File_set_size, then MPI_File_read_at_all"},
    Reading{"mpiio_chunk.f90", "mpi_mode_rdonly without mpi_file_set_size, then mpi_file_read_at_all"},
    Reading{"hdf5.c", "H5Fopen and H5Dopen2, then H5Dread"},
    Reading{"hdf5.py", "mode \"r\", then block = array[...] within array.collective"},
    Reading{"multifile.c", "TW_READ, then tw_multifile_read"},
    Reading{"multifile.f90", "int(z'01000000') (TW_READ) as the flags, then tw_multifile_read"},
    Reading{"collective.c", "TW_READ, then tw_file_read_array"},
    Reading{"collective.f90", "int(z'01000000') (TW_READ) as the flags, then tw_file_read_at_all"},
    Reading{"nonblocking.c", "TW_READ, then tw_file_iread_array"},
    Reading{"vpfile.py", "mode \"r\", then file.read(np.float32)"},
};

std::string reading_remark(std::string_view file, std::string_view phase) {
  if (phase == "write") return {};
  for (const Reading& reading : kReading)
    if (reading.file == file)
      return fmt::format("it writes; to read: {}{}", reading.how,
                         phase == "restart" ? ", with the grid of the readers" : "");
  return "it writes";
}

// The text of a skeleton file, with that of the files that it includes from its folder in place.
std::string text_of(std::string_view file) {
  std::string text(asset(fmt::format("skeletons/{}", file)));
  for (const char* part : {"block_of.h", "my_block.inc"}) {
    const std::string line = fmt::format("#include \"{}\"\n", part);
    if (const size_t at = text.find(line); at != std::string::npos) text.replace(at, line.size(), text_of(part));
  }
  return text;
}

}  // namespace

Skeleton skeleton_of(std::string_view method, std::string_view language, std::string_view phase) {
  for (const Row& row : kRows) {
    if (!method.starts_with(row.prefix)) continue;
    const Shown& shown = language == "c" ? row.c : language == "fortran" ? row.fortran : row.python;
    std::string remark(shown.remark);
    const std::string reading = reading_remark(shown.file, phase);
    if (!remark.empty() && !reading.empty()) remark += "; ";
    return {shown.file, text_of(shown.file), remark + reading};
  }
  return {};
}

}  // namespace tool
