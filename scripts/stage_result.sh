#!/usr/bin/env bash
# Repeats the result of a stage of run_tests.sh, with the end of its log: stage_result.sh FOLDER STAGE
set -euo pipefail
status=$(cat "$1/$2.status")
if [ "$status" != 0 ]; then
  echo "stage $2 ended with status $status; the end of its log:"
  tail -n 60 "$1/$2.log"
fi
exit "$status"
