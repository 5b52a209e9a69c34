# Finds what the library and its tools are built on. Sets TW_HAVE_MPI, TW_HAVE_OPENMP, TW_HAVE_URING.
include_guard(GLOBAL)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(ISAL REQUIRED)
find_package(ZSTD REQUIRED)
find_package(LZ4 REQUIRED)

# Ends the configuration when an optional part was asked for by name, else says that it is left out.
function(tw_missing option what remedy)
  if(${option} STREQUAL "AUTO")
    message(STATUS "${what} not found: built without it (${option}=AUTO; ${remedy})")
  else()
    message(FATAL_ERROR "${option}=${${option}}, but ${what} was not found. ${remedy}, or configure with -D${option}=OFF.")
  endif()
endfunction()

set(TW_HAVE_OPENMP OFF)
if(TW_WITH_OPENMP)
  find_package(OpenMP QUIET COMPONENTS C CXX)
  if(OpenMP_CXX_FOUND AND OpenMP_C_FOUND)
    set(TW_HAVE_OPENMP ON)
  else()
    tw_missing(TW_WITH_OPENMP "OpenMP" "GCC has it built in; for Clang install its libomp-dev")
  endif()
endif()

set(TW_HAVE_URING OFF)
if(TW_WITH_URING)
  find_package(Liburing QUIET)
  if(Liburing_FOUND)
    set(TW_HAVE_URING ON)
  else()
    tw_missing(TW_WITH_URING "liburing" "install liburing-dev")
  endif()
endif()

include(Mpi)
