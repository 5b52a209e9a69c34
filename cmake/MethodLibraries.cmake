# Finds the libraries that thalweg-probe measures beside Thalweg, built for the chosen MPI: a target
# probe_lib_<hdf5|pnetcdf|sionlib> for each installed one that is in TW_PROBE_LIBRARIES.
#
# Several builds of one library may be installed (Debian has HDF5 without MPI, for MPICH and for Open MPI), so there are
# candidates, and the first one that passes a trial is used: a program that calls its parallel interface links, and
# loads no other MPI than a program that calls MPI alone. Linking does not prove the latter: a shared library loads its
# own MPI beside the chosen one.
include_guard(GLOBAL)
find_package(PkgConfig QUIET)
find_program(TW_LDD ldd)
mark_as_advanced(TW_LDD)

# The MPI libraries that a program loads; bindings for C++ and Fortran are ignored.
function(tw_mpi_of_program result program)
  set(found)
  if(TW_LDD)
    execute_process(COMMAND ${TW_LDD} ${program} OUTPUT_VARIABLE needed ERROR_QUIET)
    string(REGEX MATCHALL "lib(mpi|mpich|pmpi|pmpich|mpi_mt|mpt)\\.so[^ \n]*" found "${needed}")
    list(REMOVE_DUPLICATES found)
    list(SORT found)
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# Sets `result` to "" when `code`, linked with `library`, is a program of this MPI, otherwise to the reason.
function(tw_try_method_library result code library)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles)
  file(WRITE ${folder}/method_library.c "${code}")
  try_compile(linked SOURCES ${folder}/method_library.c LINK_LIBRARIES ${library} MPI::MPI_C
    COPY_FILE ${folder}/method_library COPY_FILE_ERROR ignored)
  set(why "a program that calls its parallel interface cannot be built with it")
  if(linked)
    tw_mpi_of_program(mpi ${folder}/method_library)
    set(why)
    if(NOT mpi STREQUAL TW_PROBE_MPI)
      list(JOIN mpi " and " mpi)
      set(why "it needs another MPI: a program has ${mpi} then, and without it ${TW_PROBE_MPI}")
    endif()
  endif()
  set(${result} "${why}" PARENT_SCOPE)
endfunction()

# Defines the target probe_lib_<name> from the first of these candidates (targets) that passes.
function(tw_take_method_library name code)
  set(reasons "not found")
  foreach(candidate IN LISTS ARGN)
    if(NOT TARGET ${candidate})
      continue()
    endif()
    tw_try_method_library(why "${code}" ${candidate})
    if(NOT why)
      add_library(probe_lib_${name} INTERFACE)
      target_link_libraries(probe_lib_${name} INTERFACE ${candidate})
      message(STATUS "thalweg-probe: ${name} (${candidate})")
      return()
    endif()
    set(reasons "${candidate}: ${why}")
  endforeach()
  message(STATUS "thalweg-probe: ${name} is omitted: ${reasons}")
endfunction()

# Candidate PkgConfig::probe_<module> of a pkg-config module.
function(tw_module_candidate module)
  if(PkgConfig_FOUND)
    string(MAKE_C_IDENTIFIER probe_${module} prefix)
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET GLOBAL ${module})
  endif()
endfunction()

# Candidate probe_plain_<name>: header and library in CMake's paths, or below <NAME>_ROOT, <NAME>_DIR or <NAME>_HOME.
function(tw_plain_candidate name header library)
  string(TOUPPER ${name} upper)
  set(hints ${${upper}_ROOT} $ENV{${upper}_ROOT} $ENV{${upper}_DIR} $ENV{${upper}_HOME})
  find_path(TW_PROBE_${upper}_HEADERS ${header} HINTS ${hints} PATH_SUFFIXES include)
  find_library(TW_PROBE_${upper}_LIBRARY ${library} HINTS ${hints} PATH_SUFFIXES lib lib64)
  mark_as_advanced(TW_PROBE_${upper}_HEADERS TW_PROBE_${upper}_LIBRARY)
  if(TW_PROBE_${upper}_HEADERS AND TW_PROBE_${upper}_LIBRARY)
    add_library(probe_plain_${name} INTERFACE IMPORTED GLOBAL)
    target_include_directories(probe_plain_${name} INTERFACE ${TW_PROBE_${upper}_HEADERS})
    target_link_libraries(probe_plain_${name} INTERFACE ${TW_PROBE_${upper}_LIBRARY})
  endif()
endfunction()

function(tw_find_hdf5)
  foreach(module hdf5-${TW_MPI_KIND} hdf5-mpi hdf5)
    tw_module_candidate(${module})
  endforeach()
  tw_plain_candidate(hdf5 hdf5.h hdf5)
  tw_take_method_library(hdf5 "#include <hdf5.h>
int main(void) { return H5Pset_fapl_mpio(H5P_DEFAULT, MPI_COMM_WORLD, MPI_INFO_NULL) < 0; }\n"
    probe_plain_hdf5 PkgConfig::probe_hdf5_${TW_MPI_KIND} PkgConfig::probe_hdf5_mpi PkgConfig::probe_hdf5)
endfunction()

function(tw_find_pnetcdf)
  tw_module_candidate(pnetcdf)
  tw_plain_candidate(pnetcdf pnetcdf.h pnetcdf)
  tw_take_method_library(pnetcdf "#include <mpi.h>
#include <pnetcdf.h>
int main(void) { int file; return ncmpi_open(MPI_COMM_WORLD, \"a\", NC_NOWRITE, MPI_INFO_NULL, &file); }\n"
    probe_plain_pnetcdf PkgConfig::probe_pnetcdf)
endfunction()

# SIONlib prints its flags with a program of its own.
function(tw_find_sionlib)
  find_program(TW_SIONCONFIG sionconfig HINTS ${SION_ROOT} $ENV{SION_ROOT} $ENV{SIONLIB_ROOT} PATH_SUFFIXES bin)
  mark_as_advanced(TW_SIONCONFIG)
  if(TW_SIONCONFIG)
    execute_process(COMMAND ${TW_SIONCONFIG} --cflags --mpi OUTPUT_VARIABLE flags ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${TW_SIONCONFIG} --libs --mpi OUTPUT_VARIABLE libraries ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    separate_arguments(libraries UNIX_COMMAND "${libraries}")
    add_library(probe_sionconfig INTERFACE IMPORTED GLOBAL)
    target_compile_options(probe_sionconfig INTERFACE ${flags})
    target_link_libraries(probe_sionconfig INTERFACE ${libraries})
  endif()
  tw_take_method_library(sionlib "#include <mpi.h>
#include <sion.h>
int main(void) { return sion_parclose_mpi(0); }\n"
    probe_sionconfig)
endfunction()

# The libraries of a program of this MPI, for comparison.
set(code "#include <mpi.h>\nint main(void) { return MPI_Finalize(); }\n")
set(folder ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles)
file(WRITE ${folder}/method_library.c "${code}")
try_compile(linked SOURCES ${folder}/method_library.c LINK_LIBRARIES MPI::MPI_C COPY_FILE ${folder}/method_library)
tw_mpi_of_program(TW_PROBE_MPI ${folder}/method_library)

foreach(name IN LISTS TW_PROBE_LIBRARIES)
  if(NOT COMMAND tw_find_${name})
    message(FATAL_ERROR "TW_PROBE_LIBRARIES: unknown library '${name}'. Known: hdf5;pnetcdf;sionlib")
  endif()
  cmake_language(CALL tw_find_${name})
endforeach()
