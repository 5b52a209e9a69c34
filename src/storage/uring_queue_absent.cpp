#include "storage/io_queue.hpp"

namespace thalweg {

bool uring_available() { return false; }

Result<std::unique_ptr<IoQueue>> make_uring_queue(unsigned) {
  return Status::error(Code::not_built, "built without io_uring; configure with -DTW_WITH_URING=ON");
}

}  // namespace thalweg
