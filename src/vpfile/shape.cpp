#include "vpfile/shape.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/mix.hpp"

namespace thalweg {

std::string text_of(const VpShape& shape) {
  std::string text;
  for (const std::uint64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
  return fmt::format("({})", text);
}

namespace {

__extension__ using Wide = unsigned __int128;

// Fingerprints are numbers of the field modulo this prime: where a product is 0, one of its factors is.
constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

// Fingerprint of the range begin .. end-1 of one dimension alone: the sum of w(i) - w(i + 1), of which the ends are
// left.
std::uint64_t fingerprint_of_stretch(std::size_t dimension, std::uint64_t begin, std::uint64_t end) {
  const auto weight = [&](std::uint64_t at) { return mix(mix(dimension) ^ at) % kPrime; };
  return (weight(begin) + kPrime - weight(end)) % kPrime;
}

// The fingerprint of a VP is the product over its dimensions, so that of a box is the product over its ranges.
std::uint64_t multiply(std::uint64_t a, std::uint64_t b) { return static_cast<std::uint64_t>(Wide{a} * b % kPrime); }

}  // namespace

VpBox default_box(const VpShape& shape, std::uint64_t task, std::uint64_t tasks) {
  auto cut = std::ranges::find_if(shape, [&](std::uint64_t extent) { return extent >= tasks; });
  if (cut == shape.end()) cut = std::ranges::max_element(shape);
  const auto dimension = static_cast<std::size_t>(cut - shape.begin());
  const std::uint64_t each = *cut / tasks;
  const std::uint64_t more = *cut % tasks;  // tasks that have one more
  VpBox box{VpShape(shape.size(), 0), shape};
  box.start[dimension] = task * each + std::min(task, more);
  box.count[dimension] = each + (task < more ? 1 : 0);
  return box;
}

Status check_box(const VpShape& shape, const VpBox& box) {
  if (box.start.size() != shape.size() || box.count.size() != shape.size())
    return Status::error(Code::invalid_argument, "the box of this task has {} dimensions, the shape {} has {}",
                         box.count.size(), text_of(shape), shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (box.start[i] <= shape[i] && box.count[i] <= shape[i] - box.start[i]) continue;
    return Status::error(Code::invalid_argument, "the box of this task, start {}, count {}, is not inside the shape {}",
                         text_of(box.start), text_of(box.count), text_of(shape));
  }
  return {};
}

LocalVps::LocalVps(const VpShape& shape, VpBox box) : box_(std::move(box)), strides_(shape.size(), 1) {
  for (std::size_t i = shape.size(); i-- > 1;) strides_[i - 1] = strides_[i] * shape[i];
  for (std::size_t i = 0; i < shape.size(); ++i) begin_ += box_.start[i] * strides_[i];
  outer_ = shape.size();
  run_length_ = 1;
  bool whole = true;
  while (outer_ > 0 && whole) {
    --outer_;
    run_length_ *= box_.count[outer_];
    whole = box_.count[outer_] == shape[outer_];
  }
  n_runs_ = 1;
  for (std::size_t i = 0; i < outer_; ++i) n_runs_ *= box_.count[i];
  if (n_runs_ == 0 || run_length_ == 0) n_runs_ = run_length_ = 0;
}

std::uint64_t LocalVps::run_begin(std::uint64_t run) const {
  std::uint64_t number = begin_;
  for (std::size_t i = outer_; i-- > 0;) {
    number += run % box_.count[i] * strides_[i];
    run /= box_.count[i];
  }
  return number;
}

std::optional<std::uint64_t> LocalVps::local(std::uint64_t number) const {
  std::uint64_t local = 0;
  for (std::size_t i = 0; i < strides_.size(); ++i) {
    const std::uint64_t at = number / strides_[i];
    number %= strides_[i];
    if (at < box_.start[i] || at - box_.start[i] >= box_.count[i]) return std::nullopt;
    local = local * box_.count[i] + (at - box_.start[i]);
  }
  if (number != 0) return std::nullopt;  // of a shape without dimensions, which has VP 0 alone
  return local;
}

std::uint64_t add_fingerprints(std::uint64_t a, std::uint64_t b) { return (a + b) % kPrime; }

std::uint64_t fingerprint(const VpBox& box) {
  std::uint64_t all = 1;
  for (std::size_t i = 0; i < box.start.size(); ++i)
    all = multiply(all, fingerprint_of_stretch(i, box.start[i], box.start[i] + box.count[i]));
  return all;
}

std::uint64_t fingerprint(const VpShape& shape) { return fingerprint(VpBox{VpShape(shape.size(), 0), shape}); }

}  // namespace thalweg
