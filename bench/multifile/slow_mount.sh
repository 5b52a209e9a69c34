#!/usr/bin/env bash
# Mounts a file system of 100 MB/s (sshfs through a pipe that passes so much in each direction), runs a command in it, and
# unmounts it.
#
# Usage: bench/multifile/slow_mount.sh COMMAND...     MOUNT in the words of the command is the folder
#   bench/multifile/slow_mount.sh build/release/bin/thalweg-bench-multifile --only-dir --dir MOUNT --part tier
#
# Needs sshfs and python3. Environment: MB_PER_S (default 100).
set -euo pipefail
me=$(realpath "$0")
if [ "${TW_SLOW_SERVER:-}" = 1 ]; then
  pass() {
    exec python3 -c '
import os, sys, time
rate, piece = float(sys.argv[1]) * 1e6, 65536
ready = time.monotonic()
while data := os.read(0, piece):
    ready = max(ready, time.monotonic() - 0.01) + len(data) / rate
    time.sleep(max(0, ready - time.monotonic()))
    while data:
        data = data[os.write(1, data):]
' "${MB_PER_S:-100}"
  }
  pass | /usr/lib/openssh/sftp-server | pass
  exit
fi
place=$(mktemp -d "${TMPDIR:-/tmp}/thalweg_slow_XXXXXX")
trap 'umount "$place/mount" 2> /dev/null || fusermount3 -u "$place/mount" 2> /dev/null || true; rm -rf --one-file-system "$place"' EXIT
mkdir "$place/mount" "$place/back"
printf '#!/bin/sh\nTW_SLOW_SERVER=1 exec "%s"\n' "$me" > "$place/server" && chmod +x "$place/server"
sshfs -o "ssh_command=$place/server" "here:$place/back" "$place/mount"
"${@//MOUNT/$place/mount}"
