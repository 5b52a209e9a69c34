// A = bytes of the array, B = bytes of a rank's block (A / ranks where the cut is even).
#include "methods/cards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "methods/assets.hpp"

namespace tool {
namespace {

constexpr std::string_view kArray = "one file that is the array in its order: any program can read it";
constexpr std::string_view kChunks = "one file with the consecutive blocks of the ranks: not the array until merged";
constexpr std::string_view kPieces = "a file per rank: not the array until merged";
constexpr std::string_view kNothing = "nothing beyond the block";
constexpr std::string_view kAggregators = "on aggregating ranks cb_buffer_size (16 MiB in ROMIO) and lists of pieces";
constexpr std::string_view kRows = "one call per row of the block: very slow for narrow blocks and many ranks";
constexpr std::string_view kAloneView =
    "each rank transfers its pieces independently; data sieving reads and locks the holes between them";

const Card kCards[] = {
    {"gather",
     kArray,
     "2 A on the writing rank: received pieces, and the array; nothing on the others",
     "small arrays, few ranks, a plain file",
     {"the gathering rank needs memory for the whole array, twice unless pieces are received in place",
      "more ranks make it no faster"}},
    {"file-per-task",
     kPieces,
     kNothing,
     "scratch data read again by an equal number of ranks",
     {"as many files as ranks: metadata servers and quotas", "another number of ranks must locate and cut pieces"}},
    {"file-per-task-dirs",
     "a file per rank in sub-directories: not the array until merged",
     kNothing,
     "as a file per task, where a single directory is slow",
     {"as many files as ranks", "another number of ranks must locate and cut pieces"}},
    {"mpiio-global-0", kArray, kNothing, "whole slabs; never blocks of more than one dimension", {kRows}},
    {"mpiio-global-1",
     kArray,
     kAggregators,
     "when a view is impossible",
     {"one collective call per row, each with a barrier",
      "all ranks must make as many calls as the rank with most rows"}},
    {"mpiio-global-2",
     kArray,
     "up to ind_wr_buffer_size (512 KiB in ROMIO)",
     "when ranks cannot call collectively",
     {kAloneView}},
    {"mpiio-global-3",
     kArray,
     kAggregators,
     "the standard way to a global array without another library",
     {"speed depends on hints: number of aggregators and their buffers"}},
    {"mpiio-chunk-0",
     kChunks,
     kNothing,
     "private formats read with the grid of the writers",
     {"readers must know the grid of the writers"}},
    {"mpiio-chunk-1", kChunks, kAggregators, "as level 0, collectively", {"readers must know the grid of the writers"}},
    {"mpiio-chunk-2", kChunks, kNothing, "as level 0, through a view", {"readers must know the grid of the writers"}},
    {"mpiio-chunk-3",
     kChunks,
     kAggregators,
     "as level 1, through a view",
     {"readers must know the grid of the writers"}},
    {"hdf5-contiguous-independent",
     "an HDF5 file with the array contiguous, in its order",
     "as MPI-IO level 2, and some MiB of the library",
     "self-describing files, when ranks cannot call collectively",
     {kAloneView, "row-major only: order f is stored as the transposed shape"}},
    {"hdf5-contiguous-collective",
     "an HDF5 file with the array contiguous, in its order",
     "as MPI-IO level 3, and some MiB of the library",
     "self-describing files that many tools read",
     {"collective transfer must be requested: the default is independent"}},
    {"hdf5-chunked-independent",
     "an HDF5 file of chunks: readable with HDF5 only",
     "the accessed chunks, up to the chunk cache (1 MiB)",
     "compression or growing arrays, written independently",
     {"chunks shared by several ranks are read and rewritten", "chunks are allocated collectively and early"}},
    {"hdf5-chunked-collective",
     "an HDF5 file of chunks: readable with HDF5 only",
     "as MPI-IO level 3, and chunks",
     "compression or growing arrays",
     {"chunks smaller than a block cost many pieces, larger ones are shared"}},
    {"mpiio-nonblocking",
     kArray,
     "the block until the wait, and as MPI-IO level 3",
     "when the program can compute meanwhile",
     {"most libraries transfer nothing before the wait", "the block must stay unchanged"}},
    {"pnetcdf",
     "a netCDF file (CDF-5) with the array contiguous, big-endian",
     "as MPI-IO level 3, and a copy of the block (byte order)",
     "self-describing files for the netCDF tools",
     {"little-endian machines swap the byte order"}},
    {"tw-multifile",
     "a multifile: one logical file per rank in few physical files; the thalweg command extracts them",
     "a buffer of some MiB, none for large writes",
     "checkpoints: any number of ranks can read them",
     {"not the array until merged"}},
    {"tw-collective",
     kArray,
     "staging of some MiB on aggregators; nothing without an exchange",
     "global arrays; the library chooses a plan for each access",
     {"all ranks call collectively"}},
    {"tw-nonblocking",
     kArray,
     "the block until the wait, and as Thalweg collective",
     "when the program can compute meanwhile",
     {"the block must stay unchanged until the wait", "a progress thread takes part of a core"}},
    {"tw-vpfile",
     "the array in its order, and a small NAME.meta",
     "as Thalweg collective",
     "a stream per element or cell, also of different lengths; uniform writes give a plain array",
     {"streams of different lengths need the library"}},
    {"sionlib",
     "one or few SION files: chunks per rank, aligned to blocks of the file system",
     "nothing beyond the block",
     "task-local data without one file per task",
     {"chunk sizes are fixed at creation", "not the array until merged"}},
};

bool is_code(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return false;
  line.remove_prefix(begin);
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  return line != "{" && line != "}" && line != "};" && !line.starts_with("/*") && !line.starts_with("*") &&
         !line.starts_with("//") && !line.starts_with("#include");
}

// A snippet that differs from another one in a word.
struct Variant {
  std::string_view id, of, word, instead;
};

constexpr Variant kVariants[] = {
    {"hdf5-chunked-independent", "hdf5-chunked-collective", "MPIO_COLLECTIVE", "MPIO_INDEPENDENT"},
    {"hdf5-contiguous-independent", "hdf5-contiguous-collective", "MPIO_COLLECTIVE", "MPIO_INDEPENDENT"},
    {"mpiio-chunk-0", "mpiio-chunk-1", "write_at_all", "write_at"},
    {"mpiio-chunk-2", "mpiio-chunk-3", "write_all", "write"},
    {"mpiio-global-2", "mpiio-global-3", "write_all", "write"},
};

}  // namespace

std::span<const Card> cards() { return kCards; }

const Card* find_card(std::string_view id) {
  const auto found = std::ranges::find(kCards, id, &Card::id);
  return found == std::end(kCards) ? nullptr : &*found;
}

std::string snippet(std::string_view id) {
  for (const Variant& variant : kVariants) {
    if (variant.id != id) continue;
    std::string code = snippet(variant.of);
    return code.replace(code.find(variant.word), variant.word.size(), variant.instead);
  }
  return std::string(asset(fmt::format("snippets/{}.c", id)));
}

int code_lines(std::string_view code) {
  int lines = 0;
  while (!code.empty()) {
    const size_t end = std::min(code.find('\n'), code.size());
    lines += is_code(code.substr(0, end)) ? 1 : 0;
    code.remove_prefix(std::min(end + 1, code.size()));
  }
  return lines;
}

}  // namespace tool
