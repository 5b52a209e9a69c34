#include <sys/mman.h>

#include "os/address_space.hpp"

namespace thalweg {

bool can_map(std::size_t bytes) noexcept {
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapped != MAP_FAILED && ::munmap(mapped, bytes) == 0;
}

void use_large_pages(void* memory, std::size_t bytes) noexcept { (void)::madvise(memory, bytes, MADV_HUGEPAGE); }

}  // namespace thalweg
