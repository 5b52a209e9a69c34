#include "multifile/check/all_logical_files.hpp"

#include "multifile/read/stored_index.hpp"

namespace thalweg {

Result<ReadHandle> open_all(std::shared_ptr<Backend> backend, const std::string& path, ReadSet::Unclosed unclosed,
                            Watch watch) {
  auto set = std::make_shared<ReadSet>(std::move(backend), path, unclosed, std::move(watch));
  TW_RETURN_IF_ERROR(set->open());
  const std::uint64_t n = set->header().n_logical;
  std::vector<PlacedRange> all;
  if (n > 0) all.push_back({0, n, 0, 0});
  return ReadHandle(std::move(set), std::move(all), ReaderSettings{kReadBytes, true, {}, {}, true});
}

Status each_run(ReadHandle& handle, Reporter& report,
                const std::function<Status(std::uint64_t rank, const EntryRun& run)>& visit) {
  const std::uint64_t n = handle.files().header().n_logical;
  EntryRun run;
  for (std::uint64_t rank = 0, i = 1; rank < n; rank = run.end, ++i) {
    if (i % kAskEach == 0 && !report.go_on()) return handle.files().first().stopped();
    TW_ASSIGN_OR_RETURN(run, handle.run_at(rank));
    TW_RETURN_IF_ERROR(visit(rank, run));
  }
  return {};
}

Status PieceRangesCheck::before(std::uint64_t rank) {
  auto at = handle_.locate(rank);
  if (!at.has_value() || !checked_.insert(at->physical).second) return {};
  auto physical = handle_.files().physical(at->physical);
  return physical.has_value() ? check_piece_ranges(**physical, [this] { return report_.go_on(); }) : Status{};
}

}  // namespace thalweg
