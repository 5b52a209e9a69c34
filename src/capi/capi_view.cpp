// view.h: arguments are checked, and made into a view.
#include <fmt/core.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capi/file_handle.hpp"

namespace thalweg {

namespace {

Status check_list(const char* function, const char* name, const std::int64_t* numbers, std::int64_t n) {
  if (n > 0 && numbers == nullptr) return null_argument(function, name);
  for (std::int64_t i = 0; i < n; ++i)
    if (numbers[i] < 0) return check_number(function, fmt::format("{}[{}]", name, i), numbers[i]);
  return {};
}

std::uint64_t number_of(std::int64_t n) { return static_cast<std::uint64_t>(n); }

View element_of(const tw_view* element) { return element != nullptr ? element->impl : View::bytes(1).value(); }

// Passes the result of `make` to the caller; a failure gets the name of the function before its message.
template <class Make>
tw_status make_view(const char* function, tw_view** view, Make&& make) {
  return guarded([&]() -> Status {
    if (view == nullptr) return null_argument(function, "view");
    Result<View> made = std::forward<Make>(make)();
    if (!made.has_value()) return made.error().with_context(function);
    *view = new tw_view{std::move(made).value()};
    return {};
  });
}

Result<std::vector<IndexedBlock>> blocks_of(const char* function, std::int64_t n, const int64_t* displacements,
                                            const int64_t* lengths) {
  TW_RETURN_IF_ERROR(check_number(function, "n", n));
  TW_RETURN_IF_ERROR(check_list(function, "displacements", displacements, n));
  TW_RETURN_IF_ERROR(check_list(function, "lengths", lengths, n));
  std::vector<IndexedBlock> blocks;
  blocks.reserve(number_of(n));
  for (std::int64_t i = 0; i < n; ++i) blocks.push_back({number_of(displacements[i]), number_of(lengths[i])});
  return blocks;
}

Status take_slice(const std::string& name, const tw_slice& given, SubarrayDimension& taken) {
  constexpr const char* kFunction = "tw_view_subarray";
  TW_RETURN_IF_ERROR(check_number(kFunction, name + ".size", given.size));
  TW_RETURN_IF_ERROR(check_number(kFunction, name + ".start", given.start));
  TW_RETURN_IF_ERROR(check_number(kFunction, name + ".length", given.length));
  taken = {number_of(given.size), number_of(given.length), number_of(given.start)};
  return {};
}

Result<View> subarray(std::span<const tw_slice> given, tw_array_order order, const tw_view* element) {
  std::vector<SubarrayDimension> dimensions(given.size());
  for (std::size_t i = 0; i < given.size(); ++i)
    TW_RETURN_IF_ERROR(take_slice(fmt::format("slices[{}]", i), given[i], dimensions[i]));
  return View::subarray(dimensions, order_of(order), element_of(element));
}

Status take_dimension(const std::string& name, const tw_distributed_dim& given, DistributedDimension& taken) {
  constexpr const char* kFunction = "tw_view_distributed";
  TW_RETURN_IF_ERROR(check_number(kFunction, name + ".size", given.size));
  TW_RETURN_IF_ERROR(check_number(kFunction, name + ".parts", given.parts));
  TW_RETURN_IF_ERROR(check_number(kFunction, name + ".block", given.block));
  if (given.distribution < TW_NOT_DISTRIBUTED || given.distribution > TW_CYCLIC)
    return invalid_argument(kFunction, "{}.distribution is {}; one of tw_distribution", name, given.distribution);
  taken = {number_of(given.size), static_cast<Distribution>(given.distribution), number_of(given.block),
           number_of(given.parts)};
  return {};
}

Result<View> distributed(std::span<const tw_distributed_dim> given, std::int64_t rank, tw_array_order order,
                         const tw_view* element) {
  TW_RETURN_IF_ERROR(check_number("tw_view_distributed", "rank", rank));
  std::vector<DistributedDimension> dimensions(given.size());
  for (std::size_t i = 0; i < given.size(); ++i)
    TW_RETURN_IF_ERROR(take_dimension(fmt::format("dimensions[{}]", i), given[i], dimensions[i]));
  return View::distributed(dimensions, number_of(rank), order_of(order), element_of(element));
}

}  // namespace

Status check_array(const char* function, const char* name, std::int32_t n, tw_array_order order) {
  if (n < 1 || n > kMostDimensions)
    return invalid_argument(function, "{} is {}; 1 .. {} dimensions", name, n, kMostDimensions);
  if (order == TW_ROW_MAJOR || order == TW_COLUMN_MAJOR) return {};
  return invalid_argument(function, "order is {}; TW_ROW_MAJOR or TW_COLUMN_MAJOR", order);
}

ArrayOrder order_of(tw_array_order order) {
  return order == TW_ROW_MAJOR ? ArrayOrder::row_major : ArrayOrder::column_major;
}

}  // namespace thalweg

using namespace thalweg;

extern "C" {

tw_status tw_view_contiguous(int64_t count, const tw_view* element, tw_view** view) {
  return make_view("tw_view_contiguous", view, [&]() -> Result<View> {
    TW_RETURN_IF_ERROR(check_number("tw_view_contiguous", "count", count));
    return View::contiguous(number_of(count), element_of(element));
  });
}

tw_status tw_view_strided(int64_t count, int64_t block, int64_t stride, const tw_view* element, tw_view** view) {
  constexpr const char* kFunction = "tw_view_strided";
  return make_view(kFunction, view, [&]() -> Result<View> {
    TW_RETURN_IF_ERROR(check_number(kFunction, "count", count));
    TW_RETURN_IF_ERROR(check_number(kFunction, "block", block));
    TW_RETURN_IF_ERROR(check_number(kFunction, "stride", stride));
    return View::strided(number_of(count), number_of(block), number_of(stride), element_of(element));
  });
}

tw_status tw_view_indexed(int64_t n, const int64_t* displacements, const int64_t* lengths, const tw_view* element,
                          tw_view** view) {
  return make_view("tw_view_indexed", view, [&]() -> Result<View> {
    TW_ASSIGN_OR_RETURN(const auto blocks, blocks_of("tw_view_indexed", n, displacements, lengths));
    return View::indexed(blocks, element_of(element));
  });
}

tw_status tw_view_struct(int64_t n, const int64_t* displacements, const int64_t* lengths,
                         const tw_view* const* elements, tw_view** view) {
  return make_view("tw_view_struct", view, [&]() -> Result<View> {
    TW_ASSIGN_OR_RETURN(const auto blocks, blocks_of("tw_view_struct", n, displacements, lengths));
    if (n > 0 && elements == nullptr) return null_argument("tw_view_struct", "elements");
    const View byte = element_of(nullptr);
    std::vector<const View*> of;
    of.reserve(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) of.push_back(elements[i] != nullptr ? &elements[i]->impl : &byte);
    return View::structure(blocks, of);
  });
}

tw_status tw_view_subarray(int32_t n, const tw_slice* slices, tw_array_order order, const tw_view* element,
                           tw_view** view) {
  constexpr const char* kFunction = "tw_view_subarray";
  return make_view(kFunction, view, [&]() -> Result<View> {
    TW_RETURN_IF_ERROR(check_array(kFunction, "n", n, order));
    if (slices == nullptr) return null_argument(kFunction, "slices");
    return subarray({slices, static_cast<std::size_t>(n)}, order, element);
  });
}

tw_status tw_view_distributed(int32_t n, const tw_distributed_dim* dimensions, int64_t rank, tw_array_order order,
                              const tw_view* element, tw_view** view) {
  constexpr const char* kFunction = "tw_view_distributed";
  return make_view(kFunction, view, [&]() -> Result<View> {
    TW_RETURN_IF_ERROR(check_array(kFunction, "n", n, order));
    if (dimensions == nullptr) return null_argument(kFunction, "dimensions");
    return distributed({dimensions, static_cast<std::size_t>(n)}, rank, order, element);
  });
}

tw_status tw_view_resized(const tw_view* of, int64_t extent, tw_view** view) {
  return make_view("tw_view_resized", view, [&]() -> Result<View> {
    if (of == nullptr) return null_argument("tw_view_resized", "of");
    TW_RETURN_IF_ERROR(check_number("tw_view_resized", "extent", extent));
    return of->impl.resized(number_of(extent));
  });
}

void tw_view_free(tw_view** view) { free_handle(view); }

int64_t tw_view_size(const tw_view* view) { return view != nullptr ? static_cast<int64_t>(view->impl.size()) : 0; }

int64_t tw_view_extent(const tw_view* view) { return view != nullptr ? static_cast<int64_t>(view->impl.extent()) : 0; }

}  // extern "C"
