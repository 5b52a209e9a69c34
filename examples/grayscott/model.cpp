#include "model.hpp"

#include <algorithm>

namespace grayscott {
namespace {

constexpr double kDiffusionU = 1.0;
constexpr double kDiffusionV = 0.5;

// Holes in the middle, a labyrinth around them, dividing spots at the border.
constexpr double kFeedMiddle = 0.039, kFeedBorder = 0.034;
constexpr double kKillMiddle = 0.058, kKillBorder = 0.0645;
constexpr double kFarthest = 1.1;  // constant beyond this squared distance: in the corners v would vanish

struct Cell {
  double u, v;
};

// lap(f) at f[0]: weights 1/5 for the sides, 1/20 for the corners, -1 for the middle.
inline double laplacian(const double* north, const double* here, const double* south) {
  const double sides = (here[-1] + here[1]) + (north[0] + south[0]);
  const double corners = (north[-1] + north[1]) + (south[-1] + south[1]);
  return 0.2 * sides + 0.05 * corners - here[0];
}

inline Cell react(double u, double v, double lap_u, double lap_v, double distance) {
  const double feed = kFeedMiddle + (kFeedBorder - kFeedMiddle) * distance;
  const double kill = kKillMiddle + (kKillBorder - kKillMiddle) * distance;
  const double eaten = u * v * v;
  return {u + (kDiffusionU * lap_u - eaten + feed * (1.0 - u)), v + (kDiffusionV * lap_v + eaten - (feed + kill) * v)};
}

// Pseudo-random numbers, equal on every machine (Knuth's MMIX generator).
class Dice {
 public:
  std::int64_t below(std::int64_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(limit));
  }

 private:
  std::uint64_t state_ = 12345;
};

}  // namespace

Box overlap(const Box& a, const Box& b) {
  const std::int64_t x = std::max(a.x, b.x), y = std::max(a.y, b.y);
  return {x, y, std::min(a.x + a.nx, b.x + b.nx) - x, std::min(a.y + a.ny, b.y + b.ny) - y};
}

Fields::Fields(const Box& box) : box_(box), u_(static_cast<std::size_t>((box.nx + 2) * (box.ny + 2))), v_(u_.size()) {}

Model::Model(std::int64_t size) : distance_(static_cast<std::size_t>(size)) {
  for (std::int64_t i = 0; i < size; ++i) {
    const double from_middle = (static_cast<double>(i) + 0.5) / static_cast<double>(size) - 0.5;
    distance_[static_cast<std::size_t>(i)] = 4.0 * from_middle * from_middle;
  }
  Dice dice;
  const std::int64_t n_drops = size * size / 1000;
  for (std::int64_t i = 0; i < n_drops; ++i) {
    const std::int64_t x = dice.below(size), y = dice.below(size);
    drops_.push_back({x, y, 3 + dice.below(4)});
  }
}

bool Model::in_a_drop(std::int64_t x, std::int64_t y) const {
  return std::any_of(drops_.begin(), drops_.end(), [=](const Drop& drop) {
    return (x - drop.x) * (x - drop.x) + (y - drop.y) * (y - drop.y) <= drop.radius * drop.radius;
  });
}

void Model::start(Fields& fields, const Box& part) const {
  for (std::int64_t y = part.y; y < part.y + part.ny; ++y) {
    for (std::int64_t x = part.x; x < part.x + part.nx; ++x) {
      const bool drop = in_a_drop(x, y);
      *fields.u(x, y) = drop ? 0.5 : 1.0;
      *fields.v(x, y) = drop ? 0.25 : 0.0;
    }
  }
}

void Model::step(const Fields& now, Fields& next, const Box& part) const {
  const std::int64_t row = now.row_length();
  const double* const distance_x = &distance_[static_cast<std::size_t>(part.x)];
  for (std::int64_t y = part.y; y < part.y + part.ny; ++y) {
    const double* const u = now.u(part.x, y);
    const double* const v = now.v(part.x, y);
    double* const new_u = next.u(part.x, y);
    double* const new_v = next.v(part.x, y);
    const double distance_y = distance_[static_cast<std::size_t>(y)];
#pragma omp simd
    for (std::int64_t i = 0; i < part.nx; ++i) {
      const double lap_u = laplacian(u + i - row, u + i, u + i + row);
      const double lap_v = laplacian(v + i - row, v + i, v + i + row);
      const double distance = std::min(distance_x[i] + distance_y, kFarthest);
      const Cell cell = react(u[i], v[i], lap_u, lap_v, distance);
      new_u[i] = cell.u;
      new_v[i] = cell.v;
    }
  }
}

}  // namespace grayscott
