// Files in memory: an empty tree, sparse, so that memory is taken only for what is written.
#pragma once

#include <memory>

#include "storage/backend.hpp"

namespace thalweg {

std::shared_ptr<Backend> make_memory_backend();
// Files with a length but no bytes, for simulations of more bytes than memory holds: writes are discarded, reads leave
// memory unchanged.
std::shared_ptr<Backend> make_hollow_backend();

}  // namespace thalweg
