#include "engine/placing.hpp"

#include <span>
#include <string>
#include <utility>

#include "base/size_units.hpp"

namespace thalweg {

namespace {

Status place_from(std::span<const Extent> given, std::uint64_t offset, std::vector<Extent>& placed) {
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].bytes > kMostOffset - offset - at)
      return Status::error(Code::out_of_range, "extent " + std::to_string(i) + " of " + std::to_string(given[i].bytes) +
                                                   " bytes ends above 2^63-1 when placed from offset " +
                                                   std::to_string(offset));
    placed.push_back({given[i].memory, given[i].bytes, offset + at});
    at += given[i].bytes;
  }
  return {};
}

Status order(const Access& access, std::uint64_t base, std::vector<Extent>& placed, ExtentList& list) {
  std::span<const Extent> extents = access.extents;
  if (access.placement != Placement::at_extents) {
    if (base > kMostOffset)
      return Status::error(Code::out_of_range, "offset " + std::to_string(base) + " is above 2^63-1");
    placed.clear();
    placed.reserve(extents.size());
    TW_RETURN_IF_ERROR(place_from(extents, base, placed));
    extents = placed;
  }
  TW_ASSIGN_OR_RETURN(list, ExtentList::of(extents));
  return {};
}

}  // namespace

Status order_list(const Access& access, std::uint64_t base, std::vector<Extent>& placed, ExtentList& list) {
  return or_out_of_memory([&] { return order(access, base, placed, list); });
}

}  // namespace thalweg
