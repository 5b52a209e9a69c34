#include "multifile/check/all_logical_files.hpp"

#include "multifile/read/added_runs.hpp"
#include "multifile/read/stored_index.hpp"

namespace thalweg {

Result<ReadHandle> open_all(std::shared_ptr<Backend> backend, const std::string& path, ReadSet::Unclosed unclosed,
                            Watch watch) {
  auto set = std::make_shared<ReadSet>(std::move(backend), path, unclosed, std::move(watch));
  TW_RETURN_IF_ERROR(set->open());
  const std::uint64_t n = set->n_logical();
  std::vector<RankRange> all;
  if (n > 0) all.push_back({0, n});
  return ReadHandle(std::move(set), all, {.buffer_bytes = kReadBytes, .reads_once = true});
}

Result<std::uint64_t> count_without_rank(ReadSet& files, const GoOn& go_on) {
  std::uint64_t n = 0;
  for (std::uint32_t k = 0; k < files.header().n_physical; ++k) {
    auto physical = files.physical(k);
    auto own = physical.has_value() ? own_added(**physical, go_on) : physical.status();
    if (is_loss(own.status().code()))
      return n;  // reported by its reader; a header may claim 2^20 files that are missing
    TW_RETURN_IF_ERROR(own.status());
    for (const format::AddedRun& run : *own) {
      const std::uint64_t end = run.first + run.count;
      for (std::uint64_t at = run.first; at < end;) {
        const PlacedRange* const held = files.run_of(k, at);
        n += held == nullptr ? 1 : 0;
        at = held == nullptr ? at + 1 : std::min(end, held->local + held->count);
      }
    }
  }
  return n;
}

Status FullRead::each_run(const Visit& visit) {
  const auto check_and_visit = [&](std::uint64_t rank, const EntryRun& run) -> Status {
    TW_RETURN_IF_ERROR(check_pieces_of(rank));
    return visit(rank, run);
  };
  return handle_.each_run(check_and_visit, [this] { return report_.go_on(); });
}

// Other damage of a physical file is reported by the readers of its logical files.
Status FullRead::check_pieces_of(std::uint64_t rank) {
  auto at = handle_.locate(rank);
  if (!at.has_value() || !checked_.insert(at->physical).second) return {};
  auto physical = handle_.files().physical(at->physical);
  return physical.has_value() ? check_piece_ranges(**physical, [this] { return report_.go_on(); }) : Status{};
}

Status FullRead::count() {
  if (!report_.shows_progress()) return {};
  const auto add = [this](std::uint64_t rank, const EntryRun& run) {
    if (run.has_entry) total_ = std::min(total_ + bytes_of(rank), format::kMaxOffset);
    return Status{};
  };
  return handle_.each_run(add, [this] { return report_.go_on(); });
}

Status FullRead::at(std::uint64_t within) {
  const bool on = report_.progress(std::min(done_ + std::min(within, format::kMaxOffset), total_), total_);
  return on ? Status{} : handle_.files().first().stopped();
}

Status FullRead::finished(std::uint64_t rank) {
  if (report_.shows_progress()) done_ = std::min(done_ + bytes_of(rank), format::kMaxOffset);
  return at(0);
}

std::uint64_t FullRead::bytes_of(std::uint64_t rank) {
  const auto entry = handle_.entry(rank);
  return entry.has_value() ? entry.value().bytes : 0;
}

}  // namespace thalweg
