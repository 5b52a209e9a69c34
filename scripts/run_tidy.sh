#!/usr/bin/env bash
# clang-tidy with the checks of .clang-tidy, all of them errors.
#   run_tidy.sh              src/ and frontends/, ten files of a room at a time
#   run_tidy.sh FILE-REGEX   these files, one by one: '/(src|frontends|tools)/' is all that must be clean, some minutes
set -euo pipefail
cd "$(dirname "$0")/.."

# tidy FOLDER REGEX [OPTION...]: the files that this build folder compiles and the regex fits; that there are none is an error.
tidy() {
  local folder=$1 what=$2
  shift 2
  grep -E "^ *\"file\": \"$what" "$folder/compile_commands.json" > /dev/null || {
    echo "run_tidy.sh: $folder compiles no file that fits $what" >&2
    return 1
  }
  run-clang-tidy-16 -quiet -j "$(nproc)" -p "$folder" "$@" "^$what"
}

if [ $# -gt 0 ]; then
  cmake --preset clang > /dev/null
  tidy build/clang "$PWD$1"
  exit
fi
cmake --preset clang -B build/tidy -DTW_WHOLE_ROOMS=ON > /dev/null
# The files of a room, and those that are compiled by themselves because they have options of their own.
tidy build/tidy "$PWD/build/tidy/src/.*/Unity" -checks=-bugprone-suspicious-include
tidy build/tidy "$PWD/(src|frontends)/"
