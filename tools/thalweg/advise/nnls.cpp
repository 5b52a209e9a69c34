#include "nnls.hpp"

#include <algorithm>
#include <cmath>

namespace tool {
namespace {

constexpr double kTrust = 0.02;  // weight of a guess relative to one time: it decides where no time does
constexpr int kReweighted = 12;
constexpr int kRounds = 400;
constexpr double kNear = 0.05;  // smaller relative errors count in full
constexpr double kLeastSeconds = 1e-7;

// Rows and columns are scaled: a row to the relative error, a column to its largest effect on any time.
struct Scaled {
  std::vector<std::vector<double>> rows;
  std::vector<double> unit;
};

Scaled scaled(const std::vector<Observation>& seen, size_t n) {
  Scaled out;
  out.unit.assign(n, 0);
  for (const Observation& one : seen) {
    std::vector<double> row(n);
    for (size_t j = 0; j < n; ++j) {
      row[j] = one.terms[j] / std::max(one.seconds, kLeastSeconds);
      out.unit[j] = std::max(out.unit[j], row[j]);
    }
    out.rows.push_back(std::move(row));
  }
  for (double& unit : out.unit) unit = unit > 0 ? unit : 1;
  for (auto& row : out.rows)
    for (size_t j = 0; j < n; ++j) row[j] /= out.unit[j];
  return out;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

// Coordinate descent until no constant changes: the function is convex.
void descend(const Scaled& all, const std::vector<double>& weights, const std::vector<double>& goals,
             std::vector<double>& x) {
  std::vector<double> rest;  // residual of each row; updated, not recomputed for each constant
  rest.reserve(all.rows.size());
  for (const auto& row : all.rows) rest.push_back(1 - dot(row, x));
  for (int round = 0; round < kRounds; ++round) {
    double moved = 0;
    for (size_t j = 0; j < x.size(); ++j) {
      double top = kTrust * goals[j];
      double below = kTrust;
      for (size_t i = 0; i < all.rows.size(); ++i) {
        const double a = all.rows[i][j];
        top += weights[i] * a * (rest[i] + a * x[j]);
        below += weights[i] * a * a;
      }
      const double next = std::max(0.0, top / below);
      moved = std::max(moved, std::abs(next - x[j]));
      for (size_t i = 0; i < all.rows.size(); ++i) rest[i] -= all.rows[i][j] * (next - x[j]);
      x[j] = next;
    }
    if (moved < 1e-9) return;
  }
}

}  // namespace

std::vector<double> fit_constants(const std::vector<Observation>& seen, const std::vector<double>& guesses) {
  const Scaled all = scaled(seen, guesses.size());
  std::vector<double> goals, x(guesses.size());
  for (size_t j = 0; j < guesses.size(); ++j) goals.push_back(guesses[j] * all.unit[j]);
  std::vector<double> weights(all.rows.size(), 1);
  for (int turn = 0; turn < kReweighted; ++turn) {
    descend(all, weights, goals, x);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = kNear / std::max(kNear, std::abs(1 - dot(all.rows[i], x)));
  }
  for (size_t j = 0; j < x.size(); ++j) x[j] /= all.unit[j];
  return x;
}

double sum_of_terms(const std::vector<double>& terms, const std::vector<double>& constants) {
  return dot(terms, constants);
}

}  // namespace tool
