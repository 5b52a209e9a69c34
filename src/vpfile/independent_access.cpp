// A collective access in which each VP moves on its own. Its bytes in the lattice go through the engine, many VPs at a
// time.
#include <algorithm>
#include <utility>

#include "base/size_units.hpp"
#include "group/agree.hpp"
#include "storage/queues.hpp"
#include "vpfile/vpfile_parts.hpp"

namespace thalweg {

using format::LatticeRow;

namespace {

constexpr std::size_t kExtentsAtOnce = std::size_t{1} << 15;
constexpr std::uint64_t kLeastPiece = 8;  // bytes, on average: as many as its entry in the table

class IndependentAccess {
 public:
  IndependentAccess(VpParts& parts, const VpTransfer& what)
      : parts_(parts), what_(what), streams_(*parts.streams), appends_(parts.appends && writes()) {}

  Op<Status> run() {
    Status status = or_out_of_memory([&] { return prepare(); });
    if (status.ok())
      status = co_await move_each();
    else
      flag_all();
    if (parts_.blocks != nullptr && writes())
      status = status.or_else(or_out_of_memory([&] { parts_.blocks->end_batch(); }));
    streams_.come_together();
    co_return co_await agree(parts_.group(), std::move(status));
  }

 private:
  bool writes() const { return what_.writes(); }
  bool takes_part(std::uint64_t local) const { return what_.active(local) && what_.bytes_of(local) > 0; }

  Status prepare() {
    streams_.go_apart();
    streams_.make([&](std::uint64_t local) { return takes_part(local); });
    return writes() || parts_.geometry.has_ib() ? parts_.need_blocks() : Status{};
  }

  Op<Status> move_each() {
    VpWalk walk(what_, parts_.vps);
    while (walk.local() < parts_.vps.count()) {
      const Status begun = begin_some(walk);
      const Status moved = co_await move_extents();
      TW_CO_RETURN_IF_ERROR(begun.or_else(moved));
    }
    co_return Status{};
  }

  // Begins VPs until one fails, or kExtentsAtOnce extents wait.
  Status begin_some(VpWalk& walk) {
    for (const std::uint64_t n = parts_.vps.count(); walk.local() < n && extents_.size() < kExtentsAtOnce;
         walk.next()) {
      const std::uint64_t local = walk.local();
      if (!takes_part(local)) continue;
      StreamState& state = streams_[local];
      const std::uint64_t before = state.position;
      Status status = or_out_of_memory([&] { return begin(state, local, walk.memory()); });
      if (status.ok()) continue;
      take_back(local, before);
      return status;
    }
    return {};
  }

  // Moves the position of the VP on, and its bytes outside the lattice.
  Status begin(StreamState& state, std::uint64_t local, std::byte* memory) {
    if (!state.has(StreamState::kLoaded)) TW_RETURN_IF_ERROR(parts_.load(local));
    const std::uint64_t before = state.position;
    std::uint64_t done = 0;
    std::uint64_t bytes = what_.bytes_of(local);
    if (writes()) {
      if (appends_) state.position = parts_.end_of(local);
      streams_.drop_pushed(local);
      if (bytes > kMostStream || state.position > kMostStream - bytes) return parts_.too_long(local);
    } else {
      bytes = bytes_to_read(local, memory, done);
    }
    if (state.position < parts_.geometry.lattice_bytes()) {
      begun_.emplace_back(local, before);
      add_extents(local, memory, done, bytes);
    }
    if (done < bytes) TW_RETURN_IF_ERROR(move_outside(state, local, memory, done, bytes - done));
    if (what_.moved != nullptr) what_.moved[local] = bytes;
    return {};
  }

  std::uint64_t place_of(std::uint64_t i) const { return appends_ ? parts_.end_of(i) : streams_.position(i); }
  // The part of the next `bytes` bytes of a loaded VP that lies behind the lattice.
  std::uint64_t behind_lattice(std::uint64_t local, std::uint64_t bytes) const {
    const std::uint64_t lattice = parts_.geometry.lattice_bytes(), place = std::min(place_of(local), lattice);
    return bytes - std::min(bytes, lattice - place);
  }
  // Whether so many bytes of a loaded VP, behind the lattice, may go into a batch.
  bool may_batch(std::uint64_t local, std::uint64_t bytes) {
    const std::uint64_t lattice = parts_.geometry.lattice_bytes();
    return parts_.blocks->may_batch(streams_[local], std::max(place_of(local), lattice) - lattice, bytes);
  }
  // A batch is worth its row, and its entry in the list, where half of the next VPs append, or those just before did.
  bool goes_into_batch(std::uint64_t local, std::uint64_t bytes) {
    if (!may_batch(local, bytes)) return false;
    const std::uint64_t number = parts_.vps.number(local);
    if (number - next_in_batch_ > OpenBatch::kMostLeftOut && !begins_batch(local, bytes)) return false;
    next_in_batch_ = number + 1;
    return true;
  }
  // `first`: the bytes of `local`, whose position may have moved through the lattice.
  bool begins_batch(std::uint64_t local, std::uint64_t first) {
    if (local < alone_until_) return false;
    const std::uint64_t number = parts_.vps.number(local);
    const std::uint64_t least = parts_.hints.least_batch;
    std::uint64_t end = local, pieces = 0, bytes = 0;
    for (; end - local < least && end < parts_.vps.count(); ++end) {
      if (parts_.vps.number(end) - number != end - local) break;
      if (!takes_part(end)) continue;
      if (!parts_.load(end).ok()) break;
      const std::uint64_t piece = end == local ? first : behind_lattice(end, what_.bytes_of(end));
      if (piece == 0) continue;
      if (!may_batch(end, piece)) break;  // its blocks would end the batch
      ++pieces;
      bytes += piece;
    }
    if (2 * pieces < least || bytes < kLeastPiece * least) alone_until_ = std::max(end, local + 1);
    return local >= alone_until_;
  }
  // Moves bytes of the VP outside the lattice.
  Status move_outside(StreamState& state, std::uint64_t local, std::byte* memory, std::uint64_t done,
                      std::uint64_t bytes) {
    const std::uint64_t vp = parts_.vps.number(local);
    if (!writes() || !goes_into_batch(local, bytes)) {
      next_in_batch_ = BatchList::kNone;  // blocks end the batch
      return move_blocks(state, vp, memory, done, bytes);
    }
    std::byte* to = nullptr;
    TW_RETURN_IF_ERROR(parts_.blocks->add_piece(state, vp, bytes, to));
    copy(what_, memory, done, {to, bytes});
    state.position += bytes;
    return {};
  }

  // Bytes that the VP reads; `done` of them were pushed back before.
  std::uint64_t bytes_to_read(std::uint64_t local, std::byte* memory, std::uint64_t& done) {
    const std::uint64_t wanted = what_.bytes_of(local);
    const auto give = [&](std::byte byte) { copy(what_, memory, done, {&byte, 1}); };
    while (streams_.any_pushed() && done < wanted && streams_.take_pushed(local, give)) ++done;
    StreamState& state = streams_[local];
    const std::uint64_t end = parts_.geometry.lattice_bytes() + state.bytes;
    const std::uint64_t there = state.position < end ? end - state.position : 0;
    if (wanted - done <= there) return wanted;
    state.set(StreamState::kEof);
    return done + there;
  }

  // Collects the extents of the VP in the lattice, which are moved later.
  void add_extents(std::uint64_t local, std::byte* memory, std::uint64_t& done, std::uint64_t bytes) {
    StreamState& state = streams_[local];
    const std::uint64_t lattice = parts_.geometry.lattice_bytes();
    while (done < bytes && state.position < lattice) {
      const LatticeRow row = row_at(parts_.geometry, state.position);
      const std::uint64_t part = std::min({row.end() - state.position, lattice - state.position, bytes - done});
      const std::uint64_t offset = row.offset_of(parts_.vps.number(local)) + (state.position - row.begin);
      each_piece(what_, memory, done, part, [&](std::byte* at, std::uint64_t behind, std::uint64_t n) {
        extents_.push_back({at, n, offset + behind});
      });
      state.position += part;
      done += part;
    }
  }

  Status move_blocks(StreamState& state, std::uint64_t vp, std::byte* memory, std::uint64_t done, std::uint64_t bytes) {
    const std::uint64_t from = state.position - parts_.geometry.lattice_bytes();
    const bool touch = what_.items_touch();
    if (!touch && scratch_.size() < bytes) scratch_.resize(bytes);
    const std::span<std::byte> piece{touch ? memory + done : scratch_.data(), bytes};
    if (!touch && writes()) copy(what_, memory, done, piece);
    TW_RETURN_IF_ERROR(parts_.blocks->move(what_.direction, state, vp, from, {piece.data(), bytes}));
    if (!touch && !writes()) copy(what_, memory, done, piece);
    state.position += bytes;
    return {};
  }

  // Moves the collected extents. On failure none of their VPs has moved.
  Op<Status> move_extents() {
    if (extents_.empty()) co_return Status{};
    if (writes()) parts_.lattice->note_own_writes();
    TaskAccess access{.direction = what_.direction, .extents = extents_};
    Outcome outcome = co_await access_one(*parts_.file->shared(), std::move(access), blocking_io());
    Status status = std::move(outcome.status);
    const bool cut_off = !writes() && outcome.end_of_file < kMostOffset;
    if (cut_off && status.ok()) status = parts_.lattice->ends_early(outcome.end_of_file);
    if (!status.ok())
      for (const auto& [local, position] : begun_) take_back(local, position);
    extents_.clear();
    begun_.clear();
    co_return status;
  }

  void take_back(std::uint64_t local, std::uint64_t position) {
    streams_[local].position = position;
    streams_[local].set(StreamState::kError);
    if (what_.moved != nullptr) what_.moved[local] = 0;
  }

  // Sets the error flag of all VPs that take part, as none could begin; of all VPs where memory is short.
  void flag_all() {
    const Status flagged = or_out_of_memory([&] {
      for (std::uint64_t local = 0; local < parts_.vps.count(); ++local)
        if (takes_part(local)) streams_[local].set(StreamState::kError);
    });
    if (!flagged.ok()) streams_.all().set(StreamState::kError);
  }

  VpParts& parts_;
  const VpTransfer& what_;
  StreamTable& streams_;
  const bool appends_;
  std::vector<Extent> extents_;                                 // of the lattice, to be moved together
  std::vector<std::pair<std::uint64_t, std::uint64_t>> begun_;  // their VPs, and the positions of these before
  std::vector<std::byte> scratch_;                              // of one VP
  std::uint64_t next_in_batch_ = BatchList::kNone;              // VP behind the last one of the batch
  std::uint64_t alone_until_ = 0;                               // VPs before it go into no batch: too few append
};

}  // namespace

Op<Status> access_independently(VpParts& parts, const VpTransfer& what) {
  IndependentAccess access(parts, what);
  co_return co_await access.run();
}

}  // namespace thalweg
