// The queue for where there is no io_uring: a thread of its own carries transfers out, one after the other, while the
// thread that submits goes on. It is started with the first transfer.
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "backend/carry_out.hpp"
#include "backend/io_queue.hpp"
#include "os/threads.hpp"

namespace thalweg {

namespace {

class ThreadQueue final : public IoQueue {
 public:
  explicit ThreadQueue(unsigned depth) : places_(depth) {}
  ~ThreadQueue() override {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    submitted_.notify_one();
    thread_.join();
  }

  bool submit(IoTransfer& transfer) override {
    if (in_flight() == places_.size()) return false;
    if (transfer.file->descriptor(transfer.direct) < 0 || !has_thread()) {
      carry_out(transfer);
      return true;
    }
    transfer.done = false;
    {
      const std::lock_guard lock(mutex_);
      place_of(n_submitted_++).transfer = &transfer;
    }
    submitted_.notify_one();
    return true;
  }
  void poll() override {
    const std::lock_guard lock(mutex_);
    answer();
  }
  void wait(std::chrono::microseconds limit) override {
    std::unique_lock lock(mutex_);
    if (in_flight() > 0) carried_out_.wait_for(lock, limit, [this] { return n_answered_ < n_carried_out_; });
    answer();
  }
  std::size_t in_flight() const override { return n_submitted_ - n_answered_; }
  const char* name() const override { return "thread"; }

 private:
  // What the thread found out: it does not write where the submitter may be reading.
  struct Place {
    IoTransfer* transfer = nullptr;
    Status status;
    std::uint64_t moved = 0;
  };

  Place& place_of(std::size_t number) { return places_[number % places_.size()]; }

  bool has_thread() {
    if (thread_.joinable()) return true;
    try {
      thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    return thread_.joinable();
  }

  // mutex_ is held.
  void answer() {
    for (; n_answered_ < n_carried_out_; ++n_answered_) {
      Place& place = place_of(n_answered_);
      place.transfer->status = std::move(place.status);
      place.transfer->moved = place.moved;
      place.transfer->done = true;
    }
  }

  void serve() {
    name_this_thread("tw-storage");
    std::unique_lock lock(mutex_);
    while (true) {
      submitted_.wait(lock, [this] { return n_carried_out_ < n_submitted_ || ends_; });
      if (n_carried_out_ == n_submitted_) return;
      Place& place = place_of(n_carried_out_);
      lock.unlock();
      IoTransfer mine;
      mine.file = place.transfer->file;
      mine.direction = place.transfer->direction;
      mine.direct = place.transfer->direct;
      mine.offset = place.transfer->offset;
      mine.pieces = place.transfer->pieces;
      carry_out(mine);
      lock.lock();
      place.status = std::move(mine.status);
      place.moved = mine.moved;
      ++n_carried_out_;
      carried_out_.notify_one();
    }
  }

  std::thread thread_;
  std::size_t n_answered_ = 0;  // of the submitter

  std::mutex mutex_;  // guards all that follows; the submitter alone changes the first number
  std::condition_variable submitted_, carried_out_;
  std::size_t n_submitted_ = 0, n_carried_out_ = 0;
  std::vector<Place> places_;
  bool ends_ = false;
};

}  // namespace

std::unique_ptr<IoQueue> make_thread_queue(unsigned depth) { return std::make_unique<ThreadQueue>(depth); }

}  // namespace thalweg
