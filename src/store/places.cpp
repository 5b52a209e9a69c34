#include "store/places.hpp"

#include <algorithm>
#include <vector>

namespace thalweg {

Status read_padded(StoredFile& file, std::uint64_t at, ByteSpan data) {
  TW_ASSIGN_OR_RETURN(const std::size_t got, file.read(at, data));
  std::ranges::fill(data.subspan(got), std::byte{0});
  return {};
}

Result<std::uint64_t> next_place(StoredFile& file, std::uint64_t at, std::uint64_t step) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t data, file.next_data(at));
  return std::max(at, data / step * step);
}

Status each_place(StoredFile& file, std::uint64_t begin, std::uint64_t step, std::uint64_t bytes,
                  const std::function<Result<bool>(std::uint64_t at, ByteView image)>& visit) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  std::vector<std::byte> image(bytes);
  for (std::uint64_t at = (begin + step - 1) / step * step; at < size; at += step) {
    TW_ASSIGN_OR_RETURN(at, next_place(file, at, step));
    if (at >= size) break;
    TW_RETURN_IF_ERROR(read_padded(file, at, image));
    TW_ASSIGN_OR_RETURN(const bool goes_on, visit(at, image));
    if (!goes_on) break;
  }
  return {};
}

}  // namespace thalweg
