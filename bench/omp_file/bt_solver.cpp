#include "omp_file/bt_solver.hpp"

#include <cmath>
#include <numbers>

namespace bench {

namespace {

constexpr std::size_t kN = kComponents;
constexpr double kViscosity = 0.1, kSteepness = 0.2;

using Block = std::array<std::array<double, kN>, kN>;
using Values = std::array<double, kN>;

// A of each direction: symmetric, neighbouring components are coupled.
constexpr double kSpeed[3] = {1.0, 0.7, 0.4}, kCoupling[3] = {0.3, 0.2, 0.25};

Values flux(int direction, const Values& u) {
  Values f{};
  for (std::size_t i = 0; i < kN; ++i) {
    const double near = u[(i + 1) % kN] + u[(i + kN - 1) % kN];
    f[i] = kSpeed[direction] * u[i] + kCoupling[direction] * near + 0.5 * kSteepness * u[i] * u[i];
  }
  return f;
}

// scale * (flux derivative at u) + diagonal * I
Block jacobian(int direction, const double* u, double scale, double diagonal) {
  Block block{};
  for (std::size_t i = 0; i < kN; ++i) {
    block[i][i] = scale * (kSpeed[direction] + kSteepness * u[i]) + diagonal;
    block[i][(i + 1) % kN] += scale * kCoupling[direction];
    block[i][(i + kN - 1) % kN] += scale * kCoupling[direction];
  }
  return block;
}

// Multiplies `upper` and `right` by the inverse of `pivot`. Diagonally dominant: needs no exchange of rows.
void eliminate(Block& pivot, Block& upper, Values& right) {
  for (std::size_t k = 0; k < kN; ++k) {
    const double inverse = 1 / pivot[k][k];
    for (std::size_t j = k + 1; j < kN; ++j) pivot[k][j] *= inverse;
    for (std::size_t j = 0; j < kN; ++j) upper[k][j] *= inverse;
    right[k] *= inverse;
    for (std::size_t i = 0; i < kN; ++i) {
      if (i == k) continue;
      const double factor = pivot[i][k];
      for (std::size_t j = k + 1; j < kN; ++j) pivot[i][j] -= factor * pivot[k][j];
      for (std::size_t j = 0; j < kN; ++j) upper[i][j] -= factor * upper[k][j];
      right[i] -= factor * right[k];
    }
  }
}

}  // namespace

// Work space of one thread.
struct BtSolver::Line {
  std::vector<Block> upper;
  std::vector<Values> right;
  explicit Line(std::size_t n) : upper(n), right(n) {}
};

BtSolver::BtSolver(std::size_t cells)
    : field_(cells),
      source_(cells * cells * cells),
      change_(cells * cells * cells),
      h_(1.0 / static_cast<double>(cells - 1)),
      dt_(0.5 * h_) {
  const std::size_t n = field_.n();
#pragma omp parallel for
  for (std::size_t z = 0; z < n; ++z)
    for (std::size_t y = 0; y < n; ++y)
      for (std::size_t x = 0; x < n; ++x) {
        const bool inside = x > 0 && y > 0 && z > 0 && x + 1 < n && y + 1 < n && z + 1 < n;
        const Cell e = exact(x, y, z);
        for (std::size_t c = 0; c < kN; ++c) field_.cell(x, y, z)[c] = inside ? 0.8 * e[c] : e[c];
        Cell& source = source_[index(x, y, z)];
        source = {};
        if (!inside) continue;
        source = residual(x, y, z, [&](std::size_t i, std::size_t j, std::size_t k) { return exact(i, j, k); });
        for (double& value : source) value = -value;
      }
}

BtSolver::Cell BtSolver::exact(std::size_t x, std::size_t y, std::size_t z) const {
  constexpr double kPi = std::numbers::pi;
  const double at[3] = {h_ * static_cast<double>(x), h_ * static_cast<double>(y), h_ * static_cast<double>(z)};
  Cell e{};
  for (std::size_t c = 0; c < kN; ++c) {
    const auto number = static_cast<double>(c + 1);
    e[c] = 1 + 0.1 * number * std::sin(kPi * (at[0] + 0.3 * number)) * std::cos(kPi * at[1]) +
           0.05 * std::sin(kPi * at[2] * number);
  }
  return e;
}

// Without the source. `at` returns the cell of three indices.
template <class At>
BtSolver::Cell BtSolver::residual(std::size_t x, std::size_t y, std::size_t z, const At& at) const {
  const Cell here = at(x, y, z);
  Cell sum{};
  for (int d = 0; d < 3; ++d) {
    const std::size_t dx = d == 0, dy = d == 1, dz = d == 2;
    const Cell before = at(x - dx, y - dy, z - dz), behind = at(x + dx, y + dy, z + dz);
    const Values f0 = flux(d, before), f1 = flux(d, behind);
    for (std::size_t c = 0; c < kN; ++c)
      sum[c] += (f0[c] - f1[c]) / (2 * h_) + kViscosity * (before[c] - 2 * here[c] + behind[c]) / (h_ * h_);
  }
  return sum;
}

void BtSolver::step() {
  const std::size_t n = field_.n();
#pragma omp parallel for
  for (std::size_t z = 1; z < n - 1; ++z)
    for (std::size_t y = 1; y < n - 1; ++y)
      for (std::size_t x = 1; x < n - 1; ++x) {
        const Cell r = residual(x, y, z, [&](std::size_t i, std::size_t j, std::size_t k) {
          const double* u = field_.cell(i, j, k);
          return Cell{u[0], u[1], u[2], u[3], u[4]};
        });
        const std::size_t at = index(x, y, z);
        for (std::size_t c = 0; c < kN; ++c) change_[at][c] = dt_ * (r[c] + source_[at][c]);
      }
  for (int d = 0; d < 3; ++d) solve_lines(d);
#pragma omp parallel for
  for (std::size_t z = 1; z < n - 1; ++z)
    for (std::size_t y = 1; y < n - 1; ++y)
      for (std::size_t x = 1; x < n - 1; ++x)
        for (std::size_t c = 0; c < kN; ++c) field_.cell(x, y, z)[c] += change_[index(x, y, z)][c];
}

void BtSolver::solve_lines(int direction) {
  const std::size_t n = field_.n();
#pragma omp parallel
  {
    Line line(n);
#pragma omp for
    for (std::size_t b = 1; b < n - 1; ++b)
      for (std::size_t a = 1; a < n - 1; ++a) solve(line, direction, a, b);
  }
}

// Cells along one line; a and b are the other two indices.
void BtSolver::solve(Line& line, int direction, std::size_t a, std::size_t b) {
  const std::size_t n = field_.n();
  const auto at = [&](std::size_t i) {
    return direction == 0 ? std::array{i, a, b} : direction == 1 ? std::array{a, i, b} : std::array{a, b, i};
  };
  const auto u = [&](std::size_t i) {
    const auto [x, y, z] = at(i);
    return field_.cell(x, y, z);
  };
  const auto change = [&](std::size_t i) -> Cell& {
    const auto [x, y, z] = at(i);
    return change_[index(x, y, z)];
  };
  const double first = dt_ / (2 * h_), second = dt_ * kViscosity / (h_ * h_);
  for (std::size_t i = 1; i < n - 1; ++i) {
    Block pivot{};
    for (std::size_t c = 0; c < kN; ++c) pivot[c][c] = 1 + 2 * second;
    Values right = change(i);
    if (i > 1) {  // less the lower block times the line before
      const Block lower = jacobian(direction, u(i - 1), -first, -second);
      for (std::size_t r = 0; r < kN; ++r)
        for (std::size_t k = 0; k < kN; ++k) {
          right[r] -= lower[r][k] * line.right[i - 1][k];
          for (std::size_t c = 0; c < kN; ++c) pivot[r][c] -= lower[r][k] * line.upper[i - 1][k][c];
        }
    }
    Block upper{};
    if (i + 2 < n) upper = jacobian(direction, u(i + 1), first, -second);
    eliminate(pivot, upper, right);
    line.upper[i] = upper;
    line.right[i] = right;
  }
  change(n - 2) = line.right[n - 2];
  for (std::size_t i = n - 2; i-- > 1;) {
    const Cell& behind = change(i + 1);
    for (std::size_t r = 0; r < kN; ++r) {
      double value = line.right[i][r];
      for (std::size_t c = 0; c < kN; ++c) value -= line.upper[i][r][c] * behind[c];
      change(i)[r] = value;
    }
  }
}

double BtSolver::error() const {
  const std::size_t n = field_.n();
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::size_t z = 0; z < n; ++z)
    for (std::size_t y = 0; y < n; ++y)
      for (std::size_t x = 0; x < n; ++x) {
        const Cell e = exact(x, y, z);
        for (std::size_t c = 0; c < kN; ++c) sum += (field_.cell(x, y, z)[c] - e[c]) * (field_.cell(x, y, z)[c] - e[c]);
      }
  return std::sqrt(sum / static_cast<double>(n * n * n * kN));
}

}  // namespace bench
