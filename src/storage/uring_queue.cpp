// The queue of the kernel: one ring. Requests are gathered until poll() or wait(), and submitted in one call.
//
// A slot in use has one request, gathered or in the kernel, or none while the file itself runs the rest of the
// transfer. The ring has room for all slots, but on old kernels waiting takes some of it: a request without room runs
// without the ring. The file itself also runs what the kernel refuses, and what may not be submitted to it (see
// StoredFile::descriptor), so that every queue reports the same failures. Neither registered files nor registered
// buffers are used: they gain nothing here, see docs/design/storage.md.
#include <liburing.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <new>
#include <utility>
#include <vector>

#include "os/end_program.hpp"
#include "os/environment.hpp"
#include "os/pieces.hpp"
#include "storage/posix_queue.hpp"
#include "storage/uring_seam.hpp"

namespace thalweg {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostTries = 1000;
constexpr int kMostBusyTries = 16;  // then the file waits and retries, as without a queue

struct Slot {
  IoTransfer* transfer = nullptr;
  int descriptor = -1;
  std::uint64_t asked = 0;
  RemainingPieces remaining;
  std::vector<iovec> vectors;  // of the current request
  int tries = 0;
};

class UringQueue final : public IoQueue {
 public:
  UringQueue() = default;
  UringQueue(const UringQueue&) = delete;
  UringQueue& operator=(const UringQueue&) = delete;
  ~UringQueue() override try {
    while (in_flight() > 0) wait(std::chrono::seconds(1));
    if (!slots_.empty()) io_uring_queue_exit(&ring_);
  } catch (...) {  // the kernel may still write into the memory of a transfer
    end_program("out of memory", "in a transfer of io_uring");
  }
  Status open(unsigned depth);

  bool submit(IoTransfer& transfer) override;
  void poll() override;
  void wait(std::chrono::microseconds limit) override;
  std::size_t in_flight() const override { return slots_.size() - free_.size(); }
  const char* name() const override { return "uring"; }

 private:
  void ask(Slot& slot);
  void hand_over();
  void reap();
  void answered(Slot& slot, int answer);
  void moved(Slot& slot, std::uint64_t bytes);
  void rest_without_ring(Slot& slot);
  void finish(Slot& slot, Status status);

  io_uring ring_{};
  std::vector<Slot> slots_;  // never reallocated: requests point into it
  std::vector<Slot*> free_;
  std::uint64_t n_done_ = 0;
};

Status UringQueue::open(unsigned depth) {
  if (depth == 0) return Status::error(Code::invalid_argument, "a queue must have room for one transfer at least");
  io_uring_params parameters{};
  parameters.flags = IORING_SETUP_CLAMP;
  try {
    // Allocates all memory for submissions before the ring exists.
    slots_.resize(depth);
    for (Slot& slot : slots_) slot.vectors.reserve(IOV_MAX);
    free_.reserve(depth);
  } catch (const std::bad_alloc&) {
    slots_.clear();
    return Status::error(Code::no_memory, "no memory for a queue of {} transfers", depth);
  }
  const int answer = io_uring_queue_init_params(depth, &ring_, &parameters);
  if (answer != 0) {
    slots_.clear();
    return os_error(-answer, "cannot set up an io_uring for {} transfers", depth);
  }
  if (parameters.sq_entries < depth) slots_.resize(parameters.sq_entries);
  for (Slot& slot : slots_) free_.push_back(&slot);
  return {};
}

// Transfers that the file would refuse, and empty ones, are left to the file.
bool is_for_the_kernel(const IoTransfer& transfer) {
  const std::string& path = transfer.file->path();
  const auto bytes = bytes_of(transfer.pieces, transfer.offset, path);
  if (!bytes.has_value() || bytes.value() == 0) return false;
  return !transfer.direct ||
         check_direct(transfer.pieces, transfer.offset, transfer.file->direct_alignment(), path).ok();
}

bool UringQueue::submit(IoTransfer& transfer) {
  if (free_.empty()) return false;
  const int descriptor = transfer.work ? -1 : transfer.file->descriptor(transfer.direct);
  if (descriptor < 0 || !is_for_the_kernel(transfer)) {
    carry_out(transfer);
    transfer.done = true;
    return true;
  }
  Slot& slot = *free_.back();
  free_.pop_back();
  slot.transfer = &transfer;
  slot.descriptor = descriptor;
  slot.remaining = RemainingPieces(transfer.pieces);
  slot.asked = slot.remaining.bytes();
  slot.vectors.resize(std::min<std::size_t>(transfer.pieces.size(), IOV_MAX));
  slot.tries = 0;
  transfer.done = false;
  transfer.status = {};
  transfer.moved = 0;
  ask(slot);
  return true;
}

// Gathers the request for the remainder of a slot.
void UringQueue::ask(Slot& slot) {
  io_uring_sqe* const request = io_uring_get_sqe(&ring_);
  if (request == nullptr) return rest_without_ring(slot);
  const auto vectors = slot.remaining.next(slot.vectors, uring_seam().most_at_once);
  const std::uint64_t offset = slot.transfer->offset + slot.asked - slot.remaining.bytes();
  const bool reads = slot.transfer->direction == Direction::read;
  if (vectors.size() == 1) {
    const auto bytes = static_cast<unsigned>(vectors[0].iov_len);
    io_uring_prep_rw(reads ? IORING_OP_READ : IORING_OP_WRITE, request, slot.descriptor, vectors[0].iov_base, bytes,
                     offset);
  } else {
    const auto count = static_cast<unsigned>(vectors.size());
    io_uring_prep_rw(reads ? IORING_OP_READV : IORING_OP_WRITEV, request, slot.descriptor, vectors.data(), count,
                     offset);
  }
  io_uring_sqe_set_data(request, &slot);
}

// Where the kernel is too busy, requests stay gathered and the next poll retries.
void UringQueue::hand_over() {
  if (io_uring_sq_ready(&ring_) > 0) (void)io_uring_submit(&ring_);
}

void UringQueue::reap() {
  io_uring_cqe* done = nullptr;
  while (io_uring_peek_cqe(&ring_, &done) == 0) {
    Slot& slot = *static_cast<Slot*>(io_uring_cqe_get_data(done));
    const int answer = uring_seam().answer(done->res);
    io_uring_cqe_seen(&ring_, done);
    answered(slot, answer);
  }
}

void UringQueue::answered(Slot& slot, int answer) {
  const bool writes = slot.transfer->direction == Direction::write;
  if (answer > 0) return moved(slot, static_cast<std::uint64_t>(answer));
  if (answer == 0 && !writes) return finish(slot, {});  // the end of the file
  const int err = answer == 0 ? EIO : -answer;          // a write of 0 bytes would repeat for ever
  // ECANCELED: the submitting thread has ended.
  const int most_tries = err == EAGAIN ? kMostBusyTries : err == EINTR || err == ECANCELED ? kMostTries : 0;
  if (++slot.tries <= most_tries) return ask(slot);
  if (most_tries > 0 || err == EBADF || err == EINVAL || err == EOPNOTSUPP) return rest_without_ring(slot);
  const IoTransfer& transfer = *slot.transfer;
  const std::uint64_t rest = slot.remaining.bytes();
  finish(slot,
         transfer_error(err, {transfer.file->path(), transfer.direction, transfer.offset + slot.asked - rest}, rest));
}

void UringQueue::moved(Slot& slot, std::uint64_t bytes) {
  if (slot.transfer->direct && bytes < slot.remaining.bytes()) {
    const std::uint64_t beyond = bytes % slot.transfer->file->direct_alignment();
    slot.remaining.advance(bytes - beyond);
    if (beyond > 0) return rest_without_ring(slot);  // the file can continue within a block
    return ask(slot);
  }
  slot.remaining.advance(std::min(bytes, slot.remaining.bytes()));
  if (slot.remaining.bytes() > 0) return ask(slot);
  finish(slot, {});
}

// Takes no memory: a failure could not be reported here.
void UringQueue::rest_without_ring(Slot& slot) {
  std::array<Piece, IOV_MAX> room;
  while (slot.remaining.bytes() > 0) {
    std::size_t n = 0;
    std::uint64_t bytes = 0;
    for (const iovec& part : slot.remaining.next(slot.vectors, slot.remaining.bytes())) {
      room[n++] = {static_cast<std::byte*>(part.iov_base), part.iov_len};
      bytes += part.iov_len;
    }
    IoTransfer part = *slot.transfer;
    part.offset = slot.transfer->offset + slot.asked - slot.remaining.bytes();
    part.pieces = std::span(room).first(n);
    carry_out(part);
    if (!part.status.ok()) return finish(slot, std::move(part.status));
    slot.remaining.advance(part.moved);
    if (part.moved < bytes) break;
  }
  finish(slot, {});
}

void UringQueue::finish(Slot& slot, Status status) {
  IoTransfer& transfer = *std::exchange(slot.transfer, nullptr);
  transfer.moved = slot.asked - slot.remaining.bytes();
  transfer.status = std::move(status);
  transfer.done = true;
  free_.push_back(&slot);
  ++n_done_;
}

void UringQueue::poll() {
  hand_over();
  reap();
  hand_over();  // submits continued requests
}

void UringQueue::wait(std::chrono::microseconds limit) {
  const std::uint64_t done_before = n_done_;
  const auto deadline = Clock::now() + std::min<std::chrono::microseconds>(limit, std::chrono::hours(24));
  for (;;) {
    reap();
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now()).count();
    if (n_done_ != done_before || in_flight() == 0 || left <= 0) return hand_over();
    __kernel_timespec at_most{left / 1'000'000'000, left % 1'000'000'000};
    io_uring_cqe* done = nullptr;
    (void)io_uring_submit_and_wait_timeout(&ring_, &done, 1, &at_most, nullptr);  // checked again whatever it returns
  }
}

// Whether the kernel permits a ring to this process, tested by setting up a small one: containers often forbid it.
bool uring_works() {
  // Waits have a limit, and completions are never lost
  constexpr unsigned kNeeded = IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP;
  io_uring ring;
  if (io_uring_queue_init(2, &ring, 0) != 0) return false;
  bool works = (ring.features & kNeeded) == kNeeded;
  io_uring_probe* const probe = io_uring_get_probe_ring(&ring);
  for (const int operation : {IORING_OP_READ, IORING_OP_WRITE, IORING_OP_READV, IORING_OP_WRITEV})
    works = works && probe != nullptr && io_uring_opcode_supported(probe, operation) != 0;
  io_uring_free_probe(probe);
  io_uring_queue_exit(&ring);
  return works;
}

}  // namespace

UringSeam& uring_seam() {
  static UringSeam seam;
  return seam;
}

bool uring_available() {
  static const bool available = environment("THALWEG_URING") != "0" && uring_works();
  return available;
}

Result<std::unique_ptr<IoQueue>> make_uring_queue(unsigned depth) {
  if (!uring_available())
    return Status::error(Code::not_built, "io_uring is not available: the kernel forbids it, or THALWEG_URING=0 does");
  auto queue = std::make_unique<UringQueue>();
  TW_RETURN_IF_ERROR(queue->open(depth));
  return std::unique_ptr<IoQueue>(std::move(queue));
}

}  // namespace thalweg
