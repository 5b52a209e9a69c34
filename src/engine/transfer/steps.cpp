#include "engine/transfer/steps.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

namespace thalweg {

namespace {

constexpr std::size_t kMostStagedPieces = std::size_t{1} << 16;

std::uint64_t direct_block(const TransferTask& task) {
  const std::uint64_t alignment = task.direct ? task.file->direct_alignment : 0;
  return alignment == 0 ? 0 : std::max(alignment, kCachePage);
}

// The part of `pieces` that begins `skip` bytes into them.
std::vector<Piece> slice(std::span<const Piece> pieces, std::uint64_t skip, std::uint64_t bytes) {
  std::vector<Piece> part;
  for (const Piece& piece : pieces) {
    if (bytes == 0) break;
    const std::uint64_t here = std::min(skip, piece.bytes);
    skip -= here;
    const std::uint64_t now = std::min(piece.bytes - here, bytes);
    if (now > 0) part.push_back({piece.memory + here, now});
    bytes -= now;
  }
  return part;
}

bool all_aligned(std::span<const Piece> pieces, std::uint64_t alignment) {
  return std::all_of(pieces.begin(), pieces.end(), [=](const Piece& piece) {
    return reinterpret_cast<std::uintptr_t>(piece.memory) % alignment == 0 && piece.bytes % alignment == 0;
  });
}

// Whether every block of the file lies in memory as a block, and in few pieces: then no direct step needs staging.
bool memory_is_aligned(const TransferTask& task, std::uint64_t block) {
  const auto fits = [=](const Extent& extent) {
    return reinterpret_cast<std::uintptr_t>(extent.memory) % block == 0 && extent.offset % block == 0 &&
           extent.bytes % block == 0;
  };
  std::size_t n = 0;
  for (const ExtentList* list : task.lists) {
    n += list->extents().size();
    if (n > IOV_MAX / 2 || !std::all_of(list->extents().begin(), list->extents().end(), fits)) return false;
  }
  return true;
}

}  // namespace

StepMaker::StepMaker(const TransferTask& task)
    : task_(task),
      align_(direct_block(task)),
      direct_end_(align_ == 0 ? kEverything : task.file_end / align_ * align_),
      staging_bytes_(task.file->strategy.staging_bytes),
      window_bytes_(kEverything) {
  if (task.sieve) {
    window_bytes_ = staging_bytes_;
    limits_ = {kMostStagedPieces, staging_bytes_};
  } else if (align_ > 0) {
    staging_bytes_ = std::max(task.file->strategy.transfer_bytes / align_ * align_, align_);
    window_bytes_ = staging_bytes_;
    // Steps without staging may have any size.
    if (task.step_bytes > staging_bytes_ && memory_is_aligned(task, align_))
      window_bytes_ = task.step_bytes / align_ * align_;
    limits_ = {kMostStagedPieces, window_bytes_};
  } else if (task.pack) {
    limits_ = {kMostStagedPieces, staging_bytes_};
  } else {
    const std::uint64_t step = std::max(task.step_bytes, task.file->strategy.transfer_bytes);
    limits_ = {IOV_MAX, task.depth > 1 ? step : std::uint64_t{1} << 30};
  }
  window_.end = task.domain.begin;
}

bool StepMaker::next(Step& step) {
  while (ready_.empty())
    if (!refill()) return false;
  step = std::move(ready_.back());
  ready_.pop_back();
  return true;
}

bool StepMaker::refill() {
  Run run;
  if (!reader_.has_value() || !reader_->next(run)) return open_window();
  if (task_.sieve) {
    sieve_window(run);
  } else if (align_ > 0) {
    split_direct(run);
  } else {
    ready_.push_back(whole(run));
  }
  return true;
}

// The lowest offset from `offset` on at which any list has a byte; kEverything: there is none.
std::uint64_t StepMaker::first_byte_from(std::uint64_t offset) const {
  std::uint64_t first = kEverything;
  for (const ExtentList* list : task_.lists) {
    const std::size_t i = list->first_beyond(offset);
    if (i < list->extents().size()) first = std::min(first, std::max(list->extents()[i].offset, offset));
  }
  return first;
}

bool StepMaker::open_window() {
  std::uint64_t begin = window_.end;
  if (window_bytes_ != kEverything) begin = first_byte_from(begin);
  if (begin >= task_.domain.end) return false;
  // A direct window ends on a multiple of its size, wherever it begins; a sieved one is as long as its buffer.
  const std::uint64_t base = align_ > 0 && !task_.sieve ? begin / window_bytes_ * window_bytes_ : begin;
  window_ = {begin, task_.domain.end - base > window_bytes_ ? base + window_bytes_ : task_.domain.end};
  reader_.emplace(task_.lists, window_, task_.direction, limits_);
  return true;
}

Step StepMaker::whole(const Run& run) const {
  Step step;
  step.range = {run.offset, run.offset + run.bytes};
  step.pieces.assign(run.pieces.begin(), run.pieces.end());
  step.staged = packs(run.pieces.size());
  return step;
}

bool StepMaker::packs(std::size_t pieces) const {
  return task_.pack && (task_.direction == Direction::write || pieces > 1);
}

// Whole blocks of the run go past the page cache, the parts before and behind them through it.
void StepMaker::split_direct(const Run& run) {
  const std::uint64_t end = run.offset + run.bytes;
  const std::uint64_t low = (run.offset + align_ - 1) / align_ * align_;
  const std::uint64_t high = std::min(end / align_ * align_, direct_end_);
  if (low >= high) {
    ready_.push_back(whole(run));
    ready_.back().staged = run.pieces.size() > IOV_MAX;
    return;
  }
  const auto part = [&](std::uint64_t from, std::uint64_t to) {
    if (from == to) return;
    Step step;
    step.range = {from, to};
    step.pieces = slice(run.pieces, from - run.offset, to - from);
    step.direct = from >= low && to <= high;
    step.staged =
        step.pieces.size() > IOV_MAX || (step.direct && !all_aligned(step.pieces, task_.file->direct_alignment));
    ready_.push_back(std::move(step));
  };
  part(high, end);
  part(low, high);
  part(run.offset, low);
}

// Makes one sieved step of the runs of a window, or a step of each run where that is cheaper.
void StepMaker::sieve_window(const Run& first) {
  Step window;
  std::uint64_t bytes = 0;
  std::uint64_t runs = 0;
  Run run = first;
  window.range.begin = run.offset;
  window.range.end = run.offset + run.bytes;
  const std::uint64_t hole = widest_hole();
  do {
    if (run.offset > window.range.end && run.offset - window.range.end > hole) {
      window_.end = window.range.end;  // the next one begins behind the hole
      break;
    }
    std::uint64_t place = run.offset;
    for (const Piece& piece : run.pieces) {
      window.pieces.push_back(piece);
      window.places.push_back(place);
      place += piece.bytes;
    }
    // For reading, runs may overlap.
    window.range.end = std::max(window.range.end, run.offset + run.bytes);
    bytes += run.bytes;
    ++runs;
  } while (reader_->next(run));
  if (runs == 1) {
    window.places.clear();
    window.staged = window.pieces.size() > IOV_MAX || packs(window.pieces.size());
    reader_.reset();
    return ready_.push_back(std::move(window));
  }
  window.sieved = window.staged = true;
  if (pays_to_sieve(window, runs, bytes)) {
    reader_.reset();
    return ready_.push_back(std::move(window));
  }
  reader_.emplace(task_.lists, window_, task_.direction, limits_);
  while (reader_->next(run)) {
    ready_.push_back(whole(run));
    ready_.back().staged = run.pieces.size() > IOV_MAX || ready_.back().staged;
  }
  std::reverse(ready_.begin(), ready_.end());
}

// The widest hole that costs less to go through than another window.
std::uint64_t StepMaker::widest_hole() const {
  const StorageCosts& costs = task_.file->strategy.costs;
  const bool writes = task_.direction == Direction::write;
  const double byte_ns = costs.read_byte_ns + (writes ? costs.write_byte_ns : 0);
  return static_cast<std::uint64_t>((writes ? 2 : 1) * costs.call_ns / std::max(byte_ns, 0.001));
}

bool StepMaker::pays_to_sieve(const Step& window, std::uint64_t runs, std::uint64_t bytes) const {
  const StorageCosts& costs = task_.file->strategy.costs;
  const bool writes = task_.direction == Direction::write;
  const auto moved = static_cast<double>(bytes);
  const auto all = static_cast<double>(window.bytes());
  const double byte_ns = writes ? costs.write_byte_ns : costs.read_byte_ns;
  const double separately = static_cast<double>(runs) * costs.call_ns + moved * byte_ns;
  double sieved = costs.call_ns + all * costs.read_byte_ns + moved * costs.copy_byte_ns +
                  static_cast<double>(window.pieces.size()) * costs.copy_piece_ns;
  if (writes) sieved += costs.call_ns + all * costs.write_byte_ns;
  return sieved < separately;
}

void gather_into(std::byte* staging, const Step& step) {
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < step.pieces.size(); ++i) {
    if (step.sieved) at = step.places[i] - step.range.begin;
    std::memcpy(staging + at, step.pieces[i].memory, step.pieces[i].bytes);
    at += step.pieces[i].bytes;
  }
}

void scatter_from(const std::byte* staging, const Step& step, std::uint64_t n_valid) {
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < step.pieces.size(); ++i) {
    if (step.sieved) at = step.places[i] - step.range.begin;
    const Piece& piece = step.pieces[i];
    if (at < n_valid) std::memcpy(piece.memory, staging + at, std::min(piece.bytes, n_valid - at));
    at += piece.bytes;
  }
}

}  // namespace thalweg
