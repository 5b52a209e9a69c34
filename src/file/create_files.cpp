#include "file/create_files.hpp"

#include "file/index_writer.hpp"

namespace thalweg {

namespace {

// A multifile that is replaced by one of fewer physical files would leave parts behind; they are known by their uuid.
Status remove_stale_parts(Backend& backend, const std::string& path, std::uint32_t n_physical) {
  auto file = backend.open(path, OpenMode::read);
  if (!file.has_value()) return {};
  auto old = Part::open(std::move(file).value(), 0);
  if (!old.has_value()) return {};
  for (std::uint32_t k = n_physical; k < (*old)->header().n_physical; ++k) {
    const std::string name = format::physical_name(path, k);
    auto stale_file = backend.open(name, OpenMode::read);
    if (!stale_file.has_value()) continue;
    auto stale = Part::open(std::move(stale_file).value(), k);
    if (stale.has_value() && (*stale)->header().id.uuid == (*old)->header().id.uuid)
      TW_RETURN_IF_ERROR(backend.remove(name));
  }
  return {};
}

Status create_one(Backend& backend, const std::string& name, bool exclusive, const WritePlan& plan, std::uint32_t k,
                  std::uint32_t& made) {
  TW_ASSIGN_OR_RETURN(auto file, backend.open(name, exclusive ? OpenMode::create_exclusive : OpenMode::create));
  made = k + 1;
  TW_RETURN_IF_ERROR(file->write(0, encode_front(plan, plan.parts[k])));
  return file->close();
}

Status begin_one(Backend& backend, const std::string& name, const PlannedPart& part) {
  TW_ASSIGN_OR_RETURN(auto file, backend.open(name, OpenMode::read_write));
  TW_RETURN_IF_ERROR(file->truncate(part.session_offset));  // what lies behind the end belongs to nobody
  TW_RETURN_IF_ERROR(file->write(part.session_offset, encode_session_front(part)));
  TW_RETURN_IF_ERROR(write_state(*file, part.header, part.state));
  return file->close();
}

}  // namespace

Result<std::unique_ptr<StoredFile>> hold_multifile(Backend& backend, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const bool exists, backend.exists(path));
  if (!exists) return std::unique_ptr<StoredFile>();
  TW_ASSIGN_OR_RETURN(std::unique_ptr<StoredFile> file, backend.open(path, OpenMode::read));
  TW_RETURN_IF_ERROR(file->lock());
  return file;
}

// The session page behind the end is forgotten.
void abandon_session(Backend& backend, const std::string& path, const format::FileHeader& header,
                     const format::StateSlot& open, std::uint64_t previous_session_offset) {
  auto file = backend.open(format::physical_name(path, header.id.physical), OpenMode::read_write);
  if (!file.has_value()) return;
  format::StateSlot closed = open;
  closed.sequence += 1;
  closed.state = format::FileState::closed;
  closed.session -= 1;
  closed.session_offset = previous_session_offset;
  closed.end = closed.index_offset + closed.index_bytes;
  (void)write_state(**file, header, closed).ok();
}

void remove_files(Backend& backend, const std::string& path, std::uint32_t n_physical) {
  for (std::uint32_t k = 0; k < n_physical; ++k) (void)backend.remove(format::physical_name(path, k)).ok();
}

Status create_files(Backend& backend, const std::string& path, bool exclusive, const WritePlan& plan) {
  if (!exclusive) TW_RETURN_IF_ERROR(remove_stale_parts(backend, path, plan.common.n_physical));
  std::uint32_t made = 0;
  for (std::uint32_t k = 0; k < plan.parts.size(); ++k) {
    const Status status = create_one(backend, format::physical_name(path, k), exclusive, plan, k, made);
    if (status.ok()) continue;
    remove_files(backend, path, made);
    return status;
  }
  return {};
}

Status begin_session(Backend& backend, const std::string& path, const WritePlan& plan) {
  for (std::uint32_t k = 0; k < plan.parts.size(); ++k) {
    const Status status = begin_one(backend, format::physical_name(path, k), plan.parts[k]);
    if (status.ok()) continue;
    for (std::uint32_t i = 0; i <= k; ++i)
      abandon_session(backend, path, plan.parts[i].header, plan.parts[i].state, plan.parts[i].session.previous_offset);
    return status;
  }
  return {};
}

}  // namespace thalweg
