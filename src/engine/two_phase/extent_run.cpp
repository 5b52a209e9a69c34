#include "engine/two_phase/extent_run.hpp"

namespace thalweg {

void ExtentEncoder::put(std::uint64_t number) {
  size_ += varint_bytes(number);
  if (to_ != nullptr) put_varint(*to_, number);
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
  if (addresses_) put(zigzag(run_.address - last_address_));
  if (run_.count > 1) {
    put(run_.offset_step);
    if (addresses_) put(zigzag(run_.address_step));
  }
  const Extent last = run_.at(run_.count - 1);
  last_offset_ = last.offset;
  last_address_ = reinterpret_cast<std::uintptr_t>(last.memory) + last.bytes;
}

bool ExtentDecoder::next(ExtentRun& run) {
  if (in_.rest().empty()) return false;
  run = {};
  run.count = in_.get_short();
  run.offset = last_offset_ + in_.get_short();
  run.bytes = in_.get_short();
  if (addresses_) run.address = in_.get_near(last_address_);
  if (run.count > 1) {
    run.offset_step = in_.get_short();
    if (addresses_) run.address_step = in_.get_near(0);
  }
  const Extent last = run.at(run.count - 1);
  last_offset_ = last.offset;
  last_address_ = reinterpret_cast<std::uintptr_t>(last.memory) + last.bytes;
  return true;
}

}  // namespace thalweg
