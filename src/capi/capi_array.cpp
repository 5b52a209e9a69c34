// file.h: one part of an array. The part becomes two views of one size, of the file and of the local memory; the pieces
// that lie together in both are the extents of an access.
#include <fmt/core.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_math.hpp"
#include "capi/file_handle.hpp"

namespace thalweg {

namespace {

struct ArrayCall {
  Call call;
  Direction direction;
  const void* data;
  std::size_t item_bytes;
  std::int32_t n_dims;
  const tw_dim* dims;
  tw_array_order order;
  std::int64_t offset;
};

std::string dims_at(std::int32_t dimension) { return fmt::format("dims[{}]", dimension); }

Status check_array_numbers(const char* function, const ArrayCall& given) {
  if (given.item_bytes == 0) return invalid_argument(function, "item_bytes is 0; an item has 1 byte or more");
  TW_RETURN_IF_ERROR(check_array(function, "n_dims", given.n_dims, given.order));
  if (given.dims == nullptr) return null_argument(function, "dims");
  return check_offset(function, given.offset);
}

Status check_dim(const char* function, std::int32_t i, const tw_dim& dim) {
  const std::pair<const char*, std::int64_t> members[] = {{"global", dim.global},
                                                          {"start", dim.start},
                                                          {"count", dim.count},
                                                          {"halo_before", dim.halo_before},
                                                          {"halo_after", dim.halo_after}};
  for (const auto& [member, value] : members)
    if (value < 0) return check_number(function, dims_at(i) + "." + member, value);
  if (dim.start > dim.global || dim.count > dim.global - dim.start)
    return invalid_argument(
        function,
        "{} has start {} and count {}, which end beyond its global extent of {}; start + count is at most global",
        dims_at(i), dim.start, dim.count, dim.global);
  return {};
}

Status too_large(const char* function, std::int32_t i, const char* what) {
  return Status::error(Code::out_of_range,
                       "{}: with {} the {} has 2^63 bytes or more; make the extents or the items smaller", function,
                       dims_at(i), what);
}

// Extents of the local memory.
bool add_halo(const tw_dim& dim, std::uint64_t& extent) {
  const auto before = static_cast<std::uint64_t>(dim.halo_before), after = static_cast<std::uint64_t>(dim.halo_after);
  return !add_overflow(static_cast<std::uint64_t>(dim.count), before, &extent) && !add_overflow(extent, after, &extent);
}

bool grow(std::uint64_t& bytes, std::uint64_t extent) {
  return !mul_overflow(bytes, extent, &bytes) && bytes <= View::kMost;
}

Status check_sizes(const char* function, const ArrayCall& given, std::span<const tw_dim> dims) {
  std::uint64_t in_file = given.item_bytes, in_memory = given.item_bytes;
  for (std::int32_t i = 0; const tw_dim& dim : dims) {
    std::uint64_t extent = 0;
    if (!grow(in_file, static_cast<std::uint64_t>(dim.global))) return too_large(function, i, "array");
    if (!add_halo(dim, extent) || !grow(in_memory, extent)) return too_large(function, i, "local memory");
    ++i;
  }
  if (in_file > View::kMost - static_cast<std::uint64_t>(given.offset))
    return Status::error(Code::out_of_range, "{}: an array of {} bytes from offset {} on ends above 2^63-1", function,
                         in_file, given.offset);
  return {};
}

// Sets the extents of the part, if it has any.
Status place_part(const char* function, const ArrayCall& given, PlacedAccess& access) {
  TW_RETURN_IF_ERROR(check_array_numbers(function, given));
  const std::span dims(given.dims, static_cast<std::size_t>(given.n_dims));
  for (std::int32_t i = 0; i < given.n_dims; ++i)
    TW_RETURN_IF_ERROR(check_dim(function, i, dims[static_cast<std::size_t>(i)]));
  TW_RETURN_IF_ERROR(check_sizes(function, given, dims));
  std::vector<SubarrayDimension> in_file, in_memory;
  for (const tw_dim& dim : dims) {
    if (dim.count == 0) return {};
    const auto count = static_cast<std::uint64_t>(dim.count), before = static_cast<std::uint64_t>(dim.halo_before);
    in_file.push_back({static_cast<std::uint64_t>(dim.global), count, static_cast<std::uint64_t>(dim.start)});
    in_memory.push_back({before + count + static_cast<std::uint64_t>(dim.halo_after), count, before});
  }
  if (given.data == nullptr)
    return invalid_argument(function,
                            "data is NULL, but the part has items; NULL needs a count of 0 in some dimension");
  const ArrayOrder order = order_of(given.order);
  TW_ASSIGN_OR_RETURN(const View item, View::bytes(given.item_bytes));
  TW_ASSIGN_OR_RETURN(View file, View::subarray(in_file, order, item));
  TW_ASSIGN_OR_RETURN(file, file.repeated_from(static_cast<std::uint64_t>(given.offset)));
  TW_ASSIGN_OR_RETURN(const View memory, View::subarray(in_memory, order, item));
  auto* const data = static_cast<std::byte*>(const_cast<void*>(given.data));
  TW_RETURN_IF_ERROR(place_memory(file, 0, memory, data, access.placed));
  access.access.extents = access.placed;
  return {};
}

PlacedAccess to_access(const ArrayCall& given) {
  PlacedAccess made{TaskAccess{}};
  made.access.direction = given.direction;
  made.access.placement = Placement::at_extents;
  made.access.status = or_out_of_memory([&] { return place_part(name_of(given.call), given, made); });
  return made;
}

tw_status move_array(tw_file* file, const ArrayCall& given, size_t* moved) {
  return on_handle(file, name_of(given.call), [&](tw_file& open) {
    open.last = run(calling(open, given.call).access(to_access(given)));
    if (moved != nullptr) *moved = static_cast<size_t>(open.last.moved);
    return open.last.status;
  });
}

tw_status start_array(tw_file* file, const ArrayCall& given, tw_request** request) {
  return on_handle(file, name_of(given.call), [&](tw_file& open) {
    (void)starting(open.impl->group(), given.call);
    return start_placed(name_of(given.call), &open, nullptr, to_access(given), default_progress(), request);
  });
}

}  // namespace
}  // namespace thalweg

using namespace thalweg;

extern "C" {

tw_status tw_file_write_array(tw_file* file, const void* data, size_t item_bytes, int32_t n_dims, const tw_dim* dims,
                              tw_array_order order, int64_t offset) {
  return move_array(file, {Call::tw_file_write_array, Direction::write, data, item_bytes, n_dims, dims, order, offset},
                    nullptr);
}

tw_status tw_file_read_array(tw_file* file, void* data, size_t item_bytes, int32_t n_dims, const tw_dim* dims,
                             tw_array_order order, int64_t offset, size_t* nread) {
  return move_array(file, {Call::tw_file_read_array, Direction::read, data, item_bytes, n_dims, dims, order, offset},
                    nread);
}

tw_status tw_file_iwrite_array(tw_file* file, const void* data, size_t item_bytes, int32_t n_dims, const tw_dim* dims,
                               tw_array_order order, int64_t offset, tw_request** request) {
  return start_array(
      file, {Call::tw_file_iwrite_array, Direction::write, data, item_bytes, n_dims, dims, order, offset}, request);
}

tw_status tw_file_iread_array(tw_file* file, void* data, size_t item_bytes, int32_t n_dims, const tw_dim* dims,
                              tw_array_order order, int64_t offset, tw_request** request) {
  return start_array(file, {Call::tw_file_iread_array, Direction::read, data, item_bytes, n_dims, dims, order, offset},
                     request);
}

}  // extern "C"
