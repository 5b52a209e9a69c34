#include "multifile/write/create_files.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "formats/known_file.hpp"
#include "multifile/write/index_writer.hpp"
#include "os/wait.hpp"
#include "storage/hold_file.hpp"

namespace thalweg {

std::vector<std::byte> encode_session_front(const WritePlan& plan, const PlannedFile& file) {
  std::vector<std::byte> out = format::encode_session(file.session, file.header.id, file.state.session_offset);
  std::vector<std::byte> table(file.session.n_domains * 8);
  const std::uint32_t k = file.header.id.physical;
  auto row = std::partition_point(plan.domains.begin(), plan.domains.end(),
                                  [&](const WritePlan::DomainRow& d) { return d.physical < k; });
  for (std::size_t i = 0; i < file.session.n_domains; ++row)
    for (std::uint32_t n = 0; n < row->count; ++n, ++i) store_le(std::span(table).subspan(i * 8), row->bytes);
  format::append_section(out, format::SectionKind::domains, table, 8, file.header.id, file.session.domains_offset);
  return out;
}

namespace {

// Bytes of a new physical file up to its first slab: header, state, sections, session page, domains.
std::vector<std::byte> encode_front(const WritePlan& plan, const PlannedFile& file) {
  std::vector<std::byte> out(format::kFirstSection);
  const auto put = [&out](std::uint64_t at, std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(0, format::encode_header(file.header));
  put(format::state_offset(file.state), format::encode_state(file.state, file.header.id));
  const auto add = [&](format::SectionKind kind, const std::vector<std::uint64_t>& values) {
    std::vector<std::byte> bytes(values.size() * 8);
    for (std::size_t i = 0; i < values.size(); ++i) store_le(std::span(bytes).subspan(i * 8), values[i]);
    format::append_section(out, kind, bytes, 8, file.header.id, out.size());
  };
  if (file.header.id.physical == 0)
    add(plan.ranks.kind == format::Mapping::table ? format::SectionKind::table : format::SectionKind::bounds,
        plan.ranks.kind == format::Mapping::table ? plan.ranks.table : plan.ranks.bounds);
  if (!file.ranks.empty()) add(format::SectionKind::ranks, file.ranks);
  const std::vector<std::byte> session = encode_session_front(plan, file);
  out.insert(out.end(), session.begin(), session.end());
  return out;
}

// Opens and checks all physical files before it changes one that existed.
class Creation {
 public:
  Creation(Backend& backend, const std::string& path, bool exclusive, bool overwrite_foreign, const WritePlan& plan)
      : backend_(backend),
        path_(path),
        exclusive_(exclusive),
        overwrite_foreign_(overwrite_foreign),
        plan_(plan),
        targets_(plan.files.size()) {}

  Result<std::unique_ptr<StoredFile>> make() {
    const Status status = make_all();
    if (status.ok()) {
      if (old_) remove_stale_files(backend_, path_, *old_, static_cast<std::uint32_t>(targets_.size()));
      if (overwrite_foreign_) remove_vp_sides(backend_, path_);
      return std::move(targets_[0].file);
    }
    for (auto k = targets_.size(); k-- > 0;) {  // physical file 0 has the lock: it goes last
      if (targets_[k].ours) remove_own(backend_, *targets_[k].file);
      remove_file(backend_, path_, plan_.files[k].header);  // where it is closed by now
    }
    return status;
  }

 private:
  struct Target {
    std::string name;
    std::unique_ptr<StoredFile> file;
    std::uint64_t bytes = 0;  // size before
    bool ours = false;        // made or changed by this call: removed on failure
  };

  Status make_all() {
    TW_RETURN_IF_ERROR(open_first());
    for (std::uint32_t k = 1; k < targets_.size(); ++k) {
      TW_RETURN_IF_ERROR(open(k).status());
      TW_RETURN_IF_ERROR(check_replaceable(targets_[k], k));
    }
    TW_RETURN_IF_ERROR(find_later());
    // New files first, as they need space; replacing the others frees some. Physical file 0 last: it names the rest.
    for (std::uint32_t k = 0; k < targets_.size(); ++k)
      if (targets_[k].bytes == 0) TW_RETURN_IF_ERROR(write(k));
    for (const std::string& name : later_) TW_RETURN_IF_ERROR(backend_.remove(name));
    for (auto k = static_cast<std::uint32_t>(targets_.size()); k-- > 0;)
      if (targets_[k].bytes > 0) TW_RETURN_IF_ERROR(write(k));
    return {};
  }

  // Returns whether the file was made here.
  Result<bool> open(std::uint32_t k) {
    Target& target = targets_[k];
    target.name = format::physical_name(path_, k);
    bool existed = false;
    if (!exclusive_) {
      TW_ASSIGN_OR_RETURN(existed, backend_.exists(target.name));
    }
    OpenOptions options = options_of(exclusive_ ? OpenMode::create_exclusive : OpenMode::create_keep);
    options.stripes = plan_.common.stripes;
    options.takes_lock = k == 0;
    TW_ASSIGN_OR_RETURN(target.file, backend_.open(target.name, options));
    if (k > 0) TW_RETURN_IF_ERROR(measure(k, existed));
    return !existed;
  }

  // A file with bytes is another program's, even if it did not exist a moment ago.
  Status measure(std::uint32_t k, bool existed) {
    Target& target = targets_[k];
    target.ours = !existed;
    TW_ASSIGN_OR_RETURN(target.bytes, target.file->size());
    if (target.bytes == 0) return {};
    target.ours = false;
    return exclusive_ ? Status::error(Code::unsafe, "'{}' is written by another program", target.name) : Status{};
  }

  // Before the lock is held the file may be another program's, even if it was made here.
  Status open_first() {
    bool made = false;
    const auto open_one = [&]() -> Result<std::unique_ptr<StoredFile>> {
      TW_ASSIGN_OR_RETURN(made, open(0));
      return std::move(targets_[0].file);
    };
    TW_ASSIGN_OR_RETURN(targets_[0].file, hold_opened(path_, open_one));
    TW_RETURN_IF_ERROR(measure(0, !made));
    if (targets_[0].bytes > 0) old_ = header_of(targets_[0]);
    TW_RETURN_IF_ERROR(check_first());
    return old_ ? check_unclosed(backend_, *targets_[0].file, true, {}) : Status{};
  }

  // A multifile or a file of no known format may be replaced.
  Status check_first() {
    if (targets_[0].bytes == 0 || overwrite_foreign_) return {};
    TW_RETURN_IF_ERROR(check_may_overwrite(backend_, path_, format::KnownFormat::multifile));
    return old_ && old_->id.physical != 0 ? check_replaceable(targets_[0], 0) : Status{};
  }

  // No value where it cannot be parsed.
  static std::optional<format::FileHeader> header_of(const Target& target) {
    std::array<std::byte, format::kHeaderBytes> bytes{};
    auto got = target.file->read(0, bytes);
    if (!got.has_value()) return std::nullopt;
    auto header = format::parse_header(ByteView(bytes).first(*got), target.bytes);
    return header.has_value() ? std::optional(*header) : std::nullopt;
  }

  // The caller gives NAME, not NAME.000001: that name may belong to something else.
  Status check_replaceable(const Target& target, std::uint32_t k) const {
    if (target.bytes == 0) return {};
    std::array<std::byte, format::kMagicBytes> begin{};
    TW_ASSIGN_OR_RETURN(const std::size_t got, target.file->read(0, begin));
    const auto header = header_of(target);
    const bool another = header && header->id.physical != k;
    if (!another && format::begins_as_multifile(ByteView(begin).first(got))) return {};
    return Status::error(Code::unsafe,
                         "creating '{}': '{}' exists and is {}; it is left as it is: remove it, or choose another name",
                         path_, target.name, another ? "part of another multifile" : "no part of a multifile");
  }

  // Files with the names of later physical files are removed: a process that needs one makes it.
  Status find_later() {
    const format::FileHeader& header = plan_.files[0].header;
    for (std::uint32_t k = header.n_physical; k < header.n_physical + header.n_later; ++k) {
      Target found;
      found.name = format::physical_name(path_, k);
      TW_ASSIGN_OR_RETURN(const bool exists, backend_.exists(found.name));
      if (!exists) continue;
      const OpenMode mode = exclusive_ ? OpenMode::create_exclusive : OpenMode::read;  // exclusive: fails
      TW_ASSIGN_OR_RETURN(found.file, backend_.open(found.name, mode));
      TW_ASSIGN_OR_RETURN(found.bytes, found.file->size());
      TW_RETURN_IF_ERROR(check_replaceable(found, k));
      later_.push_back(found.name);
    }
    return {};
  }

  Status write(std::uint32_t k) {
    Target& target = targets_[k];
    if (target.bytes > 0) TW_RETURN_IF_ERROR(target.file->truncate(0));
    target.ours = true;
    TW_RETURN_IF_ERROR(target.file->write(0, encode_front(plan_, plan_.files[k])));
    return k == 0 ? Status{} : target.file->close();
  }

  Backend& backend_;
  const std::string& path_;
  const bool exclusive_;
  const bool overwrite_foreign_;
  const WritePlan& plan_;
  std::vector<Target> targets_;
  std::vector<std::string> later_;  // names of later physical files that exist
  std::optional<format::FileHeader> old_;
};

Status begin_one(Backend& backend, const std::string& path, const WritePlan& plan, const PlannedFile& planned) {
  TW_ASSIGN_OR_RETURN(auto file, open_to_change(backend, path, planned.header));
  // The slots describe the last two sessions. If neither were on the storage, the sessions before could not be found.
  if (planned.state.session >= 2 && !planned.state.durable) TW_RETURN_IF_ERROR(file->sync());
  TW_RETURN_IF_ERROR(file->truncate(planned.state.session_offset));  // bytes behind the end are unused
  TW_RETURN_IF_ERROR(file->write(planned.state.session_offset, encode_session_front(plan, planned)));
  TW_RETURN_IF_ERROR(write_state(*file, planned.header, planned.state));
  // The close overwrites the slot before this one. From then on only this one leads to the older index.
  TW_RETURN_IF_ERROR(file->sync());
  return file->close();
}

}  // namespace

void remove_stale_files(Backend& backend, const std::string& path, const format::FileHeader& old, std::uint32_t from) {
  for (std::uint32_t k = from; k < old.n_physical + old.n_later; ++k) {
    const std::string name = format::physical_name(path, k);
    auto stale = open_physical(backend, name, k);
    if (stale.has_value() && (*stale)->header().id.uuid == old.id.uuid) (void)backend.remove(name).ok();
  }
}

Status check_unclosed(Backend& backend, const StoredFile& held, bool force, const GoOn& go_on) {
  if (held.locks_reach_all()) return {};
  TW_ASSIGN_OR_RETURN(auto file, backend.open(held.path(), OpenMode::read));
  const auto first = PhysicalReader::open(std::move(file), 0);
  if (!first.has_value() || first.value()->closed()) return {};
  const format::FileHeader& header = first.value()->header();
  std::vector<std::string> names;
  for (std::uint32_t k = 0; k < header.n_physical + header.n_later; ++k)
    names.push_back(format::physical_name(held.path(), k));
  return check_unwritten(backend, held, names, force, go_on);
}

Result<std::unique_ptr<StoredFile>> open_to_change(Backend& backend, const std::string& path,
                                                   const format::FileHeader& header, OpenMode mode) {
  TW_ASSIGN_OR_RETURN(auto file, backend.open(format::physical_name(path, header.id.physical), mode));
  std::array<std::byte, format::kHeaderBytes> bytes{};
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  TW_ASSIGN_OR_RETURN(const std::size_t got, file->read(0, bytes));
  auto found = format::parse_header(std::span(bytes).first(got), size);
  if (found.has_value() && found->id == header.id) return file;
  return Status::error(Code::unsafe,
                       "'{}' is not the file any more that was written: another one has its name, or another program "
                       "wrote over it; it is left as it is",
                       file->path());
}

Result<std::unique_ptr<StoredFile>> make_later(Backend& backend, const std::string& path,
                                               const format::FileHeader& header, StripeRequest stripes) {
  // A mount may still show a file that another node has removed, mostly for a second.
  constexpr int kMostTries = 15;
  OpenOptions options = options_of(OpenMode::create_keep);
  options.stripes = stripes;
  const auto wanted = format::encode_header(header);
  // A header that another task is writing may be there in part: it is written again, with equal bytes.
  const auto fits = [](std::byte there, std::byte ours) { return there == std::byte{} || there == ours; };
  for (int tries = 1;; ++tries) {
    TW_ASSIGN_OR_RETURN(auto file, backend.open(format::physical_name(path, header.id.physical), options));
    std::array<std::byte, format::kHeaderBytes> found{};
    TW_RETURN_IF_ERROR(file->read(0, found).status());
    if (found == wanted) return file;
    if (std::ranges::equal(found, wanted, fits)) {
      TW_RETURN_IF_ERROR(file->write(0, wanted));
      return file;
    }
    if (tries == kMostTries)
      return Status::error(Code::unsafe,
                           "'{}' is needed for a multifile and is another file; it is left as it is: move it away",
                           file->path());
    sleep_for(std::chrono::milliseconds(100));
  }
}

Status check_later(Backend& backend, const std::string& path, const format::FileHeader& first,
                   const std::vector<std::uint64_t>& ends, bool durable) {
  for (std::uint32_t k = 1; k <= ends.size(); ++k) {
    if (ends[k - 1] == 0) continue;
    TW_ASSIGN_OR_RETURN(auto later, open_to_change(backend, path, format::later_header(first, k), OpenMode::read));
    if (durable) TW_RETURN_IF_ERROR(later->sync());
    TW_RETURN_IF_ERROR(later->close());
  }
  return durable ? backend.sync_directory_of(path) : Status{};
}

void abandon_session(Backend& backend, const std::string& path, const PlannedFile& planned) {
  auto file = open_to_change(backend, path, planned.header);
  if (!file.has_value()) return;
  format::StateSlot before = planned.state;
  before.session -= 1;
  before.session_offset = planned.session.previous_offset;
  const format::StateSlot closed =
      format::closed_state(before, before.index_offset, before.index_offset + before.index_bytes, before.durable);
  (void)write_state(**file, planned.header, closed).ok();
}

void remove_file(Backend& backend, const std::string& path, const format::FileHeader& header) {
  auto made = open_to_change(backend, path, header, OpenMode::read);  // a umask may forbid writing
  if (made.has_value()) remove_own(backend, **made);
}

void remove_files(Backend& backend, const std::string& path, const WritePlan& plan) {
  // Physical file 0 has the lock: it goes last.
  for (auto k = plan.files.size(); k-- > 0;) remove_file(backend, path, plan.files[k].header);
}

Result<std::unique_ptr<StoredFile>> create_files(Backend& backend, const std::string& path, bool exclusive,
                                                 bool overwrite_foreign, const WritePlan& plan) {
  return Creation(backend, path, exclusive, overwrite_foreign, plan).make();
}

// A sync of the new session makes the earlier ones durable, too: those in later physical files before it begins.
Status begin_session(Backend& backend, const std::string& path, const WritePlan& plan) {
  if (std::ranges::any_of(plan.later_ends, [](std::uint64_t end) { return end != 0; }))
    TW_RETURN_IF_ERROR(check_later(backend, path, plan.files[0].header, plan.later_ends, true));
  for (std::uint32_t k = 0; k < plan.files.size(); ++k) {
    const Status status = begin_one(backend, path, plan, plan.files[k]);
    if (status.ok()) continue;
    for (std::uint32_t i = 0; i <= k; ++i) abandon_session(backend, path, plan.files[i]);
    return status;
  }
  return {};
}

}  // namespace thalweg
