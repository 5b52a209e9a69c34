#include "engine/two_phase/extent_run.hpp"

namespace thalweg {

void ExtentEncoder::put(std::uint64_t number) {
  do {
    const auto low = static_cast<std::byte>((number & 127) | (number > 127 ? 128 : 0));
    number >>= 7;
    ++size_;
    if (to_ != nullptr) to_->push_back(low);
  } while (number > 0);
}

// Small ones of either sign are short.
void ExtentEncoder::put_difference(std::uint64_t difference) {
  put(difference << 1 ^ (difference >> 63 == 0 ? 0 : ~std::uint64_t{0}));
}

bool ExtentEncoder::continues(const Extent& extent) {
  if (run_.count == 0) return false;
  const Extent last = run_.at(run_.count - 1);
  const auto address = reinterpret_cast<std::uintptr_t>(extent.memory);
  const std::uint64_t address_step = address - reinterpret_cast<std::uintptr_t>(last.memory);
  if (run_.count == 1 && last.end() == extent.offset && (!addresses_ || address_step == last.bytes)) {
    run_.bytes += extent.bytes;  // one longer extent
    return true;
  }
  if (extent.bytes != last.bytes) return false;
  const std::uint64_t offset_step = extent.offset - last.offset;
  const bool as_before = offset_step == run_.offset_step && (!addresses_ || address_step == run_.address_step);
  if (run_.count > 1 && !as_before) return false;
  run_.offset_step = offset_step;
  run_.address_step = addresses_ ? address_step : 0;
  ++run_.count;
  return true;
}

void ExtentEncoder::add(const Extent& extent) {
  bytes_ += extent.bytes;
  if (continues(extent)) return;
  put_run();
  run_ = {extent.offset, extent.bytes, addresses_ ? reinterpret_cast<std::uintptr_t>(extent.memory) : 0, 1, 0, 0};
}

void ExtentEncoder::finish() {
  put_run();
  run_ = {};
}

void ExtentEncoder::put_run() {
  if (run_.count == 0) return;
  put(run_.count);
  put(run_.offset - last_offset_);
  put(run_.bytes);
  if (addresses_) put_difference(run_.address - last_address_);
  if (run_.count > 1) {
    put(run_.offset_step);
    if (addresses_) put_difference(run_.address_step);
  }
  const Extent last = run_.at(run_.count - 1);
  last_offset_ = last.offset;
  last_address_ = reinterpret_cast<std::uintptr_t>(last.memory) + last.bytes;
}

std::uint64_t ExtentDecoder::take() {
  std::uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const auto low = static_cast<std::uint64_t>(rest_[0]);
    rest_ = rest_.subspan(1);
    number |= (low & 127) << shift;
    if (low < 128) return number;
  }
}

std::uint64_t ExtentDecoder::take_difference() {
  const std::uint64_t number = take();
  return number >> 1 ^ ((number & 1) == 0 ? 0 : ~std::uint64_t{0});
}

bool ExtentDecoder::next(ExtentRun& run) {
  if (rest_.empty()) return false;
  run = {};
  run.count = take();
  run.offset = last_offset_ + take();
  run.bytes = take();
  if (addresses_) run.address = last_address_ + take_difference();
  if (run.count > 1) {
    run.offset_step = take();
    if (addresses_) run.address_step = take_difference();
  }
  const Extent last = run.at(run.count - 1);
  last_offset_ = last.offset;
  last_address_ = reinterpret_cast<std::uintptr_t>(last.memory) + last.bytes;
  return true;
}

}  // namespace thalweg
