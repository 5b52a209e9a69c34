#include <array>

#include "method.hpp"

namespace probe {

namespace {

constexpr std::array kTable = {
    MethodInfo{1, "gather", "Gather to one rank, one POSIX write", "", "array", true},
    MethodInfo{2, "file-per-task", "A file per task", "", "separate", false},
    MethodInfo{3, "file-per-task-dirs", "A file per task, in sub-directories", "", "separate", false},
    MethodInfo{4, "mpiio-global-0", "MPI-IO level 0: offsets, independent", "", "array", false},
    MethodInfo{5, "mpiio-global-1", "MPI-IO level 1: offsets, collective", "", "array", true},
    MethodInfo{6, "mpiio-global-2", "MPI-IO level 2: view, independent", "", "array", false},
    MethodInfo{7, "mpiio-global-3", "MPI-IO level 3: view, collective", "", "array", true},
    MethodInfo{8, "mpiio-chunk-0", "MPI-IO level 0, a chunk per rank", "", "chunks", false},
    MethodInfo{9, "mpiio-chunk-1", "MPI-IO level 1, a chunk per rank", "", "chunks", true},
    MethodInfo{10, "mpiio-chunk-2", "MPI-IO level 2, a chunk per rank", "", "chunks", false},
    MethodInfo{11, "mpiio-chunk-3", "MPI-IO level 3, a chunk per rank", "", "chunks", true},
    MethodInfo{12, "hdf5-contiguous-independent", "HDF5, contiguous, independent", "HDF5", "array", false},
    MethodInfo{13, "hdf5-contiguous-collective", "HDF5, contiguous, collective", "HDF5", "array", true},
    MethodInfo{14, "hdf5-chunked-independent", "HDF5, chunked, independent", "HDF5", "library", false},
    MethodInfo{15, "hdf5-chunked-collective", "HDF5, chunked, collective", "HDF5", "library", true},
    MethodInfo{16, "mpiio-nonblocking", "MPI-IO, nonblocking collective and wait", "", "array", true, true},
    MethodInfo{17, "pnetcdf", "PnetCDF, collective", "PnetCDF", "array", true},
    MethodInfo{18, "tw-multifile", "Thalweg multifile", "", "library", false},
    MethodInfo{19, "tw-collective", "Thalweg collective", "", "array", true},
    MethodInfo{20, "tw-nonblocking", "Thalweg nonblocking, while computing", "", "array", true, true},
    MethodInfo{21, "tw-vpfile", "Thalweg vpfile", "", "array", true},
    MethodInfo{22, "sionlib", "SIONlib", "SIONlib", "library", false},
};

}  // namespace

// Where the file of a library is not linked: without the library.
[[gnu::weak]] std::unique_ptr<Method> make_hdf5_method(std::string_view /*id*/) { return nullptr; }
[[gnu::weak]] std::unique_ptr<Method> make_pnetcdf_method() { return nullptr; }
[[gnu::weak]] std::unique_ptr<Method> make_sionlib_method() { return nullptr; }

std::span<const MethodInfo> method_table() { return kTable; }

std::unique_ptr<Method> make_method(const MethodInfo& info) {
  if (info.number <= 3) return make_posix_method(info.id);
  if (info.needs == "HDF5") return make_hdf5_method(info.id);
  if (info.needs == "PnetCDF") return make_pnetcdf_method();
  if (info.needs == "SIONlib") return make_sionlib_method();
  if (info.id.starts_with("mpiio-")) return make_mpiio_method(info.id);
  return make_thalweg_method(info.id);
}

}  // namespace probe
