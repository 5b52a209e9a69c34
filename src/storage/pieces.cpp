#include "storage/pieces.hpp"

#include "base/checked_math.hpp"

namespace thalweg {

Result<std::uint64_t> bytes_of(std::span<const Piece> pieces, std::uint64_t offset, const std::string& path) {
  constexpr std::uint64_t most_offset = (std::uint64_t{1} << 63) - 1;
  std::uint64_t sum = 0;
  bool too_many = false;
  for (const Piece& piece : pieces) too_many |= add_overflow(sum, piece.bytes, &sum);
  if (!too_many && offset <= most_offset && sum <= most_offset - offset) return sum;
  return Status::error(Code::out_of_range,
                       "cannot reach " + (too_many ? std::string("2^64 or more") : std::to_string(sum)) +
                           " bytes at offset " + std::to_string(offset) + " of '" + path + "': files end at 2^63-1");
}

Status check_direct(std::span<const Piece> pieces, std::uint64_t offset, std::uint32_t alignment,
                    const std::string& path) {
  if (alignment == 0)
    return Status::error(Code::invalid_argument, "'" + path + "' cannot be reached past the page cache");
  const auto is_aligned = [&](std::uint64_t number) { return number % alignment == 0; };
  const auto misfit = [&](const char* what, std::uint64_t value) {
    return Status::error(Code::invalid_argument, std::string("cannot go past the page cache of '") + path + "': the " +
                                                     what + " " + std::to_string(value) + " is not a multiple of " +
                                                     std::to_string(alignment));
  };
  if (!is_aligned(offset)) return misfit("offset", offset);
  for (const Piece& piece : pieces) {
    if (!is_aligned(piece.bytes)) return misfit("length", piece.bytes);
    if (const auto address = reinterpret_cast<std::uintptr_t>(piece.memory); piece.bytes > 0 && !is_aligned(address))
      return misfit("address", address);
  }
  return {};
}

}  // namespace thalweg
