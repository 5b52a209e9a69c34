// Computation during writes: a loop on registers, which uses only a core.
#pragma once

#include <cstdint>
#include <functional>

namespace probe {

// Runs `turns` iterations of the loop in slices; calls `between` after each slice.
void compute(std::int64_t turns, const std::function<void()>& between);

}  // namespace probe
