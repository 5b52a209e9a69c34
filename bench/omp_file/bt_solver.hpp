// A small block-tridiagonal solver of the kind of NAS BT: five coupled equations of transport and diffusion on a cube,
//
//     u_t + sum over x, y, z of (A u + s u^2 / 2)' = nu (u_xx + u_yy + u_zz) + f,
//
// are driven to a known steady state by implicit steps in factored form. A step solves a block-tridiagonal system with
// blocks of 5 x 5 along each line of cells in x, then in y, then in z. The boundary is fixed.
#ifndef BENCH_OMP_FILE_BT_SOLVER_HPP
#define BENCH_OMP_FILE_BT_SOLVER_HPP

#include <array>
#include <cstddef>
#include <vector>

namespace bench {

inline constexpr std::size_t kComponents = 5;

// u, with margins as in the memory of programs with halos: only rows in x are contiguous.
class BtField {
 public:
  static constexpr std::size_t kMargin = 2;

  explicit BtField(std::size_t cells)
      : n_(cells), wide_(cells + 2 * kMargin), u_(kComponents * wide_ * wide_ * wide_) {}
  std::size_t n() const { return n_; }  // cells in each direction
  std::size_t row_bytes() const { return kComponents * n_ * sizeof(double); }
  std::size_t bytes() const { return row_bytes() * n_ * n_; }
  double* row(std::size_t y, std::size_t z) {
    return u_.data() + (((z + kMargin) * wide_ + y + kMargin) * wide_ + kMargin) * kComponents;
  }
  const double* row(std::size_t y, std::size_t z) const { return const_cast<BtField*>(this)->row(y, z); }
  double* cell(std::size_t x, std::size_t y, std::size_t z) { return row(y, z) + x * kComponents; }
  const double* cell(std::size_t x, std::size_t y, std::size_t z) const { return row(y, z) + x * kComponents; }

 private:
  std::size_t n_, wide_;
  std::vector<double> u_;
};

class BtSolver {
 public:
  explicit BtSolver(std::size_t cells);
  BtField& field() { return field_; }
  // One time step, by all threads of the machine.
  void step();
  // Root mean square distance from the steady state.
  double error() const;

 private:
  using Cell = std::array<double, kComponents>;
  struct Line;

  Cell exact(std::size_t x, std::size_t y, std::size_t z) const;
  template <class At>
  Cell residual(std::size_t x, std::size_t y, std::size_t z, const At& at) const;
  std::size_t index(std::size_t x, std::size_t y, std::size_t z) const { return (z * field_.n() + y) * field_.n() + x; }
  void solve_lines(int direction);
  void solve(Line& line, int direction, std::size_t a, std::size_t b);

  BtField field_;
  std::vector<Cell> source_;  // f
  std::vector<Cell> change_;  // dt times the residual, then that of u
  double h_, dt_;
};

}  // namespace bench

#endif
