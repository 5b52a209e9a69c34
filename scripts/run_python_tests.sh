#!/usr/bin/env bash
# Builds the wheel of the Python package (scripts/build_wheel.sh), installs it into a new environment without MPI, and tests it
# there; then with fsspec, xarray, zarr, dask and pandas; then with mpi4py and matplotlib, on ranks of every installed MPI.
# Requires: scripts/setup.sh build python.
#
# Usage: scripts/run_python_tests.sh
#
# Lines that begin with 'summary:' have the test results. Exit status: 0 when all passed, 77 when build tools are
# missing.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/python_wheel.sh
. scripts/python_wheel.sh

need_tools
build_wheel

fresh plain numpy pytest hypothesis mypy rich
tests "without MPI" "$here/plain/bin/python" -m pytest -p no:cacheprovider -q bindings/python/tests --ignore bindings/python/tests/measure

mkdir -p "$here/example"
cd "$here/example"
"$here/plain/bin/python" "$root/examples/python/cells.py" | tee output.txt
diff output.txt - <<'OUTPUT' || { echo "FAILED: examples/python/cells.py"; failed=1; }
(256, 128) NB True
cells.vp[255, 9] 320.0
215232 bytes, 20 at most
OUTPUT
"$here/plain/bin/python" "$root/examples/python/checkpoint.py" | diff - <(echo "sum 4194176.0") \
  || { echo "FAILED: examples/python/checkpoint.py"; failed=1; }
# The restart file that the Fortran solver of the release build writes.
heat=$root/build/release/bin/example_fortran_heat
if [ -x "$heat" ]; then
  rm -f heat.restart.tw
  "$heat" 20 > fortran.txt  # one rank, without a launcher
  "$here/plain/bin/python" "$root/examples/python/heat.py" heat.restart.tw | sed 's/, (256, 256)//' | diff - fortran.txt \
    || { echo "FAILED: examples/python/heat.py"; failed=1; }
fi
cd "$root"

if grep -q pyarrow "$here/packages/ready"; then
  fresh data numpy pytest fsspec xarray zarr dask pandas pyarrow scipy jinja2 plotly rich jsonschema hypothesis
  tests "with fsspec, xarray, zarr, dask and pandas" "$here/data/bin/python" -m pytest -p no:cacheprovider -q \
    bindings/python/tests/test_fsspec.py bindings/python/tests/test_xarray.py bindings/python/tests/test_package.py
  probe=$root/build/release/bin/thalweg-probe  # with MPI; that of the wheel only predicts
  [ -x "$probe" ] || probe=
  tests "thalweg.measure" env THALWEG_PROBE="$probe" "$here/data/bin/python" -m pytest -p no:cacheprovider -q \
    bindings/python/tests/measure --ignore bindings/python/tests/measure/test_page_browser.py
  cd "$here/example"
  "$here/data/bin/python" "$root/examples/python/analysis.py" | diff - <(echo "('y', 'x') 32768.0 step 1 True 128.5") \
    || { echo "FAILED: examples/python/analysis.py"; failed=1; }
  cd "$root"
else
  echo "summary: SKIPPED: fsspec, xarray, zarr, dask and pandas: 'scripts/setup.sh build python' did not get them from the package index"
fi

fresh mpi numpy pytest mpi4py matplotlib
mpi_tests() {
  tests "$1" env "${@:2}" "$here/mpi/bin/python" -m pytest -p no:cacheprovider -q \
    bindings/python/tests/test_mpi.py bindings/python/tests/test_transport.py
}
if ! command -v mpiexec.openmpi mpiexec.mpich > /dev/null; then
  mpi_tests "a picture" MPIEXEC=none
fi
if command -v mpiexec.openmpi > /dev/null; then
  mpi_tests "ranks of Open MPI" MPIEXEC=mpiexec.openmpi
fi
# mpi4py finds MPICH by the name of its ABI, which Debian's library lacks.
mpich=$(ldconfig -p 2> /dev/null | sed -n 's/.*libmpich\.so\.12 .*=> //p' | head -n 1)
if command -v mpiexec.mpich > /dev/null && [ -n "$mpich" ]; then
  mkdir -p "$here/mpich"
  ln -sf "$mpich" "$here/mpich/libmpi.so.12"
  mpi_tests "ranks of MPICH" MPIEXEC=mpiexec.mpich MPI4PY_MPIABI=mpich "LD_LIBRARY_PATH=$here/mpich"
fi
exit $failed
