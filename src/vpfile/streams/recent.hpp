// Recent: where what was asked for lately is, by its number: a guess that the caller verifies, quicker than a hash.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace thalweg {

class Recent {
 public:
  Recent() { places_.fill(std::numeric_limits<std::uint32_t>::max()); }
  void note(std::uint64_t number, std::size_t place) { places_[number % kPlaces] = static_cast<std::uint32_t>(place); }
  // The one of `all` that has this number; null: it is not known where it is.
  template <class Things>
  auto* find(Things& all, std::uint64_t number) const {
    const std::size_t place = places_[number % kPlaces];
    return place < all.size() && all[place].number == number ? &all[place] : nullptr;
  }

 private:
  static constexpr std::size_t kPlaces = 128;
  std::array<std::uint32_t, kPlaces> places_;
};

}  // namespace thalweg
