// Test hooks between the ring of the kernel and the queue; set while no queue is in use.
#pragma once

#include <cstdint>

namespace thalweg {

struct UringSeam {
  // Limit in bytes of one request; the kernel takes 2 GiB less a page
  std::uint64_t most_at_once = std::uint64_t{1} << 30;
  // Replaces the kernel's answer, which is a number of bytes or -errno.
  int (*answer)(int answer) = [](int given) { return given; };
};
UringSeam& uring_seam();

}  // namespace thalweg
