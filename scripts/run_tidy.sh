#!/usr/bin/env bash
# clang-tidy with the checks of .clang-tidy, all of them errors.
#   run_tidy.sh              src/ and frontends/, ten files of a room at a time
#   run_tidy.sh FILE-REGEX   these files, one by one: '/(src|frontends|tools)/' is all that must be clean, some minutes
set -euo pipefail
cd "$(dirname "$0")/.."
tidy=(run-clang-tidy-16 -quiet -j "$(nproc)")
if [ $# -gt 0 ]; then
  cmake --preset clang > /dev/null
  exec "${tidy[@]}" -p build/clang "^$PWD$1"
fi
cmake --preset clang -B build/tidy -DTW_WHOLE_ROOMS=ON > /dev/null
exec "${tidy[@]}" -p build/tidy -checks=-bugprone-suspicious-include "^$PWD/(build/tidy/src/.*/Unity|frontends)/"
