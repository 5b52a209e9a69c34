// Files in memory: an empty tree, sparse, so that memory is taken only for what is written.
#pragma once

#include <memory>

#include "storage/backend.hpp"

namespace thalweg {

std::shared_ptr<Backend> make_memory_backend();

}  // namespace thalweg
