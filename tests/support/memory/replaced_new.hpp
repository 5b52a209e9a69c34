// Replaces operator new of the program by one that counts and can fail (counting_new.hpp). One source of a program
// includes this file.
#pragma once

#include "support/memory/counting_new.hpp"

// Replaces all forms, so that matching forms allocate and free.
void* operator new(std::size_t bytes) { return thalweg::test::Allocations::take(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return thalweg::test::Allocations::take(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  void* memory = thalweg::test::Allocations::take_aligned(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return thalweg::test::Allocations::take_aligned(bytes, alignment);
}
void operator delete(void* memory, std::align_val_t) noexcept { thalweg::test::Allocations::give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  thalweg::test::Allocations::give_back(memory);
}
void operator delete(void* memory) noexcept { thalweg::test::Allocations::give_back(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { thalweg::test::Allocations::give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { thalweg::test::Allocations::give_back(memory); }
