#!/usr/bin/env bash
# Runs MPI tests on several nodes, over file systems whose mounts have caches of their own.
#
# Usage: tests/nodes/run_nodes.sh [--quick] [KIND...]     default: all kinds of storage
#
# A node is a network namespace with a host name, a boot id and a mount of its own; ranks talk over TCP. Two mounts of
# one file system stand for two nodes of a cluster: nothing keeps their caches coherent. Needs root, MPICH, and the
# packages of the group `nodes` (cmake/dependencies.txt); exit status 77 where they are missing, with the reason. A kind
# that cannot be mounted here is left out, and the summary says so. At the end of a kind a server, the daemon of a mount,
# or a node dies while ranks write. All kinds, those of GlusterFS beside the others, take 8 minutes on two cores; --quick,
# three kinds, two minutes.
# Environment: TESTS, the folder of the programs (default build/release/tests); PROGRAMS, names to run in place of the
# choice that is made here ("": only deaths).
set -uo pipefail

# --- what is needed -----------------------------------------------------------------------------------------------------

cd "$(dirname "$0")/../.." || exit 2
kinds=(local xfs btrfs ext4_1k ext4_blocks overlay fuse_uncached fuse_cached fuse_writeback sshfs)
quick=
if [ "${1:-}" = --quick ]; then
  kinds=(local fuse_cached fuse_writeback)
  quick=1
  shift
fi
# The ranks on GlusterFS wait most of the time: its kinds and all others have their turns beside each other.
if [ $# = 0 ] && [ -z "$quick" ]; then
  outputs=$(mktemp -d) lanes=() status=''
  unset TW_NODES_NAME
  # One daemon serves both volumes.
  if command -v glusterd > /dev/null && ! pgrep -x glusterd > /dev/null; then glusterd -p "$outputs/glusterd.pid" && sleep 2; fi
  end_all() {
    kill "${lanes[@]}" 2> /dev/null
    wait
    [ ! -f "$outputs/glusterd.pid" ] || kill "$(cat "$outputs/glusterd.pid")"
    rm -r "$outputs"
  }
  trap end_all EXIT
  trap 'exit 143' TERM INT
  sum_up() { # FILE...: one summary of all lanes, from their output
    awk -v lanes=$# '
      !sub(/^summary: nodes: /, "") { next }
      { --lanes }
      !/ runs passed/ { reason = $0; next }
      { passed += $1; runs += $3 }
      sub(/.*; cannot be mounted here: /, "") { unmounted = unmounted " " $0 }
      END {
        line = runs ? passed " of " runs " runs passed" : reason ? reason : "no runs"
        if (runs && reason) line = line "; " reason
        if (unmounted) line = line "; cannot be mounted here:" unmounted
        if (lanes) line = line "; no summary from " lanes " of " ARGC - 1 " lanes"
        print "summary: nodes: " line
      }' "$@"
  }
  for lane in "${kinds[*]}" gluster gluster_replicated; do
    # shellcheck disable=SC2086  # words
    tests/nodes/run_nodes.sh $lane > "$outputs/${#lanes[@]}" 2>&1 &
    lanes+=($!)
  done
  for lane in "${!lanes[@]}"; do
    wait "${lanes[lane]}"
    ended=$?
    sed '/^summary: nodes: /d' "$outputs/$lane"
    [ "$ended" = "${status:=$ended}" ] || status=1
  done
  (cd "$outputs" && sum_up "${!lanes[@]}")
  exit "$status"
fi
[ $# = 0 ] || kinds=("$@")
# shellcheck source=tests/nodes/nodes.sh
. tests/nodes/nodes.sh
tests=${TESTS:-$PWD/build/release/tests}
skip() { echo "summary: nodes: left out: $1" && exit 77; }
[ "$(id -u)" = 0 ] || skip "it needs root"
for command in mpiexec.mpich ip unshare; do command -v $command > /dev/null || skip "there is no $command"; done
unshare -n -m -u sh -c 'mount --make-rprivate / && mount --bind /tmp /tmp && hostname node' 2> /dev/null || skip "namespaces cannot be made here"
[ -x "$tests/mpi_nodes" ] || { echo "run_nodes.sh: there is no $tests/mpi_nodes; build the preset release" >&2; exit 2; }

# --- nodes and mounts -----------------------------------------------------------------------------------------------

place=$(mktemp -d "${TMPDIR:-/tmp}/thalweg_nodes_XXXXXX")
volume=$place/volume
mounted=() volumes=()
end_node() { # NUMBER: all its ranks, as when it loses power
  local rank
  for rank in $(ip netns pids "$node_of$1" 2> /dev/null); do kill -KILL "$rank" 2> /dev/null; done
}
clean_up() {
  local where name i
  for i in 0 1; do end_node $i; done
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
mkdir -p "$volume" "$place/back" "$place/tier"

image() { # KIND MKFS...: one mount of a disk image
  local kind=$1 where=$place/$1
  shift
  command -v "$1" > /dev/null && truncate -s 1G "$where.img" && "$@" "$where.img" > /dev/null && mkdir -p "$where" &&
    mount -o loop "$where.img" "$where" && mounted+=("$where") && mounts=$where
}
overlay() {
  local where=$place/overlay below=$place/below
  mkdir -p "$where" "$below" && mount -t tmpfs -o size=1G below "$below" && mounted+=("$below") &&
    mkdir "$below/lower" "$below/upper" "$below/work" &&
    mount -t overlay -o "lowerdir=$below/lower,upperdir=$below/upper,workdir=$below/work" overlay "$where" &&
    mounted=("$where" "${mounted[@]}") && mounts=$where
}
# Two mounts: NAME COMMAND..., which gets a folder as its last argument.
twice() {
  local side where
  mount_again=("${@:2}") mounts=
  for side in a b; do
    where=$place/$1_$side
    mkdir -p "$where" && "${mount_again[@]}" "$where" && mounted+=("$where") || return
    mounts+=" $where"
  done
}
# A folder through an example program of libfuse.
fuse_at() { "$place/passthrough" -o "source=$place/back,allow_other,$1" "$2"; }
fuse_twice() { # NAME OPTIONS
  local example=/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c
  if [ ! -x "$place/passthrough" ]; then
    [ -f "$example" ] || example=$example.gz
    [ -f "$example" ] || return
    zcat -f "$example" > "$place/passthrough.c"
    # shellcheck disable=SC2046  # flags are words
    gcc -O2 -D_FILE_OFFSET_BITS=64 -I"$(dirname "$example")" -o "$place/passthrough" "$place/passthrough.c" $(pkg-config --cflags --libs fuse3) || return
  fi
  twice "$1" fuse_at "$2"
}
sshfs_at() { sshfs -o "allow_other,cache=no,ssh_command=$place/sftp.sh" "here:$place/back" "$1"; }
sshfs_twice() {
  command -v sshfs > /dev/null || return
  printf '#!/bin/sh\nexec /usr/lib/openssh/sftp-server\n' > "$place/sftp.sh" && chmod +x "$place/sftp.sh"
  twice "$1" sshfs_at
}
gluster_at() { mount -t glusterfs "$host:/$gluster" "$1"; }
gluster_twice() { # NAME BRICKS OPTION...: a volume of GlusterFS
  local bricks=() brick
  command -v gluster > /dev/null || return
  gluster=$1 host=$(hostname -I | awk '{print $1}')
  pgrep -x glusterd > /dev/null || { glusterd -p "$place/glusterd.pid" && sleep 2; } || return
  for ((brick = 0; brick < $2; ++brick)); do bricks+=("$host:$place/$1.$brick/brick") && mkdir -p "$place/$1.$brick"; done
  gluster --mode=script volume create "$1" "${@:3}" "${bricks[@]}" force > /dev/null && gluster --mode=script volume start "$1" > /dev/null || return
  volumes+=("$1")
  twice "$1" gluster_at
}
mount_kind() {
  mount_again=() gluster=
  case $1 in
    local) mounts=$place/back ;;
    xfs) image xfs mkfs.xfs -q ;;
    btrfs) image btrfs mkfs.btrfs -q ;;
    ext4_1k) image ext4_1k mkfs.ext4 -q -b 1024 ;;
    ext4_blocks) image ext4_blocks mkfs.ext4 -q -O '^extent,^64bit' ;;
    overlay) overlay ;;
    fuse_uncached) fuse_twice "$1" cache=never,timeout=0 ;;
    fuse_cached) fuse_twice "$1" cache=auto ;;
    fuse_writeback) fuse_twice "$1" writeback,cache=auto ;;
    sshfs) sshfs_twice "$1" ;;
    gluster) gluster_twice "thalweg_distributed_$$" 2 ;;
    gluster_replicated) gluster_twice "thalweg_replicated_$$" 3 replica 3 ;;
    *) echo "run_nodes.sh: unknown kind '$1'" >&2 && exit 2 ;;
  esac
}

# --- run ----------------------------------------------------------------------------------------------------------------

# Layouts, NODESxRANKS, and programs with what GoogleTest is to choose of them. Where all nodes have one mount, the order
# of ranks is all that differs between layouts.
programs_on() { # KIND
  local calls="mpi_arrays mpi_requests mpi_two_phase mpi_multifile:*Auto:*PerNode:*Later* mpi_vpfile:-*OnThreads* mpi_omp_multifile mpiio_basics"
  local threads="omp_file:EveryCall/Transfer*_on_3"
  if [ -n "${PROGRAMS+set}" ]; then
    echo "1x4 $PROGRAMS" && echo "2x2 $PROGRAMS"
  elif [ -n "$quick" ]; then
    [ "$1" != fuse_writeback ] && echo "2x2 mpi_nodes mpi_check mpi_tier $calls" || echo "2x2 mpi_nodes"
  elif [ "$1" = fuse_writeback ]; then
    echo "1x1 $threads" && echo "1x4 mpi_nodes $calls" && echo "2x2 mpi_nodes"
  elif [ ${#mount_again[@]} = 0 ] && [ "$1" != local ]; then
    echo "1x1 $threads" && echo "1x4 ${calls/:\*PerNode/}" && echo "2x2 mpi_nodes mpi_check"
  else
    echo "1x1 $threads" && echo "1x4 mpi_nodes mpi_multifile:*Auto mpi_vpfile:*Hear*" && echo "2x2 mpi_nodes mpi_check mpi_tier $calls"
  fi
}

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

start() { # LAYOUT PROGRAM [ARGUMENT...]: sets `launcher`
  local load=()
  [[ $2 != mpiio_* ]] || load=(-genv LD_PRELOAD "$tests/../lib/libthalweg_mpiio.so")
  export TW_NODES_VOLUME=$volume TW_NODES_TIER=$place/tier TW_NODES_MOUNTS=$mounts
  TMPDIR=$volume THALWEG_PROFILE=none on_nodes 290 "$1" "${load[@]}" "$tests/$2" "${@:3}" > "$log" 2>&1 < /dev/null &
  launcher=$!
}
# Waits for the program; sets `status`, 124 where it does not end. The rest of the ranks goes, too.
finish() {
  local ended=0 node
  status=0
  while kill -0 $launcher 2> /dev/null && [ $ended -lt 10 ]; do
    ! grep -q '^\[  PASSED  \]' "$log" || ((++ended))
    sleep 0.5
  done
  [ $ended -lt 10 ] || kill $launcher 2> /dev/null
  wait $launcher || status=$?
  [ $ended -lt 10 ] || status=124
  for node in 0 1; do end_node $node; done
}
report() { # KIND LAYOUT NAME RESULT
  printf '%-20s %s %-20s %4d s  %s\n' "$1" "$2" "$3" $((SECONDS - begun)) "$4"
  ((++n_run))
  [[ $4 == FAILED* ]] || return 0
  ((++n_failed))
  tail -n 40 "$log"
}
run() { # KIND LAYOUT PROGRAM[:FILTER]
  local result begun=$SECONDS filter=${3#*:}
  [ "$filter" != "$3" ] || filter=*
  start "$2" "${3%%:*}" "--gtest_filter=$filter"
  finish
  result=$(verdict $status "$log")
  [ "$1 $2" != "fuse_writeback 2x2" ] || result=$(verdict_of_refusal $status "$log")
  report "$1" "$2" "${3%%:*}" "$result"
}

# --- parts that die -------------------------------------------------------------------------------------------------------

# LAYOUT, what dies, and the call from which on bytes survive it (tests/mpi/part_death_test.cpp).
deaths_on() {
  case $1 in
    local) echo 2x2 node flush ;;
    fuse_uncached) echo 2x2 daemon flush ;;
    fuse_cached) echo 2x2 daemon flush && echo 2x2 node flush ;;
    fuse_writeback) echo 1x4 daemon sync ;;
    sshfs) echo 2x2 daemon sync && echo 2x2 node sync ;;
    gluster) echo 2x2 brick sync && echo 2x2 daemon sync && echo 2x2 node sync ;;
    gluster_replicated) echo 2x2 brick all && echo 2x2 node sync ;;
  esac
}
# Names, as many as asked for, of which the first brick of the volume gets the files; on other kinds any.
names_on_first_brick() { # MOUNT
  local name found=()
  for name in {a..z}; do
    [ ${#found[@]} -lt 3 ] || break
    touch "$1/$name"
    { [ -n "$gluster" ] && [ ! -e "$place/$gluster.0/brick/$name" ]; } || found+=("$name")
    rm "$1/$name"
  done
  echo "${found[@]}"
}
end_processes() { # COMMAND LINE: those of this script only, whose command line has the name of its folder
  local process
  for process in $(pgrep -f -- "$1"); do kill -KILL "$process"; done
}
die() { # WHAT NODE MOUNT
  case $1 in
    brick) end_processes "--brick-name $place/$gluster.0/brick" ;;
    node) end_node "$2" ;;
  esac
  [ "$1" = brick ] || [ ${#mount_again[@]} = 0 ] || end_processes " $3\$"
}
until_done() { # COMMAND...: tries it for half a minute
  local end=$((SECONDS + 30))
  until "$@"; do
    [ $SECONDS -lt $end ] || return
    sleep 0.2
  done
}
start_brick() { # glusterd may take a moment to find that the brick is gone
  gluster --mode=script volume start "$gluster" force > /dev/null
  pgrep -f -- "--brick-name $place/$gluster.0/brick" > /dev/null
}
come_back() { # WHAT MOUNT FILE...
  if [ "$1" = brick ]; then
    until_done start_brick || return
  elif [ ${#mount_again[@]} -gt 0 ]; then
    umount -l "$2" && "${mount_again[@]}" "$2"
  fi
  local name where
  for where in $mounts; do
    for name in "${@:3}"; do until_done [ -e "$where/$name" ] || return; done
  done
}
repair_all() { # KEEPS MOUNT NAME...
  local name repaired
  for name in "${@:3}"; do
    "$tests/../bin/thalweg" repair --force "$2/$name" >> "$log" 2>&1
    repaired=$?
    [ $repaired = 0 ] || { [ $repaired = 1 ] && [ "$1" = sync ]; } || return
  done
}
run_death() { # KIND LAYOUT WHAT KEEPS
  local first last node=$((${2%x*} - 1)) meeting=$place/meeting names result=FAILED begun=$SECONDS
  first=${mounts# } first=${first%% *} last=$first
  [ $node = 0 ] || last=${mounts##* }
  rm -rf "$meeting" && mkdir "$meeting"
  read -ra names <<< "$(names_on_first_brick "$first")"
  export TW_DEATH=$meeting TW_DEATH_NAMES="${names[*]}" TW_DEATH_KEEPS=$4
  start "$2" mpi_part_death --gtest_filter=*WhileRanksWrite
  while kill -0 $launcher 2> /dev/null && [ ! -e "$meeting/ready" ]; do sleep 0.1; done
  die "$3" $node "$last"
  touch "$meeting/done"
  finish
  cp "$log" "$place/dying.log"
  if [ "$3" = node ] && [ $status != 0 ] && [ -e "$meeting/ready" ]; then
    result=passed  # the MPI ends the job
  else
    result=$(verdict $status "$log")
  fi
  if [ "$result" != FAILED ]; then
    result="FAILED to come back"
    [ "$4" = all ] || come_back "$3" "$last" "${names[@]}" && result="FAILED in the repair"
    [ "$4" = all ] || repair_all "$4" "$first" "${names[1]}" "${names[2]}" && result=FAILED
    if [ "$result" = FAILED ]; then
      start "$2" mpi_part_death --gtest_filter=*LeavesWhatWasKept
      finish
      result=$(verdict $status "$log")
    fi
    [[ $result != FAILED* ]] || cat "$place/dying.log" >> "$log"
  fi
  [ "$4 $3" != "all brick" ] || come_back "$3" "$last" "${names[@]}"
  unset TW_DEATH TW_DEATH_NAMES TW_DEATH_KEEPS
  report "$1" "$2" "a $3 dies" "$result"
}

make_nodes 2 || skip "the network of the nodes cannot be made here"
n_run=0 n_failed=0 left_out=() log=$place/log
for kind in "${kinds[@]}"; do
  if ! mount_kind "$kind" 2> "$place/mount.log"; then
    left_out+=("$kind")
    echo "$kind cannot be mounted here: $(tail -n 1 "$place/mount.log")"
    continue
  fi
  mapfile -t lines < <(programs_on "$kind")
  for line in "${lines[@]}"; do
    read -ra words <<< "$line"
    for program in "${words[@]:1}"; do run "$kind" "${words[0]}" "$program"; done
  done
  mapfile -t deaths < <(deaths_on "$kind")
  for death in "${deaths[@]}"; do
    read -r layout what keeps <<< "$death"
    run_death "$kind" "$layout" "$what" "$keeps"
  done
done
echo "summary: nodes: $((n_run - n_failed)) of $n_run runs passed${left_out:+; cannot be mounted here: ${left_out[*]}}"
[ $n_failed = 0 ]
