// The whole square of a checkpoint, by one task that serves all logical files.
#pragma once

#include <cstdint>
#include <thalweg/thalweg.hpp>
#include <vector>

#include "model.hpp"
#include "record.hpp"

namespace grayscott {

// The complete steps of all logical files, ascending.
std::vector<std::int64_t> whole_steps(thalweg::Multifile& file);

// u and v of that step; throws when it is incomplete.
Fields assemble(thalweg::Multifile& file, std::int64_t step);

}  // namespace grayscott
