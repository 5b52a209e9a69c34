#include "access/extent.hpp"

#include <algorithm>
#include <string>

#include "base/checked_math.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kMostBytes = (std::uint64_t{1} << 63) - 1;

// As a number: a list is looked at before anybody knows whether its memory exists.
std::uint64_t address(const Extent& extent) { return reinterpret_cast<std::uintptr_t>(extent.memory); }

Status bad_extent(const Extent& extent, std::size_t number, std::uint64_t sum_before) {
  const std::string name = "extent " + std::to_string(number) + " (" + std::to_string(extent.bytes) +
                           " bytes at offset " + std::to_string(extent.offset) + ")";
  if (extent.memory == nullptr) {
    return Status::error(Code::invalid_argument, name + " has no memory; only an extent of 0 bytes may have none");
  }
  std::uint64_t end = 0;
  if (add_overflow(extent.offset, extent.bytes, &end) || end > kMostBytes) {
    return Status::error(Code::out_of_range, name + " ends beyond 2^63-1, the largest offset of a file");
  }
  return Status::error(Code::out_of_range, name + " and the " + std::to_string(sum_before) +
                                               " bytes of those before it are more than 2^63-1 bytes");
}

// Watches where runs begin. Equal lengths and distances are known once the next run begins, or the list ends.
class RunWatch {
 public:
  void begin_run(std::uint64_t offset) {
    end_run();
    if (runs_ > 0) {
      const std::uint64_t distance = offset - start_;
      if (runs_ == 1) stride_ = distance;
      if (offset <= start_ || distance != stride_) regular_ = false;
    }
    ++runs_;
    start_ = offset;
    run_bytes_ = 0;
  }
  void add(std::uint64_t bytes) { run_bytes_ += bytes; }
  void end_run() {
    if (runs_ == 0) return;
    if (runs_ == 1) first_bytes_ = run_bytes_;
    if (run_bytes_ != first_bytes_) regular_ = false;
  }
  std::uint64_t runs() const { return runs_; }
  std::uint64_t stride() const { return regular_ && runs_ > 1 ? stride_ : 0; }

 private:
  std::uint64_t runs_ = 0, start_ = 0, run_bytes_ = 0;
  std::uint64_t first_bytes_ = 0, stride_ = 0;
  bool regular_ = true;
};

}  // namespace

Result<ExtentSummary> summarise(std::span<const Extent> extents) {
  ExtentSummary all;
  RunWatch runs;
  std::uint64_t last_offset = 0;
  std::uint64_t last_end = 0;
  std::uint64_t last_memory = 0;  // behind the last byte
  for (const Extent& extent : extents) {
    if (extent.bytes == 0) continue;
    // Whatever is below 2^63 can be added to another such number.
    if (extent.memory == nullptr || ((extent.offset | extent.bytes) >> 63) != 0 || extent.end() > kMostBytes ||
        all.bytes + extent.bytes > kMostBytes) {
      return bad_extent(extent, static_cast<std::size_t>(&extent - extents.data()), all.bytes);
    }
    const bool first = all.n == 0;
    const bool file_goes_on = !first && extent.offset == last_end;
    const bool memory_goes_on = !first && address(extent) == last_memory;
    if (!file_goes_on) runs.begin_run(extent.offset);
    runs.add(extent.bytes);
    if (!first && !memory_goes_on) all.one_in_memory = false;
    const bool close = !first && extent.offset >= last_end && extent.offset - last_end <= kCloseBy;
    all.close_bytes += extent.bytes + (close ? extent.offset - last_end : 0);
    if (!close && all.close_runs < ~std::uint32_t{0}) ++all.close_runs;
    if (!file_goes_on || !memory_goes_on) ++all.pieces;
    if (extent.offset < last_offset) all.sorted = false;
    if (extent.offset < last_end) all.disjoint = false;  // while sorted, the last end is the highest
    all.begin = first ? extent.offset : std::min(all.begin, extent.offset);
    all.end = std::max(all.end, extent.end());
    ++all.n;
    all.bytes += extent.bytes;
    last_offset = extent.offset;
    last_end = extent.end();
    last_memory = address(extent) + extent.bytes;
  }
  runs.end_run();
  all.runs = runs.runs();
  all.stride = runs.stride();
  if (!all.sorted) all.disjoint = false;
  return all;
}

}  // namespace thalweg
