// AggregatorWindow: the window of the file that an aggregator moves between staging and storage in one round, and the
// requests of the tasks that have bytes there.
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
  // `seat`: number of this aggregator.
  AggregatorWindow(const TwoPhase& what, std::size_t seat) : what_(what), seat_(seat) {}
  AggregatorWindow(const AggregatorWindow&) = delete;
  AggregatorWindow& operator=(const AggregatorWindow&) = delete;

  // Takes the requests over and, for a write, their bytes into staging. May throw std::bad_alloc.
  Status load(FileDomain window, std::vector<Message> requests);
  // Not OK: the memory of some task could not be read. Nothing may be written, and the window has to be repeated.
  const Status& unreachable() const { return unreachable_; }
  void start();
  // Forgets what was loaded.
  void drop();
  // co_await: no transfer is under way.
  WaitPoint idle() { return {is_idle, nullptr, this}; }
  // The result of the last transfer, once.
  TransferResult result();

  // Number of exchanges for the replies to a read by messages, with at most a window of bytes in each.
  std::int64_t n_slices() const { return n_slices_; }
  // Copies the bytes of one exchange into the memory of the tasks, or returns them as messages. May throw
  // std::bad_alloc.
  std::vector<Message> replies(std::uint64_t end);

 private:
  static bool is_idle(void* self);
  Op<TransferResult> move();
  Status cover();
  Status make_room();
  Status next_runs(std::uint64_t& from);
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
  std::size_t next_ = 0;        // the first message with a request that has no reply yet
  std::size_t next_in_it_ = 0;  // where that request begins
  std::int64_t n_slices_ = 0;
  Status unreachable_;
  std::vector<Extent> runs_;  // covered parts of the window, to be moved next
  ExtentList list_;
  const ExtentList* lists_ = &list_;
  std::optional<Op<TransferResult>> transfer_;
};

// Adds the result of another part of the same transfer.
inline void add_to(TransferResult& all, const TransferResult& one) {
  all.status = all.status.or_else(one.status);
  all.end_of_file = std::min(all.end_of_file, one.end_of_file);
}

}  // namespace thalweg
