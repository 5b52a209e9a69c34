// Clang's sanitizers replace operator new themselves: no allocation is refused.
#include "support/memory/refuse_memory.hpp"

namespace thalweg::test {

const Refusal* refusal() { return nullptr; }

}  // namespace thalweg::test
