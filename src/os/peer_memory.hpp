// Reads and writes the memory of another process of this machine without its help (process_vm_readv(2),
// process_vm_writev(2)). Kernels and containers may forbid it: call can_reach() first.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/piece.hpp"
#include "base/status.hpp"

namespace thalweg {

// Published by a process so that another one can test access.
struct PeerProbe {
  std::int64_t process = 0;
  std::uint64_t address = 0;  // address of a number that lives as long as the process
  std::uint64_t number = 0;
};
PeerProbe probe_of_this_process();
// Whether this process can read and write the memory of `peer`. In another container a process id may name another
// process, so the number is compared.
bool can_reach(const PeerProbe& peer);

// Copies between `here` and as many bytes `there`, addresses in `process`, which may be this process. Both have at
// most IOV_MAX entries.
Status copy_peer(Direction direction, std::int64_t process, std::span<iovec> here, std::span<iovec> there);

// The function behind copy_peer(), replaced by tests.
using PeerCopyCall = Status (*)(Direction direction, std::int64_t process, std::span<iovec> here,
                                std::span<iovec> there);
PeerCopyCall& peer_copy_call();

}  // namespace thalweg
