#include "multifile/write/direct_writes.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/transfer/transfer.hpp"
#include "storage/queues.hpp"

namespace thalweg {

std::uint64_t DirectWrites::block() const { return std::max<std::uint64_t>(file_->direct_alignment(), kCachePage); }

void DirectWrites::reap() {
  for (const auto& buffer : buffers_) {
    if (!buffer->in_flight || !buffer->transfer.done) continue;
    buffer->in_flight = false;
    buffer->memory.clear();
    (void)keep_failure(buffer->transfer.status);
  }
}

// One buffer more than transfers in flight, so that one is filled meanwhile. Memory is taken when it is needed.
Status DirectWrites::take_buffer() {
  const auto find_free = [this] {
    return std::ranges::find_if(buffers_, [](const auto& buffer) { return !buffer->in_flight; });
  };
  if (queue_ != nullptr) queue_->poll();
  reap();
  auto free = find_free();
  if (free == buffers_.end() && buffers_.size() <= settings_.depth)
    free = buffers_.insert(free, std::make_unique<Buffer>());
  for (; free == buffers_.end(); free = find_free()) wait_for_one();
  TW_RETURN_IF_ERROR(failure_);
  filling_ = free->get();
  filling_->memory.reserve(settings_.transfer_bytes);
  return {};
}

void DirectWrites::start_transfer(std::uint64_t bytes) {
  if (queue_ == nullptr) queue_ = make_background_queue(settings_.depth);
  Buffer& buffer = *std::exchange(filling_, nullptr);
  buffer.piece = piece_of(buffer.memory.bytes().first(bytes));
  IoTransfer& transfer = buffer.transfer = {};
  transfer.file = file_;
  transfer.direction = Direction::write;
  transfer.direct = true;
  transfer.offset = next_ - buffer.memory.size();
  transfer.pieces = {&buffer.piece, 1};
  buffer.in_flight = true;
  while (!queue_->submit(buffer.transfer)) queue_->wait(std::chrono::seconds(1));
  queue_->poll();
}

Status DirectWrites::submit() {
  if (filling_ == nullptr) return failure_;
  const std::span<const std::byte> all = filling_->memory.bytes();
  const std::size_t whole = all.size() / block() * block();
  if (whole < all.size()) (void)keep_failure(file_->write(next_ - all.size() + whole, all.subspan(whole)));
  if (whole > 0 && failure_.ok()) {
    start_transfer(whole);
  } else {
    std::exchange(filling_, nullptr)->memory.clear();
  }
  return failure_;
}

Status DirectWrites::write(StoredFile& file, std::uint64_t offset, std::span<const std::byte> data) {
  constexpr std::uint64_t kMostKept = 4 << 20;
  if (kept_bytes_ > kMostKept) TW_RETURN_IF_ERROR(finish());
  if (file_ != &file || next_ != offset) TW_RETURN_IF_ERROR(submit());
  TW_RETURN_IF_ERROR(failure_);
  file_ = &file;
  next_ = offset;
  while (!data.empty()) {
    std::size_t n = 0;
    const std::uint64_t past = next_ % block();
    if (filling_ == nullptr && (past != 0 || data.size() < block())) {
      n = std::min<std::uint64_t>(data.size(), block() - past);
      TW_RETURN_IF_ERROR(keep_failure(file.write(next_, data.first(n))));
    } else {
      if (filling_ == nullptr) TW_RETURN_IF_ERROR(take_buffer());
      n = std::min<std::uint64_t>(data.size(), settings_.transfer_bytes - filling_->memory.size());
      filling_->memory.append(data.data(), n);
    }
    next_ += n;
    data = data.subspan(n);
    if (filling_ != nullptr && filling_->memory.size() == settings_.transfer_bytes)
      start_transfer(settings_.transfer_bytes);
  }
  return {};
}

void DirectWrites::write_behind(StoredFile& file, std::uint64_t offset, std::span<const std::byte> bytes) {
  kept_.push_back({&file, offset, {bytes.begin(), bytes.end()}});
  kept_bytes_ += bytes.size();
}

void DirectWrites::wait_for_one() {
  queue_->wait(std::chrono::seconds(1));
  reap();
}

bool DirectWrites::in_flight() const {
  return std::ranges::any_of(buffers_, [](const auto& buffer) { return buffer->in_flight; });
}

Status DirectWrites::finish_before() {
  return before_ == nullptr ? failure_ : keep_failure(std::exchange(before_, nullptr)->end());
}

Status DirectWrites::hand_over() {
  TW_RETURN_IF_ERROR(finish_before());
  return submit();
}

Status DirectWrites::finish_all() {
  (void)finish_before();
  (void)submit();
  while (in_flight()) wait_for_one();
  file_ = nullptr;
  kept_bytes_ = 0;
  for (const Kept& one : std::exchange(kept_, {}))
    if (failure_.ok()) (void)keep_failure(one.file->write(one.offset, one.bytes));
  return failure_;
}

Status DirectWrites::finish(bool ends) {
  const std::lock_guard lock(mutex_);
  (void)keep_failure(attempt([this] { return finish_all(); }));
  if (ends && !in_flight()) {
    buffers_.clear();
    queue_.reset();
  }
  return failure_;
}

}  // namespace thalweg
