// Transfer: one worker moves its file domain, in file order. Every way of moving bytes (vectored, packed, past the page
// cache, sieved) is a step (engine/transfer/steps.hpp); one loop keeps `depth` of them in flight.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "access/extent_list.hpp"
#include "async/op.hpp"
#include "engine/plan/file_domains.hpp"
#include "engine/shared_file.hpp"
#include "storage/io_queue.hpp"

namespace thalweg {

inline constexpr std::uint64_t kEverything = ~std::uint64_t{0} >> 1;  // end of an unbounded domain

// Direct and buffered transfers must not meet in one page of the cache, so no smaller block goes past it.
inline constexpr std::uint64_t kCachePage = 4096;

struct TransferTask {
  SharedFile* file = nullptr;
  IoQueue* queue = nullptr;
  Direction direction = Direction::read;
  std::span<const ExtentList* const> lists;  // borrowed, with the memory they lead to
  FileDomain domain;
  bool pack = false;             // small pieces go through staging
  bool sieve = false;            // holes are read, or read and written back, where that is cheaper
  bool direct = false;           // past the page cache
  unsigned depth = 1;            // steps in flight
  std::uint64_t step_bytes = 0;  // limit of a step without staging; 0: the strategy has it
  // For a direct read, set by transfer(). Such a read fills memory up to the end of a block, so the last part of a file
  // goes through the page cache.
  std::uint64_t file_end = kEverything;
};

struct TransferResult {
  Status status;
  std::uint64_t end_of_file = kEverything;  // where a read met the end of the file
};

// Both operations may only be destroyed when done.
Op<TransferResult> transfer(TransferTask task);
// One call through the page cache, without steps. `pieces` make up `range`; borrowed, with their memory.
Op<TransferResult> transfer_at_once(SharedFile& file, IoQueue& queue, Direction direction, FileDomain range,
                                    std::span<const Piece> pieces);

// Carries out `work` in the background, where the queue has a thread.
Op<Status> carry_out(std::function<Status()> work, IoQueue& queue);

}  // namespace thalweg
