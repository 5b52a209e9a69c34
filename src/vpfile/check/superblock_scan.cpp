#include "vpfile/check/superblock_scan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/size_units.hpp"
#include "store/overlay.hpp"
#include "store/places.hpp"

namespace thalweg {

using format::BlockRun;

namespace {

constexpr std::uint64_t kRunsAtOnce = std::uint64_t{1} << 20;
constexpr std::uint64_t kChainsUnasked = std::uint64_t{1} << 14;
constexpr const char* kWrongBlocks = ": the checksum of its blocks does not match";
constexpr std::uint64_t kMostLostRuns = std::uint64_t{1} << 16;  // of a gap

std::string name_of(std::uint64_t number) { return fmt::format("superblock {}", number); }

}  // namespace

Status each_superblock(StoredFile& data, const format::VpGeometry& geometry,
                       const std::function<Status(std::uint64_t number, ByteView image)>& visit) {
  const std::uint64_t bytes = geometry.superblock_bytes;
  return each_place(data, geometry.first_superblock * bytes, bytes, bytes,
                    [&](std::uint64_t at, ByteView image) -> Result<bool> {
                      TW_RETURN_IF_ERROR(visit(at / bytes, image));
                      return true;
                    });
}

Result<std::optional<format::SuperblockHeader>> find_superblock(
    StoredFile& data, std::uint64_t from, const std::optional<format::FileIdentity>& id,
    const std::function<Status(std::uint64_t offset)>& passed) {
  std::optional<format::SuperblockHeader> found;
  const auto look = [&](std::uint64_t at, ByteView image) -> Result<bool> {
    auto parsed = format::parse_superblock_header(image, at);
    if (parsed.has_value() && (!id.has_value() || parsed->id == *id)) {
      found = *parsed;
      return false;
    }
    TW_RETURN_IF_ERROR(passed(at));
    return true;
  };
  TW_RETURN_IF_ERROR(each_place(data, from, format::kLeastSuperblock, format::kFrameBytes, look));
  return found;
}

Status SuperblockScan::ask() const {
  if (!go_on_ || go_on_()) return {};
  return Status::error(Code::stopped, "reading the superblocks of '{}': stopped by the caller", data_->path());
}

void SuperblockScan::lose(std::uint64_t number, const std::string& finding) {
  lost_.push_back(number);
  lost_runs_left_ += geometry_.superblock_bytes / std::max(geometry_.block_bytes, 1U);
  findings_.push_back(finding);
}

Status SuperblockScan::take(std::uint64_t number, ByteView image) {
  TW_RETURN_IF_ERROR(ask());
  if (!format::begins_as_superblock(image)) return {};
  end_ = std::max(end_, number + 1);
  Found found;
  found.number = found.previous = number;
  const auto header = format::parse_superblock_header(image, number * geometry_.superblock_bytes);
  if (header.has_value() && header.value().id == id_) {
    found.session = header.value().session;
    found.previous = header.value().previous;
    found.previous_rows = header.value().previous_rows;
    found.before = header.value().before;
  }
  const auto parsed = format::parse_superblock(image, id_, number, geometry_);
  if (parsed.has_value()) {
    found.seal = parsed.value().seal;
    found.damaged = parsed.value().damaged;
    if (!take_rows(image, found))
      found.no_table = name_of(number) + ": its table names blocks twice, or what there cannot be";
  } else {
    found.no_table = parsed.error().message();
  }
  found_.push_back(std::move(found));
  return {};
}

// "" if its task's previous superblock is there as it was when this one was begun.
std::string SuperblockScan::why_previous_is_wrong(const Found& one) const {
  if (one.previous == one.number) return "";
  const auto previous = kept_.find(one.previous);
  if (previous == kept_.end()) return name_of(one.previous) + " is missing";
  if (!previous->second.has_value() || *previous->second == one.previous_rows) return "";
  return fmt::format("{} has {} rows of {}", name_of(one.previous), *previous->second, one.previous_rows);
}

// Why a superblock of a session that was not closed does not count; "" if it does.
std::string SuperblockScan::why_dropped(const Found& one) const {
  if (!one.no_table.empty()) return one.no_table;
  if (one.is_doubtful()) return name_of(one.number) + kWrongBlocks;
  if (const std::string why = why_previous_is_wrong(one); !why.empty()) return name_of(one.number) + ": " + why;
  if (one.before > before_ && !one.seal.synced)
    return name_of(one.number) + ": superblocks of earlier sessions are missing";
  return "";
}

// Records superblocks that are missing before `one`: a gap that they leave in a stream is not a hole.
void SuperblockScan::find_missing(const Found& one) {
  if (const std::string why = why_previous_is_wrong(one); kept_.count(one.previous) != 0 && !why.empty())
    findings_.push_back(why);
  else if (!why.empty())
    lose(one.previous, why);
  if (one.before == before_ || one.session == 0 || session_compared_) return;
  session_compared_ = true;
  const std::string finding = fmt::format("{}: its header counts {} superblocks of earlier sessions, the file has {}",
                                          name_of(one.number), one.before, before_);
  while (kept_.count(next_absent_) != 0) ++next_absent_;
  if (one.before > before_ && next_absent_ < one.number)
    lose(next_absent_, finding);
  else
    findings_.push_back(finding);
}

// Visits superblocks in the order of their numbers: sessions in their order, and each task's superblocks in the order
// in which it stored them.
void SuperblockScan::judge() {
  next_absent_ = geometry_.first_superblock;
  for (Found& one : std::exchange(found_, {})) {
    if (one.session > last_session_) {
      last_session_ = one.session;
      before_ = count_;
      session_compared_ = false;
    }
    const bool closed = last_session_ <= last_closed_;
    if (const std::string why = closed ? "" : why_dropped(one); !why.empty()) {
      dropped_.push_back(one.number);
      findings_.push_back(why + "; its session was not closed, so it is dropped");
      continue;
    }
    find_missing(one);
    kept_.emplace(one.number, one.no_table.empty() ? std::optional(one.seal.rows()) : std::nullopt);
    ++count_;
    if (closed) ++closed_count_;
    if (!one.no_table.empty()) {
      lose(one.number, one.no_table);
      continue;
    }
    if (one.damaged) findings_.push_back(name_of(one.number) + kWrongBlocks);
    piece_bytes_ = std::min(piece_bytes_ + one.piece_bytes, kMostOffset);
    found_.push_back(std::move(one));
  }
  kept_.clear();
  std::ranges::sort(found_, {},
                    [](const Found& one) { return std::tuple(!one.is_doubtful(), one.session, one.number); });
}

// Counts the runs of a table. Each block belongs to one row, so there are no more runs than blocks. False: the table is
// invalid.
bool SuperblockScan::take_rows(ByteView image, Found& found) {
  std::vector<format::SuperblockRow> rows;
  std::uint64_t blocks = 0;
  found.first_vp = geometry_.n;
  for (std::uint32_t i = 0; i < found.seal.rows(); ++i) {
    const auto row = format::parse_row(image, geometry_, found.seal, i);
    if (!row.has_value()) return false;
    const std::uint64_t end = row.value().vp + row.value().n;
    found.first_vp = std::min(found.first_vp, row.value().vp);
    found.end_vp = std::max(found.end_vp, end);
    found.has_lengths = found.has_lengths || row.value().blocks == 0;
    blocks += row.value().all_blocks();
    if (blocks > found.seal.blocks()) return false;
    if (row.value().is_batch()) {
      if (found.damaged) {  // its tables may be wrong
        found.lost.push_back(format::lost_batch(found.number, row.value(), geometry_));
        continue;
      }
      const auto batch = format::batch_of(row.value(), found.number, image, geometry_);
      if (!batch.has_value()) return false;
      found.batches.push_back(*batch);
      found.piece_bytes += format::piece_bytes(format::bytes_of(*batch, image, geometry_));
    } else if (row.value().blocks != 0) {
      rows.push_back(row.value());
    }
  }
  for (const format::SuperblockRow& row : rows) {
    const std::uint64_t end = row.vp + row.n;
    for (std::uint64_t vp = row.vp; vp < end;) {
      const std::uint64_t next = std::min(end, (vp / stretch() + 1) * stretch());
      runs_[vp / stretch()] += next - vp;
      vp = next;
    }
  }
  return true;
}

Result<SuperblockScan> SuperblockScan::of(StoredFile& data, const std::optional<format::FileIdentity>& id,
                                          const format::VpGeometry& geometry, std::uint64_t last_closed, GoOn go_on) {
  SuperblockScan scan(data, std::move(go_on));
  scan.last_closed_ = last_closed;
  scan.geometry_ = geometry;
  if (id.has_value()) scan.id_ = *id;
  if (!geometry.has_ib()) {
    std::uint64_t n = 0;
    const auto passed = [&](std::uint64_t) { return ++n % kAskEach == 0 ? scan.ask() : Status{}; };
    TW_ASSIGN_OR_RETURN(const auto first, find_superblock(data, geometry.lattice_end(), id, passed));
    if (!first.has_value()) return scan;
    scan.geometry_ = first->geometry;
    scan.id_ = first->id;
  }
  scan.runs_.assign(kStretches, 0);
  TW_RETURN_IF_ERROR(each_superblock(data, scan.geometry_,
                                     [&](std::uint64_t number, ByteView image) { return scan.take(number, image); }));
  scan.judge();
  return scan;
}

// The first VP from `vp` on that may have blocks.
std::uint64_t SuperblockScan::next_named(std::uint64_t vp) const {
  for (; vp < geometry_.n; vp = (vp / stretch() + 1) * stretch())
    if (!runs_.empty() && runs_[vp / stretch()] != 0) return vp;
  return geometry_.n;
}

std::uint64_t SuperblockScan::end_of_window(std::uint64_t begin) const {
  std::uint64_t runs = runs_[begin / stretch()];
  std::uint64_t end = std::min(geometry_.n, (begin / stretch() + 1) * stretch());
  if (runs > kRunsAtOnce)
    return std::min(end, begin + std::max<std::uint64_t>(stretch() / (runs / kRunsAtOnce + 1), 1));
  while (end < geometry_.n && runs + runs_[end / stretch()] <= kRunsAtOnce) {
    runs += runs_[end / stretch()];
    end = std::min(geometry_.n, end + stretch());
  }
  return end;
}

// Visits the rows of a superblock, which take_rows() has checked, until the first failure.
template <class Visit>
Status SuperblockScan::each_row(const Found& found, std::vector<std::byte>& image, Visit visit) const {
  TW_RETURN_IF_ERROR(ask());
  image.resize(geometry_.superblock_bytes);
  TW_RETURN_IF_ERROR(read_padded(*data_, found.number * image.size(), image));
  for (std::uint32_t i = 0; i < found.seal.rows(); ++i) {
    TW_ASSIGN_OR_RETURN(const format::SuperblockRow row, format::parse_row(image, geometry_, found.seal, i));
    visit(row);
  }
  return {};
}

// The blocks of VPs begin .. end-1, VP after VP; later ones of a VP hide earlier ones.
Result<std::vector<SuperblockScan::Placed>> SuperblockScan::placed_in(std::uint64_t begin, std::uint64_t end) const {
  std::vector<Placed> placed;
  std::vector<std::byte> image;
  const std::uint64_t per_superblock = geometry_.superblock_bytes / geometry_.block_bytes;
  for (const Found& one : found_) {
    if (one.end_vp <= begin || one.first_vp >= end) continue;
    const auto place = [&](const format::SuperblockRow& row) {
      if (row.blocks == 0 || row.is_batch()) return;
      for (std::uint64_t vp = std::max(row.vp, begin); vp < std::min<std::uint64_t>(row.vp + row.n, end); ++vp) {
        const std::uint64_t first = row.first_block + (vp - row.vp) * row.blocks;
        placed.push_back({vp, row.index, row.blocks, one.number * per_superblock + geometry_.header_blocks() + first,
                          row.index * geometry_.block_bytes + row.bytes, one.damaged});
      }
    };
    TW_RETURN_IF_ERROR(each_row(one, image, place));
  }
  std::ranges::stable_sort(placed, {}, &Placed::vp);
  return placed;
}

std::vector<format::Batch> SuperblockScan::batches() const {
  std::vector<format::Batch> all;
  for (const Found& one : found_) {
    all.insert(all.end(), one.batches.begin(), one.batches.end());
    all.insert(all.end(), one.lost.begin(), one.lost.end());
  }
  for (const std::uint64_t number : std::set(lost_.begin(), lost_.end()))
    all.push_back(format::lost_batch(number, {.n = 0, .blocks = 1}, geometry_));
  format::sort_batches(all);
  return all;
}

Result<std::uint64_t> SuperblockScan::piece_bytes_of(std::uint64_t vp) const {
  std::vector<VpChain> one(1);
  one[0].vp = vp;
  TW_RETURN_IF_ERROR(tell_pieces(vp, vp + 1, one));
  return one[0].bytes;
}

// The pieces of VPs begin .. end-1 in `batches`, which are in the order in which they were made.
Status SuperblockScan::check_pieces_of(std::uint64_t begin, std::uint64_t end, std::span<const format::Batch> batches,
                                       std::vector<std::byte>& image,
                                       const std::function<void(std::uint64_t vp)>& wrong) const {
  constexpr std::uint64_t kWrong = ~std::uint64_t{0};
  std::vector<std::uint64_t> ends(end - begin);  // of the pieces so far
  std::uint64_t loaded = kWrong;
  for (const format::Batch& batch : batches) {
    if (batch.vp + batch.n <= begin || batch.vp >= end) continue;
    TW_RETURN_IF_ERROR(ask());
    if (std::exchange(loaded, batch.superblock) != batch.superblock)
      TW_RETURN_IF_ERROR(read_padded(*data_, batch.superblock * image.size(), image));
    const ByteView bytes = format::bytes_of(batch, image, geometry_);
    for (std::uint64_t vp = std::max(batch.vp, begin); vp < std::min(batch.vp + batch.n, end); ++vp) {
      const auto piece = format::piece_in(bytes, batch, vp - batch.vp);
      std::uint64_t& so_far = ends[vp - begin];
      if (!piece.has_value() || piece->is_empty() || so_far == kWrong) continue;
      if (piece->begin != so_far) wrong(vp);
      so_far = piece->begin == so_far ? piece->end : kWrong;
    }
  }
  return {};
}

// Batches that have VPs in common are looked at together, and those of kTogether VPs at least: a superblock is read each
// time.
Status SuperblockScan::check_pieces(const std::function<void(std::uint64_t vp)>& wrong) const {
  constexpr std::uint64_t kTogether = std::uint64_t{1} << 18, kVpsAtOnce = std::uint64_t{1} << 22;
  std::vector<std::byte> image(geometry_.superblock_bytes);
  std::vector<format::Batch> all = batches();
  std::erase_if(all, [](const format::Batch& batch) { return batch.lost != 0; });
  std::ranges::sort(all, {}, &format::Batch::vp);
  for (auto first = all.begin(); first != all.end();) {
    auto last = first;
    std::uint64_t end = first->vp + first->n;
    for (; last != all.end() && last->vp < std::max(end, first->vp + kTogether); ++last)
      end = std::max(end, last->vp + last->n);
    std::vector<format::Batch> group(first, last);
    format::sort_batches(group);
    for (std::uint64_t begin = first->vp; begin < end; begin += kVpsAtOnce)
      TW_RETURN_IF_ERROR(check_pieces_of(begin, std::min(begin + kVpsAtOnce, end), group, image, wrong));
    first = last;
  }
  return {};
}

// Finds the pieces of the streams that have a chain: they show in its holes.
Status SuperblockScan::tell_pieces(std::uint64_t begin, std::uint64_t end, std::vector<VpChain>& chains) const {
  std::vector<std::byte> image(geometry_.superblock_bytes);
  for (const Found& one : found_) {
    if (one.batches.empty() || one.end_vp <= begin || one.first_vp >= end) continue;
    TW_RETURN_IF_ERROR(ask());
    TW_RETURN_IF_ERROR(read_padded(*data_, one.number * image.size(), image));
    for (const format::Batch& batch : one.batches) {
      for (auto chain = std::ranges::lower_bound(chains, batch.vp, {}, &VpChain::vp);
           chain != chains.end() && batch.has(chain->vp); ++chain) {
        const auto piece = format::piece_in(format::bytes_of(batch, image, geometry_), batch, chain->vp - batch.vp);
        if (!piece.has_value() || piece->is_empty()) continue;
        chain->pieces.push_back(*piece);
        chain->bytes = std::max(chain->bytes, piece->end);
      }
    }
  }
  for (VpChain& chain : chains) std::ranges::sort(chain.pieces, {}, &format::BatchPiece::begin);
  return {};
}

// Applies rows without blocks, which state a least length for a range of VPs, to the chains of a window. `most` is a
// tree over the chains: a length is stored in the nodes that make up its range, and chain i is leaf i + chains.size().
Status SuperblockScan::tell_lengths(std::uint64_t begin, std::uint64_t end, std::vector<VpChain>& chains) const {
  std::vector<std::uint64_t> most(2 * chains.size());
  const auto leaf_of = [&](std::uint64_t vp) {
    const auto found = std::ranges::lower_bound(chains, vp, {}, &VpChain::vp);
    return static_cast<std::size_t>(found - chains.begin()) + chains.size();
  };
  const auto tell = [&](const format::SuperblockRow& row) {
    if (row.blocks != 0) return;
    const std::uint64_t bytes = row.index * geometry_.block_bytes + row.bytes;
    const auto note = [&](std::size_t node) { most[node] = std::max(most[node], bytes); };
    for (std::size_t low = leaf_of(row.vp), high = leaf_of(row.vp + row.n); low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) note(low++);
      if (high % 2 == 1) note(--high);
    }
  };
  std::vector<std::byte> image;
  for (const Found& one : found_)
    if (one.has_lengths && one.end_vp > begin && one.first_vp < end) TW_RETURN_IF_ERROR(each_row(one, image, tell));
  for (std::size_t i = 0; i < chains.size(); ++i) {
    if (i % kChainsUnasked == 0) TW_RETURN_IF_ERROR(ask());
    for (std::size_t node = i + chains.size(); node > 0; node /= 2)
      chains[i].bytes = std::max(chains[i].bytes, most[node]);
  }
  return {};
}

// The end of the bytes from `begin` on that pieces have all of. Each call has a larger `begin`.
static std::uint64_t end_of_pieces(VpChain& chain, std::uint64_t begin) {
  for (; chain.passed < chain.pieces.size(); ++chain.passed) {
    const format::BatchPiece& piece = chain.pieces[chain.passed];
    if (piece.begin > std::max(begin, chain.end_passed)) break;
    chain.end_passed = std::max(chain.end_passed, piece.end);
  }
  return std::max(begin, chain.end_passed);
}

// Adds blocks begin .. end-1 that no table names. Blocks whose bytes are all in pieces are a hole. The others are a hole,
// too, unless a table was lost: then they become blocks of that superblock, so that reading them fails. So many that most
// must be a hole stay one. False: the gap needs more runs than the lost tables can have held, and the stream ends before it.
bool SuperblockScan::add_gap(std::uint64_t begin, std::uint64_t end, VpChain& chain) {
  const std::uint64_t in_pieces = end_of_pieces(chain, begin * geometry_.block_bytes);
  const std::uint64_t shown = in_pieces >= chain.bytes ? end : std::min(in_pieces / geometry_.block_bytes, end);
  for (; begin < shown; begin += std::min(shown - begin, format::kMostHole))
    chain.runs.push_back({0, std::min(shown - begin, format::kMostHole)});
  std::uint64_t blocks = end - begin;
  if (blocks == 0) return true;
  const std::uint64_t per_superblock = geometry_.superblock_bytes / geometry_.block_bytes;
  const std::uint64_t most_lost = std::min(format::kMostRun, per_superblock - geometry_.header_blocks());
  chain.damaged = chain.damaged || !lost_.empty();
  const bool hole = lost_.empty() || blocks / most_lost > kMostLostRuns;
  if (!hole && blocks / most_lost + 1 > lost_runs_left_) return false;
  if (!hole) lost_runs_left_ -= blocks / most_lost + 1;
  const std::uint64_t most = hole ? format::kMostHole : most_lost;
  const std::uint64_t address = hole ? 0 : lost_[0] * per_superblock + geometry_.header_blocks();
  for (; blocks > 0; blocks -= std::min(blocks, most)) chain.runs.push_back({address, std::min(blocks, most)});
  return true;
}

// Makes the runs of a chain up to chain.bytes; later elements of `placed` hide earlier ones.
void SuperblockScan::join(std::span<const Placed> placed, VpChain& chain) {
  Overlay all;
  for (std::uint32_t i = 0; i < placed.size(); ++i)
    put_over(all, {placed[i].index, placed[i].index + placed[i].blocks, i});
  const std::uint64_t end = (chain.bytes + geometry_.block_bytes - 1) / geometry_.block_bytes;
  std::uint64_t next = 0;
  bool cut = false;
  for (const auto& [index, shown] : all) {
    if (index >= end) break;
    cut = index > next && !add_gap(next, index, chain);
    if (cut) break;
    next = std::min(shown.end, end);
    const Placed& one = placed[shown.piece];
    for (std::uint64_t at = index; at < next; at += format::kMostRun)
      chain.runs.push_back({one.address + (at - one.index), std::min(next - at, format::kMostRun)});
  }
  if (!cut && next < end) cut = !add_gap(next, end, chain);
  if (cut) chain.bytes = next * geometry_.block_bytes;
}

Result<std::vector<VpChain>> SuperblockScan::chains(std::uint64_t& next) {
  const std::uint64_t begin = next_named(next);
  next = begin;
  std::vector<VpChain> chains;
  if (begin >= geometry_.n) return chains;
  next = end_of_window(begin);
  TW_ASSIGN_OR_RETURN(const std::vector<Placed> placed, placed_in(begin, next));
  std::uint64_t done = 0;
  for (const Placed& one : placed) {
    if (++done % kChainsUnasked == 0) TW_RETURN_IF_ERROR(ask());
    if (chains.empty() || chains.back().vp != one.vp) chains.emplace_back().vp = one.vp;
    VpChain& chain = chains.back();
    chain.bytes = std::max(chain.bytes, one.bytes);
    chain.damaged = chain.damaged || one.damaged;
  }
  TW_RETURN_IF_ERROR(tell_lengths(begin, next, chains));
  TW_RETURN_IF_ERROR(tell_pieces(begin, next, chains));
  auto rest = placed.begin();
  for (VpChain& chain : chains) {
    if (++done % kChainsUnasked == 0) TW_RETURN_IF_ERROR(ask());
    const auto end = std::find_if(rest, placed.end(), [&](const Placed& one) { return one.vp != chain.vp; });
    join(std::span(rest, end), chain);
    rest = end;
  }
  return chains;
}

}  // namespace thalweg
