#include "multifile/tier/tier_record.hpp"

#include <fmt/core.h>

#include "base/crc32c.hpp"
#include "storage/hold_file.hpp"

namespace thalweg {

namespace {

std::string short_id(const TierRecord& record) {
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) text += fmt::format("{:02x}", record.uuid[i]);
  return text;
}

}  // namespace

std::string TierRecord::folder_in(const std::string& tier) const {
  return fmt::format("{}/{}{}.{:06}{}", tier, kTierFolderBegins, short_id(*this), part, copy ? ".copy" : "");
}
std::string TierRecord::file_in(const std::string& folder) const {
  return folder + final_path.substr(final_path.find_last_of('/'));
}
std::string TierRecord::draining_path() const { return final_path + ".draining-" + short_id(*this); }
std::string TierRecord::part_path(std::uint32_t number) const {
  return fmt::format("{}.part{:06}", draining_path(), number);
}

Bytes encode_record(const TierRecord& record) {
  WireWriter out;
  out.put(static_cast<const TierHead&>(record));
  out.put_text(record.final_path);
  out.put(crc32c(out.bytes()));
  return out.take();
}

Result<TierRecord> decode_record(ByteView bytes, const std::string& where) {
  WireReader in(bytes);
  TierRecord record;
  static_cast<TierHead&>(record) = in.get<TierHead>();
  record.final_path = in.get_text();
  const std::uint32_t found = crc32c(bytes.first(bytes.size() - in.rest().size()));
  if (in.get<std::uint32_t>() == found && record.final_path.starts_with('/') && record.part < record.n_parts)
    return record;
  return Status::error(Code::corrupt_file, "'{}' is no record of a tier, or was not written whole", where);
}

Result<std::unique_ptr<StoredFile>> make_tier_folder(Backend& backend, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (!error) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  TW_RETURN_IF_ERROR(folder_status(error, "make", folder));
  TW_ASSIGN_OR_RETURN(auto file, open_to_lock(backend, folder + kRecordName, OpenMode::create_exclusive));
  TW_RETURN_IF_ERROR(file->lock_session());
  return file;
}

Status folder_status(const std::error_code& error, const char* verb, const std::string& path) {
  return error ? os_error(error.value(), "cannot {} '{}'", verb, path) : Status();
}

Status remove_tier_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  return folder_status(error, "remove", path);
}

}  // namespace thalweg
