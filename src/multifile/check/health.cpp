#include "multifile/check/health.hpp"

#include <algorithm>

#include "multifile/check/regions.hpp"
#include "multifile/check/whole_pass.hpp"
#include "multifile/multifile.hpp"
#include "multifile/write/index_writer.hpp"
#include "storage/hold_file.hpp"

namespace thalweg {

namespace {

// Reads one logical file to its end, and its name; the failure when it cannot be.
Status read_whole(ReadHandle& handle, std::uint64_t rank, std::vector<std::byte>& buffer, Pass& pass) {
  TW_RETURN_IF_ERROR(handle.seek_to(rank, 0));
  LogicalReader* reader = handle.current();
  if (buffer.size() < kPassReadBytes) buffer.resize(std::min<std::uint64_t>(kPassReadBytes, reader->size()));
  // A gap may be as long as a number in the index says, up to 2^63: nobody waits for its zeros.
  for (std::uint64_t at = reader->skip_zeros(0); at < reader->size(); at = reader->skip_zeros(at)) {
    std::size_t got = 0;
    TW_RETURN_IF_ERROR(reader->read(at, buffer, got));
    at += got;
    TW_RETURN_IF_ERROR(pass.at(at));
  }
  std::uint32_t mode = 0;
  TW_RETURN_IF_ERROR(handle.name(rank, mode).status());
  TW_ASSIGN_OR_RETURN(const format::FileEntry entry, handle.entry(rank));
  if ((entry.flags & format::kFileDamaged) == 0) return {};
  return Status::error(Code::corrupt_file,
                       "logical file " + std::to_string(rank) +
                           ": what is here can be read; a repair found that flushed bytes are lost");
}

Status damaged_summary(const std::string& path, const Health& health) {
  const std::string findings = std::to_string(health.findings) + (health.findings == 1 ? " finding)" : " findings)");
  if (health.damaged_logical == 0)
    return Status::error(Code::corrupt_file, "'" + path + "': all logical files can be read, but it is not sound (" +
                                                 findings + "; `thalweg defrag` makes a copy that is");
  return Status::error(Code::corrupt_file, "'" + path + "': " + std::to_string(health.damaged_logical) + " of " +
                                               std::to_string(health.n_logical) + " logical files are damaged (" +
                                               findings);
}

// Nothing for a single one, of which the message tells.
std::string of_which(std::uint64_t begin, std::uint64_t end) {
  if (end - begin == 1) return "";
  return "; logical files " + std::to_string(begin) + " to " + std::to_string(end - 1) + " are lost by that";
}

// Damage of one logical file is a finding; what hinders reading at all is a failure.
Status check_all(ReadHandle& handle, Reporter& report, Health& health) {
  std::vector<std::byte> buffer;  // as large as the largest file asks for
  Pass pass(handle, report);
  TW_RETURN_IF_ERROR(pass.count());
  PieceRangesCheck ranges(handle, report);
  bool shared = false;
  const Status all = each_run(handle, report, [&](std::uint64_t rank, const EntryRun& run) -> Status {
    Status status = ranges.before(rank);
    shared = status.code() == Code::corrupt_file;
    TW_RETURN_IF_ERROR(status);
    if (!run.has_entry && run.lost.ok()) return {};
    status = run.has_entry ? read_whole(handle, rank, buffer, pass) : run.lost;
    if (status.ok()) {
      health.logical_bytes = std::min(health.logical_bytes + handle.current()->size(), format::kMaxOffset);
    } else if (status.code() == Code::corrupt_file ||
               status.code() == Code::not_found) {  // not found: its physical file
      health.damaged_logical += run.end - rank;
      report.finding(status.message() + of_which(rank, run.end));
    } else {
      return status;
    }
    return run.has_entry ? pass.finished(rank) : Status{};
  });
  if (!shared) return all;
  report.finding(all.message());
  return damaged_summary(handle.files().path(), health);
}

// Sessions, slabs and frames: what reading does not need but repair and append do.
Status check_structure(ReadSet& files, Reporter& report) {
  const Status walked = walk_regions(files, [](const Region&) { return true; });
  if (walked.code() != Code::corrupt_file && walked.code() != Code::not_found)
    return walked;  // not found: a physical file
  report.finding(walked.message());
  return {};
}

}  // namespace

Status verify_multifile(std::shared_ptr<Backend> backend, const std::string& path, const Watch& watch, Health& health) {
  health = {};
  Reporter report(watch, health);
  RecoveryWatch recovery{{}, report.for_recovery().progress, report.for_recovery().go_on};
  auto closed = open_all(backend, path, ReadSet::Unclosed::refuse, recovery);
  if (closed.has_value()) {
    health.closed = true;
    health.n_logical = closed->files().header().n_logical;
    TW_RETURN_IF_ERROR(check_all(*closed, report, health));
    TW_RETURN_IF_ERROR(check_structure(closed->files(), report));
    TW_RETURN_IF_ERROR(closed->attributes().status());
    return health.findings == 0 ? Status{} : damaged_summary(path, health);
  }
  const Status why = closed.error();
  if (why.code() != Code::not_closed && why.code() != Code::corrupt_file) return why;
  report.finding(why.message());
  // What a recovery finds shows when the logical files are read.
  auto open = open_all(std::move(backend), path, ReadSet::Unclosed::recover, std::move(recovery));
  if (!open.has_value()) return open.error().code() == Code::stopped ? open.error() : why;
  health.n_logical = open->files().header().n_logical;
  const Status checked = check_all(*open, report, health);
  return checked.ok() || checked.code() == Code::corrupt_file ? why : checked;
}

// ---- Repair ------------------------------------------------------------------------------------------------------

namespace {

class Repair {
 public:
  Repair(std::shared_ptr<Backend> backend, const std::string& path, Reporter& report, Health& health)
      : backend_(std::move(backend)), path_(path), report_(report), health_(health) {}

  Status run() {
    ReadSet set(backend_, path_, ReadSet::Unclosed::inspect, report_.for_recovery());
    TW_RETURN_IF_ERROR(set.open());
    health_.n_logical = set.header().n_logical;
    health_.closed = true;
    bool damaged = false;
    for (auto k = set.header().n_physical; k-- > 0;) {  // file 0 last: as long as it is open the multifile is
      if (k + 1 < set.header().n_physical && !report_.go_on()) return set.first().stopped();
      auto hurt = repair_physical(set, k);
      if (!hurt.has_value() && !may_be_lost(k, hurt.status())) return hurt.status();
      if (!hurt.has_value()) report_.finding(hurt.status().message() + "; its logical files are lost");
      damaged |= !hurt.has_value() || *hurt;
    }
    finished_ = true;
    return damaged ? Status::error(Code::corrupt_file, "'" + path_ + "': something that was flushed is damaged or lost")
                   : Status{};
  }

  bool finished() const { return finished_; }  // nothing hindered it, whatever it found

 private:
  // The storage may have lost the beginning of one physical file and kept what was synced to others: these are
  // repaired without it. Physical file 0 is always needed.
  static bool may_be_lost(std::uint32_t k, const Status& why) {
    return k != 0 && (why.code() == Code::corrupt_file || why.code() == Code::not_found);
  }

  // Whether flushed bytes of it are damaged.
  Result<bool> repair_physical(ReadSet& set, std::uint32_t k) {
    TW_ASSIGN_OR_RETURN(const PhysicalReader* physical, set.physical(k));
    health_.closed &= physical->closed();
    const Status readable =
        physical->readable().ok() ? check_whole_index(*physical, report_.for_recovery().go_on) : physical->readable();
    if (readable.ok()) return false;
    if (readable.code() == Code::stopped) return readable;
    report_.finding(readable.message());
    return mend(set, *physical);
  }

  Result<bool> mend(ReadSet& set, const PhysicalReader& physical) {
    TW_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> ranks, set.ranks(physical));
    TW_ASSIGN_OR_RETURN(Recovery recovery, recover_physical(physical, ranks, report_.for_recovery()));
    TW_ASSIGN_OR_RETURN(auto file, backend_->open(physical.file().path(), OpenMode::read_write));
    TW_RETURN_IF_ERROR(write_recovered(*file, physical, recovery));
    health_.repaired = true;
    return recovery.damaged;
  }

  Status write_recovered(StoredFile& file, const PhysicalReader& physical, Recovery& recovery) {
    // The recovered index stands in for the old one; there are no new contributions.
    TW_ASSIGN_OR_RETURN(auto copy, backend_->open(physical.file().path(), OpenMode::read));
    TW_ASSIGN_OR_RETURN(auto source, PhysicalReader::open(std::move(copy), physical.header().id.physical));
    const std::uint64_t offset = recovery.index.end;
    const format::Attributes attributes = recovery.index.attributes;
    source->use(std::move(recovery.index));
    const Contributions nothing(physical.header().n_local);
    const IndexJob job{&file,        physical.header(), recovery.session, offset,
                       source.get(), &nothing,          attributes,       [this] { return report_.go_on(); }};
    auto written = write_index(job);
    if (!written.has_value()) {
      (void)file.truncate(physical.file_bytes());  // as it was: what there is of an index may fill the storage
      return written.error();
    }
    const format::IndexPage index = *written;
    TW_RETURN_IF_ERROR(file.truncate(index.end));
    TW_RETURN_IF_ERROR(wipe_damaged_index_page(file, physical, recovery));
    TW_RETURN_IF_ERROR(file.sync());
    if (physical.state().sequence >= format::kMaxOffset)
      return Status::error(Code::corrupt_file,
                           "'" + physical.file().path() + "': its state slots cannot count any further");
    format::StateSlot closed = physical.state();
    closed.sequence += physical.state().session_offset == 0 ? 2 : 1;
    closed.state = format::FileState::closed;
    closed.durable = true;
    closed.session = recovery.session;
    closed.session_offset = closed.covered_session_offset = recovery.session_offset;
    closed.end = index.end;
    closed.index_offset = offset;
    closed.index_bytes = index.end - offset;
    TW_RETURN_IF_ERROR(write_state(file, physical.header(), closed));
    TW_RETURN_IF_ERROR(wipe_damaged_slot(file, physical.header(), closed));
    return file.sync();
  }

  // It stands where a walk looks for the frame behind the last one. All else of that index can stay: its pages tell
  // what they are, and a repair that is cut off here finds in them what this one found.
  Status wipe_damaged_index_page(StoredFile& file, const PhysicalReader& physical, const Recovery& recovery) {
    const std::uint64_t offset = physical.state().index_offset;
    if (offset < recovery.frames_end || offset + format::kPageBytes > recovery.index.end) return {};
    return file.write(offset, std::vector<std::byte>(format::kPageBytes));
  }

  // Where the other slot is damaged, readers would go on refusing: it gets the state that went before.
  Status wipe_damaged_slot(StoredFile& file, const format::FileHeader& header, const format::StateSlot& closed) {
    format::StateSlot again = closed;
    again.sequence += 1;
    return write_state(file, header, again);
  }

  const std::shared_ptr<Backend> backend_;
  const std::string path_;
  Reporter& report_;
  Health& health_;
  bool finished_ = false;
};

}  // namespace

Status repair_multifile(std::shared_ptr<Backend> backend, const std::string& path, const Watch& watch, Health& health) {
  health = {};
  Reporter report(watch, health);
  const auto held = hold_file(*backend, path);        // not while somebody writes
  if (held.status().code() == Code::no_permission) {  // what is sound needs no repair
    const Status sound = verify_multifile(std::move(backend), path, watch, health);
    return sound.ok() ? sound : held.status();
  }
  TW_RETURN_IF_ERROR(held.status());
  Repair repair(backend, path, report, health);
  const Status repaired = repair.run();
  if (!repair.finished() && (repaired.code() == Code::stopped || !health.repaired)) return repaired;
  // What stands there now is judged like any other multifile.
  Health after;
  const Status verified = verify_multifile(std::move(backend), path, watch, after);
  health.damaged_logical = after.damaged_logical;
  health.logical_bytes = after.logical_bytes;
  health.findings += after.findings;
  return repaired.ok() ? verified : repaired;
}

}  // namespace thalweg
