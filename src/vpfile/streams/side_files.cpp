#include "vpfile/streams/side_files.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/crc32c.hpp"
#include "base/shell_word.hpp"
#include "storage/hold_file.hpp"
#include "store/places.hpp"

namespace thalweg {

using format::DirectoryFile;
using format::kDirectoryFiles;

// Checks header and length of a side file.
static Status check_stored(StoredFile& side, const std::string& path, const format::VpMeta& meta, DirectoryFile which) {
  std::array<std::byte, format::kDirectoryHeader> bytes{};
  TW_ASSIGN_OR_RETURN(const std::size_t got, side.read(0, bytes));
  const Status whole = format::check_directory_header(std::span(bytes).first(got), which, meta.id, meta.geometry);
  if (!whole.ok()) return Status::error(whole.code(), "{}; {} makes it anew", whole.message(), repair_command(path));
  TW_ASSIGN_OR_RETURN(const std::uint64_t there, side.size());
  if (there >= meta.side_bytes[which]) return {};
  return Status::error(Code::corrupt_file, "'{}' was cut off: it has {} bytes of {}; {} makes it anew", side.path(),
                       there, meta.side_bytes[which], repair_command(path));
}

static Result<std::unique_ptr<StoredFile>> open_side(Backend& backend, const std::string& path, DirectoryFile which,
                                                     OpenMode mode) {
  const std::string name = format::vp_side_path(path, which);
  auto opened = backend.open(name, mode);
  if (opened.status().code() != Code::not_found) return opened;
  return Status::error(Code::corrupt_file, "'{}' is missing; {} makes it anew", name, repair_command(path));
}

static Result<std::vector<format::Batch>> read_batches(StoredFile& file, const std::string& path,
                                                       const format::VpMeta& meta) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  const std::uint64_t wanted = format::kFirstBatch + format::kBatchBytes * meta.batches;
  std::vector<std::byte> bytes(std::min(size, wanted));
  TW_RETURN_IF_ERROR(read_padded(file, 0, bytes));
  Status whole = format::check_directory_header(bytes, DirectoryFile::batches, meta.id, meta.geometry);
  if (whole.ok() &&
      (bytes.size() < wanted || crc32c(ByteView(bytes).subspan(format::kFirstBatch)) != meta.batches_seal))
    whole = Status::error(Code::corrupt_file, "'{}' is not as it was when the file was closed", file.path());
  auto parsed = whole.ok() ? format::parse_batches(bytes, meta) : Result<std::vector<format::Batch>>(whole);
  if (parsed.has_value()) return parsed;
  return Status::error(parsed.error().code(), "{}; {} makes it anew", parsed.error().message(), repair_command(path));
}

Status append_batches(Backend& backend, StoredFile& data, std::vector<format::Batch> batches, bool synced,
                      format::VpMeta& meta) {
  if (batches.empty()) return {};
  format::sort_batches(batches);
  TW_RETURN_IF_ERROR(check_has_its_name(backend, data));
  TW_ASSIGN_OR_RETURN(const auto file,
                      backend.open(format::vp_side_path(data.path(), DirectoryFile::batches), OpenMode::create_keep));
  if (meta.batches == 0)
    TW_RETURN_IF_ERROR(file->write(0, format::encode_directory_header(DirectoryFile::batches, meta.id, meta.geometry)));
  const std::vector<std::byte> bytes = format::encode_batches(batches);
  const std::uint64_t begin = format::kFirstBatch + format::kBatchBytes * meta.batches;
  TW_RETURN_IF_ERROR(file->write(begin, bytes));
  TW_RETURN_IF_ERROR(file->truncate(begin + bytes.size()));
  meta.batches_seal = crc32c(bytes, static_cast<std::uint32_t>(meta.batches_seal));
  meta.batches += batches.size();
  if (synced) {  // before NAME.meta refers to the list
    TW_RETURN_IF_ERROR(file->sync());
    TW_RETURN_IF_ERROR(backend.sync_directory_of(data.path()));
  }
  return file->close();
}

Status sync_side_files(Backend& backend, const std::string& path, const format::VpMeta& meta) {
  for (const DirectoryFile which : format::kSideFiles) {
    if (which == DirectoryFile::batches && meta.batches == 0) continue;  // a file of this name is another's
    const auto file = backend.open(format::vp_side_path(path, which), OpenMode::read);
    const Status synced = file.has_value() ? file.value()->sync() : file.error();
    if (synced.code() != Code::not_found) TW_RETURN_IF_ERROR(synced);
  }
  return {};
}

Status SideFiles::open(Backend& backend, const std::string& path, const format::VpMeta& meta, OpenMode mode) {
  const std::lock_guard guard(mutex_);
  const bool writes = mode != OpenMode::read;
  for (const DirectoryFile which : kDirectoryFiles) {
    if (files_[which] != nullptr) continue;
    TW_ASSIGN_OR_RETURN(auto opened, open_side(backend, path, which, mode));
    TW_ASSIGN_OR_RETURN(const auto meta_file, backend.open(format::vp_meta_path(path), mode));
    // The open for reading has waited until daemons of mounts have forgotten what they had cached.
    if (writes) {
      TW_RETURN_IF_ERROR(opened->forget_cached());
      TW_RETURN_IF_ERROR(meta_file->forget_cached());
    }
    TW_RETURN_IF_ERROR(check_stored(*opened, path, meta, which));
    TW_ASSIGN_OR_RETURN(sums_[which], EntrySums::read(*meta_file, meta, which));
    files_[which] = std::move(opened);
  }
  if (list != nullptr || meta.batches == 0) return {};
  TW_ASSIGN_OR_RETURN(auto file, open_side(backend, path, DirectoryFile::batches, OpenMode::read));
  TW_ASSIGN_OR_RETURN(batches_, read_batches(*file, path, meta));
  list = std::move(file);
  return {};
}

// The header identifies a side file: after a death of the machine, no entries without it may lie beside closed bytes.
Status SideFiles::make(Backend& backend, const std::string& path, const format::FileIdentity& id,
                       const format::VpGeometry& geometry, bool synced, StoredFile* repaired) {
  const std::lock_guard guard(mutex_);
  for (const DirectoryFile which : kDirectoryFiles) {
    if (files_[which] != nullptr) continue;
    TW_ASSIGN_OR_RETURN(auto file, backend.open(format::vp_side_path(path, which), OpenMode::create_keep));
    if (repaired != nullptr) {
      TW_RETURN_IF_ERROR(check_has_its_name(backend, *repaired));
      TW_RETURN_IF_ERROR(file->truncate(0));
    }
    TW_RETURN_IF_ERROR(file->write(0, format::encode_directory_header(which, id, geometry)));
    if (synced) TW_RETURN_IF_ERROR(file->sync());
    files_[which] = std::move(file);
  }
  return {};
}

Result<format::PerDirectoryFile<std::uint64_t>> SideFiles::sizes() const {
  format::PerDirectoryFile<std::uint64_t> bytes;
  for (const DirectoryFile which : kDirectoryFiles) {
    TW_ASSIGN_OR_RETURN(bytes[which], files_[which]->size());
  }
  return bytes;
}

Status SideFiles::sync() {
  for (const DirectoryFile which : kDirectoryFiles) TW_RETURN_IF_ERROR(files_[which]->sync());
  return list != nullptr ? list->sync() : Status{};
}

Status SideFiles::forget_cached() {
  for (const DirectoryFile which : kDirectoryFiles) TW_RETURN_IF_ERROR(files_[which]->forget_cached());
  return {};
}

Status SideFiles::close() {
  Status status;
  for (StoredFile* one : {file(DirectoryFile::first), file(DirectoryFile::overflow), list.get(), lock.get()}) {
    if (one != nullptr) status = status.or_else(one->close());
  }
  return status;
}

}  // namespace thalweg
