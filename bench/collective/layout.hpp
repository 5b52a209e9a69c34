// The share of each task of a shared file, in both compared descriptions: a list of extents and a file view.
//
// Each 4-byte word of a file is computed from its place and a seed, so that every rank can verify any word, and words
// of an earlier run are wrong.
#ifndef BENCH_COLLECTIVE_LAYOUT_HPP
#define BENCH_COLLECTIVE_LAYOUT_HPP

#include <mpi.h>
#include <thalweg/thalweg.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

// A derived datatype, committed.
class Datatype {
 public:
  Datatype() = default;
  explicit Datatype(MPI_Datatype made);  // takes ownership
  ~Datatype();
  Datatype(Datatype&& other) noexcept : type_(other.type_) { other.type_ = MPI_DATATYPE_NULL; }
  Datatype& operator=(Datatype&& other) noexcept;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// One task's share. Its memory is contiguous; `pieces` lists it in file order.
struct Layout {
  struct Piece {
    std::int64_t offset, length;  // in the file
  };
  std::vector<Piece> pieces;
  Datatype view;  // for MPI_File_set_view with displacement 0 and MPI_INT; or none, and pieces go to their offsets
  std::int64_t file_bytes = 0;  // total; every byte belongs to one task
  std::int64_t bytes = 0;       // of this task
};

inline constexpr int kWord = 4;

// Share of task `task` of `tasks` in an n^3 array of ints distributed by blocks in three dimensions, as in ROMIO's
// coll_perf.
Layout block_of_cube(int n, int task, int tasks);
// Interleaved pieces of all tasks. piece: bytes, a multiple of a word.
Layout interleaved(std::int64_t piece, std::int64_t pieces_each, int task, int tasks);
// As interleaved(), where a collective moves one piece of each task: programs need no view for that.
Layout contiguous(std::int64_t piece, std::int64_t pieces_each, int task, int tasks);
// A block of a 4-D array of words, split in its last two dimensions: rows are short.
Layout rows_of_4d(const std::array<int, 4>& sizes, int task, int tasks);

// Page-aligned memory, first touched by its owner.
class Memory {
 public:
  explicit Memory(std::int64_t bytes);
  char* data() { return data_.get(); }
  const char* data() const { return data_.get(); }
  std::int64_t bytes() const { return bytes_; }
  void clear();
  void fill(const Layout& layout, std::uint32_t seed);  // with the words of `layout`
  // Where in the file the first word lies that is wrong; -1: none is.
  std::int64_t wrong(const Layout& layout, std::uint32_t seed) const;
  std::vector<tw_extent> extents(const Layout& layout, std::int64_t from = 0) const;

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  std::int64_t bytes_;
  std::unique_ptr<char, Free> data_;
};

// Rank `rank` of `ranks` verifies its part of a whole file of `bytes`. Returns where the first wrong word lies, or where
// a file of another length ends; -1: all is right.
std::int64_t wrong_in_file(const std::string& path, std::int64_t bytes, std::uint32_t seed, int rank, int ranks);
// Ends the program where `wrong` is not -1.
void must_be_right(std::int64_t wrong, const std::string& after);

}  // namespace bench

#endif
