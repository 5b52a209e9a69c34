#!/usr/bin/env bash
# Builds the named stages, then runs the tests of all of them in one run of ctest.
#
# Usage: scripts/run_tests.sh [STAGE...]
#
# Without a STAGE: those of `make test` (lint, release, nodes, smoke). `all` means every stage of `make test-all`. A failed
# stage does not stop the others: it becomes a failed test 'stage/<name>' of the final run, which prints its log. A
# stage that exits with 77 is skipped there. Logs are in build/ci/. Exit status: that of the final run, 0 when
# everything passed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
root=$PWD
ci=$root/build/ci
jobs=$(nproc 2> /dev/null || echo 2)
test_stages=(lint release nodes smoke)
all_stages=(lint release nodes openmpi asan-ubsan tsan archer minimal python tidy)

# --- stages ----------------------------------------------------------------------------------------------------------

build_preset() {
  local preset=$1
  shift
  cmake --preset "$preset" "$@" && cmake --build --preset "$preset" -j "$jobs"
}

stage_lint() {
  local failed=0
  git ls-files -z '*.c' '*.h' '*.cpp' '*.hpp' | xargs -0 -r clang-format-16 --dry-run -Werror || failed=1
  scripts/check_layers.py . || failed=1
  scripts/check_docs.py . || failed=1
  scripts/check_glossary.py . || failed=1
  scripts/check_twins.py . || failed=1
  scripts/check_changes.py . || failed=1
  scripts/check_dependencies.py . || failed=1
  scripts/draw_rooms.py --check . || failed=1
  scripts/check_prose.py . || failed=1
  return $failed
}
# Benchmarks take long to build: the nightly run builds and tries them.
stage_release() {
  build_preset release -DTW_WARNINGS_AS_ERRORS=ON -DTW_WITH_MPI=ON -DTW_WITH_OPENMP=ON -DTW_WITH_BENCH=OFF
}
# The programs of the stage release on several nodes; as root only.
stage_nodes() { tests/nodes/run_nodes.sh --quick; }
stage_python() { scripts/run_python_tests.sh; }
# Not of all_stages, which CI runs in turn: its packages are 5.4 GB. The nightly run has it.
stage_torch() { scripts/run_torch_tests.sh; }
# The second MPI, at its smallest: two programs of tests/mpi.
stage_smoke() { build_preset smoke -DTW_WARNINGS_AS_ERRORS=ON; }
stage_openmpi() { build_preset openmpi -DTW_WARNINGS_AS_ERRORS=ON -DTW_WITH_BENCH=OFF; }
stage_asan-ubsan() { build_preset asan-ubsan; }
stage_tsan() { build_preset tsan; }
stage_archer() { cmake --preset archer && cmake --build --preset archer --target omp_file -j "$jobs"; }
stage_minimal() { build_preset minimal; }
stage_clang() { build_preset clang && ctest --preset clang -j "$jobs"; }
stage_tidy() { scripts/run_tidy.sh; }
stage_fuzz() { build_preset fuzz; }

# --- run them, then all tests ----------------------------------------------------------------------------------------

# Build trees whose tests belong to the final run. 'minimal' is built by Clang, so that its warnings count as well.
# `make nightly` runs two further stages: 'clang', and 'fuzz' (libFuzzer; release and asan-ubsan replay the corpus).
tested=" release smoke openmpi asan-ubsan tsan archer minimal fuzz "

stages=("$@")
[ $# -gt 0 ] || stages=("${test_stages[@]}")
[ "$*" != all ] || stages=("${all_stages[@]}")
rm -rf "$ci"
mkdir -p "$ci"
begin=$SECONDS
tests=$ci/CTestTestfile.cmake
for stage in "${stages[@]}"; do
  started=$SECONDS
  echo "== stage $stage"
  "stage_$stage" > "$ci/$stage.log" 2>&1 < /dev/null
  status=$?
  verdict="done"
  [ $status = 0 ] || verdict="FAILED (build/ci/$stage.log)"
  [ $status != 77 ] || verdict="skipped"
  echo "   $verdict in $((SECONDS - started)) s"
  sed -n 's/^summary: /   /p' "$ci/$stage.log"
  echo "$status" > "$ci/$stage.status"
  echo "add_test(\"stage/$stage\" \"bash\" \"$root/scripts/stage_result.sh\" \"$ci\" \"$stage\")" >> "$tests"
  echo "set_tests_properties(\"stage/$stage\" PROPERTIES SKIP_RETURN_CODE 77)" >> "$tests"
  if [[ $tested == *" $stage "* ]]; then
    echo "subdirs(\"$root/build/$stage\")" >> "$tests"
  fi
done

echo "== tests of all stages, after $((SECONDS - begin)) s"
(cd "$ci" && ctest --output-on-failure -j "$jobs" --no-tests=error)
