# The wheel of the Python package, and environments to test it in. Sourced by run_python_tests.sh and run_torch_tests.sh at the
# root of the repository, with set -euo pipefail.
# shellcheck shell=bash disable=SC2034  # the sourcing scripts use root and failed
root=$PWD
here=$root/build/python
export THALWEG_PROFILE=none PYTHONPYCACHEPREFIX=$here/bytecode
failed=0

need_tools() {
  if [ ! -e "$here/packages/ready" ]; then
    echo "summary: SKIPPED: 'scripts/setup.sh build python' did not install the tools for the wheel; is a package index configured for pip?"
    exit 77
  fi
}

# From scratch this takes 300 s of a core; ccache (cmake/Project.cmake) avoids recompilation, also after make clean.
build_wheel() {
  rm -rf "$here/bytecode"
  scripts/build_wheel.sh
}

# fresh NAME PACKAGE...: creates an environment with these packages and the wheel only.
fresh() {
  local name=$1
  shift
  python3 -m venv --clear "$here/$name"
  "$here/$name/bin/python" -m pip install -q --disable-pip-version-check --no-compile --no-index --find-links "$here/packages" \
    --find-links "$here/dist" thalweg "$@"
}

# tests TITLE COMMAND...: runs pytest and repeats its last line.
tests() {
  local title=$1 status=0
  shift
  "$@" > "$here/tests.log" 2>&1 || status=$?
  cat "$here/tests.log"
  echo "summary: $title: $(tail -n 1 "$here/tests.log")"
  [ $status = 0 ] || failed=1
}
