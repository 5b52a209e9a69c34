#include "restart.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "record.hpp"

namespace grayscott {
namespace {

// Logical files that rank i of n serves by default: from i * N / n to (i + 1) * N / n.
std::int64_t share_begin(std::int64_t n_logical, int n_ranks, int rank) { return n_logical * rank / n_ranks; }

// Reads the headers of logical files first .. end-1.
Catalogue scan(thalweg::Multifile& file, std::int64_t first, std::int64_t end) {
  Catalogue share;
  share.step = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t rank = first; rank < end; ++rank) {
    const std::vector<Record> records = whole_records(file, rank);
    const RecordHeader newest =
        records.empty() ? RecordHeader{.size = 0, .step = -1, .box = {}} : records.back().header;
    share.step = std::min(share.step, newest.step);
    share.size = std::max(share.size, newest.size);
    share.boxes.push_back(newest.box);
  }
  return share;
}

}  // namespace

Catalogue read_catalogue(MPI_Comm ranks, thalweg::Multifile& file) {
  const std::int64_t n_logical = file.summarize().n_logical;
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(ranks, &rank);
  MPI_Comm_size(ranks, &n_ranks);
  const Catalogue share = scan(file, share_begin(n_logical, n_ranks, rank), share_begin(n_logical, n_ranks, rank + 1));

  std::vector<int> counts, begins;  // in numbers, four for each box
  for (int i = 0; i < n_ranks; ++i) {
    begins.push_back(static_cast<int>(4 * share_begin(n_logical, n_ranks, i)));
    counts.push_back(static_cast<int>(4 * share_begin(n_logical, n_ranks, i + 1)) - begins.back());
  }
  Catalogue all;
  all.boxes.resize(static_cast<std::size_t>(n_logical));
  MPI_Allgatherv(share.boxes.data(), counts[static_cast<std::size_t>(rank)], MPI_INT64_T, all.boxes.data(),
                 counts.data(), begins.data(), MPI_INT64_T, ranks);
  MPI_Allreduce(&share.step, &all.step, 1, MPI_INT64_T, MPI_MIN, ranks);
  MPI_Allreduce(&share.size, &all.size, 1, MPI_INT64_T, MPI_MAX, ranks);
  return all;
}

void read_strip(const thalweg::Group& group, const std::string& path, const Catalogue& catalogue, const Box& strip,
                Fields& fields) {
  std::vector<std::int64_t> wanted;
  for (std::size_t i = 0; i < catalogue.boxes.size(); ++i) {
    if (!overlap(catalogue.boxes[i], strip).empty()) wanted.push_back(static_cast<std::int64_t>(i));
  }
  thalweg::Multifile file(group, path, TW_READ, thalweg::Options().ranks(-1, wanted));
  for (const std::int64_t rank : wanted) read_cells(file, record_of_step(file, rank, catalogue.step), strip, fields);
  file.close();
}

}  // namespace grayscott
