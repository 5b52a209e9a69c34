#include "vpfile/streams/entry_sums.hpp"

#include <algorithm>

#include "store/places.hpp"

namespace thalweg {

using format::DirectoryFile;
using format::kSumPageBytes;
using format::kSumsPerPage;

namespace {

constexpr const char* kWayOut = "; `thalweg repair` makes them anew";

}  // namespace

std::uint64_t EntrySums::of(std::uint64_t at) const {
  const auto page = pages_.find(at / kSumsPerPage);
  return page == pages_.end() ? 0 : page->second[at % kSumsPerPage];
}

std::uint64_t EntrySums::next(std::uint64_t at) const {
  for (auto page = pages_.lower_bound(at / kSumsPerPage); page != pages_.end(); ++page) {
    const std::uint64_t begin = page->first * kSumsPerPage;
    for (std::uint64_t number = std::max(at, begin); number < begin + kSumsPerPage; ++number)
      if (page->second[number - begin] != 0) return number;
  }
  return kNone;
}

// Reads the sums between two offsets, pages of them at a time.
Status EntrySums::read_between(StoredFile& meta_file, std::uint64_t begin, std::uint64_t end) {
  const auto add = [&](std::uint64_t at, ByteView page) -> Result<bool> {
    for (std::uint64_t i = 0; i < page.size() && at + i < end; i += 8) {
      const auto sum = load_le<std::uint64_t>(page.subspan(i));
      const std::uint64_t number = (at - begin + i) / 8;
      if (sum != 0) pages_[number / kSumsPerPage][number % kSumsPerPage] = sum;
    }
    return at + page.size() < end;
  };
  return begin == end ? Status{} : each_place(meta_file, begin, kSumPageBytes, kSumPageBytes, add);
}

Result<EntrySums> EntrySums::read(StoredFile& meta_file, const format::VpMeta& meta, DirectoryFile which) {
  const bool first = which == DirectoryFile::first;
  const std::uint64_t entries = first ? meta.geometry.n : meta.end_of_entries - 1;
  EntrySums sums;
  sums.bytes_ = meta.side_bytes[which];
  sums.count_ = format::sums_for(entries);
  const std::uint64_t begin = format::sums_offset(which, meta.geometry.n);
  TW_RETURN_IF_ERROR(sums.read_between(meta_file, begin, begin + 8 * sums.count_));
  std::uint64_t seal = 0;
  for (const auto& [page, its] : sums.pages_)
    for (std::uint64_t i = 0; i < its.size(); ++i) seal += format::sum_hash(page * kSumsPerPage + i, its[i]);
  if (seal == meta.side_seals[which]) return sums;
  return Status::error(Code::corrupt_file,
                       "'{}': the sums of the entries of {} are not those with which the file was closed{}",
                       meta_file.path(), first ? "NAME.first" : "NAME.dir", kWayOut);
}

// Applies the changes of one page of sums, whose first `stored` sums are valid; returns the change of the seal.
static Result<std::uint64_t> change_page(StoredFile& meta_file, std::uint64_t offset, std::uint64_t stored,
                                         std::span<const SumChange> changes) {
  std::array<std::byte, kSumPageBytes> bytes{};
  if (stored > 0) {
    TW_RETURN_IF_ERROR(read_padded(meta_file, offset, std::span(bytes).first(8 * std::min(stored, kSumsPerPage))));
  }
  std::uint64_t seal = 0;
  for (const SumChange& change : changes) {
    const ByteSpan place = ByteSpan(bytes).subspan(8 * (change.at % kSumsPerPage), 8);
    const auto before = load_le<std::uint64_t>(place);
    store_le<std::uint64_t>(place, before + change.by);
    seal += format::sum_hash(change.at, before + change.by) - format::sum_hash(change.at, before);
  }
  TW_RETURN_IF_ERROR(meta_file.write(offset, bytes));
  return seal;
}

Result<format::PerDirectoryFile<std::uint64_t>> change_sums(StoredFile& meta_file, std::uint64_t n,
                                                            const format::PerDirectoryFile<std::uint64_t>& stored,
                                                            std::vector<SumChange> changes) {
  const auto page_of = [&](const SumChange& change) {
    return format::sums_offset(change.which, n) + change.at / kSumsPerPage * kSumPageBytes;
  };
  std::ranges::sort(changes, {}, page_of);
  format::PerDirectoryFile<std::uint64_t> seals;
  for (auto rest = std::span<const SumChange>(changes); !rest.empty();) {
    const std::uint64_t offset = page_of(rest[0]);
    std::size_t same = 1;
    while (same < rest.size() && page_of(rest[same]) == offset) ++same;
    const DirectoryFile which = rest[0].which;
    const std::uint64_t before = std::min(stored[which], rest[0].at / kSumsPerPage * kSumsPerPage);
    TW_ASSIGN_OR_RETURN(const std::uint64_t by,
                        change_page(meta_file, offset, stored[which] - before, rest.first(same)));
    seals[which] += by;
    rest = rest.subspan(same);
  }
  return seals;
}

}  // namespace thalweg
