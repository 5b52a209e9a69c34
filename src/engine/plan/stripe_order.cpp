#include "engine/plan/stripe_order.hpp"

#include <algorithm>

namespace thalweg {

std::size_t most_suiting(std::size_t most, std::uint64_t targets) {
  std::size_t n = std::max<std::size_t>(most, 1);
  while (!suits_targets(n, targets)) --n;
  return n;
}

StripeOrder::StripeOrder(FileDomain range, std::size_t n, std::uint64_t stripe_bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  if (range.end > kMost || n > kMost / stripe_bytes) return;
  stripe_ = stripe_bytes;
  n_ = n;
  first_ = range.begin / row() * row();
  domain_ = ((range.end - first_) / row() + 1) * stripe_;
}

std::vector<FileDomain> StripeOrder::domains() const {
  std::vector<FileDomain> domains(n_);
  for (std::uint64_t i = 0; i < n_; ++i) domains[i] = {i * domain_, (i + 1) * domain_};
  return domains;
}

std::uint64_t StripeOrder::position(std::uint64_t offset) const {
  const std::uint64_t in = offset - first_;
  return in / stripe_ % n_ * domain_ + in / row() * stripe_ + in % stripe_;
}

std::vector<Extent> StripeOrder::extents(const ExtentList& list) const {
  std::vector<Extent> cut;
  cut.reserve(list.extents().size());
  for (Extent rest : list.extents()) {
    while (rest.bytes > 0) {
      const std::uint64_t part = std::min(rest.bytes, stripe_ - rest.offset % stripe_);
      cut.push_back({rest.memory, part, position(rest.offset)});
      rest = {rest.memory + part, rest.bytes - part, rest.offset + part};
    }
  }
  return cut;
}

void StripeOrder::append_in_file(Extent rest, std::vector<Extent>& to) const {
  if (!on()) return to.push_back(rest);
  while (rest.bytes > 0) {
    const std::uint64_t i = rest.offset / domain_, in = rest.offset % domain_;
    const std::uint64_t part = std::min(rest.bytes, stripe_ - in % stripe_);
    to.push_back({rest.memory, part, first_ + in / stripe_ * row() + i * stripe_ + in % stripe_});
    rest = {rest.memory + part, rest.bytes - part, rest.offset + part};
  }
}

std::uint64_t StripeOrder::end_in(std::size_t i, std::uint64_t offset) const {
  if (!on()) return offset;
  const std::uint64_t in = offset - std::min(offset, first_);
  const std::uint64_t before = i * stripe_;  // in its row
  const std::uint64_t of_row = std::clamp(in % row(), before, before + stripe_) - before;
  return i * domain_ + std::min(in / row() * stripe_ + of_row, domain_);
}

}  // namespace thalweg
