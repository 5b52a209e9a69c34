// Steps: the transfers that a worker submits. A step moves one range of the file, straight from and to the memory of
// the tasks or through a staging buffer.
//
// The domain is walked in windows: one for plain transfers; aligned ones for direct transfers, so that borders between
// steps stay aligned; the size of a staging buffer for sieving, where all runs of a window become one step if that is
// cheaper than a call for each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/plan/runs.hpp"
#include "engine/transfer/transfer.hpp"

namespace thalweg {

struct Step {
  FileDomain range;
  std::vector<Piece> pieces;
  std::vector<std::uint64_t> places;  // offset of each piece; only in sieved steps, else pieces follow one another
  bool staged = false;
  bool direct = false;
  bool sieved = false;
  std::uint64_t bytes() const { return range.end - range.begin; }
};

class StepMaker {
 public:
  explicit StepMaker(const TransferTask& task);
  // The next step; false at the end. May throw std::bad_alloc.
  bool next(Step& step);
  // The largest staging buffer that a step needs.
  std::uint64_t staging_bytes() const { return staging_bytes_; }

 private:
  bool refill();
  bool open_window();
  std::uint64_t first_byte_from(std::uint64_t offset) const;
  Step whole(const Run& run) const;
  bool packs(std::size_t pieces) const;
  void split_direct(const Run& run);
  void sieve_window(const Run& first);
  std::uint64_t widest_hole() const;
  bool pays_to_sieve(const Step& window, std::uint64_t runs, std::uint64_t bytes) const;

  const TransferTask& task_;
  const std::uint64_t align_;       // of direct steps; 0: none
  const std::uint64_t direct_end_;  // the end of the last direct step
  std::uint64_t staging_bytes_;
  std::uint64_t window_bytes_;  // kEverything: the domain is one window
  RunReader::Limits limits_;
  FileDomain window_;
  std::optional<RunReader> reader_;
  std::vector<Step> ready_;  // last one first
};

// Copy between a staging buffer, which holds the range of the step, and the pieces of the step.
void gather_into(std::byte* staging, const Step& step);
void scatter_from(const std::byte* staging, const Step& step, std::uint64_t n_valid);

}  // namespace thalweg
