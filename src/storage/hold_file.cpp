#include "storage/hold_file.hpp"

#include <fmt/core.h>

#include <cerrno>

namespace thalweg {

Result<std::unique_ptr<StoredFile>> open_to_lock(Backend& backend, const std::string& path, OpenMode mode) {
  OpenOptions options = options_of(mode);
  options.takes_lock = true;
  return backend.open(path, options);
}

Result<std::unique_ptr<StoredFile>> hold_opened(const std::string& path, const OpenFile& open) {
  for (int i = 0; i < 100; ++i) {
    TW_ASSIGN_OR_RETURN(std::unique_ptr<StoredFile> file, open());
    TW_RETURN_IF_ERROR(file->lock_session());
    TW_ASSIGN_OR_RETURN(const bool is_it, file->has_its_name());
    if (is_it) return file;
  }
  return Status::error(Code::unsafe, "'{}' is replaced by other programs again and again", path);
}

Result<std::unique_ptr<StoredFile>> hold_file(Backend& backend, const std::string& path) {
  return hold_opened(path, [&] { return open_to_lock(backend, path, OpenMode::read_write); });
}

Status check_has_its_name(Backend& backend, StoredFile& file) {
  TW_ASSIGN_OR_RETURN(const bool is_it, file.has_its_name());
  if (is_it) return {};
  TW_ASSIGN_OR_RETURN(const bool exists, backend.exists(file.path()));
  if (!exists)
    return Status::failed_call(Code::not_found, ENOENT,
                               fmt::format("'{}' was removed by another program", file.path()));
  return Status::error(Code::unsafe, "'{}' is another file now: a program gave it that name; it is left as it is",
                       file.path());
}

void remove_own(Backend& backend, StoredFile& file) {
  auto is_it = file.has_its_name();
  if (is_it.has_value() && *is_it) (void)backend.remove(file.path()).ok();
}

}  // namespace thalweg
