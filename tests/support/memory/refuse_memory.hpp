// The Refusal of this program; null: it cannot refuse memory. A program links refuse_memory.cpp or
// refuse_memory_absent.cpp.
#pragma once

#include "support/campaign/campaign.hpp"

namespace thalweg::test {

const Refusal* refusal();

}  // namespace thalweg::test
