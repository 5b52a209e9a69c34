#!/usr/bin/env bash
# Runs the long checks.
#
# Usage: scripts/run_nightly.sh [PART...]      default: all parts, in the order below
#
# A failed part does not stop the others. Logs are in build/nightly/; the last lines summarise all parts. Exit status: 0
# when everything passed. Environment:
#   FUZZ_SECONDS    seconds per fuzz target (default one hour)
#   CAMPAIGN_SEEDS  seeds of the campaign (default a million, half an hour on 2 cores)
#   DEATH_SEEDS     lives in which the machine dies, 25 images each (default 4000: 100,000 images, two minutes)
#   LIVE_SEEDS      writers with about 10 concurrent commands each (default 300: 3,000 commands, four minutes)
#   DAMAGE_STRIDE   every which damage of a multifile is tried (default 1: all, hours on 2 cores)
#   MPIIO_SEEDS     random programs of MPI-IO for each MPI, and random datatypes (default 100, half an hour)
#   CAMPAIGN_FROM   first seed of all (default: different every day)
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
jobs=$(nproc)
logs=$PWD/build/nightly
all_parts=(campaigns mpiio nodes suites damage memory bench torch fuzz clang tools asan valgrind coverage)

# --- the parts; each ends at its first command that fails ----------------------------------------------------------------

build() { # PRESET [WHAT IS BUILT...]
  cmake --preset "$1" > /dev/null
  cmake --build --preset "$1" -j "$jobs" "${@:2}"
}

# Groups, accesses and faults drawn from seeds (docs/design/simulation.md); deaths of the machine in the lives of
# multifiles and vpfiles; commands beside live writers and orphaned ranks.
play() { # PROGRAM SEEDS
  local each=$(($2 / jobs + 1)) runs=() job run
  local from=${CAMPAIGN_FROM:-$(($(date +%s) / 86400 * 1000000))}
  for ((job = 0; job < jobs; ++job)); do
    "build/release/tests/$1" --seeds $((from + job * each)) "$each" > "$logs/$1-$job.log" 2>&1 &
    runs+=($!)
  done
  for ((job = 0; job < jobs; ++job)); do
    run=0
    wait "${runs[job]}" || run=$?
    echo "== $1: $(tail -n 1 "$logs/$1-$job.log")"
    [ "$run" = 0 ] || { cat "$logs/$1-$job.log" && return 1; }
  done
}
part_campaigns() {
  build release --target sim_campaign death_campaign live_campaign tool_thalweg
  play sim_campaign "${CAMPAIGN_SEEDS:-1000000}"
  play death_campaign "${DEATH_SEEDS:-4000}"
  play live_campaign "${LIVE_SEEDS:-300}"
}
# Random programs and datatypes of MPI-IO: ten at a time, as a test ends after five minutes.
part_mpiio() {
  local preset seed from=${CAMPAIGN_FROM:-$(($(date +%s) / 86400 * 1000))}
  for preset in release openmpi; do
    build $preset --target thalweg_mpiio mpiio_differential mpiio_datatypes
    for ((seed = from; seed < from + ${MPIIO_SEEDS:-100}; seed += 10)); do
      TW_MPIIO_SEEDS="$seed 10" ctest --preset $preset --no-tests=error -R 'mpiio/differential|mpiio_datatypes/'
    done
  done
}
# Ranks on several nodes, over all file systems that can be mounted here; as root only.
part_nodes() {
  cmake --preset release > /dev/null
  build release
  tests/nodes/run_nodes.sh || [ $? = 77 ]
}
# Other projects' tests of MPI-IO.
part_suites() {
  local preset
  for preset in release openmpi; do build $preset --target thalweg_mpiio; done
  scripts/run_mpiio_suites.sh
}
# Every bit and every length, on all cores.
part_damage() {
  build release --target multifile
  local damage=(build/release/tests/multifile --gtest_filter='*Damage*') runs=() job run=0
  # GoogleTest accepts a filter that matches no test.
  "${damage[@]}" --gtest_list_tests | grep '^  ' > /dev/null || { echo "no test of this name: ${damage[*]}" >&2; return 1; }
  export THALWEG_DAMAGE_STRIDE=${DAMAGE_STRIDE:-1} GTEST_TOTAL_SHARDS=$jobs
  for ((job = 0; job < jobs; ++job)); do
    GTEST_SHARD_INDEX=$job "${damage[@]}" --gtest_brief=1 > "$logs/damage-$job.log" 2>&1 &
    runs+=($!)
  done
  for job in "${!runs[@]}"; do
    wait "${runs[job]}" || run=1
    cat "$logs/damage-$job.log"
  done
  return $run
}
# Limits of memory: 2 to 4 ranks, every MiB.
part_memory() {
  cmake --preset release -B build/memory -DTW_TEST_ALL=ON -DTW_TEST_SETS=mpi -DTW_WITH_TOOLS=OFF > /dev/null
  cmake --build build/memory -j "$jobs" --target mpi_memory_limit
  THALWEG_ALL_STRIDES=1 ctest --test-dir build/memory --output-on-failure --no-tests=error -R mpi_memory_limit
}
# The benchmarks at their smallest size.
part_bench() {
  local preset
  for preset in release openmpi; do
    cmake --preset $preset -DTW_WITH_BENCH=ON > /dev/null
    build $preset
    ctest --preset $preset --no-tests=error -R bench
  done
}
# Checkpoints of PyTorch. Without PyTorch, or without the disk for it, the log says why they were left out.
part_torch() {
  scripts/setup.sh build python || [ $? = 3 ]
  scripts/run_torch_tests.sh || [ $? = 77 ]
}
# New inputs are kept under build/fuzz/found, failing ones beside it.
part_fuzz() {
  local target name found
  build fuzz
  for target in build/fuzz/bin/*_fuzz; do
    [ -x "$target" ] || continue
    name=$(basename "$target" _fuzz)
    found=build/fuzz/found/$name
    mkdir -p "$found"
    echo "== fuzzing $name for ${FUZZ_SECONDS:-3600} s"
    "$target" -max_total_time="${FUZZ_SECONDS:-3600}" -artifact_prefix="build/fuzz/found/$name-" "$found" "fuzz/corpus/$name"
  done
}
# What the quick run does not build with Clang: benchmarks, examples, all tests; and the unit tests of every room.
part_clang() {
  scripts/run_tidy.sh '/(src|frontends|tools)/'
  build clang-all
  ctest --preset clang-all --no-tests=error -j "$jobs" -L '^unit$'
}
# The commands under sanitizers.
part_tools() {
  cmake --preset asan-ubsan -B build/asan-tools -DTW_WITH_TOOLS=ON -DTW_TEST_SETS=cli > /dev/null
  cmake --build build/asan-tools -j "$jobs"
  ctest --test-dir build/asan-tools --output-on-failure --no-tests=error -j "$jobs"
}
# The tests that the quick run omits under the address sanitizer.
part_asan() {
  ulimit -s 65536  # KiB: without tail calls an Op that never suspends takes stack for each step of a long test
  build asan-all
  ctest --preset asan-all --no-tests=error -j "$jobs"
}
part_valgrind() {
  local program
  # Optimized: the tests of all small accesses take 17 times as long without.
  cmake --preset dev -B build/valgrind -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTW_TEST_SETS='unit;sharedfile' -DTW_WITH_MPI=OFF \
    -DTW_WITH_TOOLS=OFF -DTW_WITH_BENCH=OFF -DTW_WITH_EXAMPLES=OFF > /dev/null
  cmake --build build/valgrind -j "$jobs"
  for program in build/valgrind/tests/unit_*; do
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
    echo "== valgrind $(basename "$program")"
    # A program that replaces operator new keeps its own. Valgrind refuses to lower the hard limit of descriptors,
    # and a forked child loses what the threads of its parent held.
    valgrind --quiet --error-exitcode=9 --leak-check=full --soname-synonyms=somalloc=nouserintercepts "$program" \
      --gtest_brief=1 --gtest_filter=-OpenFileLimit.*:ThreadQueue.OfAForkedChild*
  done
  valgrind --quiet --tool=callgrind --callgrind-out-file=build/valgrind/write_all.out \
    --toggle-collect=tw_file_write_all build/valgrind/tests/sharedfile --gtest_filter='GroupLifetime.OfATeam*'
  scripts/budgets.py . build/valgrind/write_all.out
}
part_coverage() {
  build coverage
  CTEST_PARALLEL_LEVEL=$jobs cmake --build --preset coverage --target coverage
}

# --- run them, and sum up ------------------------------------------------------------------------------------------------

parts=("$@")
[ $# -gt 0 ] || parts=("${all_parts[@]}")
for part in "${parts[@]}"; do
  [[ " ${all_parts[*]} " == *" $part "* ]] || { echo "run_nightly.sh: unknown part '$part' (${all_parts[*]})" >&2; exit 2; }
done
mkdir -p "$logs"
failed=0
summary=
for part in "${parts[@]}"; do
  started=$SECONDS
  echo "== part $part"
  (
    set -e
    "part_$part"
  ) > "$logs/$part.log" 2>&1 < /dev/null
  status=$?
  verdict="passed"
  [ $status = 0 ] || verdict="FAILED (build/nightly/$part.log)"
  [ $status = 0 ] || failed=1
  [ $status = 0 ] || tail -n 40 "$logs/$part.log"
  summary+="$part: $verdict in $((SECONDS - started)) s"$'\n'
  summary+=$(grep -E '^== [a-z_]*_campaign: |^summary: |tests passed|^Done [0-9]+ runs|^lines: |^[a-z0-9]* *(mpich|openmpi) *own +[0-9]+, |^[0-9]+ programs pass |^\[  PASSED  \] ' "$logs/$part.log" | sed 's/^/  /')$'\n'
done
echo "== summary"
grep -v '^$' <<< "$summary"
exit $failed
