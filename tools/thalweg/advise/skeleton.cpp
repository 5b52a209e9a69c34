#include "skeleton.hpp"

#include <fmt/format.h>

#include <array>

#include "methods/assets.hpp"

namespace tool {
namespace {

struct Row {
  std::string_view prefix;  // of ids of methods
  std::string_view c, fortran, python;
  std::string_view remark;  // where a language has another method
};

// The first row that fits holds.
constexpr std::array kRows = {
    Row{"gather", "gather.c", "mpiio_view.f90", "mpiio.py", "a view takes no more lines than a gather, and no memory"},
    Row{"file-per-task", "file_per_task.c", "file_per_task.f90", "vpfile.py",
        "a vpfile has a stream for each, in one file"},
    Row{"mpiio-global-0", "mpiio_view.c", "mpiio_view.f90", "mpiio.py", "with a view instead of offsets"},
    Row{"mpiio-global-1", "mpiio_view.c", "mpiio_view.f90", "mpiio.py", "with a view instead of offsets"},
    Row{"mpiio-chunk", "mpiio_chunk.c", "mpiio_chunk.f90", "mpiio.py", "as a global array"},
    Row{"mpiio", "mpiio_view.c", "mpiio_view.f90", "mpiio.py", {}},
    Row{"hdf5", "hdf5.c", "mpiio_view.f90", "hdf5.py",
        "HDF5's own Fortran module is as its C interface; this is MPI-IO"},
    Row{"pnetcdf", "mpiio_view.c", "mpiio_view.f90", "mpiio.py",
        "PnetCDF writes through MPI-IO; this is MPI-IO itself"},
    Row{"tw-multifile", "multifile.c", "multifile.f90", "vpfile.py", "a vpfile has a stream for each, in one file"},
    Row{"tw-vpfile", "collective.c", "collective.f90", "vpfile.py", "the same file by a collective write with a view"},
    Row{"tw-nonblocking", "nonblocking.c", "collective.f90", "vpfile.py", "blocking: start_ and wait are C calls"},
    Row{"tw-", "collective.c", "collective.f90", "vpfile.py", "the same array by a vpfile"},
    Row{"", "multifile.c", "multifile.f90", "vpfile.py", "what Thalweg has of that kind"},
};

// Whether the file of that row shows the method itself, so that there is nothing to remark on.
bool is_itself(std::string_view method, std::string_view language) {
  if (method == "mpiio-global-2" || method == "mpiio-global-3") return true;
  if (method == "tw-collective") return language != "python";
  if (method.starts_with("hdf5")) return language != "fortran";
  if (method == "tw-vpfile") return language == "python";
  if (method == "tw-multifile") return language != "python";
  if (method.starts_with("file-per-task") || method.starts_with("mpiio-chunk")) return language != "python";
  return language == "c" && (method == "gather" || method == "tw-nonblocking");
}

}  // namespace

Skeleton skeleton_of(std::string_view method, std::string_view language) {
  for (const Row& row : kRows) {
    if (!method.starts_with(row.prefix)) continue;
    const std::string_view name = language == "c" ? row.c : language == "fortran" ? row.fortran : row.python;
    return {name, asset("skeletons/" + std::string(name)),
            is_itself(method, language) ? std::string() : std::string(row.remark)};
  }
  return {};
}

}  // namespace tool
