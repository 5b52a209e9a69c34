#!/usr/bin/env bash
# A process dies while the others write a checkpoint: after a repair the previous checkpoint is used, on any number of
# tasks.
# torn_checkpoint.sh BUILD_DIR OUT_DIR
set -euo pipefail
bin=$(cd "$1" && pwd)/bin
rm -rf "$2"
mkdir -p "$2"
cd "$2"
options=(--size 96 --steps 300 --checkpoint-every 50 --log-every 50)

"$bin/grayscott_ranks" 1 1 "${options[@]}" --name reference > reference.txt
if "$bin/grayscott_ranks" 2 2 "${options[@]}" --name torn --die-at 200 > torn.txt 2>&1; then
  echo "FAILED: the run survived --die-at"
  exit 1
fi
"$bin/thalweg" repair torn.ckpt.tw
for tasks in "1 1" "3 1" "2 3" "1 5"; do
  # shellcheck disable=SC2086  # two words
  "$bin/grayscott_ranks" $tasks "${options[@]}" --name restarted --restart torn.ckpt.tw > restarted.txt
  if ! grep -q '^step *150  taken from 4 logical files' restarted.txt; then
    echo "FAILED: restart on $tasks did not use the checkpoint of step 150:"
    cat restarted.txt
    exit 1
  fi
  cmp reference.field restarted.field
  echo "ok: restart on $tasks (ranks threads) from step 150"
done
