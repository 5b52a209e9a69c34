#include "domain.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace grayscott {
namespace {

// Waits for the requests without occupying the core: MPI_Waitall of many MPIs spins, which is slow where ranks share
// cores. It yields first; a rank that waits longer sleeps, since yielding alone delays ranks that compute.
void wait_all(std::span<MPI_Request> requests) {
  for (int polls = 0, done = 0;; ++polls) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done) return;
    if (polls < 20) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
}

void check_mpi(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(what + ": " + std::string(text, static_cast<std::size_t>(length)));
}

}  // namespace

Domain::Domain(MPI_Comm all, std::int64_t size) : size_(size) {
  int shape[2] = {}, periodic[2] = {1, 1}, place[2] = {};
  MPI_Comm_size(all, &n_ranks_);
  MPI_Dims_create(n_ranks_, 2, shape);
  MPI_Cart_create(all, 2, shape, periodic, 0, &grid_);
  MPI_Comm_rank(grid_, &rank_);
  MPI_Cart_coords(grid_, rank_, 2, place);
  for (int dimension : {0, 1}) MPI_Cart_shift(grid_, dimension, 1, &lower_[dimension], &upper_[dimension]);

  block_.y = part_begin(size, shape[0], place[0]);
  block_.x = part_begin(size, shape[1], place[1]);
  block_.ny = part_begin(size, shape[0], place[0] + 1) - block_.y;
  block_.nx = part_begin(size, shape[1], place[1] + 1) - block_.x;
  if (size < shape[0]) throw std::runtime_error("more ranks than rows: give a larger --size or fewer ranks");

  const int row_length = static_cast<int>(block_.nx) + 2;
  MPI_Type_vector(static_cast<int>(block_.ny), 1, row_length, MPI_DOUBLE, &column_);
  MPI_Type_contiguous(row_length, MPI_DOUBLE, &row_);
  MPI_Type_commit(&column_);
  MPI_Type_commit(&row_);
}

Domain::~Domain() {
  MPI_Type_free(&column_);
  MPI_Type_free(&row_);
  MPI_Comm_free(&grid_);
}

Box Domain::strip(int thread, int n_threads) const {
  const std::int64_t begin = part_begin(block_.ny, n_threads, thread);
  const std::int64_t end = part_begin(block_.ny, n_threads, thread + 1);
  return {block_.x, block_.y + begin, block_.nx, end - begin};
}

void Domain::start_exchange(const Border& border, MPI_Datatype cells, int dimension,
                            std::span<MPI_Request, 4> requests) const {
  enum { kUp, kDown };  // tags: towards the upper or the lower neighbour, which may be the same rank
  MPI_Irecv(border.before, 1, cells, lower_[dimension], kUp, grid_, &requests[0]);
  MPI_Irecv(border.after, 1, cells, upper_[dimension], kDown, grid_, &requests[1]);
  MPI_Isend(border.last, 1, cells, upper_[dimension], kUp, grid_, &requests[2]);
  MPI_Isend(border.first, 1, cells, lower_[dimension], kDown, grid_, &requests[3]);
}

void Domain::exchange_ghosts(Fields& fields) const {
  const std::int64_t x0 = block_.x, x1 = block_.x + block_.nx, y0 = block_.y, y1 = block_.y + block_.ny;
  MPI_Request requests[8];
  const std::span<MPI_Request, 8> all(requests);

  // West and east first; then whole rows with their new ghosts, which brings the corners too.
  start_exchange({fields.u(x0, y0), fields.u(x1 - 1, y0), fields.u(x0 - 1, y0), fields.u(x1, y0)}, column_, 1,
                 all.first<4>());
  start_exchange({fields.v(x0, y0), fields.v(x1 - 1, y0), fields.v(x0 - 1, y0), fields.v(x1, y0)}, column_, 1,
                 all.last<4>());
  wait_all(all);
  start_exchange({fields.u(x0 - 1, y0), fields.u(x0 - 1, y1 - 1), fields.u(x0 - 1, y0 - 1), fields.u(x0 - 1, y1)}, row_,
                 0, all.first<4>());
  start_exchange({fields.v(x0 - 1, y0), fields.v(x0 - 1, y1 - 1), fields.v(x0 - 1, y0 - 1), fields.v(x0 - 1, y1)}, row_,
                 0, all.last<4>());
  wait_all(all);
}

void Domain::write_plain(const Fields& fields, const std::string& path) const {
  const int size = static_cast<int>(size_), nx = static_cast<int>(block_.nx), ny = static_cast<int>(block_.ny);
  const int whole[3] = {2, size, size}, part[3] = {2, ny, nx};
  const int first[3] = {0, static_cast<int>(block_.y), static_cast<int>(block_.x)};
  MPI_Datatype place = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, whole, part, first, MPI_ORDER_C, MPI_DOUBLE, &place);
  MPI_Type_commit(&place);

  std::vector<double> cells;  // without ghosts
  for (std::int64_t y = block_.y; y < block_.y + ny; ++y) {
    cells.insert(cells.end(), fields.u(block_.x, y), fields.u(block_.x + nx, y));
  }
  for (std::int64_t y = block_.y; y < block_.y + ny; ++y) {
    cells.insert(cells.end(), fields.v(block_.x, y), fields.v(block_.x + nx, y));
  }

  MPI_File file = MPI_FILE_NULL;
  check_mpi(MPI_File_open(grid_, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file), path);
  check_mpi(MPI_File_set_view(file, 0, MPI_DOUBLE, place, "native", MPI_INFO_NULL), path);
  check_mpi(MPI_File_write_all(file, cells.data(), 2 * nx * ny, MPI_DOUBLE, MPI_STATUS_IGNORE), path);
  check_mpi(MPI_File_close(&file), path);
  MPI_Type_free(&place);
}

}  // namespace grayscott
