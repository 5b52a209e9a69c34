#include "engine/transfer/one_call.hpp"

namespace thalweg {

std::optional<OneCall> OneCall::of(const Whole& whole, const Plan& plan) {
  const bool alone = plan.method == Method::direct && whole.tasks() == 1;
  const bool one_worker = alone || (plan.method == Method::shared && plan.workers == 1);
  if (!one_worker || plan.pack || plan.sieve || plan.past_cache) return {};
  if (whole.tasks() > kMostTasks || whole.facts().bytes() > kMostBytes || whole.facts().has_lists()) return {};
  OneCall call;
  for (std::size_t i = 0; i < whole.movers(); ++i)
    if (!call.add(whole.shown(i).summary, whole.shown(i).list)) return {};
  return call;
}

// False when it does not follow what is there.
bool OneCall::add(const ExtentSummary& extent, const void* memory) {
  if (extent.bytes == 0) return true;
  if (n_pieces_ > 0 && extent.begin != range_.end) return false;
  auto* begin = static_cast<std::byte*>(const_cast<void*>(memory));
  if (n_pieces_ == 0) range_.begin = extent.begin;
  range_.end = extent.end;
  if (n_pieces_ > 0) {
    Piece& last = pieces_[n_pieces_ - 1];
    if (last.memory + last.bytes == begin) {
      last.bytes += extent.bytes;
      return true;
    }
  }
  pieces_[n_pieces_++] = {begin, extent.bytes};
  return true;
}

}  // namespace thalweg
