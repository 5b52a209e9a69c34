#include "multifile/read/added_runs.hpp"

#include <algorithm>
#include <map>

namespace thalweg {

Result<std::vector<format::AddedRun>> own_added(const PhysicalReader& physical, const GoOn& go_on) {
  std::vector<format::AddedRun> runs;
  PageCache cache;
  EntryRun run;
  for (std::uint64_t local = format::kFirstAdded, i = 1; local < format::kLocalsEnd; local = run.end, ++i) {
    if (i % kAskEach == 0 && go_on && !go_on()) return physical.stopped();
    TW_ASSIGN_OR_RETURN(run, physical.run_at(local, cache));
    if (!run.has_entry) continue;
    if (runs.empty() || runs.back().first + runs.back().count != local)
      runs.push_back({local, 0, physical.header().id.physical});
    ++runs.back().count;
  }
  return runs;
}

Result<std::vector<format::AddedRun>> stored_added_runs(const PhysicalReader& first, const format::IndexPage& index,
                                                        const GoOn& go_on) {
  constexpr std::uint64_t kBytes = format::kAddedRunBytes;
  TW_ASSIGN_OR_RETURN(const auto bytes, first.section(format::SectionKind::added_runs, index.added_runs_offset,
                                                      index.n_added_runs, kBytes, go_on));
  std::vector<format::AddedRun> runs;
  for (ByteView rest = bytes; !rest.empty(); rest = rest.subspan(kBytes)) {
    const std::uint64_t least = runs.empty() ? format::kFirstAdded : runs.back().first + runs.back().count;
    auto run = format::parse_added_run(rest.first(kBytes), least, first.header().n_physical);
    if (!run.has_value()) return first.corrupt(run.error().message());
    runs.push_back(run.value());
  }
  return runs;
}

Result<std::uint64_t> end_of_added(const PhysicalReader& physical) {
  const format::IndexPage& index = physical.index();
  if (index.n_added == 0) return std::uint64_t{0};
  PageCache cache;
  TW_ASSIGN_OR_RETURN(const auto bytes, physical.section_entry(index.files_kind(), index.files_offset,
                                                               index.n_entries - 1, format::kListedEntryBytes, cache));
  auto last = format::parse_listed_local(bytes, index);
  if (!last.has_value()) return physical.corrupt(last.error().message());
  return last.value() + 1;
}

std::vector<format::AddedRun> joined_runs(std::vector<format::AddedRun> runs) {
  std::ranges::stable_sort(runs, {}, &format::AddedRun::first);
  std::vector<format::AddedRun> joined;
  std::uint64_t end = 0;
  for (format::AddedRun& run : runs) {
    const std::uint64_t run_end = run.first + run.count;
    run.first = std::max(run.first, end);
    if (run.first >= run_end) continue;
    const bool follows = !joined.empty() && run.first == end && joined.back().physical == run.physical;
    if (!follows) joined.push_back({run.first, 0, run.physical});
    joined.back().count += run_end - run.first;
    end = run_end;
  }
  return joined;
}

std::vector<PlacedRange> ranked(const std::vector<format::AddedRun>& runs, std::uint64_t n_numbered) {
  std::vector<PlacedRange> result;
  std::map<std::uint32_t, std::uint64_t> before;  // by physical file
  for (const format::AddedRun& run : runs) {
    std::uint64_t& slot = before[run.physical];
    result.push_back({n_numbered, run.count, run.first, run.physical, slot});
    slot += run.count;
    n_numbered += run.count;
  }
  return result;
}

}  // namespace thalweg
