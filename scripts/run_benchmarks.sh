#!/usr/bin/env bash
# Runs every benchmark program of a build in its quick form and writes JSON results beside it: run_benchmarks.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
results=$build/bench-results
mkdir -p "$results"
for program in "$build"/bin/thalweg-bench-*; do
  [ -x "$program" ] || continue
  name=$(basename "$program")
  scratch=$(mktemp -d "$results/scratch.XXXXXX")
  echo "== $name"
  run=("$program")
  [ "$name" != thalweg-bench-collective ] || run=(bench/collective/run.sh "$build")  # makes many runs, started by mpiexec
  "${run[@]}" --quick --dir "$scratch" --json "$results/$name.json"
  rm -rf "$scratch"
done
