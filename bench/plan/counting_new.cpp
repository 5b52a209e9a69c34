#include "counting_new.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

std::size_t in_use = 0, at_start = 0, most = 0;

void give_back(void* memory) {
  if (memory != nullptr) in_use -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* memory = std::malloc(std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  in_use += malloc_usable_size(memory);
  most = std::max(most, in_use);
  return memory;
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }

namespace bench {

void begin_counting() { at_start = most = in_use; }
std::size_t most_bytes() { return most - at_start; }

}  // namespace bench
