#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy, all of them errors.
#   run_tidy.sh              src/ and frontends/, ten files of a room at a time
#   run_tidy.sh FILE-REGEX   these files, one by one: '/(src|frontends|tools)/' covers all checked files and takes some minutes
set -euo pipefail
cd "$(dirname "$0")/.."

# tidy FOLDER REGEX [OPTION...]: checks the files compiled in this build folder that match the regex; no match is an
# error.
tidy() {
  local folder=$1 what=$2
  shift 2
  grep -E "^ *\"file\": \"$what" "$folder/compile_commands.json" > /dev/null || {
    echo "run_tidy.sh: $folder compiles no file that matches $what" >&2
    return 1
  }
  run-clang-tidy-16 -quiet -j "$(nproc)" -p "$folder" "$@" "^$what"
}

# includes REGEX: no file that matches includes what it does not use. What a file gets through its own header, or through
# those of its room, it need not include again.
includes() {
  local findings
  cmake --preset clang > /dev/null
  findings=$(run-clang-tidy-19 -quiet -j "$(nproc)" -p build/clang -checks='-*,misc-include-cleaner' "^$PWD$1" 2> /dev/null) ||
    true  # it fails for includes that are missing
  ! grep 'is not used directly' <<< "$findings"
}

if [ $# -gt 0 ]; then
  cmake --preset clang > /dev/null
  tidy build/clang "$PWD$1"
  includes "$1"
  exit
fi
cmake --preset clang -B build/tidy -DTW_WHOLE_ROOMS=ON > /dev/null
# The files of a room, and those with their own compile options.
tidy build/tidy "$PWD/build/tidy/src/.*/Unity" -checks=-bugprone-suspicious-include
tidy build/tidy "$PWD/(src|frontends)/"
includes '/(src|frontends)/'
