#!/usr/bin/env bash
# Simulates particles in a shield, on 4 ranks where MPI is installed; reads the file on 1 and on 3 ranks, compares, and
# draws.
#
# Usage: examples/python/run_transport.sh FOLDER [OPTION OF transport.py...]      creates transport.vp and transport.png
# in FOLDER
#
# PYTHON has thalweg and NumPy, for ranks mpi4py and for the picture matplotlib, too: by default that of `make python`.
# MPIEXEC: by default mpiexec.
set -euo pipefail
here=$(dirname "$0")
python=${PYTHON:-$here/../../build/python/mpi/bin/python}
mpiexec=${MPIEXEC:-mpiexec}
folder=${1:?FOLDER}
shift
mkdir -p "$folder"
# Permits root and more ranks than cores; waiting ranks yield.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 HYDRA_LAUNCHER=fork MPIR_CVAR_CH4_PROGRESS_THROTTLE=1

# on RANKS PROGRAM ARGUMENT...
on() {
  if [ "$1" = 1 ]; then
    "$python" "$here/$2" "${@:3}"
  else
    "$mpiexec" -n "$1" "$python" -m mpi4py "$here/$2" "${@:3}"
  fi
}

writers=1
readers=(1)
if command -v "$mpiexec" > /dev/null && "$python" -c 'from mpi4py import MPI' 2> /dev/null; then
  writers=4
  readers=(1 3)
fi
picture=()
if "$python" -c 'import matplotlib' 2> /dev/null; then
  picture=(--picture "$folder/transport.png")
fi

on $writers transport.py "$folder/transport.vp" "$@" > "$folder/written.txt"
for n in "${readers[@]}"; do
  on "$n" transport_view.py "$folder/transport.vp" "${picture[@]}" > "$folder/read.txt"
  if ! diff "$folder/written.txt" "$folder/read.txt"; then
    echo "FAILED: written on $writers, read on $n: different totals"
    exit 1
  fi
  echo "written on $writers, read on $n: equal totals in each of $(wc -l < "$folder/read.txt") steps"
  picture=()
done
tail -n 1 "$folder/written.txt"
[ ! -e "$folder/transport.png" ] || echo "the picture: $folder/transport.png"
