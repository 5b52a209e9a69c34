// AggregatorWindow: a window of an aggregator on its way between staging and storage, and the requests that it belongs
// to.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/plan/coverage.hpp"
#include "engine/transfer/staging_pool.hpp"
#include "engine/transfer/transfer.hpp"
#include "engine/two_phase/exchange_messages.hpp"
#include "engine/two_phase/two_phase.hpp"

namespace thalweg {

class AggregatorWindow {
 public:
  // `seat`: which of the aggregators this one is.
  AggregatorWindow(const TwoPhase& what, std::size_t seat) : what_(what), seat_(seat) {}
  AggregatorWindow(const AggregatorWindow&) = delete;
  AggregatorWindow& operator=(const AggregatorWindow&) = delete;

  // Takes the requests over and, for a write, their bytes into staging. May throw std::bad_alloc.
  Status load(FileDomain window, std::vector<Message> requests);
  // The memory of some task could not be read: nothing may be written, the window has to come in once more.
  const Status& unreachable() const { return unreachable_; }
  void start();
  // Empty-handed: as if nothing had been loaded.
  void drop();
  // co_await: nothing of it is under way.
  WaitPoint idle() { return {is_idle, nullptr, this}; }
  // Of the transfer, once.
  TransferResult result();

  // Of a read: how many exchanges the replies take that go as messages.
  std::int64_t n_slices() const { return n_slices_; }
  // The next of them: into the memory of the tasks, or as messages. May throw std::bad_alloc.
  std::vector<Message> replies(std::uint64_t end);

 private:
  static bool is_idle(void* self);
  Op<TransferResult> move();
  Status cover();
  Status make_room();
  Status next_runs(std::uint64_t& from);
  TransferTask task() const;
  std::uint64_t cheap_gap() const;
  bool reply_to_message(std::uint64_t end, std::uint64_t& slice, std::vector<Message>& some);
  std::uint64_t relayed_bytes() const;
  void append_reply(Bytes& to, const ExchangeRequest& request, std::uint64_t end) const;

  const TwoPhase& what_;
  const std::size_t seat_;
  FileDomain window_;
  std::uint64_t base_ = 0;  // offset of the first byte of staging
  StagingBuffer staging_;
  Coverage coverage_;
  std::vector<Message> messages_;
  std::size_t next_ = 0;        // message that is not answered yet, or not all of it
  std::size_t next_in_it_ = 0;  // where its first request begins that is not
  std::int64_t n_slices_ = 0;
  Status unreachable_;
  std::vector<Extent> runs_;  // some of what is covered, to be moved next
  ExtentList list_;
  const ExtentList* lists_ = &list_;
  std::optional<Op<TransferResult>> transfer_;
};

// The worse of two parts of one transfer.
inline void add_to(TransferResult& all, TransferResult one) {
  if (all.status.ok()) all.status = std::move(one.status);
  all.end_of_file = std::min(all.end_of_file, one.end_of_file);
}

}  // namespace thalweg
