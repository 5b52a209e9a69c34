#!/usr/bin/env bash
# The long checks. FUZZ_SECONDS is the time for each fuzz target (default one hour); CAMPAIGN_SEEDS how many seeds of the
# campaign are played (default a million, half an hour on 2 cores), from CAMPAIGN_FROM on (default: others every day).
# DEATH_SEEDS: lives in which the machine dies, 25 images each (default 4000: 100,000 images, two minutes); LIVE_SEEDS:
# writers with commands beside them, about 10 each (default 300: 3,000 runs, four minutes).
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-3600}
jobs=$(nproc)

# --- the campaign: groups, accesses and faults drawn from seeds (docs/design/simulation.md) ------------------------------
cmake --preset release > /dev/null
cmake --build --preset release -j "$jobs" --target sim_campaign death_campaign live_campaign tool_thalweg
from=${CAMPAIGN_FROM:-$(($(date +%s) / 86400 * 1000000))}
play() { # PROGRAM SEEDS
  local each=$(($2 / jobs + 1)) runs=() job run
  for ((job = 0; job < jobs; ++job)); do
    echo "== $1, $each seeds from $((from + job * each))"
    "build/release/tests/$1" --seeds $((from + job * each)) "$each" &
    runs+=($!)
  done
  for run in "${runs[@]}"; do wait "$run"; done
}
play sim_campaign "${CAMPAIGN_SEEDS:-1000000}"
play death_campaign "${DEATH_SEEDS:-4000}" # machines that die in the lives of multifiles and vpfiles
play live_campaign "${LIVE_SEEDS:-300}"    # commands beside live writers and orphaned ranks

# --- damage: every bit and every length --------------------------------------------------------------------------------
cmake --build --preset release -j "$jobs" --target multifile
damage=(build/release/tests/multifile --gtest_filter='*Damage*')
# GoogleTest is content with a filter that fits no test.
"${damage[@]}" --gtest_list_tests | grep '^  ' > /dev/null || { echo "no test of this name: ${damage[*]}" >&2; exit 1; }
THALWEG_DAMAGE_STRIDE=1 "${damage[@]}"

# --- the benchmarks in their smallest form -----------------------------------------------------------------------------
for preset in release openmpi; do
  cmake --preset $preset > /dev/null
  cmake --build --preset $preset -j "$jobs"
  ctest --preset $preset --no-tests=error -R bench
done

# --- fuzzing: new inputs are kept under build/fuzz/found; one that fails is left beside it -----------------------------
cmake --preset fuzz > /dev/null
cmake --build --preset fuzz -j "$jobs"
for target in build/fuzz/bin/*_fuzz; do
  [ -x "$target" ] || continue
  name=$(basename "$target" _fuzz)
  found=build/fuzz/found/$name
  mkdir -p "$found"
  echo "== fuzzing $name for $seconds s"
  "$target" -max_total_time="$seconds" -artifact_prefix="build/fuzz/found/$name-" "$found" "fuzz/corpus/$name"
done

# --- what the quick run does not build with Clang: benchmarks, examples, all tests; and the unit tests of every room ------
scripts/run_tidy.sh '/(src|frontends|tools)/'
cmake --preset clang-all > /dev/null
cmake --build --preset clang-all -j "$jobs"
ctest --preset clang-all --no-tests=error -j "$jobs" -L '^unit$'

# --- the commands, and the addresses they touch ------------------------------------------------------------------------
cmake --preset asan-ubsan -B build/asan-tools -DTW_WITH_TOOLS=ON -DTW_TEST_SETS=cli > /dev/null
cmake --build build/asan-tools -j "$jobs"
ctest --test-dir build/asan-tools --output-on-failure --no-tests=error -j "$jobs"

# --- what the quick run leaves out under the address sanitizer ------------------------------------------------------------
cmake --preset asan-all > /dev/null
cmake --build --preset asan-all -j "$jobs"
ctest --preset asan-all --no-tests=error -j "$jobs"

# --- valgrind over the unit tests --------------------------------------------------------------------------------------
cmake --preset dev > /dev/null
cmake --build --preset dev -j "$jobs"
for program in build/dev/tests/unit_*; do
  if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
  echo "== valgrind $(basename "$program")"
  valgrind --quiet --error-exitcode=9 --leak-check=full "$program" --gtest_brief=1
done

# --- coverage ----------------------------------------------------------------------------------------------------------
cmake --preset coverage > /dev/null
cmake --build --preset coverage -j "$jobs"
cmake --build --preset coverage --target coverage
