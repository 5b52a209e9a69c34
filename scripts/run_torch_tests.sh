#!/usr/bin/env bash
# Tests thalweg.torch with PyTorch on processes of this machine, without a GPU. The environment with PyTorch is kept in
# build/python/torch. The wheel is that of build/python/dist, which run_python_tests.sh leaves there; where there is none it is
# built, which requires: scripts/setup.sh build python.
#
# Usage: scripts/run_torch_tests.sh
#
# Lines that begin with 'summary:' have the test results. Exit status: 0 when all passed, 77 when PyTorch or build tools are
# missing.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/python_wheel.sh
. scripts/python_wheel.sh

mkdir -p "$here"
if ! scripts/setup.sh torch 2> "$here/setup_torch.log"; then
  cat "$here/setup_torch.log"
  echo "summary: SKIPPED: $(grep '^setup.sh: ' "$here/setup_torch.log" | tail -n 1)"
  exit 77
fi
if ! ls "$here"/dist/thalweg-*.whl > /dev/null 2>&1; then
  need_tools
  build_wheel
fi
"$here/torch/bin/python" -m pip install -q --disable-pip-version-check --no-compile --no-index --no-deps --force-reinstall --find-links "$here/dist" thalweg
tests "PyTorch on 1 to 4 processes" "$here/torch/bin/python" -m pytest -p no:cacheprovider -q bindings/python/tests/test_torch.py
exit $failed
