#include "multifile/tier/drain.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "formats/known_file.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/read/physical_reader.hpp"
#include "multifile/tier/folder_runs.hpp"
#include "multifile/write/create_files.hpp"
#include "storage/hold_file.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kArrived = 0x3144455649525241;  // "ARRIVED1" in bytes of the file
constexpr std::uint64_t kSlotAt = format::kSlotOffset[1];
constexpr int kNoLinks[] = {EPERM, EOPNOTSUPP, ENOSYS, EMLINK};  // link() cannot work here; rename() can
constexpr std::chrono::minutes kBeingMade{1};  // a folder without a record that is older belongs to no program

// The header of a closed multifile; none where there is no such file.
std::optional<format::FileHeader> closed_header(Backend& backend, const std::string& path) {
  auto found = open_physical(backend, path, 0);
  return found.has_value() && (*found)->closed() ? std::optional((*found)->header()) : std::nullopt;
}

bool is_closed_draining(Backend& backend, const TierRecord& record) {
  const auto found = closed_header(backend, record.draining_path());
  return found && found->id.uuid == record.uuid;
}

// An exclusive creation is never `replaced`: it fails where another multifile has the name.
Drained look_at_final(Backend& backend, const TierRecord& record) {
  const auto there = closed_header(backend, record.final_path);
  if (!there) return Drained::not_yet;
  if (there->id.uuid == record.uuid) return Drained::whole;
  const bool is_ordered = (there->id.uuid[6] & 0xF0) == kTierUuid;
  const auto made = std::tie(there->created_seconds, is_ordered ? there->id.uuid : record.uuid);
  const bool is_newer = made > std::tie(record.created_seconds, record.uuid);
  return is_newer && !record.exclusive ? Drained::replaced : Drained::not_yet;
}

Status end_file(std::unique_ptr<StoredFile> file) {
  if (file == nullptr) return {};
  TW_RETURN_IF_ERROR(file->sync());
  return file->close();
}

// Copies all runs but the second state slots, which go to `slots`: so a slow copy undoes nothing that another process has
// finished. Only part 0 has the beginning of physical files.
Status copy_runs(Backend& backend, FolderRuns& runs, const TierRecord& record, StoredFile& state, Bytes& slots) {
  std::unique_ptr<StoredFile> file;
  std::string suffix;
  for (std::uint64_t step = 1;; ++step) {
    TW_ASSIGN_OR_RETURN(const bool more, runs.next());
    if (!more) return end_file(std::move(file));
    if (file == nullptr || runs.suffix() != suffix) {
      TW_RETURN_IF_ERROR(end_file(std::move(file)));
      suffix = runs.suffix();
      TW_ASSIGN_OR_RETURN(file, backend.open(record.draining_path() + suffix, OpenMode::create_keep));
    }
    ByteView data = runs.data();
    std::uint64_t offset = runs.offset();
    if (offset == 0 && data.size() >= format::kPageBytes) {
      put_bytes(slots, data.subspan(kSlotAt, format::kSlotBytes));
      TW_RETURN_IF_ERROR(file->write(0, data.first(kSlotAt)));
      offset = kSlotAt + format::kSlotBytes;
      data = data.subspan(offset);
    }
    TW_RETURN_IF_ERROR(file->write(offset, data));
    const std::uint64_t head[] = {0, step};
    TW_RETURN_IF_ERROR(state.write(0, std::as_bytes(std::span(head))));
  }
}

// Writes the slots; that of physical file 0 comes last: until then the multifile is unclosed.
Status write_slots(Backend& backend, const std::string& path, ByteView slots) {
  TW_ASSIGN_OR_RETURN(const auto held, hold_file(backend, path));
  for (auto k = slots.size() / format::kSlotBytes; k-- > 0;) {
    const std::string name = format::physical_name(path, static_cast<std::uint32_t>(k));
    TW_ASSIGN_OR_RETURN(auto file, backend.open(name, OpenMode::read_write));
    TW_RETURN_IF_ERROR(file->write(kSlotAt, slots.subspan(k * format::kSlotBytes, format::kSlotBytes)));
    TW_RETURN_IF_ERROR(end_file(std::move(file)));
  }
  return {};
}

// Forced: drains alone write to the draining name, and all parts have arrived.
Status repair(const std::shared_ptr<Backend>& backend, const TierRecord& record) {
  CheckResult result;
  const std::string path = record.draining_path();
  return repair_multifile(backend, path, {}, result, true)
      .with_context(fmt::format("'{}' was not closed, and '{}' has what was flushed", record.final_path, path));
}

Status made_meanwhile(const TierRecord& record, const std::string& name) {
  return Status::error(Code::already_exists, "'{}' was made meanwhile: rename it, then drain '{}' again", name,
                       record.draining_path());
}

// Locks what has the final name; null: nothing. After TW_EXCLUSIVE locks the drained file, as two processes may give it
// its names.
Result<std::unique_ptr<StoredFile>> hold_final(Backend& backend, const TierRecord& record) {
  const std::string& to = record.final_path;
  TW_ASSIGN_OR_RETURN(const bool exists, backend.exists(to));
  if (record.exclusive) return exists ? made_meanwhile(record, to) : hold_file(backend, record.draining_path());
  if (!exists) return std::unique_ptr<StoredFile>();
  TW_ASSIGN_OR_RETURN(auto held, hold_file(backend, to));
  if (!record.overwrite_foreign) TW_RETURN_IF_ERROR(check_may_overwrite(backend, to, format::KnownFormat::multifile));
  return held;
}

// Whether physical file `k` has both names.
bool is_linked(const TierRecord& record, std::uint32_t k) {
  std::error_code error;
  return std::filesystem::equivalent(format::physical_name(record.draining_path(), k),
                                     format::physical_name(record.final_path, k), error);
}

// After TW_EXCLUSIVE physical files are linked: link() fails where the name exists; rename() would replace the file. Their
// draining names go once all have their final ones. File systems without links get renames.
Status rename(Backend& backend, const TierRecord& record, std::uint32_t k) {
  const std::string from = format::physical_name(record.draining_path(), k);
  const std::string to = format::physical_name(record.final_path, k);
  TW_ASSIGN_OR_RETURN(const bool exists, backend.exists(from));
  if (!exists && k > 0) return {};  // renamed before a death
  std::error_code error;
  if (record.exclusive) {
    std::filesystem::create_hard_link(from, to, error);
    if (!error || is_linked(record, k)) return {};
    if (error == std::errc::file_exists) return made_meanwhile(record, to);
    if (std::ranges::count(kNoLinks, error.value()) == 0) return folder_status(error, "link", from);
  }
  if (auto there = backend.open(to, OpenMode::read); k > 0 && there.has_value() && !record.overwrite_foreign) {
    std::array<std::byte, format::kMagicBytes> begin{};
    TW_ASSIGN_OR_RETURN(const std::size_t got, (*there)->read(0, begin));
    if (got > 0 && !format::begins_as_multifile(ByteView(begin).first(got)))
      return Status::error(Code::unsafe, "'{}' is no part of a multifile, and is left as it is: move it away", to);
  }
  std::filesystem::rename(from, to, error);
  return folder_status(error, "rename", from);
}

// Gives the multifile its name. Those physical files of the replaced one that have no successor go; one that cannot be
// removed does no harm.
Result<Drained> replace(Backend& backend, const TierRecord& record, bool was_closed) {
  TW_ASSIGN_OR_RETURN(const auto drained, open_physical(backend, record.draining_path(), 0));
  const std::uint32_t n_physical = drained->header().n_physical;
  TW_ASSIGN_OR_RETURN(const auto held, hold_final(backend, record));
  if (!was_closed && closed_header(backend, record.final_path)) return Drained::aside;
  format::FileHeader old;
  if (auto found = open_physical(backend, record.final_path, 0); found.has_value()) old = (*found)->header();
  Status named;
  for (auto k = n_physical; named.ok() && k-- > 0;) named = rename(backend, record, k);
  // A later creation under the name would write to drained files that have both names.
  for (auto k = n_physical; !named.ok() && !is_linked(record, 0) && k-- > 1;)
    if (is_linked(record, k)) (void)backend.remove(format::physical_name(record.final_path, k)).ok();
  TW_RETURN_IF_ERROR(named);
  TW_RETURN_IF_ERROR(backend.sync_directory_of(record.final_path));
  if (record.overwrite_foreign) remove_vp_sides(backend, record.final_path);
  remove_stale_files(backend, record.final_path, old, n_physical);
  return Drained::whole;
}

// The final name belongs to this multifile or a newer one.
void remove_draining(Backend& backend, const TierRecord& record) {
  auto draining = open_physical(backend, record.draining_path(), 0);
  for (auto k = draining.has_value() ? (*draining)->header().n_physical : 1; k-- > 0;)
    (void)backend.remove(format::physical_name(record.draining_path(), k)).ok();
}

// No bytes where there is no such file.
Result<Bytes> read_whole(Backend& backend, const std::string& path) {
  auto file = backend.open(path, OpenMode::read_write);
  if (file.status().code() == Code::not_found) return Bytes();
  TW_RETURN_IF_ERROR(file.status());
  TW_RETURN_IF_ERROR((*file)->forget_cached());
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, (*file)->size());
  Bytes bytes(size);
  TW_RETURN_IF_ERROR((*file)->read(0, bytes).status());
  return bytes;
}

Result<bool> has_arrived(Backend& backend, const TierRecord& record) {
  if (look_at_final(backend, record) != Drained::not_yet || is_closed_draining(backend, record)) return true;
  TW_ASSIGN_OR_RETURN(const PartState state, read_part(backend, record, record.part));
  return state.arrived;
}

}  // namespace

Result<PartState> read_part(Backend& backend, const TierRecord& record, std::uint32_t part) {
  PartState state;
  auto bytes = read_whole(backend, record.part_path(part));
  if (bytes.status().code() == Code::not_found || bytes.status().os_errno() == ESTALE) return state;  // just removed
  TW_RETURN_IF_ERROR(bytes.status());
  ByteView rest = *bytes;
  state.arrived = take_value<std::uint64_t>(rest) == kArrived;
  state.steps = take_value<std::uint64_t>(rest);
  state.closed = take_value<std::uint64_t>(rest) != 0;
  state.slots.assign(rest.begin(), rest.end());
  return state;
}

Result<std::uint64_t> steps_of_all(Backend& backend, const TierRecord& record) {
  std::uint64_t steps = 0;
  for (std::uint32_t part = 0; part < record.n_parts; ++part) {
    TW_ASSIGN_OR_RETURN(const PartState state, read_part(backend, record, part));
    steps += state.steps + (state.arrived ? 1 : 0);
  }
  return steps;
}

Status drain_part(Backend& backend, const std::string& folder, const TierRecord& record) {
  TW_ASSIGN_OR_RETURN(bool arrived, has_arrived(backend, record));
  if (arrived) return {};
  const std::string path = record.part_path(record.part);
  auto held = hold_opened(path, [&] { return open_to_lock(backend, path, OpenMode::create_keep); });
  if (held.status().code() == Code::unsafe)
    return Status::error(Code::unsafe, "'{}': another program drains node part {} at the moment; try again later",
                         record.final_path, record.part);
  TW_ASSIGN_OR_RETURN(auto state, std::move(held));
  TW_ASSIGN_OR_RETURN(arrived, has_arrived(backend, record));
  TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, state->size());
  if (arrived && bytes == 0) remove_own(backend, *state);  // another process has finished, and removed it before
  if (arrived) return {};
  FolderRuns runs(backend, record.file_in(folder));
  Bytes rest;
  put_value(rest, std::uint64_t{record.closed});
  TW_RETURN_IF_ERROR(copy_runs(backend, runs, record, *state, rest));
  TW_RETURN_IF_ERROR(backend.sync_directory_of(record.final_path));
  TW_RETURN_IF_ERROR(state->write(2 * sizeof kArrived, rest));
  TW_RETURN_IF_ERROR(state->sync());
  TW_RETURN_IF_ERROR(state->write(0, std::as_bytes(std::span(&kArrived, 1))));
  return end_file(std::move(state));
}

namespace {

Result<Drained> try_to_finish(const std::shared_ptr<Backend>& backend, const TierRecord& record, std::string* missing) {
  Drained how = look_at_final(*backend, record);
  if (how == Drained::not_yet) {
    bool was_closed = record.closed, arrived = true;
    if (!is_closed_draining(*backend, record)) {
      PartState first;
      for (std::uint32_t part = record.n_parts; part-- > 0;) {
        TW_ASSIGN_OR_RETURN(first, read_part(*backend, record, part));
        if (!first.arrived && missing != nullptr)
          *missing = fmt::format("{}{}{}", part, missing->empty() ? "" : ", ", *missing);
        arrived = arrived && first.arrived;
      }
      if (!arrived) return look_at_final(*backend, record);  // another process may have finished meanwhile
      was_closed = first.closed;
      const Status closed =
          was_closed ? write_slots(*backend, record.draining_path(), first.slots) : repair(backend, record);
      if (!closed.ok() && look_at_final(*backend, record) == Drained::not_yet) return closed;
    }
    auto replaced = replace(*backend, record, was_closed);
    how = look_at_final(*backend, record);  // another process may have been faster
    if (how == Drained::not_yet) {
      TW_ASSIGN_OR_RETURN(how, std::move(replaced));
    }
  }
  if (how == Drained::whole || how == Drained::replaced) remove_draining(*backend, record);
  for (std::uint32_t part = record.n_parts; part-- > 0;) (void)backend->remove(record.part_path(part)).ok();
  return how;
}

struct HeldFolder {
  std::string path;
  TierRecord record;
  std::unique_ptr<StoredFile> held;  // null: there is nothing to drain in it
  Status part;                       // of its drain
};

// Looks before it locks, as the program that makes a folder would be refused. `only` (see TierDrain): other folders are
// left alone, and so is what a program is writing; a drain of the path is awaited as long as it goes on.
Result<HeldFolder> hold_folder(Backend& backend, const std::string& path, const TierDrain& what) {
  const std::string& only = what.only;
  HeldFolder folder{path, {}, nullptr, {}};
  const std::string name = path + kRecordName;
  auto read = read_whole(backend, name);
  if (!read.has_value() && !only.empty()) return folder;  // of another user
  TW_ASSIGN_OR_RETURN(Bytes bytes, std::move(read));
  const bool is_empty = bytes.empty();  // its program is making it, or died before it wrote, or while it made a copy
  std::error_code error;
  const auto age = std::filesystem::file_time_type::clock::now() - std::filesystem::last_write_time(path, error);
  if (is_empty && (error || age < kBeingMade)) return folder;
  auto found = decode_record(bytes, name);
  if (!only.empty() && !(found.has_value() && found->final_path == only)) return folder;
  const bool waits = !only.empty() && found->closed;
  const auto hold = [&] { return hold_file(backend, name); };
  auto held = waits ? try_behind_drain(backend, *found, what.patience, hold) : hold();
  const bool is_held = held.status().code() == Code::unsafe;
  if (is_held && waits)
    return Status::error(Code::unsafe,
                         "'{}': another program drains it from '{}', and no node has made a step for {} seconds; open "
                         "it again when that program has ended, or without the hint tier to read what has the name now",
                         only, path, std::chrono::floor<std::chrono::seconds>(what.patience).count());
  if (is_held && !only.empty()) return folder;
  if (is_held && found.has_value())
    return Status::error(Code::unsafe, "'{}': another program writes or drains it in '{}'; try again when it has ended",
                         found->final_path, path);
  if (held.status().code() != Code::not_found) TW_RETURN_IF_ERROR(held.status());
  TW_ASSIGN_OR_RETURN(bytes, read_whole(backend, name));
  if (bytes.empty() && is_empty) TW_RETURN_IF_ERROR(remove_tier_folder(path));
  if (bytes.empty() || !held.has_value()) return folder;  // removed here or by another program, or made just now
  folder.held = std::move(held).value();
  TW_ASSIGN_OR_RETURN(folder.record, decode_record(bytes, name));
  return folder;
}

// Finishes a drain; `line` says how.
Status finish_folder(const std::shared_ptr<Backend>& backend, const HeldFolder& folder, std::string& line) {
  const TierRecord& record = folder.record;
  std::string missing;
  TW_ASSIGN_OR_RETURN(const Drained how, finish_drain(backend, record, &missing));
  if (how == Drained::not_yet)
    return Status::error(
        Code::not_closed,
        "'{}': of {} node parts these are missing: {}; drain the tiers of these nodes, or, where a node "
        "is gone, with --lost that of its partner, which is the next node; what has arrived is in '{}'",
        record.final_path, record.n_parts, missing, record.draining_path());
  line = how == Drained::whole ? fmt::format("'{}': drained", record.final_path)
         : how == Drained::aside
             ? fmt::format("'{}' was not closed: '{}' has what was flushed; the older one stays", record.final_path,
                           record.draining_path())
             : fmt::format("'{}' is newer than what was in the tier, which is removed", record.final_path);
  return remove_tier_folder(folder.path);
}

}  // namespace

// Where another process finishes at the moment, its locks are in the way for a short time.
Result<Drained> finish_drain(const std::shared_ptr<Backend>& backend, const TierRecord& record, std::string* missing) {
  constexpr std::chrono::seconds kShort{3};
  return try_behind_drain(*backend, record, kShort, [&] { return try_to_finish(backend, record, missing); });
}

Status drain_tier(const std::shared_ptr<Backend>& backend, const TierDrain& what) {
  std::set<std::string> paths, told;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(what.tier, error))
    if (entry.path().filename().string().starts_with(kTierFolderBegins)) paths.insert(entry.path().string());
  TW_RETURN_IF_ERROR(folder_status(error, "list the folder", what.tier));
  Status first;
  const auto note = [&](const Status& status, const std::string& line) {
    first = first.or_else(status);
    const std::string& text = status.ok() ? line : status.message();
    if (!text.empty() && told.insert(text).second && what.tell) what.tell(text);
  };
  std::vector<HeldFolder> folders;
  for (const std::string& path : paths) {
    auto held = hold_folder(*backend, path, what);
    if (what.only.empty() && held.status().code() == Code::no_permission) continue;  // of another user
    note(held.status(), "");
    if (!held.has_value() || held->held == nullptr) continue;
    HeldFolder& folder = folders.emplace_back(std::move(held).value());
    if (!folder.record.copy || what.lost) folder.part = drain_part(*backend, folder.path, folder.record);
  }
  for (const HeldFolder& folder : folders) {
    std::string line;
    const Status status = finish_folder(backend, folder, line);
    note(status.ok() ? status : folder.part.or_else(status), line);
  }
  return first;
}

}  // namespace thalweg
