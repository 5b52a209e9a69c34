#!/usr/bin/env bash
# Runs thalweg-bench-collective with every number of ranks, on the disk, in memory and on delayed storage, for every MPI
# that was built, and joins the results.
#
# Usage: run.sh [--quick|--tiny] [--nodes] [--dir DIR] [--json FILE] [BUILD...]
#   --nodes the parts `nodes` and `particles` on 2 and 4 emulated nodes with 1 and 2 ranks each, over TCP, with MPICH; in
#           the folder, which all nodes see, and on a volume of GlusterFS, which each node mounts. As root; with --quick
#           8 minutes. Each run has a time limit
#   --dir   folder on the file system to measure; default: a new one in the first build folder
#   --json  all results; default: bench-results/collective.json, or collective-nodes.json, in the first build folder
#   BUILD   build folders; default: those of build/release and build/openmpi that have the program
#
# Open MPI has two implementations of MPI-IO: both are measured, OMPIO and the ROMIO inside it. Hints and settings of an
# MPI keep their defaults, except that waiting ranks yield and are not bound to cores: there are more ranks than cores.
# Where all ranks compute while they write, each is bound to a core, as on most clusters: the kernel sometimes leaves
# unbound ranks on one core while another is idle. MPICH has no setting to yield before 4.2; bench_yield.so provides it
# where there are more ranks than cores.
# Exit status: 0 all ran, 1 a run failed (the others continue), 2 wrong usage or nothing was built.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
effort=full limit=5400 dir='' json='' builds=() nodes=''

while [ $# -gt 0 ]; do
  case $1 in
    --quick) effort=quick limit=900 ;;
    --tiny) effort=tiny limit=120 ;;
    --nodes) nodes=-nodes ;;
    --dir) dir=$2; shift ;;
    --json) json=$2; shift ;;
    -*) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2 ;;
    *) builds+=("$1") ;;
  esac
  shift
done
if [ ${#builds[@]} = 0 ]; then
  for build in "$root/build/release" "$root/build/openmpi"; do
    [ -x "$build/bin/thalweg-bench-collective" ] && builds+=("$build")
  done
fi
if [ ${#builds[@]} = 0 ]; then
  echo "run.sh: no build has thalweg-bench-collective; make bench-collective builds it" >&2
  exit 2
fi
results=${builds[0]}/bench-results/collective
mkdir -p "$results"
rm -f "$results"/*.json
made_dir=''
if [ -z "$dir" ]; then
  dir=$(mktemp -d "$results/scratch.XXXXXX")
  made_dir=$dir
fi
json=${json:-${builds[0]}/bench-results/collective$nodes.json}
failed=0

export HYDRA_LAUNCHER=fork MPIR_CVAR_CH4_PROGRESS_THROTTLE=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0

# one NAME RANKS ARGUMENT...: makes one run, into its own file of results.
one() {
  local name=$1 ranks=$2
  shift 2
  echo "== $name, $ranks ranks: $*"
  local yields=()
  [ "$ranks" -le "$(nproc)" ] || yields=("${yielding[@]}")
  if ! timeout -s KILL "$limit" "${launch[@]}" "$bind" "${bound_to:-none}" -n "$ranks" "${yields[@]}" "$program" "${flags[@]}" --dir "$dir" "$@" \
      --json "$results/$name-$ranks-$((++runs)).json"; then
    echo "run.sh: this run failed: $name, $ranks ranks: $*" >&2
    failed=1
  fi
}

# all NAME: makes every run of one MPI.
all() {
  one "$1" 2 --part coll-perf --part small --part rows --part hybrid --part trace
  bound_to=core one "$1" 2 --part overlap --part outstanding --only-dir
  one "$1" 4 --part memory --part coll-perf --part small --part rows --part particles "${largest[@]}"
  one "$1" 8 --part memory --part coll-perf
  one "$1" 8 --part coll-perf --delayed
  bound_to=core one "$1" 2 --part overlap --part outstanding --delayed
}

# --- several nodes ------------------------------------------------------------------------------------------------------

gluster_mounts() { # a volume of two bricks below $place, mounted once for each of four nodes
  local i host
  command -v gluster > /dev/null || return
  host=$(hostname -I | awk '{print $1}')
  pgrep -x glusterd > /dev/null || { glusterd -p "$place/glusterd.pid" && sleep 2; } || return
  volume=thalweg_bench_$$
  gluster --mode=script volume create $volume "$host:$place/brick0" "$host:$place/brick1" force > /dev/null &&
    gluster --mode=script volume start $volume > /dev/null || return
  mounts=()
  for ((i = 0; i < 4; ++i)); do
    mkdir "$place/mount$i" && mount -t glusterfs "$host:/$volume" "$place/mount$i" || return
    mounts+=("$place/mount$i")
  done
}
clean_nodes() {
  local i
  for ((i = 0; i < 4; ++i)); do umount -l "$place/mount$i" 2> /dev/null; done
  if [ -n "$volume" ]; then
    gluster --mode=script volume stop $volume force > /dev/null
    gluster --mode=script volume delete $volume > /dev/null
  fi
  [ ! -f "$place/glusterd.pid" ] || kill "$(cat "$place/glusterd.pid")"
  remove_nodes
  rm -rf --one-file-system "$place"
}

# MPICH 4.0 hangs in MPI_Finalize over TCP now and then: by then a run has written its results, and is ended.
on_layouts() { # NAME LAYOUT...
  local name=$1 layout out yields launcher ended
  shift
  for layout in "$@"; do
    out=$results/$name-$layout.json yields=() ended=0
    echo "== $name, $layout (nodes x ranks)"
    [ $((${layout%x*} * ${layout#*x})) -le "$(nproc)" ] || yields=(env "LD_PRELOAD=${builds[0]}/lib/thalweg/bench_yield.so")
    export TW_NODES_VOLUME=$place/volume TW_NODES_MOUNTS=${mounts[*]}
    on_nodes "$limit" "$layout" "${yields[@]}" "$program" "${flags[@]}" --emulated-nodes --only-dir --part nodes \
      --part particles --dir "$place/volume" --json "$out" < /dev/null &
    launcher=$!
    while kill -0 $launcher 2> /dev/null; do
      [ ! -s "$out" ] || ((++ended < 20)) || kill $launcher 2> /dev/null
      sleep 0.5
    done
    wait $launcher || [ -s "$out" ] || failed=1
  done
}

all_on_nodes() {
  # shellcheck source=tests/nodes/nodes.sh
  . "$root/tests/nodes/nodes.sh"
  place=$(mktemp -d "$dir/nodes.XXXXXX") volume='' program=${builds[0]}/bin/thalweg-bench-collective
  [ $effort = full ] || limit=300
  local on_gluster=(2x1)
  [ $effort = quick ] || on_gluster+=(2x2)
  trap clean_nodes EXIT
  trap 'exit 143' TERM INT
  mkdir "$place/volume" "$place/folder"
  mounts=("$place/folder")
  make_nodes 4 || { echo "run.sh: nodes cannot be made here" >&2; exit 1; }
  on_layouts folder 2x1 2x2 4x1 4x2
  if gluster_mounts; then on_layouts glusterfs "${on_gluster[@]}"; else echo "run.sh: no volume of GlusterFS can be mounted here"; fi
}

flags=() largest=() yielding=() runs=0
[ $effort = full ] || flags=("--$effort")
[ $effort = full ] && largest=(--largest)
if [ -n "$nodes" ]; then
  builds=("$(cd "${builds[0]}" && pwd)") results=$(cd "$results" && pwd) dir=$(cd "$dir" && pwd)
  all_on_nodes
  clean_nodes
  trap - EXIT
  builds=()
fi
for build in "${builds[@]}"; do
  build=$(cd "$build" && pwd) || exit 2
  program=$build/bin/thalweg-bench-collective
  mpiexec=$(sed -n 's/^MPIEXEC_EXECUTABLE:[^=]*=//p' "$build/CMakeCache.txt" 2> /dev/null)
  launch=("${mpiexec:-mpiexec}")
  unset OMPI_MCA_io
  yielding=() bind=-bind-to
  if ! "${launch[0]}" --version 2>&1 | grep -qi 'open[ -]*\(mpi\|rte\)\|prrte'; then
    yielding=(env "LD_PRELOAD=$build/lib/thalweg/bench_yield.so")
    all mpich
    continue
  fi
  launch+=(--oversubscribe)
  bind=--bind-to
  all openmpi
  romio=$("$(dirname "${launch[0]}")/ompi_info" --parsable 2> /dev/null | sed -n 's/^mca:io:\(romio[0-9]*\):version.*/\1/p' | head -1)
  if [ -n "$romio" ]; then
    export OMPI_MCA_io=$romio
    all openmpi-romio
  fi
done

[ -z "$made_dir" ] || rm -rf "$made_dir"
python3 "$here/merge.py" "$json" "$results"/*.json || failed=1
exit $failed
