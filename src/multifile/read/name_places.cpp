#include "multifile/read/name_places.hpp"

#include <algorithm>
#include <map>

#include "base/crc32c.hpp"
#include "multifile/read/read_handle.hpp"

namespace thalweg {

Status list_names(const PhysicalReader& physical, std::vector<format::NamePlace>& names, const GoOn& go_on) {
  PageCache cache;
  const auto add = [&](std::uint64_t local, Result<format::FileEntry> entry) -> Status {
    TW_RETURN_IF_ERROR(entry.status());
    if (entry->name_bytes == 0) return {};
    TW_ASSIGN_OR_RETURN(const std::string name, physical.name(*entry, cache, true));
    names.push_back({crc32c(std::as_bytes(std::span(name))), physical.header().id.physical, local});
    return {};
  };
  return physical.each_entry(add, go_on);
}

Result<format::NamePlace> name_place(const PhysicalReader& first, std::uint64_t i, PageCache& cache) {
  TW_ASSIGN_OR_RETURN(const auto bytes,
                      first.section_entry(format::SectionKind::name_places, first.index().name_places_offset, i,
                                          format::kNamePlaceBytes, cache));
  auto place = format::parse_name_place(bytes, first.header().n_physical);
  return place.has_value() ? std::move(place) : Result<format::NamePlace>(first.corrupt(place.error().message()));
}

Result<bool> has_places(const PhysicalReader& first, std::span<const format::NamePlace> names, const GoOn& go_on) {
  if (names.size() != first.index().n_name_places) return false;
  PageCache cache;
  for (std::uint64_t i = 0; i < names.size(); ++i) {
    if (i % kAskEach == kAskEach - 1 && go_on && !go_on()) return first.stopped();
    auto place = name_place(first, i, cache);
    if (!place.has_value() && !is_loss(place.status().code())) return place.status();
    if (!place.has_value() || *place != names[i]) return false;
  }
  return true;
}

// Hashes are spread evenly: from a place that was read, the wanted one is about as many places away as its hash tells.
// After some rounds the rest is halved, for hashes that somebody chose.
Result<std::uint64_t> end_of_hash(const PhysicalReader& first, std::uint32_t hash, PageCache& cache) {
  constexpr std::uint64_t kPerPage = format::kPagePayload / format::kNamePlaceBytes;
  constexpr int kRounds = 4;
  const std::uint64_t n = first.index().n_name_places;
  const double per_hash = static_cast<double>(n) / 4294967296.0;
  std::uint64_t low = 0, high = n;
  double guess = per_hash * hash;
  for (int round = 0; low < high; ++round) {
    const std::uint64_t halfway = low + (high - low) / 2;
    if (round >= kRounds) guess = static_cast<double>(halfway);
    const auto at =
        static_cast<std::uint64_t>(std::clamp(guess, static_cast<double>(low), static_cast<double>(high - 1)));
    // Both ends of its page, so that a page is read once.
    const std::uint64_t begin = std::max(low, at / kPerPage * kPerPage);
    const std::uint64_t end = std::min(high, (at / kPerPage + 1) * kPerPage);
    TW_ASSIGN_OR_RETURN(const format::NamePlace front, name_place(first, begin, cache));
    TW_ASSIGN_OR_RETURN(const format::NamePlace back, name_place(first, end - 1, cache));
    if (front.hash > hash) {
      high = begin;
      guess = static_cast<double>(begin) - per_hash * (front.hash - hash);
    } else if (back.hash <= hash) {
      low = end;
      guess = static_cast<double>(end) + per_hash * (hash - back.hash);
    } else {  // in this page
      low = begin + 1;
      high = end - 1;
      while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        TW_ASSIGN_OR_RETURN(const format::NamePlace place, name_place(first, middle, cache));
        (place.hash <= hash ? low : high) = place.hash <= hash ? middle + 1 : middle;
      }
    }
  }
  return low;
}

namespace {

// The logical files at `places` have names of one hash.
Status check_one_hash(ReadHandle& handle, std::span<const format::NamePlace> places) {
  std::map<std::string, std::uint64_t> ranks;
  PageCache cache;
  for (const format::NamePlace& place : places) {
    TW_ASSIGN_OR_RETURN(const std::uint64_t rank, handle.files().rank_of(place.physical, place.local, cache));
    std::uint32_t mode = 0;
    TW_ASSIGN_OR_RETURN(const std::string name, handle.name(rank, mode));
    const auto [other, fresh] = ranks.emplace(name, rank);
    if (!fresh)
      return Status::error(Code::already_exists,
                           "logical files {} and {} of '{}' are both named {}, which the hint duplicates=error "
                           "forbids; the multifile is closed and has both",
                           other->second, rank, handle.files().path(), format::shown_name(name));
  }
  return {};
}

}  // namespace

Status check_names_differ(std::shared_ptr<Backend> backend, const std::string& path,
                          std::span<const format::NamePlace> names) {
  if (names.empty()) return {};
  auto set = std::make_shared<ReadSet>(std::move(backend), path, ReadSet::Unclosed::refuse);
  TW_RETURN_IF_ERROR(set->open());
  ReadHandle handle(std::move(set), {}, {});
  for (auto begin = names.begin(); begin != names.end();) {
    const auto end = std::find_if(begin, names.end(), [&](const auto& p) { return p.hash != begin->hash; });
    TW_RETURN_IF_ERROR(check_one_hash(handle, {begin, end}));
    begin = end;
  }
  return {};
}

}  // namespace thalweg
