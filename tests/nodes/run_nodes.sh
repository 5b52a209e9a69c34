#!/usr/bin/env bash
# Runs MPI tests on several nodes, over file systems whose mounts have caches of their own.
#
# Usage: tests/nodes/run_nodes.sh [--quick] [KIND...]     default: all kinds of storage, in the order of `kinds` below
#
# A node is a network namespace with a host name, a boot id and a mount of its own; ranks talk over TCP. Two mounts of
# one file system stand for two nodes of a cluster: nothing keeps their caches coherent. Needs root, MPICH, and the
# packages of the group `nodes` (cmake/dependencies.txt); exit status 77 where they are missing, with the reason. A kind
# that cannot be mounted here is left out, and the summary says so. --quick: three kinds, two minutes.
# Environment: TESTS, the folder of the programs (default build/release/tests).
set -uo pipefail

# --- what is needed -----------------------------------------------------------------------------------------------------

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/nodes/nodes.sh
. tests/nodes/nodes.sh
tests=${TESTS:-$PWD/build/release/tests}
kinds=(local xfs btrfs fuse_uncached fuse_cached fuse_writeback sshfs gluster gluster_replicated)
programs=(mpi_nodes mpi_arrays mpi_requests mpi_two_phase mpi_multifile mpi_vpfile mpi_check)
layouts=(1x4 2x2)
if [ "${1:-}" = --quick ]; then
  kinds=(local fuse_cached fuse_writeback)
  layouts=(2x2)
  shift
fi
[ $# = 0 ] || kinds=("$@")
skip() { echo "summary: nodes: left out: $1" && exit 77; }
[ "$(id -u)" = 0 ] || skip "it needs root"
for command in mpiexec.mpich ip unshare; do command -v $command > /dev/null || skip "there is no $command"; done
unshare -n -m -u sh -c 'mount --make-rprivate / && mount --bind /tmp /tmp && hostname node' 2> /dev/null || skip "namespaces cannot be made here"
[ -x "$tests/mpi_nodes" ] || { echo "run_nodes.sh: there is no $tests/mpi_nodes; build the preset release" >&2; exit 2; }

# --- nodes and mounts -----------------------------------------------------------------------------------------------

place=$(mktemp -d "${TMPDIR:-/tmp}/thalweg_nodes_XXXXXX")
volume=$place/volume
mounted=() volumes=()
clean_up() {
  local where name
  for where in "${mounted[@]}"; do umount "$where" 2> /dev/null || umount -l "$where"; done
  for name in "${volumes[@]}"; do
    gluster --mode=script volume stop "$name" force > /dev/null
    gluster --mode=script volume delete "$name" > /dev/null
  done
  [ ! -f "$place/glusterd.pid" ] || kill "$(cat "$place/glusterd.pid")"
  remove_nodes
  rm -rf --one-file-system "$place"
}
trap clean_up EXIT
trap 'exit 143' TERM INT
mkdir -p "$volume" "$place/back"

image() { # KIND MKFS...: one mount of a disk image
  local kind=$1 where=$place/$1
  shift
  command -v "$1" > /dev/null && truncate -s 1G "$where.img" && "$@" "$where.img" > /dev/null && mkdir -p "$where" &&
    mount -o loop "$where.img" "$where" && mounted+=("$where") && mounts=$where
}
fuse() { # NAME OPTIONS: two mounts of a folder through an example program of libfuse
  local example=/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c side where
  if [ ! -x "$place/passthrough" ]; then
    [ -f "$example" ] || example=$example.gz
    [ -f "$example" ] || return
    zcat -f "$example" > "$place/passthrough.c"
    # shellcheck disable=SC2046  # flags are words
    gcc -O2 -D_FILE_OFFSET_BITS=64 -I"$(dirname "$example")" -o "$place/passthrough" "$place/passthrough.c" $(pkg-config --cflags --libs fuse3) || return
  fi
  mounts=
  for side in a b; do
    where=$place/$1_$side
    mkdir -p "$where" && "$place/passthrough" -o "source=$place/back,allow_other,$2" "$where" && mounted+=("$where") || return
    mounts+=" $where"
  done
}
sshfs_twice() {
  local side where server=$place/sftp.sh
  command -v sshfs > /dev/null || return
  printf '#!/bin/sh\nexec /usr/lib/openssh/sftp-server\n' > "$server" && chmod +x "$server"
  mounts=
  for side in a b; do
    where=$place/sshfs_$side
    mkdir -p "$where" && sshfs -o "allow_other,cache=no,ssh_command=$server" "here:$place/back" "$where" && mounted+=("$where") || return
    mounts+=" $where"
  done
}
gluster_twice() { # NAME BRICKS OPTION...: a volume of GlusterFS
  local name=$1 bricks=() brick side where host
  command -v gluster > /dev/null || return
  host=$(hostname -I | awk '{print $1}')
  pgrep -x glusterd > /dev/null || { glusterd -p "$place/glusterd.pid" && sleep 2; } || return
  for ((brick = 0; brick < $2; ++brick)); do bricks+=("$host:$place/$name.$brick/brick") && mkdir -p "$place/$name.$brick"; done
  gluster --mode=script volume create "$name" "${@:3}" "${bricks[@]}" force > /dev/null && gluster --mode=script volume start "$name" > /dev/null || return
  volumes+=("$name")
  mounts=
  for side in a b; do
    where=$place/${name}_$side
    mkdir -p "$where" && mount -t glusterfs "$host:/$name" "$where" && mounted+=("$where") || return
    mounts+=" $where"
  done
}
mount_kind() {
  case $1 in
    local) mounts=$place/back ;;
    xfs) image xfs mkfs.xfs -q ;;
    btrfs) image btrfs mkfs.btrfs -q ;;
    fuse_uncached) fuse "$1" cache=never,timeout=0 ;;
    fuse_cached) fuse "$1" cache=auto ;;
    fuse_writeback) fuse "$1" writeback,cache=auto ;;
    sshfs) sshfs_twice ;;
    gluster) gluster_twice "thalweg_distributed_$$" 2 ;;
    gluster_replicated) gluster_twice "thalweg_replicated_$$" 3 replica 3 ;;
    *) echo "run_nodes.sh: unknown kind '$1'" >&2 && exit 2 ;;
  esac
}

# --- run ----------------------------------------------------------------------------------------------------------------

# MPICH 4.0 hangs in MPI_Finalize over TCP now and then: by then all tests have ended, and rank 0 has printed the result.
verdict() { # STATUS LOG
  if [ "$1" = 0 ]; then
    echo passed
  elif [ "$1" = 124 ] && grep -q '^\[  PASSED  \]' "$2" && ! grep -q '^\[  FAILED\|^\[rank ' "$2"; then
    echo "passed, and hung in MPI_Finalize"
  else
    echo FAILED
  fi
}
# Where sizes stay old nodes must hear that, and nothing may hang.
verdict_of_refusal() { # STATUS LOG
  [ "$1" != 0 ] && [ "$1" != 124 ] && grep -q 'keeps old sizes' "$2" && echo "refused, as it must be" || echo FAILED
}

run() { # KIND LAYOUT PROGRAM
  local log=$place/log result
  export TW_NODES_VOLUME=$volume TW_NODES_MOUNTS=$mounts
  TMPDIR=$volume on_nodes 290 "$2" "$tests/$3" > "$log" 2>&1 < /dev/null &
  local launcher=$! status=0 ended=0
  while kill -0 $launcher 2> /dev/null && [ $ended -lt 20 ]; do
    ! grep -q '^\[  PASSED  \]' "$log" || ((++ended))
    sleep 0.5
  done
  [ $ended -lt 20 ] || kill $launcher 2> /dev/null
  wait $launcher || status=$?
  [ $ended -lt 20 ] || status=124
  result=$(verdict $status "$log")
  [ "$1 $2" != "fuse_writeback 2x2" ] || result=$(verdict_of_refusal $status "$log")
  printf '%-20s %s %-16s %s\n' "$1" "$2" "$3" "$result"
  ((++n_run))
  [ "$result" = FAILED ] || return 0
  ((++n_failed))
  tail -n 30 "$log"
}

make_nodes 2 || skip "the network of the nodes cannot be made here"
n_run=0 n_failed=0 left_out=()
for kind in "${kinds[@]}"; do
  if ! mount_kind "$kind" 2> "$place/mount.log"; then
    left_out+=("$kind")
    echo "$kind cannot be mounted here: $(tail -n 1 "$place/mount.log")"
    continue
  fi
  for layout in "${layouts[@]}"; do
    for program in "${programs[@]}"; do
      [ "$kind $layout" != "fuse_writeback 2x2" ] || [ "$program" = mpi_nodes ] || continue
      run "$kind" "$layout" "$program"
    done
  done
done
echo "summary: nodes: $((n_run - n_failed)) of $n_run runs passed${left_out:+; cannot be mounted here: ${left_out[*]}}"
[ $n_failed = 0 ]
