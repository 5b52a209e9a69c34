// The queue for systems without io_uring: a thread of its own runs transfers, one after the other, while the
// submitting thread continues. It is started with the first transfer.
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "os/end_program.hpp"
#include "os/threads.hpp"
#include "storage/posix_queue.hpp"

namespace thalweg {

namespace {

// Shared by the submitter and the thread.
struct Shared {
  explicit Shared(unsigned depth) : places(depth) {}
  IoTransfer*& place_of(std::size_t number) { return places[number % places.size()]; }

  std::thread thread;
  pid_t process = 0;
  std::size_t n_answered = 0;  // used by the submitter only

  std::mutex mutex;  // guards all that follows; only the submitter changes the first number
  std::condition_variable submitted, carried_out;
  std::size_t n_submitted = 0, n_carried_out = 0;
  std::vector<IoTransfer*> places;
  bool ends = false;
};

// The thread. An exception could reach no caller from here.
void serve(Shared& shared) noexcept try {
  name_this_thread("tw-storage");
  std::unique_lock lock(shared.mutex);
  while (true) {
    shared.submitted.wait(lock, [&] { return shared.n_carried_out < shared.n_submitted || shared.ends; });
    if (shared.n_carried_out == shared.n_submitted) return;
    IoTransfer& transfer = *shared.place_of(shared.n_carried_out);
    lock.unlock();
    carry_out(transfer);
    lock.lock();
    ++shared.n_carried_out;
    shared.carried_out.notify_one();
  }
} catch (...) {
  end_program("out of memory", "in the transfer of a nonblocking call");
}

class ThreadQueue final : public IoQueue {
 public:
  explicit ThreadQueue(unsigned depth) : shared_(std::make_unique<Shared>(depth)) {}
  // Ends the thread after the transfers it has taken. A child of fork() has no thread to join, and the condition
  // variables may not be destroyed.
  ~ThreadQueue() override {
    if (!is_of_this_process()) {
      (void)shared_.release();
      return;
    }
    if (!shared_->thread.joinable()) return;
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->ends = true;
    }
    shared_->submitted.notify_one();
    shared_->thread.join();
  }
  ThreadQueue(const ThreadQueue&) = delete;
  ThreadQueue& operator=(const ThreadQueue&) = delete;

  bool submit(IoTransfer& transfer) override {
    if (in_flight() == shared_->places.size()) return false;
    if ((!transfer.work && transfer.file->descriptor(transfer.direct) < 0) || !has_thread()) {
      carry_out(transfer);
      transfer.done = true;
      return true;
    }
    transfer.done = false;
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->place_of(shared_->n_submitted++) = &transfer;
    }
    shared_->submitted.notify_one();
    return true;
  }
  void poll() override {
    const std::lock_guard lock(shared_->mutex);
    answer();
  }
  void wait(std::chrono::microseconds limit) override {
    constexpr std::chrono::microseconds kDay = std::chrono::hours(24);  // the clock cannot represent longer waits
    std::unique_lock lock(shared_->mutex);
    const auto any = [this] { return shared_->n_answered < shared_->n_carried_out; };
    if (in_flight() > 0) shared_->carried_out.wait_for(lock, std::min(limit, kDay), any);
    answer();
  }
  std::size_t in_flight() const override { return shared_->n_submitted - shared_->n_answered; }
  const char* name() const override { return "thread"; }

 private:
  // A child of fork() has its parent's memory, but not its threads.
  bool is_of_this_process() const { return !shared_->thread.joinable() || shared_->process == ::getpid(); }
  // Whether the thread runs, or could be started.
  bool has_thread() {
    if (shared_->thread.joinable()) return is_of_this_process();
    const SignalsBlocked blocked;  // signal handlers of the program run on its own threads
    try {
      shared_->thread = std::thread(serve, std::ref(*shared_));
      shared_->process = ::getpid();
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    return shared_->thread.joinable();
  }
  // The mutex is held. Only the submitter, which reads it without the lock, marks a transfer as done.
  void answer() {
    for (; shared_->n_answered < shared_->n_carried_out; ++shared_->n_answered)
      shared_->place_of(shared_->n_answered)->done = true;
  }

  std::unique_ptr<Shared> shared_;
};

}  // namespace

std::unique_ptr<IoQueue> make_thread_queue(unsigned depth) { return std::make_unique<ThreadQueue>(depth); }

}  // namespace thalweg
