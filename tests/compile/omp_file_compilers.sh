#!/usr/bin/env bash
# Installs the build once, then builds one user program of omp_file with GCC and with Clang, each with its own OpenMP
# runtime, against the same installed library, and runs both; the Fortran module with gfortran where it was built.
# Usage: omp_file_compilers.sh BUILD SOURCE      exit status 77: Clang with OpenMP is not here, the rest passed
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

# use RUNTIME COMPILER...: builds the program, sees that it has this OpenMP runtime and no other, runs it.
use() {
  local runtime=$1 program=$place/program_${2##*/}
  shift
  "$@" -std=c11 -O1 -fopenmp -Wall -Wextra -Werror "$source/tests/compile/omp_file_program.c" -o "$program" \
    $(pkg-config --cflags --libs thalweg_omp_file) -Wl,-rpath,"$libdir"
  local runtimes
  runtimes=$(ldd "$program" | sed -n 's/^[[:space:]]*\(libgomp\|libomp\|libiomp5\)\.so.*/\1/p')
  [ "$runtimes" = "$runtime" ] || { echo "$program has the OpenMP runtimes: $runtimes"; exit 1; }
  OMP_WAIT_POLICY=passive timeout 100 "$program"
  echo "ok: $1 with $runtime"
}

use libgomp gcc
if [ -n "$(find "$libdir" -name libthalweg_omp_file_fortran.so)" ]; then
  gfortran -O1 -fopenmp -Wall -Wextra -Werror "$source/tests/compile/omp_file_program.f90" -o "$place/program_fortran" \
    $(pkg-config --cflags --libs thalweg_omp_file_fortran) -Wl,-rpath,"$libdir"
  [ "$(OMP_WAIT_POLICY=passive timeout 100 "$place/program_fortran")" = ok ]
  echo "ok: gfortran"
fi
for clang in clang-16 clang; do
  if echo '#include <omp.h>' | "$clang" -fopenmp -x c -E - > /dev/null 2>&1; then
    use libomp "$clang"
    exit 0
  fi
done
echo "no Clang with OpenMP here"
exit 77
