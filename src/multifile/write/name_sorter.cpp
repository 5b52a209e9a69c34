#include "multifile/write/name_sorter.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace thalweg {

using format::kNamePlaceBytes;
using format::kPageBytes;
using format::SectionKind;

Status NameSorter::add(const format::NamePlace& place, StoredFile& file, const format::FileIdentity& id,
                       std::uint64_t index_end) {
  ++size_;
  places_.push_back(place);
  return places_.size() < kMost ? Status{} : write_run(file, id, index_end);
}

Status NameSorter::write_run(StoredFile& file, const format::FileIdentity& id, std::uint64_t index_end) {
  std::ranges::sort(places_);
  Run run{.id = id, .offset = index_end, .n = places_.size()};
  if (!runs_.empty() && runs_.back().id.physical == id.physical)
    run.offset = runs_.back().offset + format::section_pages(runs_.back().n, kNamePlaceBytes) * kPageBytes;
  std::vector<std::byte> entries(places_.size() * kNamePlaceBytes), pages;
  for (std::size_t i = 0; i < places_.size(); ++i)
    format::encode_name_place(places_[i], std::span(entries).subspan(i * kNamePlaceBytes, kNamePlaceBytes));
  format::append_section(pages, SectionKind::name_places, entries, kNamePlaceBytes, id, run.offset);
  runs_.push_back(std::move(run));
  places_.clear();
  return file.write(runs_.back().offset, pages);
}

Result<format::NamePlace> NameSorter::take(Run& run) {
  constexpr std::uint64_t kPerPage = format::kPagePayload / kNamePlaceBytes;
  const std::uint64_t page = run.next / kPerPage;
  std::unique_ptr<StoredFile>& file = files_[run.id.physical];
  if (!file) {
    TW_ASSIGN_OR_RETURN(file, backend_->open(format::physical_name(path_, run.id.physical), OpenMode::read_write));
  }
  if (run.next % kPerPage == 0) {
    const std::uint64_t at = run.offset + page * kPageBytes;
    std::vector<std::byte> bytes(kPageBytes);
    TW_RETURN_IF_ERROR(file->read(at, bytes).status());
    TW_ASSIGN_OR_RETURN(run.entries,
                        format::parse_section(bytes, SectionKind::name_places, std::min(kPerPage, run.n - run.next),
                                              kNamePlaceBytes, run.id, at, page));
  }
  const auto entry = ByteView(run.entries).subspan(run.next++ % kPerPage * kNamePlaceBytes, kNamePlaceBytes);
  return format::parse_name_place(entry, ~std::uint32_t{0});
}

Status NameSorter::each_sorted(const std::function<Status(const format::NamePlace&)>& visit) {
  std::ranges::sort(places_);
  std::size_t in_memory = 0;
  using Head = std::pair<format::NamePlace, std::size_t>;  // the next place of a run; run runs_.size() is in memory
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  const auto advance = [&](std::size_t i) -> Status {
    if (i == runs_.size() && in_memory < places_.size()) heads.emplace(places_[in_memory++], i);
    if (i == runs_.size() || runs_[i].next == runs_[i].n) return {};
    TW_ASSIGN_OR_RETURN(const format::NamePlace place, take(runs_[i]));
    heads.emplace(place, i);
    return {};
  };
  for (std::size_t i = 0; i <= runs_.size(); ++i) TW_RETURN_IF_ERROR(advance(i));
  std::optional<format::NamePlace> before;
  while (!heads.empty()) {
    const auto [place, run] = heads.top();
    heads.pop();
    if (before) note_equal(*before, place);
    before = place;
    TW_RETURN_IF_ERROR(visit(place));
    TW_RETURN_IF_ERROR(advance(run));
  }
  return remove_runs();
}

void NameSorter::note_equal(const format::NamePlace& before, const format::NamePlace& place) {
  if (!lists_equal_ || before.hash != place.hash) return;
  if (equal_.empty() || equal_.back() != before) equal_.push_back(before);
  equal_.push_back(place);
}

// The first run of a physical file begins where its index ends.
Status NameSorter::remove_runs() {
  for (auto& [physical, file] : files_) {
    const auto first = std::ranges::find(runs_, physical, [](const Run& run) { return run.id.physical; });
    TW_RETURN_IF_ERROR(file->truncate(first->offset));
    TW_RETURN_IF_ERROR(file->close());
  }
  return {};
}

}  // namespace thalweg
