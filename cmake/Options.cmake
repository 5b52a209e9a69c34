# All options of the build. An option adds or omits FILES; no source file tests it with #ifdef.
#
# TW_WITH_MPI, TW_WITH_OPENMP, TW_WITH_URING, TW_WITH_FORTRAN take
#   AUTO  use it when found, otherwise print that it is missing (default)
#   ON    stop with an error when it is missing
#   OFF   do not search

include_guard(GLOBAL)

function(tw_tristate name help)
  set(${name} AUTO CACHE STRING "${help}: AUTO, ON or OFF")
  set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
endfunction()

tw_tristate(TW_WITH_MPI "Build libthalweg_mpi")
tw_tristate(TW_WITH_OPENMP "Build the OpenMP parts of tests, tools and examples")
tw_tristate(TW_WITH_URING "Let queues of transfers use io_uring, where the kernel has it")
tw_tristate(TW_WITH_FORTRAN "Build the Fortran modules thalweg and omp_file")

set(TW_MPI_FLAVOUR auto CACHE STRING "The MPI to use when several are installed: auto, mpich or openmpi")
set_property(CACHE TW_MPI_FLAVOUR PROPERTY STRINGS auto mpich openmpi)

option(TW_WITH_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(TW_WITH_TOOLS "Build the thalweg command and thalweg-probe" ON)
set(TW_TOOLS "" CACHE STRING "The folders of tools/ to build; empty: all")
option(TW_WITH_BENCH "Build the benchmarks" OFF)
set(TW_PROBE_LIBRARIES "hdf5;pnetcdf;sionlib" CACHE STRING
    "What thalweg-probe measures beside this library, where it is found; empty: nothing")
set(TW_SIONLIB_SOURCE "" CACHE PATH "The source of SIONlib, to compare with it; empty: an installed one, if any")
set(TW_BENCHES "" CACHE STRING "The folders of bench/ to build; empty: all")
option(TW_WITH_EXAMPLES "Build the examples" OFF)
option(TW_WITH_PYTHON "Build the extension of the Python package (pip install . does)" OFF)
option(TW_WITH_FUZZ "Build the fuzz targets with libFuzzer (needs Clang); otherwise they replay their corpus" OFF)
option(TW_WITH_COVERAGE "Instrument for coverage and add the target 'coverage'" OFF)
option(TW_PRECOMPILE_HEADERS "Precompile the standard headers: faster builds, but a missing #include goes unnoticed" OFF)
# The option changes inlining, so the preset release sets it: tests, measurements and installation use one library.
option(TW_WHOLE_ROOMS "Compile ten files of a room of src/ at a time: faster full builds" OFF)
option(TW_WARNINGS_AS_ERRORS "Treat compiler warnings as errors" OFF)
option(BUILD_SHARED_LIBS "Build shared libraries" ON)

set(TW_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them: 'address,undefined' or 'thread'")
set(TW_TEST_PREFIX "" CACHE STRING "Put before every test name, to tell presets apart when several run together")
option(TW_TEST_ALL "Run all tests under a sanitizer: hours (the preset asan-all, which also sets THALWEG_ALL_STRIDES)" OFF)
set(TW_TEST_SETS "unit;conformance;multifile;sharedfile;vpfile;allocation;omp_file;fortran;languages;crash;mpi;mpiio;probe;cli;measure;interop;fuzz;compile;repository;examples;install" CACHE STRING
    "The folders of tests/ to build and run")
set(TW_UNIT_ROOMS "" CACHE STRING "The folders of tests/unit/ to build; empty: all")
set(TW_MPI_TESTS "" CACHE STRING "The programs of tests/mpi/ to build, without _test; empty: all")
