// The memory of another process of this machine, read and written without that process doing anything
// (process_vm_readv(2), process_vm_writev(2)). Kernels and containers may forbid it: ask can_reach() first.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"

namespace thalweg {

// What a process shows so that another one can try.
struct PeerProbe {
  std::int64_t process = 0;
  std::uint64_t address = 0;  // of a number that lives as long as the process
  std::uint64_t number = 0;
};
PeerProbe probe_of_this_process();
// Whether this process can read and write the memory of that one. Process numbers may mean something else in another
// container: so the number is compared.
bool can_reach(const PeerProbe& peer);

enum class PeerAccess { read, write };
// Copies between `here` and the same number of bytes `there`, which are addresses of `process`; of this process too.
// Both at most IOV_MAX entries.
Status copy_peer(PeerAccess access, std::int64_t process, std::span<iovec> here, std::span<iovec> there);

// What copy_peer() calls, so that tests can put something else in its place.
using PeerCopyCall = Status (*)(PeerAccess access, std::int64_t process, std::span<iovec> here, std::span<iovec> there);
PeerCopyCall& peer_copy_call();

}  // namespace thalweg
