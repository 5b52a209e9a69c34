#!/usr/bin/env bash
# Runs the small examples of a build and compares their output: run_examples.sh BUILD_DIR OUT_DIR
# TW_MPI_LAUNCH is the launcher of MPI examples; by default that of the build's Gray-Scott solver.
set -euo pipefail
bin=$(cd "$1" && pwd)/bin
rm -rf "$2"
mkdir -p "$2"
cd "$2"
export HYDRA_LAUNCHER=fork OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
read -ra launch <<< "${TW_MPI_LAUNCH:-$(sed -n 's/^exec \(.*\) -n .*/\1/p' "$bin/grayscott_ranks" 2> /dev/null)}"

# expect TEXT COMMAND...: the sorted output must be TEXT.
expect() {
  local expected=$1
  shift
  if ! diff <(echo "$expected") <("$@" | sort) > difference.txt; then
    echo "FAILED: $*"
    cat difference.txt
    exit 1
  fi
  echo "ok: ${*##*/}"
}

names_in_step1() { "$bin/thalweg" ls -0 run.tw step1/ | tr '\0' '\n'; }
if [ -x "$bin/example_c_write" ]; then
  for writer in c_write cxx_write c_fwrite; do
    "${launch[@]}" -n 4 "$bin/example_$writer" dump.tw
    for reader in c cxx; do
      stride="rank 0 of 3: logical file 0 holds 1000 values from 0 on
rank 0 of 3: logical file 3 holds 1000 values from 3 on
rank 1 of 3: logical file 1 holds 1000 values from 1 on
rank 2 of 3: logical file 2 holds 1000 values from 2 on"
      share="rank 0 of 3: logical file 0 holds 1000 values from 0 on
rank 1 of 3: logical file 1 holds 1000 values from 1 on
rank 2 of 3: logical file 2 holds 1000 values from 2 on
rank 2 of 3: logical file 3 holds 1000 values from 3 on"
      [ $reader = c ] && expected=$share || expected=$stride
      expect "$expected" "${launch[@]}" -n 3 "$bin/example_${reader}_restart" dump.tw
    done
    expect "logical file 0: sum 499.500
logical file 1: sum 1499.500
logical file 2: sum 2499.500
logical file 3: sum 3499.500" "$bin/example_c_read" dump.tw
  done
  expect "written by rank 0 in step 0" "${launch[@]}" -n 4 "$bin/example_c_names" run.tw
  expect "step1/rank1.txt
step1/rank2.txt
step1/rank3.txt" names_in_step1
  expect "rank 0 of 4: 12 rows from 0 on, between rows of 0 and 12
rank 1 of 4: 13 rows from 12 on, between rows of 11 and 25
rank 2 of 4: 12 rows from 25 on, between rows of 24 and 37
rank 3 of 4: 13 rows from 37 on, between rows of 36 and 0" "${launch[@]}" -n 4 "$bin/example_c_field" rows.dat
  [ "$(wc -c < rows.dat)" = 16000 ] || { echo "FAILED: example_c_field"; exit 1; }
fi

logs() { "$bin/thalweg" ls -0 dump.tw logs/ | tr '\0' '\n'; }
for language in c cxx fortran; do
  if [ -x "$bin/example_${language}_checkpoint" ]; then
    expect "sum 4194176.0" "${launch[@]}" -n 3 "$bin/example_${language}_checkpoint"
    expect "logs/rank0.txt
logs/rank1.txt
logs/rank2.txt" logs
  fi
done

# Two ranks restart from what three wrote, and compute what the program with a file for each rank does.
if [ -x "$bin/example_fortran_heat" ]; then
  expect "step 20, sum of squares 1205.399094658" "${launch[@]}" -n 3 "$bin/example_fortran_heat_files" 20
  expect "step 20, sum of squares 1205.399094658" "${launch[@]}" -n 3 "$bin/example_fortran_heat" 20
  expect "step 30, sum of squares 1171.479743755" "${launch[@]}" -n 3 "$bin/example_fortran_heat_files" 10
  expect "step 30, sum of squares 1171.479743755" "${launch[@]}" -n 2 "$bin/example_fortran_heat" 10
fi

"$bin/example_c_explain" field.dat | grep -q '^plan: ' || { echo "FAILED: example_c_explain"; exit 1; }
echo "ok: example_c_explain"

expect "eel.txt number 1 passed the weir
eel.txt number 2 passed the weir
eel.txt number 3 passed the weir" "$bin/example_c_stdio" notes.tw

tutorial=$bin/example_c_tutorial
ten="gauge 0: 10 readings, the last 1.59 m
gauge 1: 10 readings, the last 1.69 m
gauge 2: 10 readings, the last 1.79 m
gauge 3: 10 readings, the last 1.89 m"
"$tutorial" write gauges.tw 10
expect "$ten" "$tutorial" read gauges.tw
"$tutorial" crash gauges.tw 10 && { echo "FAILED: example_c_tutorial crash"; exit 1; }
"$tutorial" read gauges.tw 2> refused.txt && { echo "FAILED: an unclosed file is read"; exit 1; }
grep -q "thalweg repair" refused.txt
"$bin/thalweg" repair --quiet gauges.tw
expect "$ten" "$tutorial" read gauges.tw

expect "thread 0 wrote 1000 events
thread 1 wrote 1000 events
thread 2 wrote 1000 events
thread 3 wrote 1000 events" "$bin/example_cxx_threads" trace.tw

for language in c cxx; do
  expect "cell 0: 0 particles, sum 0.0
cell 1: 1 particles, sum 1.0
cell 2: 2 particles, sum 4.5
cell 3: 3 particles, sum 10.5
cell 4: 0 particles, sum 0.0
cell 5: 1 particles, sum 5.0
the last of 6 cells" "$bin/example_${language}_particles" particles.vp
done

if [ -x "$bin/example_c_threads" ]; then
  OMP_NUM_THREADS=5 OMP_WAIT_POLICY=passive "$bin/example_c_threads" omp.tw
  [ "$("$bin/thalweg" cat omp.tw --task 4 | wc -c)" = 800000 ] || { echo "FAILED: example_c_threads"; exit 1; }
  echo "ok: example_c_threads"
fi

neighbours="thread 0: the block of its neighbour begins with 1000
thread 1: the block of its neighbour begins with 2000
thread 2: the block of its neighbour begins with 0"
for language in c_openmp fortran_omp_file; do
  if [ -x "$bin/example_$language" ]; then
    OMP_NUM_THREADS=3 expect "$neighbours" "$bin/example_$language" field.dat
    [ "$(wc -c < field.dat)" = 24000 ] || { echo "FAILED: example_$language"; exit 1; }
  fi
done
