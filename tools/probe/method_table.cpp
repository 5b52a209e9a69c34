#include "method_table.hpp"

#include <algorithm>
#include <array>

namespace probe {

namespace {

using enum Outcome;

constexpr std::array kTable = {
    MethodInfo{1, "gather", "Gather to one rank, one POSIX write", "", global_array, true},
    MethodInfo{2, "file-per-task", "A file per task", "", separate, false},
    MethodInfo{3, "file-per-task-dirs", "A file per task, in sub-directories", "", separate, false},
    MethodInfo{4, "mpiio-global-0", "MPI-IO level 0: offsets, independent", "", global_array, false},
    MethodInfo{5, "mpiio-global-1", "MPI-IO level 1: offsets, collective", "", global_array, true},
    MethodInfo{6, "mpiio-global-2", "MPI-IO level 2: view, independent", "", global_array, false},
    MethodInfo{7, "mpiio-global-3", "MPI-IO level 3: view, collective", "", global_array, true},
    MethodInfo{8, "mpiio-chunk-0", "MPI-IO level 0, a chunk per rank", "", chunks, false},
    MethodInfo{9, "mpiio-chunk-1", "MPI-IO level 1, a chunk per rank", "", chunks, true},
    MethodInfo{10, "mpiio-chunk-2", "MPI-IO level 2, a chunk per rank", "", chunks, false},
    MethodInfo{11, "mpiio-chunk-3", "MPI-IO level 3, a chunk per rank", "", chunks, true},
    MethodInfo{12, "hdf5-contiguous-independent", "HDF5, contiguous, independent", "HDF5", global_array, false},
    MethodInfo{13, "hdf5-contiguous-collective", "HDF5, contiguous, collective", "HDF5", global_array, true},
    MethodInfo{14, "hdf5-chunked-independent", "HDF5, chunked, independent", "HDF5", library, false},
    MethodInfo{15, "hdf5-chunked-collective", "HDF5, chunked, collective", "HDF5", library, true},
    MethodInfo{16, "mpiio-nonblocking", "MPI-IO, nonblocking collective and wait", "", global_array, true},
    MethodInfo{17, "pnetcdf", "PnetCDF, collective", "PnetCDF", global_array, true},
    MethodInfo{18, "tw-multifile", "Thalweg multifile", "", library, false},
    MethodInfo{19, "tw-collective", "Thalweg collective", "", global_array, true},
    MethodInfo{20, "tw-nonblocking", "Thalweg nonblocking, while computing", "", global_array, true},
    MethodInfo{21, "tw-vpfile", "Thalweg vpfile", "", global_array, true},
    MethodInfo{22, "sionlib", "SIONlib", "SIONlib", library, false},
};

}  // namespace

std::span<const MethodInfo> method_table() { return kTable; }

const MethodInfo* find_method(std::string_view id) {
  const auto found = std::ranges::find(kTable, id, &MethodInfo::id);
  return found == kTable.end() ? nullptr : &*found;
}

}  // namespace probe
