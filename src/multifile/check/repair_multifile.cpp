// Repairing a multifile: each physical file that cannot be read as it is gets an index made from its frames.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "multifile/check/check_multifile.hpp"
#include "multifile/read/added_runs.hpp"
#include "multifile/read/name_places.hpp"
#include "multifile/read/slab_walk.hpp"
#include "multifile/read/stored_index.hpp"
#include "multifile/write/create_files.hpp"
#include "multifile/write/index_writer.hpp"
#include "storage/hold_file.hpp"
#include "store/reporter.hpp"

namespace thalweg {

namespace {

Status replaced(const std::string& path) {
  return Status::error(Code::unsafe,
                       "'{}' was replaced by another file while it was repaired; that one is left as it is", path);
}

class Repair {
 public:
  // `held`: physical file 0, locked. Borrowed, as are `report` and `result`.
  Repair(std::shared_ptr<Backend> backend, StoredFile& held, Reporter& report, CheckResult& result)
      : backend_(std::move(backend)), held_(held), path_(held.path()), report_(report), result_(result) {}

  Status run(bool force) {
    ReadSet set(backend_, path_, ReadSet::Unclosed::inspect, report_.watch());
    TW_RETURN_IF_ERROR(set.open());
    result_.n_logical = set.header().n_logical;
    TW_RETURN_IF_ERROR(check_unclosed(*backend_, held_, force, [this] { return report_.go_on(); }));
    result_.closed = true;
    bool damaged = false;
    for (auto k = set.header().n_physical; k-- > 0;) {  // file 0 last: the multifile is unclosed as long as it is
      if (k + 1 < set.header().n_physical && !report_.go_on()) return set.first().stopped();
      auto hurt = repair_physical(set, k);
      if (!hurt.has_value() && !may_be_lost(k, hurt.status())) return hurt.status();
      if (!hurt.has_value()) report_.finding(hurt.status().message() + "; its logical files are lost");
      damaged |= !hurt.has_value() || *hurt;
    }
    finished_ = true;
    return damaged ? Status::error(Code::corrupt_file, "'{}': something that was flushed is damaged or lost", path_)
                   : Status{};
  }

  bool finished() const { return finished_; }  // it went through all physical files

 private:
  // The storage may have lost the beginning of one physical file and kept what was synced to others: these are
  // repaired without it. Physical file 0 is always needed.
  static bool may_be_lost(std::uint32_t k, const Status& why) {
    return k != 0 && (why.code() == Code::corrupt_file || why.code() == Code::not_found);
  }

  // Whether flushed bytes of it are damaged.
  Result<bool> repair_physical(ReadSet& set, std::uint32_t k) {
    TW_ASSIGN_OR_RETURN(const PhysicalReader* physical, set.physical(k));
    result_.closed &= physical->closed();
    const Status readable = physical->readable().ok()
                                ? load_index(*physical, physical->state(), report_.watch().go_on).status()
                                : physical->readable();
    if (readable.ok() && k != 0) return false;
    if (readable.code() == Code::stopped) return readable;
    if (readable.ok()) {
      TW_ASSIGN_OR_RETURN(const bool right, tells_of_all(*physical));
      if (right) return lacks_later(set, *physical);
    }
    report_.finding(
        readable.ok()
            ? fmt::format("'{}': the index has not all names and added logical files, or has wrong ones", path_)
            : readable.message());
    return mend(set, *physical);
  }

  // Whether a later physical file that was made is missing.
  Result<bool> lacks_later(ReadSet& set, const PhysicalReader& first) {
    TW_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> ends, later_ends(first));
    bool lacks = false;
    for (std::uint32_t k = 1; k <= ends.size(); ++k) {
      if (ends[k - 1] == 0) continue;
      const Status there = set.physical(k).status();
      if (!there.ok() && !may_be_lost(k, there)) return there;
      if (!there.ok()) report_.finding(there.message() + "; the bytes that were stored in it are lost");
      lacks |= !there.ok();
    }
    return lacks;
  }

  Result<bool> mend(ReadSet& set, const PhysicalReader& physical) {
    TW_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> ranks, set.ranks(physical));
    const auto open_later = [&set](std::uint32_t number) { return set.physical(number); };
    TW_ASSIGN_OR_RETURN(Recovery recovery, recover_physical(physical, ranks, open_later, report_.watch()));
    std::unique_ptr<StoredFile> opened;
    if (physical.header().id.physical != 0) {
      TW_ASSIGN_OR_RETURN(opened, backend_->open(physical.path(), OpenMode::read_write));
    }
    StoredFile& file = opened ? *opened : held_;
    TW_RETURN_IF_ERROR(check_same(file, physical));
    TW_RETURN_IF_ERROR(write_recovered(file, physical, recovery));
    result_.repaired = true;
    return recovery.damaged;
  }

  // The name may lead to a file by now that another program writes.
  Status check_same(StoredFile& file, const PhysicalReader& read) const {
    std::array<std::byte, format::kPageBytes> wanted{}, found{};  // the header and both states
    TW_RETURN_IF_ERROR(read.file().read(0, wanted).status());
    TW_RETURN_IF_ERROR(file.read(0, found).status());
    return wanted == found ? Status{} : replaced(file.path());
  }

  // One that is missing, or another file by now, is lost and left out.
  Status sync_later(const format::FileHeader& first, std::vector<std::uint64_t> ends) const {
    for (std::uint32_t k = 1; k <= ends.size(); ++k) {
      if (ends[k - 1] == 0) continue;
      const Status there = open_to_change(*backend_, path_, format::later_header(first, k), OpenMode::read).status();
      if (there.code() == Code::not_found || there.code() == Code::unsafe) ends[k - 1] = 0;
    }
    return check_later(*backend_, path_, first, ends, true);
  }

  Status write_recovered(StoredFile& file, const PhysicalReader& physical, Recovery& recovery) {
    // The recovered index stands in for the old one; there are no new contributions.
    TW_ASSIGN_OR_RETURN(auto source, open_physical(*backend_, physical.path(), physical.header().id.physical));
    TW_RETURN_IF_ERROR(check_same(source->file(), physical));
    const std::uint64_t offset = recovery.index.end;
    format::StateSlot state = physical.state();
    state.session = recovery.index.session;
    state.session_offset = recovery.index.session_offset;
    const format::Attributes attributes = recovery.index.attributes;
    const std::vector<std::uint64_t> later = recovery.index.later;
    source->use(std::move(recovery.index));
    std::vector<format::NamePlace> names;
    std::vector<format::AddedRun> added;
    if (physical.header().id.physical == 0) TW_RETURN_IF_ERROR(look_at_all(physical, *source, names, added));
    Contributions nothing(physical.header().n_local, file);
    NameSorter places(backend_, path_, std::move(names));
    const IndexJob job{.file = &file,
                       .header = physical.header(),
                       .session = state.session,
                       .offset = offset,
                       .old = source.get(),
                       .fresh = &nothing,
                       .attributes = attributes,
                       .added = &added,
                       .names = &places,
                       .later = later,
                       .go_on = [this] { return report_.go_on(); }};
    auto written = write_index(job);
    if (!written.has_value()) {
      (void)file.truncate(physical.file_bytes());  // an incomplete index may have filled the storage
      return written.error();
    }
    const format::IndexPage index = *written;
    TW_RETURN_IF_ERROR(check_state(file, physical.header(), physical.state()));
    TW_RETURN_IF_ERROR(file.truncate(index.end));
    TW_RETURN_IF_ERROR(wipe_damaged_index(file, physical, recovery));
    TW_RETURN_IF_ERROR(give_up_refused_packs(file, physical, recovery));
    TW_RETURN_IF_ERROR(sync_later(physical.header(), later));
    TW_RETURN_IF_ERROR(file.sync());
    if (state.sequence >= format::kMaxOffset) return physical.corrupt("its state slots cannot count any further");
    if (physical.state().session_offset == 0) ++state.sequence;
    format::StateSlot closed = format::closed_state(state, offset, index.end, true);
    TW_RETURN_IF_ERROR(check_state(file, physical.header(), physical.state()));
    TW_RETURN_IF_ERROR(write_state(file, physical.header(), closed));
    ++closed.sequence;  // the other slot too: readers refuse a file with a damaged slot
    TW_RETURN_IF_ERROR(write_state(file, physical.header(), closed));
    return file.sync();
  }

  // The index of physical file 0 describes all physical files. Collects the runs of added logical files, beginning with
  // those that it has, so that ranks stay; and the names in the other physical files, which are repaired by now.
  // `stored`: physical file 0 as it is; `first`: as it will be.
  Status look_at_all(const PhysicalReader& stored, const PhysicalReader& first, std::vector<format::NamePlace>& names,
                     std::vector<format::AddedRun>& added) {
    const GoOn go_on = [this] { return report_.go_on(); };
    if (const RecoveredIndex* const recovered = first.recovered()) {
      added = recovered->added;
    } else {
      TW_ASSIGN_OR_RETURN(added, stored_added_runs(first, first.index(), go_on));
    }
    std::vector<bool> lost(first.header().n_physical);
    for (std::uint32_t k = 0; k < lost.size(); ++k) {
      if (!report_.go_on()) return first.stopped();
      std::unique_ptr<PhysicalReader> opened;
      if (k > 0) {
        auto reader = open_physical(*backend_, format::physical_name(path_, k), k);
        const Status there = reader.has_value() ? (*reader)->readable() : reader.status();
        const bool foreign = there.ok() && (*reader)->header().id.uuid != first.header().id.uuid;
        lost[k] = foreign || may_be_lost(k, there) || there.code() == Code::not_closed;
        if (lost[k]) continue;
        TW_RETURN_IF_ERROR(there);
        opened = std::move(reader).value();
        TW_RETURN_IF_ERROR(list_names(*opened, names, go_on));
      }
      TW_ASSIGN_OR_RETURN(const auto own, own_added(k > 0 ? *opened : first, go_on));
      added.insert(added.end(), own.begin(), own.end());
    }
    added = joined_runs(std::move(added));
    return keep_places(stored, lost, names);
  }

  // Where physical file 0 was closed, the names of one that is missing keep their places: it may come back.
  Status keep_places(const PhysicalReader& stored, const std::vector<bool>& lost,
                     std::vector<format::NamePlace>& names) {
    if (std::ranges::find(lost, true) == lost.end()) return {};
    PageCache cache;
    for (std::uint64_t i = 0; i < stored.index().n_name_places; ++i) {
      if (i % kAskEach == 0 && !report_.go_on()) return stored.stopped();
      auto place = name_place(stored, i, cache);
      if (!place.has_value()) return is_loss(place.status().code()) ? Status{} : place.status();
      if (lost[place->physical]) names.push_back(*place);
    }
    return {};
  }

  // Whether a sound index of physical file 0 has what look_at_all() finds.
  Result<bool> tells_of_all(const PhysicalReader& first) {
    const GoOn go_on = [this] { return report_.go_on(); };
    std::vector<format::NamePlace> names;
    std::vector<format::AddedRun> added;
    TW_RETURN_IF_ERROR(look_at_all(first, first, names, added));
    TW_RETURN_IF_ERROR(list_names(first, names, go_on));
    std::ranges::sort(names);
    TW_ASSIGN_OR_RETURN(const auto stored, stored_added_runs(first, first.index(), go_on));
    if (joined_runs(stored) != added) return false;
    return has_places(first, names, go_on);
  }

  // The index page, and those that do not verify, may stand where a walk looks for the next frame. The others name
  // their content, and stay: a repair that is interrupted here can be repeated.
  static Status wipe_damaged_index(StoredFile& file, const PhysicalReader& physical, const Recovery& recovery) {
    const format::StateSlot& state = physical.state();
    const std::uint64_t begin = std::max(state.index_offset, format::align_up(recovery.frames_end, format::kPageBytes));
    const std::uint64_t end = std::min(state.index_offset + state.index_bytes, recovery.index.end);
    std::vector<std::byte> page(format::kPageBytes);
    for (std::uint64_t at = begin; at < end; at += format::kPageBytes) {
      TW_ASSIGN_OR_RETURN(const std::uint64_t data, physical.file().next_data(at));  // an index may claim a large hole
      at = std::max(at, data / format::kPageBytes * format::kPageBytes);
      if (at >= end) return {};
      TW_ASSIGN_OR_RETURN(const std::size_t got, physical.file().read(at, page));
      if (got == page.size() && is_index_section(physical, page, at)) continue;
      TW_RETURN_IF_ERROR(file.write(at, std::vector<std::byte>(format::kPageBytes)));
    }
    return {};
  }

  // A pack with a refused directory holds nothing that counts: its space is marked as reserved, as before it was
  // filled.
  Status give_up_refused_packs(StoredFile& file, const PhysicalReader& physical, const Recovery& recovery) const {
    for (const format::Frame& pack : recovery.refused_packs) {
      const format::Frame reserved{.offset = pack.offset, .session = pack.session, .extent = pack.extent};
      format::FileHeader header = physical.header();
      std::unique_ptr<StoredFile> later;
      if (pack.later != 0) {
        header = format::later_header(header, static_cast<std::uint32_t>(pack.later));
        TW_ASSIGN_OR_RETURN(later, open_to_change(*backend_, path_, header));
      }
      StoredFile& target = later ? *later : file;
      TW_RETURN_IF_ERROR(target.write(pack.offset, format::encode_frame(reserved, header.id)));
    }
    return {};
  }

  const std::shared_ptr<Backend> backend_;
  StoredFile& held_;
  const std::string path_;
  Reporter& report_;
  CheckResult& result_;
  bool finished_ = false;
};

}  // namespace

Status repair_multifile(std::shared_ptr<Backend> backend, const std::string& path, const Watch& watch,
                        CheckResult& result, bool force) {
  result = {};
  Reporter report(watch, result);
  auto held = hold_file(*backend, path);              // no other program writes it
  if (held.status().code() == Code::no_permission) {  // a sound multifile needs no repair
    const Status sound = verify_multifile(std::move(backend), path, watch, result);
    return sound.ok() ? sound : held.status();
  }
  TW_RETURN_IF_ERROR(held.status());
  Repair repair(backend, *held.value(), report, result);
  const Status repaired = repair.run(force);
  TW_ASSIGN_OR_RETURN(const bool has_its_name, held.value()->has_its_name());
  if (!has_its_name) return replaced(path);
  if (!repair.finished() && (repaired.code() == Code::stopped || !result.repaired)) return repaired;
  // The result is verified like any other multifile.
  CheckResult after;
  const Status verified = verify_multifile(std::move(backend), path, watch, after);
  result.n_logical = after.n_logical;
  result.damaged_logical = after.damaged_logical;
  result.logical_bytes = after.logical_bytes;
  result.findings += after.findings;
  return repaired.or_else(verified);
}

}  // namespace thalweg
