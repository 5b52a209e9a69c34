#!/usr/bin/env bash
# Installs the build into a fresh prefix and builds examples/cmake_consumer against it, with find_package and with
# pkg-config; the programs and the command run from there.
# Usage: install_and_consume.sh BUILD SOURCE CC CXX [MPI-LAUNCHER...]    the launcher only where MPI was built
# TW_MPIF90: the MPI compiler for Fortran, where the module thalweg was built with MPI
set -euo pipefail

build=$1 source=$2 cc=$3 cxx=$4
shift 4
launcher=("$@")
consumer=$source/examples/cmake_consumer
place=$build/tests/install
prefix=$place/prefix
rm -rf "$place"
mkdir -p "$place/run"

# run NAME COMMAND... : runs a command in an empty folder and prints its name.
run() {
  echo "== $1"
  shift
  (cd "$place/run" && "$@")
}

# logged FILE COMMAND... : shows the output only when the command fails.
logged() {
  local log=$place/$1.log
  shift
  "$@" > "$log" 2>&1 || { cat "$log"; return 1; }
}

# --- install -------------------------------------------------------------------------------------
logged install cmake --install "$build" --prefix "$prefix"
if [ -e "$build/bin/thalweg" ]; then
  run "the command" "$prefix/bin/thalweg" --version
fi
library=$(find "$prefix" -name libthalweg.so)
libdir=$(dirname "$library")

# --- find_package --------------------------------------------------------------------------------
mpi_fortran=()
if [ -n "${TW_MPIF90:-}" ]; then mpi_fortran=("-DMPI_Fortran_COMPILER=$TW_MPIF90"); fi
logged configure cmake -S "$consumer" -B "$place/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" "${mpi_fortran[@]}"
logged build cmake --build "$place/consumer"
run "find_package, C" "$place/consumer/consumer_c"
run "find_package, C++" "$place/consumer/consumer_cxx"
if [ ${#launcher[@]} -gt 0 ]; then
  run "find_package, MPI" "${launcher[@]}" -n 2 "$place/consumer/consumer_mpi"
fi
if [ ${#mpi_fortran[@]} -gt 0 ]; then
  run "find_package, Fortran" "${launcher[@]}" -n 2 "$place/consumer/consumer_fortran" 5
fi

# --- pkg-config ----------------------------------------------------------------------------------
export PKG_CONFIG_PATH=$libdir/pkgconfig
read -ra flags <<< "$(pkg-config --cflags --libs thalweg)"
"$cc" -std=c11 -Wall -Werror "$consumer/main.c" -o "$place/pc_c" "${flags[@]}" -Wl,-rpath,"$libdir"
"$cxx" -std=c++20 -Wall -Werror "$consumer/main.cpp" -o "$place/pc_cxx" "${flags[@]}" -Wl,-rpath,"$libdir"
run "pkg-config, C" "$place/pc_c"
run "pkg-config, C++" "$place/pc_cxx"
if [ ${#launcher[@]} -gt 0 ]; then
  read -ra flags <<< "$(pkg-config --cflags --libs thalweg_mpi)"
  "$cc" -std=c11 -Wall -Werror "$consumer/main_mpi.c" -o "$place/pc_mpi" "${flags[@]}" -Wl,-rpath,"$libdir"
  run "pkg-config, MPI" "${launcher[@]}" -n 2 "$place/pc_mpi"
fi
if [ ${#mpi_fortran[@]} -gt 0 ]; then
  read -ra flags <<< "$(pkg-config --cflags --libs thalweg_fortran_mpi)"
  (cd "$place" && "$TW_MPIF90" "$source/examples/fortran/heat.f90" -o pc_fortran "${flags[@]}" -Wl,-rpath,"$libdir")
  run "pkg-config, Fortran" "${launcher[@]}" -n 3 "$place/pc_fortran" 5
fi

# --- the installed tree can be moved ---------------------------------------------------------------
mv "$prefix" "$place/moved"
moved=${library#"$prefix"}
PKG_CONFIG_PATH=$place/moved$(dirname "$moved")/pkgconfig pkg-config --libs thalweg | grep -q "$place/" || {
  echo "the .pc file does not follow the installed tree"
  exit 1
}
