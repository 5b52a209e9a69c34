#include "omp_file/segments.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "omp_file/parts.hpp"

namespace bench {

namespace {

constexpr std::size_t kPage = 4096;

std::uint64_t word_at(int thread, std::size_t i) {
  return (static_cast<std::uint64_t>(thread) << 48 ^ i) * 0x9E3779B97F4A7C15U;
}

}  // namespace

const char* store_name(Store store) {
  return store == Store::cache ? "page cache" : store == Store::sync ? "sync at end" : "direct";
}

Arrays::Arrays(int threads, std::size_t bytes_each)
    : bytes_each_(bytes_each), arrays_(static_cast<std::size_t>(threads)) {
  const std::size_t pages = (bytes_each + kPage - 1) / kPage * kPage;
  for (auto& array : arrays_) {
    array.reset(static_cast<char*>(std::aligned_alloc(kPage, pages)));
    if (array == nullptr) give_up("no memory for the arrays");
  }
  fill();
}

void Arrays::fill() {
#pragma omp parallel for schedule(static, 1) num_threads(threads())
  for (int t = 0; t < threads(); ++t) {
    for (std::size_t i = 0; i < bytes_each_ / 8; ++i) {
      const std::uint64_t word = word_at(t, i);
      std::memcpy(of(t) + i * 8, &word, 8);
    }
  }
}

void Arrays::clear() {
#pragma omp parallel for schedule(static, 1) num_threads(threads())
  for (int t = 0; t < threads(); ++t) std::memset(of(t), 0, bytes_each_);
}

void Arrays::check(const char* after) const {
  for (int t = 0; t < threads(); ++t) {
    for (std::size_t i = 0; i < bytes_each_ / 8; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, of(t) + i * 8, 8);
      if (word != word_at(t, i)) give_up(fmt::format("wrong bytes after {}: thread {}, byte {}", after, t, i * 8));
    }
  }
}

off_t Segments::place(int thread, int call) const {
  const auto before = static_cast<std::size_t>(call) * static_cast<std::size_t>(arrays.threads());
  return static_cast<off_t>((before + static_cast<std::size_t>(thread)) * segment);
}

int Segments::flags(bool writes) const {
  return (writes ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY) | (store == Store::direct ? O_DIRECT : 0);
}

}  // namespace bench
