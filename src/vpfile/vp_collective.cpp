// Reading and writing by all VPs: the tasks say what is special about theirs, all choose the same mode, and move.
#include <algorithm>
#include <utility>

#include "base/size_units.hpp"
#include "group/agree.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg {

using format::LatticeRow;

namespace {

constexpr std::uint64_t kLeastBuffer = 256;
constexpr std::uint64_t kMostBuffer = std::uint64_t{1} << 16;
constexpr std::uint64_t kMostRow = std::uint64_t{1} << 26;  // bytes of one task

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
  const Call call = file_->group().call();
  facts.calls = {call != Call::none ? call : Call::tw_vp_write_all, file_->group().rank()};
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

// Every collective call of a vpfile begins with one fold of the same record, so that tasks which make different ones
// see it at once; the groups of the file end then.
Op<Status> VpFile::fold_facts(VpFacts& facts) {
  VpFacts before;
  Status status = co_await group().fold(&facts, &before, VpFacts::folding());
  if (status.ok() && facts.calls.differ()) status = end_out_of_step(group(), facts.calls);
  co_return status;
}

Op<Status> VpFile::meet(Call call, Status mine) {
  if (hints_.assume_nb) co_return co_await file_->meet(call, std::move(mine));  // as accesses do there
  VpFacts facts;
  facts.calls = {call, group().rank()};
  facts.wrong = mine.ok() ? 0 : 1;
  Status status = co_await fold_facts(facts);
  if (status.ok() && facts.wrong != 0) status = co_await agree(group(), std::move(mine));
  co_return status;
}

Op<Status> VpFile::transfer(VpTransfer what) {
  Status mine = or_out_of_memory([&] { return check(what); });
  come_together();  // calls of one VP may have left all where they are alike
  VpFacts facts = facts_of(what, mine);
  tell_moved(what, 0);
  if (hints_.assume_nb) co_return co_await access_as_promised(what, facts, std::move(mine));
  Status status = co_await fold_facts(facts);
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
// these grow by a record of another size. Where a task has blocks there, of which only it may know, all stays.
Op<Status> VpFile::forget_failed(Status failed) {
  error_ = true;
  VpFacts facts;
  facts.has_ib = geometry_.has_ib() ? 1 : 0;
  Status status = co_await fold_facts(facts);
  if (!status.ok() || facts.has_ib != 0) co_return failed;
  const std::uint64_t end = geometry_.lattice_end();
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

}  // namespace thalweg
