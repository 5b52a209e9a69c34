#include "os/uring_probe.hpp"

#include <liburing.h>

namespace thalweg {

bool uring_works() {
  constexpr unsigned needed = IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP;  // waits with a limit; no answer is ever lost
  io_uring ring;
  if (io_uring_queue_init(2, &ring, 0) != 0) return false;
  bool works = (ring.features & needed) == needed;
  io_uring_probe* const probe = io_uring_get_probe_ring(&ring);
  for (const int operation : {IORING_OP_READ, IORING_OP_WRITE, IORING_OP_READV, IORING_OP_WRITEV})
    works = works && probe != nullptr && io_uring_opcode_supported(probe, operation) != 0;
  io_uring_free_probe(probe);
  io_uring_queue_exit(&ring);
  return works;
}

}  // namespace thalweg
