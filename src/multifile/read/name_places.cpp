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
    TW_ASSIGN_OR_RETURN(const std::string name, physical.name(*entry, cache));
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

// The first place of a name with a greater hash. Hashes are spread evenly, so their share of the places is a good guess.
Result<std::uint64_t> end_of_hash(const PhysicalReader& first, std::uint32_t hash, PageCache& cache) {
  constexpr std::uint64_t kPerPage = format::kPagePayload / format::kNamePlaceBytes;
  std::uint64_t low = 0, high = first.index().n_name_places;
  std::uint64_t guess = static_cast<std::uint64_t>(static_cast<double>(high) * (hash / 4294967296.0));
  for (std::uint64_t step = kPerPage; low < high; step *= 2) {
    guess = std::clamp(guess, low, high - 1);
    TW_ASSIGN_OR_RETURN(const format::NamePlace place, name_place(first, guess, cache));
    const bool before = place.hash <= hash;
    (before ? low : high) = before ? guess + 1 : guess;
    const std::uint64_t page = guess / kPerPage * kPerPage;
    const bool ends_here = low >= page && high <= page + kPerPage;
    guess = before ? page + kPerPage - 1 : page;
    if (ends_here || low > guess || high <= guess) guess = low + (high - low) / 2;
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
  const auto same_hash = [](const auto& a, const auto& b) { return a.hash == b.hash; };
  auto begin = std::ranges::adjacent_find(names, same_hash);
  if (begin == names.end()) return {};
  auto set = std::make_shared<ReadSet>(std::move(backend), path, ReadSet::Unclosed::refuse);
  TW_RETURN_IF_ERROR(set->open());
  ReadHandle handle(std::move(set), {}, {});
  while (begin != names.end()) {
    const auto end = std::ranges::find_if(begin, names.end(), [&](const auto& p) { return p.hash != begin->hash; });
    TW_RETURN_IF_ERROR(check_one_hash(handle, {begin, end}));
    begin = std::ranges::adjacent_find(end, names.end(), same_hash);
  }
  return {};
}

}  // namespace thalweg
