// Interleaved repetitions and their statistics.
#include "support/comparison.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/clock.hpp"

namespace bench {

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const double median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  return {median, values.front(), values.back()};
}

Comparison::Comparison(std::string name, Amount amount, std::vector<std::string> phases)
    : name_(std::move(name)), amount_(std::move(amount)), phases_(std::move(phases)) {}

void Comparison::add(const std::string& variant, Run run) { entries_.push_back({variant, std::move(run), {}}); }

void Comparison::run(const Plan& plan) {
  if (plan.warm_up)
    for (const Entry& entry : entries_) entry.run(-1);
  std::minstd_rand shuffler(1);  // NOLINT(cert-msc51-cpp): every run of a benchmark has the same order
  const double start = now();
  for (int repetition = 0; repetition < plan.repetitions; ++repetition) {
    const double passed = repetition == 0 ? 0 : now() - start;
    if (repetition >= plan.least && passed > plan.seconds) return;
    if (passed > plan.most_seconds)
      return note("repetitions", "only " + std::to_string(repetition) + ", a busy machine");
    std::vector<std::size_t> order(entries_.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), shuffler);
    for (const std::size_t which : order) {
      Entry& entry = entries_[which];
      const std::vector<double> seconds = entry.run(repetition);
      for (std::size_t i = 0; i < phases_.size(); ++i) entry.seconds[phases_[i]].push_back(seconds.at(i));
    }
  }
}

std::vector<std::string> Comparison::variants() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

const Comparison::Entry& Comparison::find(const std::string& variant) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == variant; });
  if (found == entries_.end()) throw std::logic_error("no variant '" + variant + "' in '" + name_ + "'");
  return *found;
}

const std::vector<double>& Comparison::samples(const std::string& variant, const std::string& phase) const {
  return find(variant).seconds.at(phase);
}

Spread Comparison::seconds(const std::string& variant, const std::string& phase) const {
  return spread_of(samples(variant, phase));
}

Spread Comparison::speed(const std::string& variant, const std::string& peer, const std::string& phase) const {
  const std::vector<double>& ours = samples(variant, phase);
  const std::vector<double>& theirs = samples(peer, phase);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(theirs.at(i) / ours[i]);
  return spread_of(ratios);
}

std::string Comparison::fastest(const std::vector<std::string>& candidates, const std::string& phase) const {
  std::string best;
  for (const Entry& entry : entries_) {
    if (std::find(candidates.begin(), candidates.end(), entry.name) == candidates.end()) continue;
    if (best.empty() || seconds(entry.name, phase).median < seconds(best, phase).median) best = entry.name;
  }
  if (best.empty()) throw std::logic_error("no such variant in '" + name_ + "'");
  return best;
}

}  // namespace bench
