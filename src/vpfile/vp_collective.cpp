// Reading and writing by all VPs: the tasks say what is special about theirs, all choose the same mode, and move.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/size_units.hpp"
#include "engine/queues.hpp"
#include "group/agree.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg {

using format::LatticeRow;

namespace {

constexpr std::uint64_t kLeastBuffer = 256;
constexpr std::uint64_t kMostBuffer = std::uint64_t{1} << 16;
constexpr std::uint64_t kMostRow = std::uint64_t{1} << 26;  // bytes of one task
constexpr std::size_t kExtentsAtOnce = std::size_t{1} << 15;

// Bytes of each VP in one round: whole accesses of this size where they are small, and not more than a task should
// keep.
std::uint64_t buffer_for(std::uint64_t bytes, std::uint64_t most_vps) {
  std::uint64_t buffer = bytes >= kLeastBuffer ? bytes : (kLeastBuffer + bytes - 1) / bytes * bytes;
  const std::uint64_t most = std::max(std::min(kMostBuffer, kMostRow / std::max<std::uint64_t>(most_vps, 1)), bytes);
  if (buffer > most) buffer = std::max(most / bytes * bytes, bytes);
  return std::min(buffer, std::max(kMostBuffer, kLeastBuffer));
}

// Of the VPs that take part.
struct Amounts {
  std::uint64_t least = VpFacts::kMost;
  std::uint64_t most = 0;
  bool masked = false;
};
Amounts amounts_of(const VpTransfer& what, std::uint64_t n) {
  Amounts amounts;
  if (what.each == nullptr && n > 0) amounts.least = amounts.most = what.bytes;
  if (what.each == nullptr && what.mask == nullptr) return amounts;
  bool any = false;
  for (std::uint64_t local = 0; local < n; ++local) {
    if (!what.active(local)) {
      amounts.masked = true;
      continue;
    }
    any = true;
    amounts.least = std::min(amounts.least, what.bytes_of(local));
    amounts.most = std::max(amounts.most, what.bytes_of(local));
  }
  if (!any) amounts.most = 0;
  return amounts;
}

}  // namespace

Status VpFile::check(const VpTransfer& what) const {
  if (!what.status.ok()) return what.status;
  const bool may = what.direction == Direction::read ? may_read_ : may_write_;
  if (!may)
    return Status::error(Code::wrong_mode, "'" + path_ + "' is not open for " +
                                               (what.direction == Direction::read ? "reading" : "writing"));
  if (what.memory.item_bytes == 0) return Status::error(Code::invalid_argument, "'" + path_ + "': items of 0 bytes");
  const auto& strides = what.memory.vp_strides;
  if (!strides.empty() && strides.size() != shape().size())
    return Status::error(Code::invalid_argument, "'" + path_ + "': " + std::to_string(strides.size()) +
                                                     " strides were given for a shape of " +
                                                     std::to_string(shape().size()) + " dimensions");
  return {};
}

// What is given for each VP, but is the same for all, is not.
VpFacts VpFile::facts_of(VpTransfer& what, const Status& mine) const {
  VpFacts facts;
  facts.wrong = mine.ok() ? 0 : 1;
  (what.direction == Direction::read ? facts.reads : facts.writes) = 1;
  facts.has_ib = geometry_.has_ib() ? 1 : 0;
  facts.most_vps = vps_.count();
  if (!mine.ok()) return facts;
  const Amounts amounts = amounts_of(what, vps_.count());
  const bool appends = appends_ && what.direction == Direction::write;
  facts.least_bytes = amounts.least;
  facts.most_bytes = amounts.most;
  if (vps_.count() == 0) return facts;
  facts.least_run = vps_.run_length();
  facts.masked = amounts.masked ? 1 : 0;
  const bool ends_differ = appends && geometry_.has_ib();
  facts.scattered = apart_ || ends_differ || !pushed_.empty() ? 1 : 0;
  facts.least_position = facts.most_position = appends ? geometry_.lattice_bytes() : position_;
  if (facts.masked == 0 && amounts.least == amounts.most) {
    what.bytes = amounts.most;
    what.each = nullptr;
    facts.strided = lies_packed(what, vps_) ? 0 : 1;
  }
  return facts;
}

void VpFile::note(VpMode mode, VpCause cause) {
  if (mode > mode_) {
    transitions_.push_back({n_accesses_, mode_, mode, cause});
    mode_ = mode;
  }
}

void VpFile::tell_moved(const VpTransfer& what, std::uint64_t bytes) const {
  if (what.moved == nullptr) return;
  for (std::uint64_t local = 0; local < vps_.count(); ++local) what.moved[local] = what.active(local) ? bytes : 0;
}

// Of an array without NAME.meta; else what there is.
Result<std::uint64_t> VpFile::record_for(const VpFacts& facts) const {
  if (geometry_.record_bytes != 0 || geometry_.nb_bytes == 0) return geometry_.record_bytes;
  const std::uint64_t bytes = facts.most_bytes;
  if (facts.uniform() && bytes != 0 && geometry_.nb_bytes % bytes == 0) return bytes;
  return Status::error(Code::invalid_argument,
                       "'" + path_ +
                           "' has no NAME.meta, so the first access tells the size of its records: all VPs must "
                           "move the same number of bytes, of which each stream has a multiple (" +
                           std::to_string(geometry_.nb_bytes) + " bytes); or give the hint record_bytes");
}

Status VpFile::choose_record(const VpFacts& facts) {
  TW_ASSIGN_OR_RETURN(geometry_.record_bytes, record_for(facts));
  return {};
}

Op<Status> VpFile::transfer(VpTransfer what) {
  Status mine = or_out_of_memory([&] { return check(what); });
  come_together();  // calls of one VP may have left all where they are alike
  VpFacts facts = facts_of(what, mine);
  tell_moved(what, 0);
  if (hints_.assume_nb) co_return co_await access_as_promised(what, facts, std::move(mine));
  VpFacts before;
  Status status = co_await group().fold(&facts, &before, VpFacts::folding());
  if (!status.ok()) co_return status;
  if (facts.wrong != 0 || (facts.reads != 0 && facts.writes != 0)) {
    if (mine.ok() && facts.wrong == 0)
      mine = or_out_of_memory([&] {
        return Status::error(Code::invalid_argument, "some tasks read '" + path_ + "' and others write it in one call");
      });
    co_return co_await agree(group(), std::move(mine));
  }
  if (facts.most_bytes == 0) co_return Status{};
  status = or_out_of_memory([&] { return choose_record(facts); });  // the same on all tasks
  if (status.ok() && unmarked_) status = co_await mark();
  if (!status.ok()) co_return status;
  if (what.direction == Direction::write)
    status = co_await write_all(what, facts);
  else
    status = co_await read_all(what, facts);
  ++n_accesses_;
  co_return status;
}

namespace {

Status broken_promise(const std::string& path, VpCause cause) {
  return Status::error(Code::invalid_argument, "'" + path +
                                                   "' was opened with assume_nb=on, and this access is not as " +
                                                   "NB needs it: " + text_of(cause) + "; leave out the hint");
}

}  // namespace

// The row of an access that keeps the promise, of 0 bytes at the end of the streams; and the record, which holds if the
// access succeeds on all tasks.
Result<LatticeRow> VpFile::promised_row(const VpTransfer& what, const VpFacts& facts, std::uint64_t& record) const {
  record = geometry_.record_bytes;
  if (facts.uniform() && facts.most_bytes == 0) return LatticeRow{};
  if (facts.has_ib != 0) return broken_promise(path_, VpCause::before);
  TW_ASSIGN_OR_RETURN(record, record_for(facts));
  const bool reads = what.direction == Direction::read;
  if (reads && facts.uniform() && facts.most_position >= geometry_.lattice_bytes()) return LatticeRow{};
  const VpChoice choice = reads ? choose_read(facts, true, true) : choose_write(facts, {mode_, record});
  if (choice.mode != VpMode::nb) return broken_promise(path_, choice.cause);
  TW_RETURN_IF_ERROR(check_end(facts));
  if (record == 0) record = facts.most_bytes;
  format::VpGeometry geometry = geometry_;
  geometry.record_bytes = record;
  const LatticeRow row = row_at(geometry, facts.most_position);
  if (row.begin != facts.most_position) return broken_promise(path_, VpCause::between);
  if (row.bytes != facts.most_bytes) return broken_promise(path_, VpCause::size);
  return row;
}

// Collective, where all promised that every access is as NB needs it, and every task has VPs: each access is one of the
// data file, by which a task that does not keep the promise tells all others.
Op<Status> VpFile::access_as_promised(VpTransfer& what, const VpFacts& facts, Status mine) {
  LatticeRow row;
  std::uint64_t record = 0;
  if (mine.ok()) {
    auto promised = or_out_of_memory([&] { return promised_row(what, facts, record); });
    mine = promised.status();
    if (promised.has_value()) row = promised.value();
  }
  last_choice_ = {};
  ++n_accesses_;
  const bool writes = what.direction == Direction::write;
  Status status = co_await move_whole_row(what.direction, row, what.memory.base, std::move(mine));
  if (!status.ok() && writes) co_return co_await forget_failed(std::move(status));
  if (!status.ok()) {
    error_ = true;
    co_return status;
  }
  geometry_.record_bytes = record;
  position_ = facts.most_position + row.bytes;
  if (row.bytes < facts.most_bytes) eof_ = true;
  if (writes && row.bytes > 0) extend_lattice(position_);
  tell_moved(what, row.bytes);
  co_return status;
}

// That what is written keeps within the bounds of a file; the same on all tasks.
Status VpFile::check_end(const VpFacts& facts) const {
  const std::uint64_t most = kMostStream / geometry_.n;
  if (facts.most_bytes > most || facts.most_position > most - facts.most_bytes) return too_long(0);
  return {};
}

// Collective. What an access that failed has put behind the end of the lattice would be read as other streams' when
// these grow by a record of another size.
Op<Status> VpFile::forget_failed(Status failed) {
  error_ = true;
  const std::uint64_t end = geometry_.lattice_end();
  Status status;
  if (group().rank() == 0) {
    status = or_out_of_memory([&]() -> Status {
      StoredFile& stored = *file_->shared()->stored;
      TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, stored.size());
      return bytes > end ? stored.truncate(end) : Status{};
    });
  }
  status = co_await agree(group(), std::move(status));
  co_return failed;  // of which all know
}

Op<Status> VpFile::write_all(VpTransfer& what, const VpFacts& facts) {
  last_choice_ = choose_write(facts, {mode_, geometry_.record_bytes});
  Status status;
  if (last_choice_.mode == VpMode::ib) {
    status = co_await store_row();
    if (!status.ok()) co_return status;
    row_.valid = false;
    note(VpMode::ib, last_choice_.cause);
    co_return co_await move_apart(what);
  }
  const std::uint64_t position = facts.most_position;
  status = or_out_of_memory([&] { return check_end(facts); });
  if (!status.ok()) co_return status;
  if (last_choice_.mode == VpMode::nb) {
    if (geometry_.record_bytes == 0) geometry_.record_bytes = facts.most_bytes;
  } else {
    note(VpMode::cb, last_choice_.cause);
    if (geometry_.buffer_bytes == 0)
      geometry_.buffer_bytes =
          hints_.round_bytes != 0 ? hints_.round_bytes : buffer_for(facts.most_bytes, facts.most_vps);
  }
  what.bytes = facts.most_bytes;  // also of a task without VPs
  status = co_await move_rows(what, facts, facts.most_bytes);
  if (!status.ok()) co_return co_await forget_failed(std::move(status));
  position_ = position + facts.most_bytes;
  tell_moved(what, facts.most_bytes);
  co_return status;
}

Op<Status> VpFile::read_all(VpTransfer& what, const VpFacts& facts) {
  const std::uint64_t position = facts.most_position;
  const std::uint64_t end = geometry_.lattice_bytes();
  const std::uint64_t there = position < end ? std::min(end - position, facts.most_bytes) : 0;
  // A row that a task cannot keep is not read as a whole for a part of it.
  const std::uint64_t largest = std::max(geometry_.record_bytes, geometry_.buffer_bytes);
  const bool fits = largest <= kMostRow / std::max<std::uint64_t>(facts.most_vps, 1);
  bool in_lattice = facts.has_ib == 0 || there == facts.most_bytes;
  bool whole_row = false;
  if (facts.uniform() && there == facts.most_bytes) {
    const LatticeRow row = row_at(geometry_, position);
    whole_row = row.begin == position && row.bytes == facts.most_bytes;
  }
  if (!whole_row && !fits) in_lattice = false;
  last_choice_ = choose_read(facts, in_lattice, whole_row);
  if (last_choice_.mode == VpMode::ib) {
    Status status = co_await store_row();
    if (!status.ok()) co_return status;
    co_return co_await move_apart(what);
  }
  what.bytes = facts.most_bytes;
  Status status = co_await move_rows(what, facts, there);
  if (!status.ok()) {
    error_ = true;
    co_return status;
  }
  position_ = position + there;
  if (there < facts.most_bytes) eof_ = true;
  tell_moved(what, there);
  co_return status;
}

namespace {

// The stretches of memory of one VP, from byte `from` of it on, as extents of the file behind `offset`.
void add_extents(const VpMemory& layout, std::byte* memory, std::uint64_t from, std::uint64_t bytes,
                 std::uint64_t offset, std::vector<Extent>& extents) {
  if (layout.items_touch()) {
    extents.push_back({memory + from, bytes, offset});
    return;
  }
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t item = (from + done) / layout.item_bytes;
    const std::uint64_t within = (from + done) % layout.item_bytes;
    const std::uint64_t part = std::min(layout.item_bytes - within, bytes - done);
    extents.push_back({memory + static_cast<std::int64_t>(item) * layout.item_stride + within, part, offset + done});
    done += part;
  }
}

}  // namespace

// What the VP does: moves its position on and says how much it moves; what of it is in the lattice is only put down.
Status VpFile::begin_apart(const VpTransfer& what, std::uint64_t local, std::byte* memory, std::vector<Extent>& extents,
                           std::uint64_t* moved) {
  VpState& state = states_[local];
  const bool writes = what.direction == Direction::write;
  if (writes && appends_) state.position = end_of(local);
  std::uint64_t bytes = what.bytes_of(local);
  std::uint64_t done = 0;
  if (!writes) {
    if (!pushed_.empty()) TW_RETURN_IF_ERROR(give_pushed(what.memory, local, memory, bytes, &done));
    const std::uint64_t end = end_of(local);
    const std::uint64_t there = state.position < end ? end - state.position : 0;
    if (bytes - done > there) state.set(VpState::kEof);
    bytes = std::min(bytes, done + there);
  } else {
    drop_pushed(local);
    if (bytes > kMostStream || state.position > kMostStream - bytes) return too_long(local);
  }
  const std::uint64_t lattice = geometry_.lattice_bytes();
  while (done < bytes && state.position < lattice) {
    const LatticeRow row = row_at(geometry_, state.position);
    const std::uint64_t part = std::min({row.end() - state.position, lattice - state.position, bytes - done});
    const std::uint64_t offset = row.offset_of(vps_.number(local)) + (state.position - row.begin);
    add_extents(what.memory, memory, done, part, offset, extents);
    state.position += part;
    done += part;
  }
  if (done < bytes) TW_RETURN_IF_ERROR(move_independent(what, local, memory, done, bytes - done));
  *moved = bytes;
  return {};
}

// What lies behind the lattice.
Status VpFile::move_independent(const VpTransfer& what, std::uint64_t local, std::byte* memory, std::uint64_t done,
                                std::uint64_t bytes) {
  VpState& state = states_[local];
  const std::uint64_t from = state.position - geometry_.lattice_bytes();
  const std::uint64_t vp = vps_.number(local);
  const bool writes = what.direction == Direction::write;
  std::span<std::byte> piece;
  if (what.memory.items_touch()) {
    piece = {memory + done, bytes};
  } else {
    scratch_.resize(std::max<std::size_t>(scratch_.size(), bytes));
    piece = std::span(scratch_).first(bytes);
    if (writes) copy_out(what.memory, memory, done, piece);
  }
  TW_RETURN_IF_ERROR(writes ? segment_->write(state, vp, from, piece) : segment_->read(state, vp, from, piece));
  if (!writes && !what.memory.items_touch()) copy_in(what.memory, memory, done, piece);
  state.position += bytes;
  return {};
}

namespace {

// What a file that ends early does not have is zero.
Status clear_behind_end(StoredFile& file, std::span<const Extent> extents) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t end, file.size());
  for (const Extent& extent : extents) {
    const std::uint64_t there = end > extent.offset ? std::min(end - extent.offset, extent.bytes) : 0;
    std::memset(extent.memory + there, 0, extent.bytes - there);
  }
  return {};
}

}  // namespace

// What was put down: this task's alone.
Op<Status> VpFile::move_extents(Direction direction, std::vector<Extent>& extents) {
  if (extents.empty()) co_return Status{};
  std::uint64_t asked = 0;
  for (const Extent& extent : extents) asked += extent.bytes;
  Access access;
  access.direction = direction;
  access.extents = extents;
  Outcome outcome = co_await access_one(*file_->shared(), std::move(access), blocking_io());
  Status status = std::move(outcome.status);
  if (direction == Direction::read && status.ok() && outcome.moved < asked)
    status = or_out_of_memory([&] { return clear_behind_end(*file_->shared()->stored, extents); });
  extents.clear();
  co_return status;
}

// Of most VPs, when all move at once: what lies behind the lattice in one piece, and needs nothing but what is at hand.
bool VpFile::move_at_hand(const VpTransfer& what, std::uint64_t local, std::byte* memory) {
  VpState& state = states_[local];
  const std::uint64_t lattice = geometry_.lattice_bytes();
  const std::uint64_t bytes = what.bytes_of(local);
  if (state.position < lattice) return false;
  if (!state.has(VpState::kLoaded) && !segment_->load_at_hand(state, vps_.number(local))) return false;
  const std::uint64_t from = state.position - lattice;
  if (what.direction == Direction::write) {
    if (from != state.bytes || bytes > kMostStream || state.position > kMostStream - bytes) return false;
    if (!segment_->append_at_hand(state, vps_.number(local), {memory, bytes})) return false;
  } else {
    if (from > state.bytes || bytes > state.bytes - from) return false;
    if (!segment_->read_at_hand(state, vps_.number(local), from, {memory, bytes})) return false;
  }
  state.position += bytes;
  if (what.moved != nullptr) what.moved[local] = bytes;
  return true;
}

Op<Status> VpFile::move_each(const VpTransfer& what) {
  std::vector<Extent> extents;
  std::vector<Begun> begun;  // whose extents were only put down
  VpWalk walk(what, vps_);
  const bool plain = segment_ != nullptr && what.memory.items_touch() && pushed_.empty() && !appends_;
  for (std::uint64_t local = 0; local < vps_.count(); ++local, walk.next()) {
    if (!what.active(local) || what.bytes_of(local) == 0) continue;
    if (plain && move_at_hand(what, local, walk.memory())) continue;
    const Begun here{local, states_[local].position};
    Status status = or_out_of_memory([&] {
      begun.push_back(here);
      std::uint64_t moved = 0;
      TW_RETURN_IF_ERROR(load(local));
      TW_RETURN_IF_ERROR(begin_apart(what, local, walk.memory(), extents, &moved));
      if (what.moved != nullptr) what.moved[local] = moved;
      return Status{};
    });
    if (!status.ok()) take_back(what, here);
    if (extents.empty()) begun.clear();
    if (status.ok() && extents.size() < kExtentsAtOnce) continue;
    Status put_down = co_await move_begun(what, extents, begun);
    if (status.ok()) status = std::move(put_down);
    if (!status.ok()) co_return status;
  }
  co_return co_await move_begun(what, extents, begun);
}

// What was put down; where that fails, none of these VPs has moved.
Op<Status> VpFile::move_begun(const VpTransfer& what, std::vector<Extent>& extents, std::vector<Begun>& begun) {
  Status status = co_await move_extents(what.direction, extents);
  if (!status.ok())
    for (const Begun& one : begun) take_back(what, one);
  begun.clear();
  co_return status;
}

void VpFile::take_back(const VpTransfer& what, const Begun& begun) {
  states_[begun.local].position = begun.position;
  states_[begun.local].set(VpState::kError);
  if (what.moved != nullptr) what.moved[begun.local] = 0;
}

// Where no VP could begin.
void VpFile::flag_all(const VpTransfer& what) {
  for (std::uint64_t local = 0; local < vps_.count(); ++local)
    if (what.active(local) && what.bytes_of(local) > 0) states_[local].set(VpState::kError);
}

// Each VP for itself; what of it is in the lattice goes through the engine, many VPs at a time. All agree at the end.
Op<Status> VpFile::move_apart(const VpTransfer& what) {
  const bool writes = what.direction == Direction::write;
  Status status = or_out_of_memory([&] {
    const Status apart = go_apart();
    return apart.ok() && (writes || geometry_.has_ib()) ? make_segment() : apart;
  });
  if (writes) row_.valid = false;
  if (status.ok())
    status = co_await move_each(what);
  else if (apart_)
    flag_all(what);
  else
    error_ = true;
  come_together();
  co_return co_await agree(group(), std::move(status));
}

}  // namespace thalweg
