// Views on ranks: a file written through a view equals the one that MPI_File_write_all() writes through the
// corresponding datatype.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/groups/process_mpi.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

// One part of a file as a view and as a datatype. The holder frees both.
struct Part {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  tw_view* view = nullptr;
};

tw_view* ints() {
  tw_view* element = nullptr;
  EXPECT_EQ(tw_view_contiguous(sizeof(int), nullptr, &element), TW_OK);
  return element;
}

// Slabs of a 4 x 5 x (3 per rank) array.
Part subarray(int rank, int ranks, int order) {
  const int sizes[] = {4, 5, 3 * ranks}, parts[] = {2, 3, 3}, starts[] = {1, 2, 3 * rank};
  const tw_slice slices[] = {{4, 1, 2}, {5, 2, 3}, {3 * ranks, 3 * rank, 3}};
  Part part;
  MPI_Type_create_subarray(3, sizes, parts, starts, order, MPI_INT, &part.type);
  tw_view* element = ints();
  const tw_array_order as = order == MPI_ORDER_C ? TW_ROW_MAJOR : TW_COLUMN_MAJOR;
  EXPECT_EQ(tw_view_subarray(3, slices, as, element, &part.view), TW_OK) << tw_last_error();
  tw_view_free(&element);
  return part;
}

// A 7 x 8 x 11 array: block, and two cyclic distributions; the grid is ranks x 1 or 1 x ranks in the last two
// dimensions.
Part darray(int rank, int ranks, int order, bool last) {
  const int sizes[] = {7, 8, 11};
  const int kinds[] = {MPI_DISTRIBUTE_NONE, last ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC,
                       last ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_BLOCK};
  const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, last ? 2 : MPI_DISTRIBUTE_DFLT_DARG};
  const int grid[] = {1, last ? 1 : ranks, last ? ranks : 1};
  const tw_distributed_dim dimensions[] = {{7, 1, 0, TW_NOT_DISTRIBUTED},
                                           {8, grid[1], 0, last ? TW_BLOCK : TW_CYCLIC},
                                           {11, grid[2], last ? 2 : 0, last ? TW_CYCLIC : TW_BLOCK}};
  Part part;
  MPI_Type_create_darray(ranks, rank, 3, sizes, kinds, arguments, grid, order, MPI_INT, &part.type);
  tw_view* element = ints();
  EXPECT_EQ(tw_view_distributed(3, dimensions, rank, order == MPI_ORDER_C ? TW_ROW_MAJOR : TW_COLUMN_MAJOR, element,
                                &part.view),
            TW_OK)
      << tw_last_error();
  tw_view_free(&element);
  return part;
}

// Nested vectors, resized to leave room for the other ranks.
Part nested_strided(int rank, int ranks) {
  const int places[] = {rank * 2, rank * 2 + 2 * ranks};
  const std::int64_t bytes_at[] = {places[0] * 4, places[1] * 4}, lengths[] = {2, 1};
  const MPI_Aint far = 4 * 4 * ranks;
  const int counts[] = {2, 1};
  MPI_Datatype inner = MPI_DATATYPE_NULL, sized = MPI_DATATYPE_NULL;
  Part part;
  MPI_Type_indexed(2, counts, places, MPI_INT, &inner);
  MPI_Type_create_resized(inner, 0, far, &sized);
  MPI_Type_create_hvector(3, 1, 2 * far, sized, &part.type);
  MPI_Datatype vector = part.type;
  MPI_Type_create_resized(vector, 0, 6 * far, &part.type);
  for (MPI_Datatype* type : {&inner, &sized, &vector}) MPI_Type_free(type);

  tw_view *element = ints(), *indexed = nullptr, *resized = nullptr, *strided = nullptr;
  EXPECT_EQ(tw_view_indexed(2, bytes_at, lengths, element, &indexed), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_view_resized(indexed, far, &resized), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_view_strided(3, 1, 2 * far, resized, &strided), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_view_resized(strided, 6 * far, &part.view), TW_OK) << tw_last_error();
  for (tw_view* view : {element, indexed, resized, strided}) tw_view_free(&view);
  return part;
}

class MpiViews : public testing::Test {
 protected:
  static constexpr int kCopies = 2;  // copies of the part that are written
  static constexpr MPI_Offset kDisplacement = 12;

  std::string data_of(std::int64_t bytes) const {
    std::string data(static_cast<std::size_t>(bytes), ' ');
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<char>('a' + (i * 3 + static_cast<std::size_t>(world_.rank()) * 7) % 26);
    return data;
  }

  void write_by_mpi(MPI_Datatype type, const std::string& data) const {
    MPI_File file = MPI_FILE_NULL;
    ASSERT_EQ(MPI_File_open(world_.comm(), folder_.path("mpi").c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_File_set_view(file, kDisplacement, MPI_INT, type, "native", MPI_INFO_NULL), MPI_SUCCESS);
    EXPECT_EQ(
        MPI_File_write_all(file, data.data(), static_cast<int>(data.size() / sizeof(int)), MPI_INT, MPI_STATUS_IGNORE),
        MPI_SUCCESS);
    MPI_File_close(&file);
  }

  // Writes in two calls, one of them nonblocking, then reads back in one.
  void write_by_us(const tw_view* view, const std::string& data) const {
    tw_file* file = nullptr;
    ASSERT_EQ(tw_file_open(world_.group(), folder_.path("tw").c_str(), TW_READ | TW_WRITE, nullptr, &file), TW_OK)
        << tw_last_error();
    EXPECT_EQ(tw_file_set_view(file, kDisplacement, view), TW_OK) << tw_last_error();
    const auto all = static_cast<std::int64_t>(data.size());
    const std::int64_t first = all / 3 + world_.rank();
    const std::int64_t now = std::min(first, all);
    tw_request* request = nullptr;
    EXPECT_EQ(tw_file_iwrite_view_all(file, data.data(), now, &request), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_write_view_all(file, data.data() + now, all - now), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_request_wait(&request, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_sync(file), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_seek_view(file, 0, SEEK_SET, nullptr), TW_OK);
    std::string back(data.size(), '#');
    std::size_t nread = 0;
    EXPECT_EQ(tw_file_read_view_all(file, back.data(), all, &nread), TW_OK) << tw_last_error();
    EXPECT_EQ(nread, all);
    EXPECT_TRUE(back == data);
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
  }

  // Fills both files, so that holes of the views have bytes. (ROMIO writes undefined bytes into holes beyond the end of
  // a file.)
  void fill(MPI_Aint extent) const {
    world_.barrier();
    if (world_.rank() == 0)
      for (const char* name : {"mpi", "tw"})
        std::ofstream(folder_.path(name), std::ios::binary)
            << std::string(static_cast<std::size_t>(kDisplacement + kCopies * extent + 50), '.');
    world_.barrier();
  }

  std::string content(const char* name) const {
    std::ifstream in(folder_.path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  void expect_same(Part part) {
    MPI_Type_commit(&part.type);
    int size = 0;
    MPI_Type_size(part.type, &size);
    EXPECT_EQ(tw_view_size(part.view), size);
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_extent(part.type, &lower, &extent);
    EXPECT_EQ(tw_view_extent(part.view), extent);
    const std::string data = data_of(std::int64_t{kCopies} * size);
    fill(extent);
    write_by_mpi(part.type, data);
    write_by_us(part.view, data);
    world_.barrier();
    if (world_.rank() == 0) {
      const std::string theirs = content("mpi");
      EXPECT_NE(theirs, std::string(theirs.size(), '.'));
      EXPECT_EQ(content("tw"), theirs);
    }
    MPI_Type_free(&part.type);
    tw_view_free(&part.view);
  }

  Comm world_{MPI_COMM_WORLD};
  SharedFolder folder_{world_};
};

TEST_F(MpiViews, OfSubarraysAreThoseOfMpi) {
  for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) expect_same(subarray(world_.rank(), world_.size(), order));
}

TEST_F(MpiViews, OfDistributedArraysAreThoseOfMpi) {
  for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN})
    for (const bool last : {false, true}) expect_same(darray(world_.rank(), world_.size(), order, last));
}

TEST_F(MpiViews, OfVectorsAreThoseOfMpi) { expect_same(nested_strided(world_.rank(), world_.size())); }

// Every thread of every rank has its own view of one file.
TEST_F(MpiViews, OfThreadsOfRanksLieSideBySide) {
  on_threads_of_ranks(world_, 2, [&](tw_group* group) {
    const std::int64_t tasks = tw_group_size(group), task = tw_group_rank(group);
    tw_view* view = nullptr;
    ASSERT_EQ(tw_view_strided(1, 3, 0, nullptr, &view), TW_OK);
    tw_view* spaced = nullptr;
    ASSERT_EQ(tw_view_resized(view, 3 * tasks, &spaced), TW_OK);
    tw_file* file = nullptr;
    ASSERT_EQ(tw_file_open(group, folder_.path("threads").c_str(), TW_WRITE | TW_CREATE, nullptr, &file), TW_OK)
        << tw_last_error();
    EXPECT_EQ(tw_file_set_view(file, 3 * task, spaced), TW_OK) << tw_last_error();
    const std::string data(30, static_cast<char>('a' + task));
    EXPECT_EQ(tw_file_write_view_all(file, data.data(), 30), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
    tw_view_free(&view);
    tw_view_free(&spaced);
  });
  if (world_.rank() != 0) return;
  std::string expected;
  for (int round = 0; round < 10; ++round)
    for (int task = 0; task < 2 * world_.size(); ++task) expected.append(3, static_cast<char>('a' + task));
  EXPECT_EQ(content("threads"), expected);
}

}  // namespace
}  // namespace thalweg::test
