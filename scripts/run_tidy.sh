#!/usr/bin/env bash
# clang-tidy over src/, frontends/ and tools/, with the checks of .clang-tidy, all of them errors: run_tidy.sh [FILE-REGEX]
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-/(src|frontends|tools)/}
cmake --preset clang > /dev/null
run-clang-tidy-16 -quiet -p build/clang -j "$(nproc)" "^$PWD$what"
