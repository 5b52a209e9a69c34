#!/usr/bin/env bash
# A simulation writes checkpoints through Thalweg, is killed, and continues with other ranks and threads; then a
# directory tree is packed into one file and extracted. Every step is checked; the exit status is 0 only when all checks
# pass.
#
# Usage: run_demo.sh [--quick] [--out DIR] BUILD_DIR
#   BUILD_DIR   a build with tools and examples, such as build/release
#   --quick     a small field and a small tree: a few seconds
#   --out DIR   folder of the files (default: demo beside BUILD_DIR); files of an earlier demo are removed
set -euo pipefail

quick=0 out='' build=''
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    --out) shift; out=${1:?run_demo.sh: --out needs a directory} ;;
    -*) echo "run_demo.sh: unknown option '$1'; usage: run_demo.sh [--quick] [--out DIR] BUILD_DIR" >&2; exit 2 ;;
    *) build=$1 ;;
  esac
  shift
done
[ -n "$build" ] || { echo "usage: run_demo.sh [--quick] [--out DIR] BUILD_DIR" >&2; exit 2; }
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$build" && pwd)
out=${out:-$(dirname "$build")/demo}
for program in thalweg grayscott grayscott_ranks; do
  if [ ! -x "$build/bin/$program" ]; then
    echo "run_demo.sh: $build/bin/$program is missing: build with tools, examples, MPI and OpenMP (make demo does)" >&2
    exit 2
  fi
done

size=512 steps=4000 every=500 kill_after=2000 moment=0.1 tree=/usr/share/doc
[ $quick = 0 ] || { size=256 steps=1600 every=200 kill_after=400 moment=0 tree=$source_dir/include; }
run_options=(--size "$size" --steps "$steps" --checkpoint-every "$every")

# --- how steps and commands are shown, and how a check fails ------------------------------------------------------------

if [ -e "$out" ] && [ ! -e "$out/.thalweg-demo" ]; then
  echo "run_demo.sh: '$out' exists and was not made by this demo; choose another folder with --out" >&2
  exit 2
fi
rm -rf "$out"
mkdir -p "$out"
cd "$out"
out=$PWD # --out may be relative
touch .thalweg-demo
export PATH=$build/bin:$PATH
bold='' dim='' plain=''
if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; fi
n_steps=0

step() { n_steps=$((n_steps + 1)); printf '\n%s%d. %s%s\n' "$bold" "$n_steps" "$*" "$plain"; }
say() { printf '   %s\n' "$*"; }
indent() { sed 's/^/     /'; }
shown() { printf '   %s$ %s%s\n' "$dim" "$*" "$plain"; }
run() { shown "$@"; "$@" 2>&1 | indent; }
fail() { printf '\nDEMO FAILED in step %d: %s\n   files: %s\n' "$n_steps" "$*" "$out" >&2; exit 1; }
bytes_of() { stat -c %s "$1"; }

solver='' victims=''
stop_solver() {
  # shellcheck disable=SC2086  # a list of words
  [ -z "$solver" ] || kill -KILL $victims "$solver" 2> /dev/null || true
}
trap stop_solver EXIT

# Starts the solver and kills all its ranks once it reports a flushed checkpoint. Returns 1 when it ended before that.
kill_midway() {
  local flushed=0 line
  exec 3< <(exec grayscott_ranks 4 1 "${run_options[@]}" --name killed 2>&1)
  solver=$!
  : > killed.txt
  while [ $flushed = 0 ] && IFS= read -r -t 120 -u 3 line; do
    echo "$line" >> killed.txt
    if [[ $line == processes:* ]]; then victims=${line#processes: }; fi
    if [[ $line =~ ^step\ +$kill_after\ +checkpoint\ flushed ]]; then flushed=1; fi
  done
  [ $flushed = 1 ] || { indent < killed.txt; fail "no checkpoint of step $kill_after"; }
  sleep "$moment"
  # shellcheck disable=SC2086  # a list of words
  kill -KILL $victims "$solver" 2> /dev/null || true
  cat <&3 >> killed.txt # until all of them are gone
  exec 3<&-
  solver=''
  ! grep -q '  done$' killed.txt
}

# --- the story ------------------------------------------------------------------------------------------------------------

begin=$SECONDS
printf '%sThalweg demo: checkpoint, kill, repair, restart on other tasks%s\n' "$bold" "$plain"
say "$size x $size cells, $steps steps, a checkpoint every $every; everything is written to $out"

step "The whole run without interruption, for comparison: 2 ranks x 1 thread"
run grayscott_ranks 2 1 "${run_options[@]}" --name reference || fail "the reference run failed"

step "The same run on 4 ranks x 1 thread, killed with SIGKILL after the checkpoint of step $kill_after"
shown grayscott_ranks 4 1 "${run_options[@]}" --name killed
for attempt in 1 2 3; do
  if kill_midway; then break; fi
  [ "$attempt" -lt 3 ] || fail "the run was over before it was killed: use a larger field"
  say "(it was over before it could be killed; once more)"
done
grep '^step' killed.txt | indent
shown kill -KILL "$victims" "  # all four ranks"
say "None of them had a chance to close its files."

step "An unclosed multifile is refused, by the solver and by the tools, with the way out"
if grayscott_ranks 3 2 "${run_options[@]}" --name early --restart killed.ckpt.tw > refused.txt 2>&1; then
  fail "the unclosed checkpoint was opened"
fi
shown grayscott_ranks 3 2 --restart killed.ckpt.tw
grep '^grayscott:' refused.txt | indent
grep -q 'thalweg repair' refused.txt || fail "the message does not name the repair command"
status=0
run thalweg info killed.ckpt.tw || status=$?
[ $status = 1 ] || fail "thalweg info ended with status $status; 1 means: not closed"

step "Repair both multifiles: the checkpoints, and the event logs of all tasks"
run thalweg repair killed.ckpt.tw || fail "the checkpoints could not be repaired"
run thalweg repair killed.log.tw || fail "the event logs could not be repaired"
run thalweg verify killed.ckpt.tw || fail "the repaired checkpoints do not verify"
say "The last lines that task 3 wrote to its log with fprintf before it was killed:"
shown "thalweg cat killed.log.tw --task 3 | tail -2"
thalweg cat killed.log.tw --task 3 > task3.txt || fail "the event log cannot be read"
grep -q "^step *$kill_after " task3.txt || fail "the event log lacks step $kill_after, which was flushed"
tail -2 task3.txt | indent

step "Restart on other tasks: 3 ranks x 2 threads read what 4 x 1 wrote"
run grayscott_ranks 3 2 "${run_options[@]}" --name restarted --restart killed.ckpt.tw || fail "the restart failed"

step "Compare the final fields, to the last bit"
run cmp reference.field restarted.field || fail "the restarted run ends in another field than the uninterrupted one"
say "identical: $(bytes_of reference.field) bytes, u and v of all cells (written by MPI-IO, not by Thalweg)"
run grayscott_field restarted.ckpt.tw "$steps" assembled.field || fail "the checkpoint could not be put together"
run cmp reference.field assembled.field || fail "the last checkpoint differs from the field"
say "identical: the same field, put together from 6 logical files by one process without MPI"

step "What a checkpoint costs: 2 ranks that wait for the disk, and 2 that compute while the checkpoint goes there"
stall_options=(--size $((2 * size)) --steps 60 --checkpoint-every 20)
run grayscott_ranks 2 1 "${stall_options[@]}" --name waiting --wait-for-disk || fail "the run that waits failed"
run grayscott_ranks 2 1 "${stall_options[@]}" --name computing || fail "the run that computes failed"
run cmp waiting.field computing.field || fail "the two runs end in different fields"
rm -f waiting.* computing.*

step "Look at it"
run thalweg info restarted.ckpt.tw || fail "info failed"
run thalweg map restarted.ckpt.tw map.html || fail "map failed"
run thalweg map killed.ckpt.tw killed_map.svg || fail "map failed"
if [ -x "$build/bin/grayscott_picture" ]; then
  run grayscott_picture field.png killed.ckpt.tw restarted.ckpt.tw || fail "no picture"
else
  say "No picture of the field: this build found no libpng (install libpng-dev)."
fi

step "The same format without MPI: a directory tree in one file, and back"
name=$(basename "$tree")
n_entries=$(find "$tree" | wc -l)
shown "cd $(dirname "$tree") && thalweg pack $name.tw $name    # $n_entries names"
(cd "$(dirname "$tree")" && thalweg pack "$out/$name.tw" "$name") 2>&1 | indent || fail "pack failed"
run thalweg extract "$name.tw" -C extracted || fail "extract failed"
diff -r --no-dereference "$tree" "extracted/$name" > differences.txt 2>&1 || fail "extracted bytes differ: differences.txt"
list_tree() { (cd "$1" && find . -printf '%y %m %l %p\0' | sort -z); } # type, mode, target of a link, name
cmp <(list_tree "$tree") <(list_tree "extracted/$name") || fail "names, modes or links differ"
say "identical: all bytes, names, modes and links of $n_entries entries"
rm -rf extracted

# --- what there is now ----------------------------------------------------------------------------------------------------

step "All checks passed, after $((SECONDS - begin)) seconds. What there is now, in $out:"
# Prints name, space on disk (of all physical files of a multifile), description.
explain() {
  [ -e "$1" ] || return 0
  local files=("$1")
  [ ! -e "$1.000001" ] || files+=("$1".[0-9]*)
  printf '     %-18s %8s  %s\n' "$1" "$(du -ch "${files[@]}" | tail -1 | cut -f1)" "$2"
}
explain field.png "the final field, and a film of all checkpoints: look at this first"
explain map.html "which bytes of the checkpoint file belong to which task: open it in a browser"
explain killed_map.svg "the same for the repaired file"
explain killed.ckpt.tw "4 logical files: the checkpoints up to the kill, repaired"
explain restarted.ckpt.tw "6 logical files: the checkpoints after it"
explain restarted.log.tw "6 event logs in one file"
explain "$name.tw" "$n_entries entries of $tree"
cat <<NEXT

   Try next:
     cd $out; export PATH=$build/bin:\$PATH
     thalweg ls $name.tw | head                   # the names in it
     thalweg cat restarted.log.tw --task 5       # the event log of one task
     thalweg defrag killed.ckpt.tw small.tw      # one chunk for each task, no holes
     thalweg info --json restarted.ckpt.tw       # for scripts
     grayscott_ranks 5 1 --steps $((steps + 1000)) --size $size --name further --restart restarted.ckpt.tw
     grayscott_picture further.png killed.ckpt.tw restarted.ckpt.tw further.ckpt.tw
   How the solver does it: examples/grayscott/README.md; the ten lines are in record.cpp and restart.cpp.
NEXT
