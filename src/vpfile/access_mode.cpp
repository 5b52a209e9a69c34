#include "vpfile/access_mode.hpp"

#include <algorithm>

namespace thalweg {

namespace {

const char* cause_of_ib(const StreamAccess& all) {
  if (all.masked != 0) return vp_cause::kMasked;
  return all.least_bytes < all.most_bytes ? vp_cause::kRagged : vp_cause::kScattered;
}

}  // namespace

void StreamAccess::join(const StreamAccess& more) {
  least_bytes = std::min(least_bytes, more.least_bytes);
  most_bytes = std::max(most_bytes, more.most_bytes);
  least_position = std::min(least_position, more.least_position);
  most_position = std::max(most_position, more.most_position);
  most_vps = std::max(most_vps, more.most_vps);
  least_run = std::min(least_run, more.least_run);
  wrong |= more.wrong;
  reads |= more.reads;
  writes |= more.writes;
  masked |= more.masked;
  scattered |= more.scattered;
  strided |= more.strided;
  has_ib |= more.has_ib;
  own_writes |= more.own_writes;
  calls.join(more.calls);
}

VpChoice choose_write(const StreamAccess& all, VpMode written, std::uint64_t record_bytes) {
  if (!all.uniform()) return {VpMode::ib, cause_of_ib(all)};
  if (written == VpMode::ib || all.has_ib != 0) return {VpMode::ib, vp_cause::kBefore};
  if (all.strided != 0) return {VpMode::cb, vp_cause::kStrided};
  if (record_bytes != 0 && all.most_bytes != record_bytes) return {VpMode::cb, vp_cause::kSize};
  if (all.most_position % all.most_bytes != 0) return {VpMode::cb, vp_cause::kBetween};
  if (written == VpMode::cb) return {VpMode::cb, vp_cause::kBefore};
  return {};
}

VpChoice choose_read(const StreamAccess& all, bool in_lattice, bool whole_row) {
  if (!all.uniform()) return {VpMode::ib, cause_of_ib(all)};
  if (!in_lattice) return {VpMode::ib, vp_cause::kBefore};
  if (all.strided != 0) return {VpMode::cb, vp_cause::kStrided};
  if (!whole_row) return {VpMode::cb, vp_cause::kSize};
  return {};
}

}  // namespace thalweg
