// A = bytes of the array, B = bytes of a rank's block (A / ranks where the cut is even).
#include "methods/cards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "methods/assets.hpp"

namespace tool {
namespace {

constexpr std::string_view kArray = "one file that is the array in its order: any program can read it";
constexpr std::string_view kChunks =
    "one file with the block of each rank, one behind the other: not the array until it is merged";
constexpr std::string_view kPieces = "a file of each rank: not the array until it is merged";
constexpr std::string_view kNothing = "nothing beside the block";
constexpr std::string_view kAggregators = "on aggregating ranks cb_buffer_size (16 MiB in ROMIO) and lists of pieces";
constexpr std::string_view kRows = "one call for each row of the block: collapses as blocks get narrow and ranks many";
constexpr std::string_view kAloneView =
    "each rank moves its pieces alone; data sieving reads and locks what is between them";

const Card kCards[] = {
    {"gather",
     kArray,
     "2 A on the rank that writes: pieces as they come, and the array; nothing on the others",
     "small arrays, few ranks, a file that must be plain",
     {"the rank that gathers needs memory for the whole array, twice unless each piece comes into its place",
      "adding ranks makes it no quicker"}},
    {"file-per-task",
     kPieces,
     kNothing,
     "scratch data that the same number of ranks reads again",
     {"as many files as ranks: metadata servers and quotas", "another number of ranks has to find and cut pieces"}},
    {"file-per-task-dirs",
     "a file of each rank, some in each sub-directory: not the array until it is merged",
     kNothing,
     "as a file per task, where one directory of all files is slow to fill",
     {"as many files as ranks", "another number of ranks has to find and cut pieces"}},
    {"mpiio-global-0", kArray, kNothing, "never for blocks of more than one dimension; fine for whole slabs", {kRows}},
    {"mpiio-global-1",
     kArray,
     kAggregators,
     "when a view is not possible",
     {"one collective call for each row: ranks wait for each other every time",
      "all ranks must make as many calls as the one with most rows"}},
    {"mpiio-global-2",
     kArray,
     "up to ind_wr_buffer_size (512 KiB in ROMIO)",
     "when ranks cannot call together",
     {kAloneView}},
    {"mpiio-global-3",
     kArray,
     kAggregators,
     "the standard way to a global array without another library",
     {"speed depends on hints: number of aggregators and their buffers"}},
    {"mpiio-chunk-0",
     kChunks,
     kNothing,
     "own formats that are read by the same cut",
     {"the cut must be known to readers"}},
    {"mpiio-chunk-1",
     kChunks,
     kAggregators,
     "as level 0; ranks wait for each other",
     {"the cut must be known to readers"}},
    {"mpiio-chunk-2", kChunks, kNothing, "as level 0, through a view", {"the cut must be known to readers"}},
    {"mpiio-chunk-3", kChunks, kAggregators, "as level 1, through a view", {"the cut must be known to readers"}},
    {"hdf5-contiguous-independent",
     "an HDF5 file; the array lies in it as one stretch, in its order",
     "as MPI-IO level 2, and some MiB of the library",
     "self-describing files, when ranks cannot call together",
     {kAloneView, "row-major only: order f is stored as the transposed shape"}},
    {"hdf5-contiguous-collective",
     "an HDF5 file; the array lies in it as one stretch, in its order",
     "as MPI-IO level 3, and some MiB of the library",
     "self-describing files that many tools read",
     {"collective transfer has to be asked for: the default is independent"}},
    {"hdf5-chunked-independent",
     "an HDF5 file of chunks: only HDF5 takes it apart",
     "a chunk for each that is touched, up to the chunk cache (1 MiB)",
     "compression or growing arrays, written by ranks alone",
     {"chunks that several ranks share are read and written again", "allocation of chunks is collective and early"}},
    {"hdf5-chunked-collective",
     "an HDF5 file of chunks: only HDF5 takes it apart",
     "as MPI-IO level 3, and chunks",
     "compression or growing arrays",
     {"a chunk smaller than a block costs many pieces, a larger one is shared"}},
    {"mpiio-nonblocking",
     kArray,
     "the block until the wait, and as MPI-IO level 3",
     "when there is something to compute meanwhile",
     {"most libraries move nothing until the wait", "the block must stay untouched"}},
    {"pnetcdf",
     "a netCDF file (CDF-5); the array lies in it as one stretch, big-endian",
     "as MPI-IO level 3, and a copy of the block (byte order)",
     "self-describing files for the netCDF tools",
     {"the byte order is turned on little-endian machines"}},
    {"tw-multifile",
     "a multifile: one logical file of each rank in few physical files; the thalweg command takes it apart",
     "a buffer of some MiB, nothing for large writes",
     "checkpoints: any number of ranks reads them again",
     {"not the array until it is merged"}},
    {"tw-collective",
     kArray,
     "staging of some MiB on aggregating ranks; nothing where no exchange is needed",
     "global arrays; how to move them is found access by access",
     {"all ranks call together"}},
    {"tw-nonblocking",
     kArray,
     "the block until the wait, and as Thalweg collective",
     "when there is something to compute meanwhile",
     {"the block must stay untouched until the wait", "a progress thread takes part of a core"}},
    {"tw-vpfile",
     "the array in its order, and a small NAME.meta beside it",
     "as Thalweg collective",
     "a stream for each element or cell, also ragged ones; uniform writes give a plain array",
     {"ragged streams are taken apart by the library alone"}},
    {"adios2",
     "a folder of BP files: only ADIOS2 takes it apart",
     "a copy of the block (deferred put)",
     "workflows built on ADIOS2",
     {"plain readers need a conversion"}},
    {"sionlib",
     "a SION file, or few: chunks of each rank, aligned to blocks of the file system",
     "nothing beside the block",
     "task-local files without their number",
     {"chunk sizes are fixed when the file is made", "not the array until it is merged"}},
};

bool is_code(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return false;
  line.remove_prefix(begin);
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  return line != "{" && line != "}" && line != "};" && !line.starts_with("/*") && !line.starts_with("*") &&
         !line.starts_with("//") && !line.starts_with("#include");
}

}  // namespace

std::span<const Card> cards() { return kCards; }

const Card* find_card(std::string_view id) {
  const auto found = std::ranges::find(kCards, id, &Card::id);
  return found == std::end(kCards) ? nullptr : &*found;
}

std::string_view snippet(std::string_view id) { return asset(fmt::format("snippets/{}.c", id)); }

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
