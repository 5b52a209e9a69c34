// The node of this process: a number shared by the processes on one running kernel, and its cores.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/visibility.hpp"

namespace thalweg {

// From the kernel's boot id and the host name: machines cloned while they ran share the former. Not negative, but -1
// where neither can be read.
TW_SHARED std::int64_t node_id();
// The function behind node_id(), replaced by tests to spread the ranks of one machine over several nodes.
using NodeIdCall = std::int64_t (*)();
NodeIdCall& node_id_call();

// All cores online, however few of them this process is bound to. At least 1.
TW_SHARED std::size_t cores_of_node();

}  // namespace thalweg
