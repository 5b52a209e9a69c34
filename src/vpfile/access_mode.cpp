#include "vpfile/access_mode.hpp"

#include <algorithm>
#include <type_traits>

namespace thalweg {

namespace {

VpCause cause_of_ib(const StreamAccess& facts) {
  if (facts.masked != 0) return VpCause::masked;
  if (facts.least_bytes < facts.most_bytes) return VpCause::ragged;
  return VpCause::scattered;
}

}  // namespace

const char* name_of(VpMode mode) {
  static constexpr const char* kNames[] = {"NB", "CB", "IB"};
  return kNames[static_cast<std::size_t>(mode)];
}

const char* text_of(VpCause cause) {
  static constexpr const char* kTexts[] = {
      "all take part with the same number of bytes, packed in memory",
      "some take no part",
      "numbers of bytes differ",
      "positions differ",
      "memory is not packed",
      "another number of bytes than the first write",
      "the position is within a record",
      "an earlier access decided",
  };
  return kTexts[static_cast<std::size_t>(cause)];
}

Folding StreamAccess::folding() {
  static_assert(std::is_trivially_copyable_v<StreamAccess>);
  return {sizeof(StreamAccess), [](void* left, const void* right) {
            auto& all = *static_cast<StreamAccess*>(left);
            const auto& more = *static_cast<const StreamAccess*>(right);
            all.least_bytes = std::min(all.least_bytes, more.least_bytes);
            all.most_bytes = std::max(all.most_bytes, more.most_bytes);
            all.least_position = std::min(all.least_position, more.least_position);
            all.most_position = std::max(all.most_position, more.most_position);
            all.most_vps = std::max(all.most_vps, more.most_vps);
            all.least_run = std::min(all.least_run, more.least_run);
            all.wrong |= more.wrong;
            all.reads |= more.reads;
            all.writes |= more.writes;
            all.masked |= more.masked;
            all.scattered |= more.scattered;
            all.strided |= more.strided;
            all.has_ib |= more.has_ib;
            all.calls.join(more.calls);
          }};
}

VpChoice choose_write(const StreamAccess& all, VpMode written, std::uint64_t record_bytes) {
  if (!all.uniform()) return {VpMode::ib, cause_of_ib(all)};
  if (written == VpMode::ib || all.has_ib != 0) return {VpMode::ib, VpCause::before};
  if (all.strided != 0) return {VpMode::cb, VpCause::strided};
  if (record_bytes != 0 && all.most_bytes != record_bytes) return {VpMode::cb, VpCause::size};
  if (all.most_position % all.most_bytes != 0) return {VpMode::cb, VpCause::between};
  if (written == VpMode::cb) return {VpMode::cb, VpCause::before};
  return {};
}

VpChoice choose_read(const StreamAccess& all, bool in_lattice, bool whole_row) {
  if (!all.uniform()) return {VpMode::ib, cause_of_ib(all)};
  if (!in_lattice) return {VpMode::ib, VpCause::before};
  if (all.strided != 0) return {VpMode::cb, VpCause::strided};
  if (!whole_row) return {VpMode::cb, VpCause::size};
  return {};
}

}  // namespace thalweg
