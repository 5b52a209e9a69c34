// Lists of pieces and datatypes of equal shares; the words of a file.
#include "collective/layout.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "collective/ranks.hpp"
#include "support/scratch.hpp"
#include "support/tasks.hpp"

namespace bench {

namespace {

std::uint32_t word_at(std::int64_t offset, std::uint32_t seed) {
  return static_cast<std::uint32_t>(offset / kWord) * 2654435761U + seed;
}

void make_words(char* to, std::int64_t offset, std::int64_t bytes, std::uint32_t seed) {
  for (std::int64_t at = 0; at < bytes; at += kWord) {
    const std::uint32_t word = word_at(offset + at, seed);
    std::memcpy(to + at, &word, sizeof word);
  }
}

// Returns the index of the first wrong word, or -1.
std::int64_t wrong_word(const char* data, std::int64_t offset, std::int64_t bytes, std::uint32_t seed) {
  std::uint32_t differences = 0;
  for (std::int64_t at = 0; at < bytes; at += kWord) {
    std::uint32_t word = 0;
    std::memcpy(&word, data + at, sizeof word);
    differences |= word ^ word_at(offset + at, seed);
  }
  if (differences == 0) return -1;
  for (std::int64_t at = 0; at < bytes; at += kWord) {
    std::uint32_t word = 0;
    std::memcpy(&word, data + at, sizeof word);
    if (word != word_at(offset + at, seed)) return offset + at;
  }
  return -1;
}

// Pieces of a block of an array of words in C order: `count` words from `first` on in each dimension.
template <std::size_t kDimensions>
void add_rows(Layout& layout, const std::array<int, kDimensions>& sizes, const std::array<int, kDimensions>& first,
              const std::array<int, kDimensions>& count) {
  constexpr std::size_t kLast = kDimensions - 1;
  std::array<int, kDimensions> at{};
  const std::int64_t row = std::int64_t{kWord} * count[kLast];
  for (bool more = row > 0; more;) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < kDimensions; ++d) place = place * sizes[d] + first[d] + at[d];
    const std::int64_t offset = place * kWord;
    auto& pieces = layout.pieces;
    if (!pieces.empty() && pieces.back().offset + pieces.back().length == offset)
      pieces.back().length += row;
    else
      pieces.push_back({offset, row});
    more = false;
    for (std::size_t d = kLast; d-- > 0 && !more;) {
      more = ++at[d] < count[d];
      if (!more) at[d] = 0;
    }
  }
}

template <std::size_t kDimensions>
Layout block_of_array(const std::array<int, kDimensions>& sizes, const std::array<int, kDimensions>& grid, int task) {
  std::array<int, kDimensions> first{}, count{};
  for (std::size_t d = kDimensions; d-- > 0; task /= grid[d]) {
    const Share share = share_of(sizes[d], task % grid[d], grid[d]);
    first[d] = static_cast<int>(share.first);
    count[d] = static_cast<int>(share.count);
  }
  Layout layout;
  layout.file_bytes = kWord;
  for (const int size : sizes) layout.file_bytes *= size;
  add_rows(layout, sizes, first, count);
  for (const Layout::Piece& piece : layout.pieces) layout.bytes += piece.length;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  must_mpi(MPI_Type_create_subarray(static_cast<int>(kDimensions), sizes.data(), count.data(), first.data(),
                                    MPI_ORDER_C, MPI_INT, &type),
           "MPI_Type_create_subarray");
  layout.view = Datatype(type);
  return layout;
}

}  // namespace

Datatype::Datatype(MPI_Datatype made) : type_(made) { must_mpi(MPI_Type_commit(&type_), "MPI_Type_commit"); }
Datatype::~Datatype() {
  if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
}
Datatype& Datatype::operator=(Datatype&& other) noexcept {
  std::swap(type_, other.type_);
  return *this;
}

Layout block_of_cube(int n, int task, int tasks) {
  std::array<int, 3> grid{};
  must_mpi(MPI_Dims_create(tasks, 3, grid.data()), "MPI_Dims_create");
  Layout layout = block_of_array<3>({n, n, n}, grid, task);
  const std::array<int, 3> sizes = {n, n, n};
  const std::array<int, 3> blocks = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
  const std::array<int, 3> standard = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  must_mpi(MPI_Type_create_darray(tasks, task, 3, sizes.data(), blocks.data(), standard.data(), grid.data(),
                                  MPI_ORDER_C, MPI_INT, &type),
           "MPI_Type_create_darray");
  layout.view = Datatype(type);
  return layout;
}

Layout interleaved(std::int64_t piece, std::int64_t pieces_each, int task, int tasks) {
  Layout layout;
  layout.bytes = piece * pieces_each;
  layout.file_bytes = layout.bytes * tasks;
  for (std::int64_t i = 0; i < pieces_each; ++i) layout.pieces.push_back({(i * tasks + task) * piece, piece});
  const auto words = static_cast<int>(piece / kWord);
  MPI_Datatype vector = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  must_mpi(MPI_Type_vector(static_cast<int>(pieces_each), words, words * tasks, MPI_INT, &vector), "MPI_Type_vector");
  // Moved to the task's place and resized to the whole array: a view displacement would work as well, but then the
  // views of the tasks would differ.
  const int one = 1;
  const MPI_Aint at = task * piece;
  must_mpi(MPI_Type_create_hindexed(1, &one, &at, vector, &type), "MPI_Type_create_hindexed");
  MPI_Type_free(&vector);
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  must_mpi(MPI_Type_create_resized(type, 0, layout.file_bytes, &whole), "MPI_Type_create_resized");
  MPI_Type_free(&type);
  layout.view = Datatype(whole);
  return layout;
}

Layout contiguous(std::int64_t piece, std::int64_t pieces_each, int task, int tasks) {
  Layout layout = interleaved(piece, pieces_each, task, tasks);
  layout.view = Datatype();
  return layout;
}

Layout rows_of_4d(const std::array<int, 4>& sizes, int task, int tasks) {
  std::array<int, 2> last{};
  must_mpi(MPI_Dims_create(tasks, 2, last.data()), "MPI_Dims_create");
  return block_of_array<4>(sizes, {1, 1, last[1], last[0]}, task);
}

Memory::Memory(std::int64_t bytes) : bytes_(bytes) {
  constexpr std::size_t kPage = 4096;
  const std::size_t whole = (static_cast<std::size_t>(bytes) + kPage - 1) / kPage * kPage;
  data_.reset(static_cast<char*>(std::aligned_alloc(kPage, whole)));
  if (data_ == nullptr) give_up("no memory");
  clear();
}
void Memory::Free::operator()(char* memory) const { std::free(memory); }
void Memory::clear() { std::memset(data_.get(), 0, static_cast<std::size_t>(bytes_)); }

void Memory::fill(const Layout& layout, std::uint32_t seed) {
  std::int64_t at = 0;
  for (const auto& piece : layout.pieces) {
    make_words(data_.get() + at, piece.offset, piece.length, seed);
    at += piece.length;
  }
}

std::int64_t Memory::wrong(const Layout& layout, std::uint32_t seed) const {
  std::int64_t at = 0;
  for (const auto& piece : layout.pieces) {
    const std::int64_t wrong = wrong_word(data_.get() + at, piece.offset, piece.length, seed);
    if (wrong >= 0) return wrong;
    at += piece.length;
  }
  return -1;
}

std::vector<tw_extent> Memory::extents(const Layout& layout, std::int64_t from) const {
  std::vector<tw_extent> list;
  list.reserve(layout.pieces.size());
  for (const auto& piece : layout.pieces) {
    list.push_back({data_.get() + from, piece.length, piece.offset});
    from += piece.length;
  }
  return list;
}

void must_be_right(std::int64_t wrong, const std::string& after) {
  if (wrong >= 0) give_up(after + ": wrong bytes at " + std::to_string(wrong));
}

std::int64_t wrong_in_file(const std::string& path, std::int64_t bytes, std::uint32_t seed, int rank, int ranks) {
  constexpr std::int64_t kBlock = std::int64_t{1} << 20;
  std::vector<char> block(kBlock);
  const int fd = static_cast<int>(must(open(path.c_str(), O_RDONLY | O_CLOEXEC), "cannot open '" + path + "'"));
  const std::int64_t length = must(lseek(fd, 0, SEEK_END), "cannot measure '" + path + "'");
  std::int64_t wrong = length == bytes ? -1 : std::min(length, bytes);
  const Share mine = share_of(bytes / kWord, rank, ranks);
  const std::int64_t end = (mine.first + mine.count) * kWord;
  for (std::int64_t at = mine.first * kWord; at < end && wrong < 0;) {
    const auto wanted = static_cast<std::size_t>(std::min(kBlock, end - at));
    const std::int64_t got = must(pread(fd, block.data(), wanted, at), "cannot read '" + path + "'");
    if (got < static_cast<std::int64_t>(wanted)) give_up("'" + path + "': a part is not a whole number of words");
    wrong = wrong_word(block.data(), at, got, seed);
    at += got;
  }
  close(fd);
  return wrong;
}

}  // namespace bench
