#!/usr/bin/env bash
# Installs the build once, then builds one user program of omp_file with GCC and with Clang, each with its own OpenMP
# runtime, as C and as C++, at -O0 and at -O2, against the installed library, and runs each; also the Fortran module
# with gfortran where it was built.
# Usage: omp_file_compilers.sh BUILD SOURCE      exit status 77: Clang with OpenMP is missing, the other parts passed
set -euo pipefail
build=$1 source=$2
place=$build/tests/omp_file_compilers
prefix=$place/prefix
rm -rf "$place"
mkdir -p "$place/run"
cmake --install "$build" --prefix "$prefix" > "$place/install.log"
libdir=$(dirname "$(find "$prefix" -name libthalweg_omp_file.so)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
cd "$place/run"

# run RUNTIME PROGRAM: checks that the program links this OpenMP runtime only, then runs it in an empty folder.
run() {
  local runtimes
  runtimes=$(ldd "$2" | sed -n 's/^[[:space:]]*\(libgomp\|libomp\|libiomp5\)\.so.*/\1/p')
  [ "$runtimes" = "$1" ] || { echo "$2 has the OpenMP runtimes: $runtimes"; exit 1; }
  rm -f "$place/run"/*
  OMP_WAIT_POLICY=passive timeout 100 "$2"
  echo "ok: ${2##*/} with $1"
}

# use RUNTIME CC CXX: builds the program with both compilers.
use() {
  local level flags program=$place/program_$2
  flags="-fopenmp -Wall -Wextra -Wpedantic -Werror $(pkg-config --cflags --libs thalweg_omp_file) -Wl,-rpath,$libdir"
  for level in -O0 -O2; do
    # shellcheck disable=SC2086
    "$2" -std=c11 "$level" "$source/tests/compile/omp_file_program.c" -o "$program$level" $flags
    run "$1" "$program$level"
    # shellcheck disable=SC2086
    "$3" -std=c++20 "$level" -x c++ "$source/tests/compile/omp_file_program.c" -o "$place/program_$3$level" $flags
    run "$1" "$place/program_$3$level"
  done
}

use libgomp gcc g++
if [ -n "$(find "$libdir" -name libthalweg_omp_file_fortran.so)" ]; then
  for level in -O0 -O2; do
    gfortran "$level" -fopenmp -Wall -Wextra -Werror "$source/tests/compile/omp_file_program.f90" \
      -o "$place/program_fortran" $(pkg-config --cflags --libs thalweg_omp_file_fortran) -Wl,-rpath,"$libdir"
    rm -f "$place/run"/*
    [ "$(OMP_WAIT_POLICY=passive timeout 100 "$place/program_fortran")" = ok ]
    echo "ok: gfortran $level"
  done
fi
for clang in clang-16 clang; do
  if echo '#include <omp.h>' | "$clang" -fopenmp -x c -E - > /dev/null 2>&1; then
    use libomp "$clang" "${clang/clang/clang++}"
    exit 0
  fi
done
echo "no Clang with OpenMP here"
exit 77
