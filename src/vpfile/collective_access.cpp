// Collective read and write by all VPs: one reduction of the summaries of all tasks, one mode for all, then the
// transfer.
#include <algorithm>
#include <utility>

#include "group/agree.hpp"
#include "vpfile/vpfile_parts.hpp"

namespace thalweg {

using format::LatticeRow;

namespace {

constexpr std::uint64_t kLeastRound = 256;                    // unless a row has kWorthARow bytes of a task
constexpr std::uint64_t kWorthARow = std::uint64_t{1} << 20;  // a write of its own, which a core's cache holds
constexpr std::uint64_t kMostRound = std::uint64_t{1} << 16;
constexpr std::uint64_t kMostRow = std::uint64_t{1} << 26;  // bytes of one task

// Bytes of each VP in one round of the CB segment: a whole number of small accesses, at most kMostRound, and kMostRow
// for all VPs of a task where one access fits. Small records of another size suggest that both take turns, as a count and
// its values do.
std::uint64_t round_for(std::uint64_t bytes, std::uint64_t record, std::uint64_t most_vps) {
  const std::uint64_t vps = std::max<std::uint64_t>(most_vps, 1);
  const std::uint64_t unit = record < kLeastRound && record != bytes ? bytes + record : bytes;
  const std::uint64_t least = std::min(kLeastRound, kWorthARow / vps);
  std::uint64_t round = bytes >= kLeastRound ? bytes : std::max((least + unit - 1) / unit, std::uint64_t{1}) * unit;
  const std::uint64_t most = std::max(std::min(kMostRound, kMostRow / vps), bytes);
  if (round > most) round = std::max(most / bytes * bytes, bytes);
  return std::min(round, kMostRound);
}

class CollectiveAccess {
 public:
  CollectiveAccess(VpParts& parts, VpTransfer what) : parts_(parts), what_(std::move(what)) {}

  Op<Status> run() {
    Status mine = check();
    parts_.streams->come_together();  // independent calls may have left all VPs alike
    summarize(mine);
    tell_moved(0);
    if (parts_.hints.assume_nb) co_return co_await run_as_promised(std::move(mine));
    TW_CO_RETURN_IF_ERROR(co_await fold(parts_, all_));
    if (all_.own_writes != 0) parts_.lattice->hear_own_writes();
    if (all_.wrong != 0 || (all_.reads != 0 && all_.writes != 0)) {
      if (mine.ok() && all_.wrong == 0)
        mine =
            Status::error(Code::invalid_argument, "some tasks read '{}' and others write it in one call", parts_.path);
      co_return co_await agree(parts_.group(), std::move(mine));
    }
    if (all_.most_bytes == 0) co_return Status{};
    TW_CO_ASSIGN_OR_RETURN(parts_.geometry.record_bytes, record());  // equal on all tasks
    if (parts_.unmarked) TW_CO_RETURN_IF_ERROR(co_await mark_as_written(parts_));
    Status status;
    if (writes())
      status = co_await write();
    else
      status = co_await read();
    ++parts_.n_accesses;
    co_return status;
  }

 private:
  bool writes() const { return what_.writes(); }

  Status check() const {
    if (!what_.status.ok()) return what_.status;
    const std::string& path = parts_.path;
    TW_RETURN_IF_ERROR(parts_.check_mode(what_.direction));
    if (what_.item_bytes == 0) return Status::error(Code::invalid_argument, "'{}': items of 0 bytes", path);
    const std::size_t strides = what_.vp_strides.size();
    if (strides == 0 || strides == parts_.meta.shape.size()) return {};
    return Status::error(Code::invalid_argument, "'{}': {} strides were given for a shape of {} dimensions", path,
                         strides, parts_.meta.shape.size());
  }

  // Fills all_ with the summary of this task. Amounts of VPs that are all equal become one amount.
  void summarize(const Status& mine) {
    const Call call = parts_.group().call();
    all_.calls = {call != Call::none ? call : Call::tw_vpfile_write_all, parts_.group().rank()};
    all_.wrong = mine.ok() ? 0 : 1;
    (writes() ? all_.writes : all_.reads) = 1;
    all_.has_ib = parts_.geometry.has_ib() ? 1 : 0;
    all_.own_writes = parts_.lattice->own_writes() ? 1 : 0;
    all_.most_vps = parts_.vps.count();
    if (!mine.ok()) return;
    add_amounts();
    if (parts_.vps.count() == 0) return;
    const bool appends = parts_.appends && writes();
    const bool ends_differ = appends && parts_.geometry.has_ib();
    const StreamTable& streams = *parts_.streams;
    all_.least_run = parts_.vps.run_length();
    all_.scattered = streams.apart() || ends_differ ? 1 : 0;
    all_.least_position = all_.most_position = appends ? parts_.geometry.lattice_bytes() : streams.all().position;
    if (all_.masked != 0 || all_.least_bytes != all_.most_bytes) return;
    what_.bytes = all_.most_bytes;
    what_.each = nullptr;
    all_.strided = lies_packed(what_, parts_.vps) ? 0 : 1;
  }

  // Adds the amounts of the VPs that take part.
  void add_amounts() {
    const std::uint64_t n = parts_.vps.count();
    if (what_.each == nullptr && what_.mask == nullptr) {
      if (n > 0) all_.least_bytes = all_.most_bytes = what_.bytes;
      return;
    }
    if (what_.each == nullptr && n > 0) all_.least_bytes = what_.bytes;
    for (std::uint64_t local = 0; local < n; ++local) {
      if (!what_.active(local)) {
        all_.masked = 1;
        continue;
      }
      all_.least_bytes = std::min(all_.least_bytes, what_.bytes_of(local));
      all_.most_bytes = std::max(all_.most_bytes, what_.bytes_of(local));
    }
  }

  void tell_moved(std::uint64_t bytes) const {
    if (what_.moved == nullptr) return;
    for (std::uint64_t local = 0; local < parts_.vps.count(); ++local)
      what_.moved[local] = what_.active(local) ? bytes : 0;
  }

  // Ends an access: all streams have moved `bytes` bytes, or none where it failed.
  Status finish(Status status, std::uint64_t bytes) const {
    StreamState& all = parts_.streams->all();
    if (!status.ok()) {
      all.set(StreamState::kError);
      return status;
    }
    all.position = all_.most_position + bytes;
    if (bytes < all_.most_bytes) all.set(StreamState::kEof);
    tell_moved(bytes);
    return status;
  }

  // The size of records; of an array without NAME.meta it is the size of the first access.
  Result<std::uint64_t> record() const {
    const format::VpGeometry& geometry = parts_.geometry;
    if (geometry.record_bytes != 0 || geometry.nb_bytes == 0) return geometry.record_bytes;
    const std::uint64_t bytes = all_.most_bytes;
    if (all_.uniform() && bytes != 0 && geometry.nb_bytes % bytes == 0) return bytes;
    return Status::error(
        Code::invalid_argument,
        "'{}' has no NAME.meta, so the first access tells the size of its records: all VPs must move the same number "
        "of bytes, of which each stream has a multiple ({} bytes); or give the hint record_bytes",
        parts_.path, geometry.nb_bytes);
  }

  // Checks that the write ends within the bounds of a file; equal on all tasks.
  Status check_end() const {
    const std::uint64_t most = kMostStream / parts_.geometry.n;
    const bool fits = all_.most_bytes <= most && all_.most_position <= most - all_.most_bytes;
    return fits ? Status{} : parts_.too_long(0);
  }

  // The row of an access under assume_nb, of 0 bytes at the end of the streams; and the size of records, which holds if
  // the access succeeds on all tasks.
  Result<LatticeRow> promised_row(std::uint64_t& record_bytes) const {
    format::VpGeometry geometry = parts_.geometry;
    record_bytes = geometry.record_bytes;
    if (all_.uniform() && all_.most_bytes == 0) return LatticeRow{};
    if (all_.has_ib != 0) return broken_promise(vp_cause::kBefore);
    TW_ASSIGN_OR_RETURN(record_bytes, record());
    if (!writes() && all_.uniform() && all_.most_position >= geometry.lattice_bytes()) return LatticeRow{};
    const VpChoice choice = writes() ? choose_write(all_, parts_.mode, record_bytes) : choose_read(all_, true, true);
    if (choice.mode != VpMode::nb) return broken_promise(choice.cause);
    TW_RETURN_IF_ERROR(check_end());
    if (record_bytes == 0) record_bytes = all_.most_bytes;
    geometry.record_bytes = record_bytes;
    const LatticeRow row = row_at(geometry, all_.most_position);
    if (row.begin != all_.most_position) return broken_promise(vp_cause::kBetween);
    if (row.bytes != all_.most_bytes) return broken_promise(vp_cause::kSize);
    return row;
  }

  Status broken_promise(const char* cause) const {
    return Status::error(
        Code::invalid_argument,
        "'{}' was opened with assume_nb=on, and this access is not as NB needs it: {}; leave out the hint", parts_.path,
        cause);
  }

  // An access under assume_nb, where every task has VPs: one access of the data file without an agreement before. A
  // task whose access does not qualify passes its error into it, and all tasks fail.
  Op<Status> run_as_promised(Status mine) {
    LatticeRow row;
    std::uint64_t record_bytes = 0;
    if (mine.ok()) {
      const auto promised = promised_row(record_bytes);
      mine = promised.status();
      if (promised.has_value()) row = promised.value();
    }
    parts_.last_choice = {};
    ++parts_.n_accesses;
    mine = mine.or_else(co_await parts_.lattice->prepare(what_.direction, 0, Lattice::kEverything));
    Status status = co_await parts_.lattice->transfer_row(what_.direction, row, what_.base, std::move(mine));
    if (!status.ok() && writes()) co_return co_await forget_failed(std::move(status));
    if (status.ok()) {
      parts_.geometry.record_bytes = record_bytes;
      if (writes() && row.bytes > 0) parts_.lattice->extend(all_.most_position + row.bytes);
    }
    co_return finish(std::move(status), row.bytes);
  }

  // Sets the size of records or rounds at the first write of one.
  void extend_lattice() {
    format::VpGeometry& geometry = parts_.geometry;
    if (parts_.last_choice.mode == VpMode::nb) {
      if (geometry.record_bytes == 0) geometry.record_bytes = all_.most_bytes;
      return;
    }
    parts_.note(VpMode::cb, parts_.last_choice.cause);
    const std::uint64_t given = parts_.hints.round_bytes;
    if (geometry.buffer_bytes == 0)
      geometry.buffer_bytes = given != 0 ? given : round_for(all_.most_bytes, geometry.record_bytes, all_.most_vps);
  }

  Op<Status> write() {
    const bool rewrites =
        (parts_.mode == VpMode::ib || all_.has_ib != 0) && all_.uniform() && in_lattice() == all_.most_bytes;
    parts_.last_choice =
        rewrites ? choose_stored(true, true) : choose_write(all_, parts_.mode, parts_.geometry.record_bytes);
    if (parts_.last_choice.mode == VpMode::ib) co_return co_await move_independently();
    TW_CO_RETURN_IF_ERROR(check_end());
    if (!rewrites) extend_lattice();
    what_.bytes = all_.most_bytes;  // also of a task without VPs
    Status status = co_await parts_.lattice->move(what_, all_, all_.most_bytes);
    if (!status.ok()) co_return co_await forget_failed(std::move(status));
    co_return finish(std::move(status), all_.most_bytes);
  }

  // Bytes of each stream that the access has in the lattice.
  std::uint64_t in_lattice() const {
    const std::uint64_t end = parts_.geometry.lattice_bytes();
    return std::min(end - std::min(end, all_.most_position), all_.most_bytes);
  }

  // How stored bytes are moved. A row of more than kMostRow bytes on a task is not moved as a whole for a part of it.
  VpChoice choose_stored(bool in_lattice, bool all_there) const {
    const format::VpGeometry& geometry = parts_.geometry;
    bool whole_row = false;
    if (all_.uniform() && all_there) {
      const LatticeRow row = row_at(geometry, all_.most_position);
      whole_row = row.begin == all_.most_position && row.bytes == all_.most_bytes;
    }
    const std::uint64_t largest = std::max(geometry.record_bytes, geometry.buffer_bytes);
    const bool fits = largest <= kMostRow / std::max<std::uint64_t>(all_.most_vps, 1);
    return choose_read(all_, in_lattice && (whole_row || fits), whole_row);
  }

  Op<Status> read() {
    const std::uint64_t there = in_lattice();
    const bool all_there = there == all_.most_bytes;
    parts_.last_choice = choose_stored(all_.has_ib == 0 || all_there, all_there);
    if (parts_.last_choice.mode == VpMode::ib) co_return co_await move_independently();
    what_.bytes = all_.most_bytes;
    Status status = co_await parts_.lattice->move(what_, all_, there);
    co_return finish(std::move(status), there);
  }

  Op<Status> move_independently() {
    TW_CO_RETURN_IF_ERROR(co_await parts_.lattice->store_row());
    if (parts_.lattice->has_unsynced(0, Lattice::kEverything)) TW_CO_RETURN_IF_ERROR(co_await parts_.lattice->sync());
    if (writes()) {
      TW_CO_RETURN_IF_ERROR(co_await agree(parts_.group(), parts_.check_alone()));
      parts_.lattice->forget_row();
      parts_.note(VpMode::ib, parts_.last_choice.cause);
    }
    co_return co_await access_independently(parts_, what_);
  }

  // Removes bytes that a failed write left behind the end of the lattice: with a record of another size they would be
  // read as bytes of other streams. All bytes stay where a task may have blocks there.
  Op<Status> forget_failed(Status failed) {
    parts_.streams->all().set(StreamState::kError);
    // Else another node's bytes may reach the servers behind the truncate.
    if (parts_.lattice->has_unsynced(0, Lattice::kEverything)) (void)co_await parts_.lattice->sync();
    StreamAccess all;
    all.has_ib = parts_.geometry.has_ib() ? 1 : 0;
    Status status = co_await fold(parts_, all);
    if (!status.ok() || all.has_ib != 0) co_return failed;
    if (parts_.group().rank() == 0) {
      const std::uint64_t end = parts_.geometry.lattice_end();
      const auto bytes = parts_.data().size();
      status = bytes.status();
      if (bytes.has_value() && bytes.value() > end) status = parts_.data().truncate(end);
    }
    status = co_await agree(parts_.group(), std::move(status));
    co_return failed;  // equal on all tasks
  }

  VpParts& parts_;
  VpTransfer what_;
  StreamAccess all_;  // first this task's part, then that of all tasks
};

}  // namespace

Op<Status> access_all(VpParts& parts, VpTransfer what) {
  CollectiveAccess access(parts, std::move(what));
  co_return co_await access.run();
}

Op<Status> fold(VpParts& parts, StreamAccess& all) {
  StreamAccess before;
  Status status = co_await parts.group().fold(&all, &before, folding_of<StreamAccess>());
  if (status.ok() && all.calls.differ()) status = end_out_of_step(parts.group(), all.calls);
  co_return status;
}

Op<Status> meet(VpParts& parts, Call call, Status mine) {
  if (parts.hints.assume_nb) co_return co_await parts.file->meet(call, std::move(mine));  // as accesses do then
  StreamAccess all;
  all.calls = {call, parts.group().rank()};
  all.wrong = mine.ok() ? 0 : 1;
  Status status = co_await fold(parts, all);
  if (status.ok() && all.wrong != 0) status = co_await agree(parts.group(), std::move(mine));
  co_return status;
}

}  // namespace thalweg
