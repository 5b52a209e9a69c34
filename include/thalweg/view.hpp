// Views of a shared file as a C++ type. The contracts of its makers are in view.h. Include thalweg.hpp.
#ifndef THALWEG_VIEW_HPP
#define THALWEG_VIEW_HPP

#include <cstdint>
#include <memory>
#include <stdexcept>

#include "base.hpp"
#include "view.h"

namespace thalweg {
inline namespace v1 {

// Owns a tw_view. A view may have no bytes; a file whose view is reset has none.
class View {
 public:
  // One T, as an element for the others.
  template <class T, std::enable_if_t<is_plain<T>(), int> = 0>
  static View of() {
    return contiguous(static_cast<std::int64_t>(sizeof(T)));
  }
  // `count` bytes, or elements.
  static View contiguous(std::int64_t count) {
    return made([&](tw_view** view) { return tw_view_contiguous(count, nullptr, view); });
  }
  static View contiguous(std::int64_t count, const View& element) {
    return made([&](tw_view** view) { return tw_view_contiguous(count, element.get(), view); });
  }
  static View strided(std::int64_t count, std::int64_t block, std::int64_t stride, const View& element) {
    return made([&](tw_view** view) { return tw_view_strided(count, block, stride, element.get(), view); });
  }
  static View indexed(Span<const std::int64_t> displacements, Span<const std::int64_t> lengths, const View& element) {
    if (displacements.size() != lengths.size())
      throw std::invalid_argument("thalweg::View: displacements and lengths differ in number");
    const auto n = static_cast<std::int64_t>(lengths.size());
    return made(
        [&](tw_view** view) { return tw_view_indexed(n, displacements.data(), lengths.data(), element.get(), view); });
  }
  // Blocks of different elements; nullptr stands for a byte.
  static View structure(Span<const std::int64_t> displacements, Span<const std::int64_t> lengths,
                        Span<const tw_view* const> elements) {
    if (displacements.size() != lengths.size() || elements.size() != lengths.size())
      throw std::invalid_argument("thalweg::View: displacements, lengths and elements differ in number");
    const auto n = static_cast<std::int64_t>(lengths.size());
    return made(
        [&](tw_view** view) { return tw_view_struct(n, displacements.data(), lengths.data(), elements.data(), view); });
  }
  static View subarray(Span<const tw_slice> slices, const View& element, tw_array_order order = TW_ROW_MAJOR) {
    const auto n = static_cast<std::int32_t>(slices.size());
    return made([&](tw_view** view) { return tw_view_subarray(n, slices.data(), order, element.get(), view); });
  }
  static View distributed(Span<const tw_distributed_dim> dimensions, std::int64_t rank, const View& element,
                          tw_array_order order = TW_ROW_MAJOR) {
    const auto n = static_cast<std::int32_t>(dimensions.size());
    return made(
        [&](tw_view** view) { return tw_view_distributed(n, dimensions.data(), rank, order, element.get(), view); });
  }
  // The bytes of this view, with another extent.
  View resized(std::int64_t extent) const {
    return made([&](tw_view** view) { return tw_view_resized(get(), extent, view); });
  }

  std::int64_t size() const { return tw_view_size(get()); }
  std::int64_t extent() const { return tw_view_extent(get()); }
  const tw_view* get() const noexcept { return view_.get(); }

 private:
  struct Free {
    void operator()(tw_view* view) const noexcept { tw_view_free(&view); }
  };
  explicit View(tw_view* view) : view_(view) {}
  template <class Make>
  static View made(Make&& make) {
    tw_view* view = nullptr;
    check(make(&view));
    return View(view);
  }
  std::unique_ptr<tw_view, Free> view_;
};

}  // namespace v1
}  // namespace thalweg

#endif
