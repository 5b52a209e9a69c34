// The Gray-Scott model: two chemicals on a periodic square, one feeding on the other.
//
//     du/dt = D_u lap(u) - u v^2 + F (1 - u)
//     dv/dt = D_v lap(v) + u v^2 - (F + k) v
//
// Explicit Euler steps of length 1 on a grid of width 1, 9-point Laplacian. Feed rate F and kill rate k vary slowly
// from the middle of the square to its border, so that one picture holds several kinds of pattern.
//
// Invariant: the new value of a cell depends on its nine old neighbours and on its place in the square only, computed
// in one fixed order (no sums over cells, -ffp-contract=off). So the result is the same to the last bit for any number
// of ranks and threads.
// Source: Pearson, "Complex patterns in a simple system", Science 261 (1993).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace grayscott {

// A rectangle of cells of the square.
struct Box {
  std::int64_t x = 0, y = 0;    // first column and row
  std::int64_t nx = 0, ny = 0;  // columns and rows

  bool empty() const { return nx <= 0 || ny <= 0; }
};

// The intersection; empty when there is none.
Box overlap(const Box& a, const Box& b);

// u and v on a box and on the one layer of ghost cells around it, row after row. Columns and rows are those of the
// square; those of ghost cells may be -1 or size.
class Fields {
 public:
  explicit Fields(const Box& box);

  double* u(std::int64_t x, std::int64_t y) { return &u_[index(x, y)]; }
  double* v(std::int64_t x, std::int64_t y) { return &v_[index(x, y)]; }
  const double* u(std::int64_t x, std::int64_t y) const { return &u_[index(x, y)]; }
  const double* v(std::int64_t x, std::int64_t y) const { return &v_[index(x, y)]; }

  const Box& box() const { return box_; }
  std::int64_t row_length() const { return box_.nx + 2; }

 private:
  std::size_t index(std::int64_t x, std::int64_t y) const {
    return static_cast<std::size_t>((y - box_.y + 1) * row_length() + (x - box_.x + 1));
  }

  Box box_;
  std::vector<double> u_, v_;
};

class Model {
 public:
  // size: columns, and rows, of the square.
  explicit Model(std::int64_t size);

  // Sets `part` of the fields to the state at step 0: u = 1, v = 0, and round drops of v.
  void start(Fields& fields, const Box& part) const;

  // Computes `part` of `next` from `now`, whose ghost cells are up to date.
  void step(const Fields& now, Fields& next, const Box& part) const;

 private:
  struct Drop {
    std::int64_t x, y, radius;
  };

  bool in_a_drop(std::int64_t x, std::int64_t y) const;

  std::vector<Drop> drops_;
  std::vector<double> distance_;  // by column or row: squared distance from the middle, 1 at the border
};

}  // namespace grayscott
