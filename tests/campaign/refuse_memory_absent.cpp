// Clang's sanitizers have an operator new of their own: all memory is granted.
#include "support/refuse_memory.hpp"

namespace thalweg::test {

const Refusal* refusal() { return nullptr; }

}  // namespace thalweg::test
