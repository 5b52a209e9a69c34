// How this program refuses memory; null: it cannot. One of refuse_memory.cpp and refuse_memory_absent.cpp is linked.
#pragma once

#include "support/campaign.hpp"

namespace thalweg::test {

const Refusal* refusal();

}  // namespace thalweg::test
