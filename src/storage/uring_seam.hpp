// Where a test can stand between the kernel's ring and the queue, while no queue is in use.
#pragma once

#include <cstdint>

namespace thalweg {

struct UringSeam {
  std::uint64_t most_at_once = std::uint64_t{1} << 30;  // bytes of one request; the kernel takes 2 GiB less a page
  // What the queue hears instead of the kernel's answer, which is a number of bytes or -errno.
  int (*answer)(int answer) = [](int given) { return given; };
};
UringSeam& uring_seam();

}  // namespace thalweg
