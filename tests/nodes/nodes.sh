#!/usr/bin/env bash
# Nodes on one machine. Scripts source this file; mpiexec runs it as its launcher.
#
# A node is a network namespace with a host name, a boot id and a mount of its own; ranks talk over TCP. Needs root.
#   make_nodes N                            nodes 0 .. N-1, on a bridge in a namespace of its own
#   remove_nodes                            all of them
#   on_nodes SECONDS LAYOUT COMMAND...      COMMAND under MPICH's mpiexec, at most so long, on LAYOUT: NODESxRANKS, for
#                                           example 2x2; takes the place of the shell, so call it in ( ) or with &
# Environment of on_nodes: TW_NODES_MOUNTS, folders: node i sees the one of number i modulo their number at
# TW_NODES_VOLUME; TW_NODES_TIER, where it is set, a folder at which each node has a tmpfs of its own.
net=10.77.0
export TW_NODES_NAME=${TW_NODES_NAME:-thalweg$$}  # begins the names of the namespaces: several scripts may run at once
switch=$TW_NODES_NAME-switch node_of=$TW_NODES_NAME-node

# --- as the launcher: [OPTION...] HOST COMMAND... -----------------------------------------------------------------------

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  while [[ ${1:-} == -* ]]; do shift; done
  node=$((${1##*.} - 1))
  shift
  read -ra mounts <<< "$TW_NODES_MOUNTS"
  export TW_NODE=$node TW_MOUNT=${mounts[node % ${#mounts[@]}]} TW_COMMAND="$*"
  # shellcheck disable=SC2016  # expanded in the node
  exec ip netns exec "$node_of$node" unshare -u -m bash -c '
    hostname "node$TW_NODE"
    mount --make-rprivate /
    id=$(mktemp) && cat /proc/sys/kernel/random/uuid > "$id" && mount --bind "$id" /proc/sys/kernel/random/boot_id && rm "$id"
    [ -z "${TW_NODES_TIER:-}" ] || mount -t tmpfs -o size=64m thalweg_tier "$TW_NODES_TIER"
    mount --bind "$TW_MOUNT" "$TW_NODES_VOLUME" && eval "$TW_COMMAND"'
fi

# --- functions ----------------------------------------------------------------------------------------------------------

n_nodes=0
make_nodes() {
  local i
  n_nodes=$1
  ip netns add "$switch" && ip -n "$switch" link add br0 type bridge &&
    ip -n "$switch" addr add "$net.254/24" dev br0 && ip -n "$switch" link set br0 up && ip -n "$switch" link set lo up || return
  for ((i = 0; i < n_nodes; ++i)); do
    ip netns add "$node_of$i" &&
      ip link add "thalweg$i" netns "$switch" type veth peer name eth0 netns "$node_of$i" &&
      ip -n "$switch" link set "thalweg$i" master br0 up &&
      ip -n "$node_of$i" addr add "$net.$((i + 1))/24" dev eth0 &&
      ip -n "$node_of$i" link set eth0 up && ip -n "$node_of$i" link set lo up || return
  done
}
remove_nodes() {
  local i
  for ((i = 0; i < n_nodes; ++i)); do ip netns del "$node_of$i" 2> /dev/null; done
  ip netns del "$switch" 2> /dev/null
}
on_nodes() {
  local limit=$1 nodes=${2%x*} ranks=${2#*x} hosts='' i
  shift 2
  for ((i = 1; i <= nodes; ++i)); do hosts+=,$net.$i:$ranks; done
  UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 exec timeout -k 5 "$limit" ip netns exec "$switch" \
    mpiexec.mpich -launcher ssh -launcher-exec "$(realpath "${BASH_SOURCE[0]}")" -iface br0 -hosts "${hosts#,}" \
    -n $((nodes * ranks)) "$@"
}
