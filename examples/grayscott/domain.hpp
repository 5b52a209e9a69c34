// The distribution of cells over ranks, and the exchange of border cells with neighbours.
//
// The square is divided into blocks, one per rank, on a periodic process grid; a block is divided into strips of rows,
// one per thread. Sizes need not divide evenly.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>

#include "model.hpp"

namespace grayscott {

// Part `i` of `n` nearly equal parts of `length` cells begins here; part n would begin at `length`.
inline std::int64_t part_begin(std::int64_t length, std::int64_t n, std::int64_t i) { return length * i / n; }

class Domain {
 public:
  // Collective over `all`.
  Domain(MPI_Comm all, std::int64_t size);
  ~Domain();
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  MPI_Comm ranks() const { return grid_; }
  int rank() const { return rank_; }
  int n_ranks() const { return n_ranks_; }
  std::int64_t size() const { return size_; }  // columns, and rows, of the whole square
  const Box& block() const { return block_; }  // of this rank

  // The rows of this rank's block that thread `thread` of `n_threads` works on; may be empty.
  Box strip(int thread, int n_threads) const;

  // Fills the ghost cells from the neighbours. Collective over the ranks; one thread calls it.
  void exchange_ghosts(Fields& fields) const;

  // Writes u, then v, of the whole square as plain numbers, row after row. Collective over the ranks; one thread calls
  // it. Uses MPI-IO directly, so that the demo can compare fields without relying on Thalweg.
  void write_plain(const Fields& fields, const std::string& path) const;

 private:
  struct Border {
    double* first;   // cells to send to the lower neighbour (west or north)
    double* last;    // cells to send to the upper neighbour (east or south)
    double* before;  // ghost cells from the lower neighbour
    double* after;   // ghost cells from the upper neighbour
  };
  void start_exchange(const Border& border, MPI_Datatype cells, int dimension,
                      std::span<MPI_Request, 4> requests) const;

  std::int64_t size_;
  MPI_Comm grid_ = MPI_COMM_NULL;
  int rank_ = 0, n_ranks_ = 1;
  int lower_[2] = {}, upper_[2] = {};  // neighbours by dimension: 0 is y (north, south), 1 is x (west, east)
  Box block_;
  MPI_Datatype column_ = MPI_DATATYPE_NULL;  // the inner rows of one column
  MPI_Datatype row_ = MPI_DATATYPE_NULL;     // one row with its two ghost cells, which include the corners
};

}  // namespace grayscott
