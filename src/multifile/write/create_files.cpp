#include "multifile/write/create_files.hpp"

#include <array>

#include "formats/known_file.hpp"
#include "multifile/write/index_writer.hpp"
#include "storage/hold_file.hpp"

namespace thalweg {

namespace {

// Everything is opened and looked at before anything that was there is changed.
class Creation {
 public:
  Creation(Backend& backend, const std::string& path, CreateHow how, const WritePlan& plan)
      : backend_(backend), path_(path), how_(how), plan_(plan), targets_(plan.files.size()) {}

  Result<std::unique_ptr<StoredFile>> make() {
    const Status status = make_all();
    if (status.ok()) {
      remove_stale_files();
      if (how_.overwrite_foreign) remove_vp_sides(backend_, path_);
      return std::move(targets_[0].file);
    }
    for (const Target& target : targets_)
      if (target.ours) (void)backend_.remove(target.name).ok();
    return status;
  }

 private:
  struct Target {
    std::string name;
    std::unique_ptr<StoredFile> file;
    std::uint64_t bytes = 0;  // what was there
    bool ours = false;        // this call made it, or has changed it: it goes on failure
  };

  Status make_all() {
    TW_RETURN_IF_ERROR(open_first());
    for (std::uint32_t k = 1; k < targets_.size(); ++k) {
      TW_RETURN_IF_ERROR(open(k).status());
      TW_RETURN_IF_ERROR(check_replaceable(k));
    }
    // New files first: they need room, and the others give some back. Physical file 0 last, as it tells of the rest.
    for (std::uint32_t k = 0; k < targets_.size(); ++k)
      if (targets_[k].bytes == 0) TW_RETURN_IF_ERROR(write(k));
    for (auto k = static_cast<std::uint32_t>(targets_.size()); k-- > 0;)
      if (targets_[k].bytes > 0) TW_RETURN_IF_ERROR(write(k));
    return {};
  }

  // Whether it was made here.
  Result<bool> open(std::uint32_t k) {
    Target& target = targets_[k];
    target.name = format::physical_name(path_, k);
    bool existed = false;
    if (!how_.exclusive) {
      TW_ASSIGN_OR_RETURN(existed, backend_.exists(target.name));
    }
    TW_ASSIGN_OR_RETURN(
        target.file, backend_.open(target.name, how_.exclusive ? OpenMode::create_exclusive : OpenMode::create_keep));
    if (k > 0) TW_RETURN_IF_ERROR(measure(k, existed));
    return !existed;
  }

  // What has bytes is not ours, also when it was not there a moment ago.
  Status measure(std::uint32_t k, bool existed) {
    Target& target = targets_[k];
    target.ours = !existed;
    if (how_.exclusive) return {};
    TW_ASSIGN_OR_RETURN(target.bytes, target.file->size());
    if (target.bytes > 0) target.ours = false;
    return {};
  }

  // Until the lock is had the file belongs to somebody else, even if it was made here.
  Status open_first() {
    for (int i = 0; i < kMostTriesToHold; ++i) {
      TW_ASSIGN_OR_RETURN(const bool made, open(0));
      TW_ASSIGN_OR_RETURN(const bool is_it, hold_opened(*targets_[0].file));
      if (!is_it) continue;
      TW_RETURN_IF_ERROR(measure(0, !made));
      old_ = header_of(targets_[0]);
      return check_first();
    }
    return replaced_again_and_again(path_);
  }

  // A multifile, or what nobody knows, may be replaced.
  Status check_first() {
    if (targets_[0].bytes == 0 || how_.overwrite_foreign) return {};
    TW_RETURN_IF_ERROR(check_may_overwrite(backend_, path_, format::KnownFormat::multifile));
    return old_.n_physical > 0 && old_.id.physical != 0 ? check_replaceable(0) : Status{};
  }

  // What cannot be parsed has 0 physical files.
  static format::FileHeader header_of(const Target& target) {
    format::FileHeader none;
    none.n_physical = 0;
    if (target.bytes == 0) return none;
    std::array<std::byte, format::kHeaderBytes> bytes{};
    auto got = target.file->read(0, bytes);
    if (!got.has_value() || *got < bytes.size()) return none;
    auto header = format::parse_header(bytes, target.bytes);
    return header.has_value() ? *header : none;
  }

  // NAME is given by the caller, NAME.000001 is not: there may be something else.
  Status check_replaceable(std::uint32_t k) {
    const Target& target = targets_[k];
    if (target.bytes == 0) return {};
    std::array<std::byte, format::kMagicBytes> begin{};
    TW_ASSIGN_OR_RETURN(const std::size_t got, target.file->read(0, begin));
    const format::FileHeader header = header_of(target);
    const bool another = header.n_physical > 0 && header.id.physical != k;
    if (!another && format::begins_as_multifile(ByteView(begin).first(got))) return {};
    return Status::error(Code::unsafe, "creating '" + path_ + "': '" + target.name + "' exists and is " +
                                           (another ? "part of another multifile" : "no part of a multifile") +
                                           "; it is left as it is: remove it, or choose another name");
  }

  Status write(std::uint32_t k) {
    Target& target = targets_[k];
    if (target.bytes > 0) TW_RETURN_IF_ERROR(target.file->truncate(0));
    target.ours = true;
    TW_RETURN_IF_ERROR(target.file->write(0, encode_front(plan_, plan_.files[k])));
    return k == 0 ? Status{} : target.file->close();
  }

  // A multifile that is replaced by one of fewer physical files leaves files behind; they are known by their uuid. One
  // that stays does no harm.
  void remove_stale_files() {
    for (auto k = static_cast<std::uint32_t>(targets_.size()); k < old_.n_physical; ++k) {
      const std::string name = format::physical_name(path_, k);
      auto file = backend_.open(name, OpenMode::read);
      if (!file.has_value()) continue;
      auto stale = PhysicalReader::open(std::move(file).value(), k);
      if (stale.has_value() && (*stale)->header().id.uuid == old_.id.uuid) (void)backend_.remove(name).ok();
    }
  }

  Backend& backend_;
  const std::string& path_;
  const CreateHow how_;
  const WritePlan& plan_;
  std::vector<Target> targets_;
  format::FileHeader old_;
};

// The slots tell of the last two sessions: were neither on the storage, no way would lead to those before them.
bool stands_on_unsynced(const PlannedFile& file) { return file.state.session >= 2 && !file.state.durable; }

Status begin_one(Backend& backend, const std::string& name, const WritePlan& plan, const PlannedFile& planned) {
  TW_ASSIGN_OR_RETURN(auto file, backend.open(name, OpenMode::read_write));
  if (stands_on_unsynced(planned)) TW_RETURN_IF_ERROR(file->sync());
  TW_RETURN_IF_ERROR(file->truncate(planned.session_offset));  // what lies behind the end belongs to nobody
  TW_RETURN_IF_ERROR(file->write(planned.session_offset, encode_session_front(plan, planned)));
  TW_RETURN_IF_ERROR(write_state(*file, planned.header, planned.state));
  // The close takes the place of the slot before this one. This one tells where the index of before is, and by then
  // must.
  TW_RETURN_IF_ERROR(file->sync());
  return file->close();
}

}  // namespace

// The session page behind the end is forgotten.
void abandon_session(Backend& backend, const std::string& path, const format::FileHeader& header,
                     const format::StateSlot& open, std::uint64_t previous_session_offset) {
  auto file = backend.open(format::physical_name(path, header.id.physical), OpenMode::read_write);
  if (!file.has_value()) return;
  format::StateSlot closed = open;
  closed.sequence += 1;
  closed.state = format::FileState::closed;
  closed.session -= 1;
  closed.session_offset = closed.covered_session_offset = previous_session_offset;
  closed.end = closed.index_offset + closed.index_bytes;
  (void)write_state(**file, header, closed).ok();
}

void remove_files(Backend& backend, const std::string& path, std::uint32_t n_physical) {
  for (std::uint32_t k = 0; k < n_physical; ++k) (void)backend.remove(format::physical_name(path, k)).ok();
}

Result<std::unique_ptr<StoredFile>> create_files(Backend& backend, const std::string& path, CreateHow how,
                                                 const WritePlan& plan) {
  return Creation(backend, path, how, plan).make();
}

Status begin_session(Backend& backend, const std::string& path, const WritePlan& plan) {
  for (std::uint32_t k = 0; k < plan.files.size(); ++k) {
    const Status status = begin_one(backend, format::physical_name(path, k), plan, plan.files[k]);
    if (status.ok()) continue;
    for (std::uint32_t i = 0; i <= k; ++i)
      abandon_session(backend, path, plan.files[i].header, plan.files[i].state, plan.files[i].session.previous_offset);
    return status;
  }
  return {};
}

}  // namespace thalweg
