// The queue for systems without io_uring: a thread of its own runs transfers, one after the other, while the
// submitting thread continues. It is started with the first transfer.
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "os/end_program.hpp"
#include "os/threads.hpp"
#include "storage/carry_out.hpp"
#include "storage/io_queue.hpp"

namespace thalweg {

namespace {

// Shared by the submitter and the thread.
class Shared {
 public:
  explicit Shared(unsigned depth) : places_(depth) {}

  bool is_full() const { return in_flight() == places_.size(); }
  std::size_t in_flight() const { return n_submitted_ - n_answered_; }
  // Whether the thread runs, or could be started. A child of fork() has its parent's memory, but not its threads.
  bool has_thread() {
    if (thread_.joinable()) return is_of_this_process();
    const SignalsBlocked blocked;  // signal handlers of the program run on its own threads
    try {
      thread_ = std::thread([this] { serve(); });
      process_ = ::getpid();
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    return thread_.joinable();
  }
  bool is_of_this_process() const { return !thread_.joinable() || process_ == ::getpid(); }

  void submit(IoTransfer& transfer) {
    {
      const std::lock_guard lock(mutex_);
      place_of(n_submitted_++).transfer = &transfer;
    }
    submitted_.notify_one();
  }
  void poll() {
    const std::lock_guard lock(mutex_);
    answer();
  }
  void wait(std::chrono::microseconds limit) {
    std::unique_lock lock(mutex_);
    if (in_flight() > 0) carried_out_.wait_for(lock, limit, [this] { return n_answered_ < n_carried_out_; });
    answer();
  }
  // Ends the thread after the transfers it has taken.
  void end() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    submitted_.notify_one();
    thread_.join();
  }

 private:
  // The thread's result: it does not write where the submitter may be reading.
  struct Place {
    IoTransfer* transfer = nullptr;
    Status status;
    std::uint64_t moved = 0;
  };

  Place& place_of(std::size_t number) { return places_[number % places_.size()]; }

  // mutex_ is held.
  void answer() {
    for (; n_answered_ < n_carried_out_; ++n_answered_) {
      Place& place = place_of(n_answered_);
      place.transfer->status = std::move(place.status);
      place.transfer->moved = place.moved;
      place.transfer->done = true;
    }
  }

  // An exception could reach no caller from here.
  void serve() noexcept try {
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
  } catch (...) {
    end_program("out of memory", "in the transfer of a nonblocking call");
  }

  std::thread thread_;
  pid_t process_ = 0;
  std::size_t n_answered_ = 0;  // used by the submitter only

  std::mutex mutex_;  // guards all that follows; only the submitter changes the first number
  std::condition_variable submitted_, carried_out_;
  std::size_t n_submitted_ = 0, n_carried_out_ = 0;
  std::vector<Place> places_;
  bool ends_ = false;
};

class ThreadQueue final : public IoQueue {
 public:
  explicit ThreadQueue(unsigned depth) : shared_(std::make_unique<Shared>(depth)) {}
  // A child of fork() has no thread to join, and the condition variables may not be destroyed.
  ~ThreadQueue() override {
    if (shared_->is_of_this_process()) {
      shared_->end();
    } else {
      (void)shared_.release();
    }
  }
  ThreadQueue(const ThreadQueue&) = delete;
  ThreadQueue& operator=(const ThreadQueue&) = delete;

  bool submit(IoTransfer& transfer) override {
    if (shared_->is_full()) return false;
    if (transfer.file->descriptor(transfer.direct) < 0 || !shared_->has_thread()) {
      carry_out(transfer);
    } else {
      transfer.done = false;
      shared_->submit(transfer);
    }
    return true;
  }
  void poll() override { shared_->poll(); }
  void wait(std::chrono::microseconds limit) override {
    constexpr std::chrono::microseconds kDay = std::chrono::hours(24);  // the clock cannot represent longer waits
    shared_->wait(std::min(limit, kDay));
  }
  std::size_t in_flight() const override { return shared_->in_flight(); }
  const char* name() const override { return "thread"; }

 private:
  std::unique_ptr<Shared> shared_;
};

}  // namespace

std::unique_ptr<IoQueue> make_thread_queue(unsigned depth) { return std::make_unique<ThreadQueue>(depth); }

}  // namespace thalweg
