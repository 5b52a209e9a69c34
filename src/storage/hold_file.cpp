#include "storage/hold_file.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <chrono>

#include "base/shell_word.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

constexpr int kLookAgainAfter = 3;  // seconds: some servers count the times of changes in seconds

Result<std::vector<std::string>> look_at(Backend& backend, const std::vector<std::string>& names) {
  std::vector<std::string> looks;
  for (const std::string& name : names) {
    auto file = backend.open(name, OpenMode::read);
    if (file.status().code() != Code::not_found) TW_RETURN_IF_ERROR(file.status());
    TW_ASSIGN_OR_RETURN(looks.emplace_back(), file.has_value() ? (*file)->look() : std::string("missing"));
  }
  return looks;
}

}  // namespace

Result<std::unique_ptr<StoredFile>> open_to_lock(Backend& backend, const std::string& path, OpenMode mode) {
  OpenOptions options = options_of(mode);
  options.takes_lock = true;
  return backend.open(path, options);
}

Result<std::unique_ptr<StoredFile>> hold_opened(const std::string& path, const OpenFile& open) {
  for (int i = 0; i < 100; ++i) {
    TW_ASSIGN_OR_RETURN(std::unique_ptr<StoredFile> file, open());
    TW_RETURN_IF_ERROR(file->lock_session());
    TW_RETURN_IF_ERROR(file->forget_cached());  // a node that held the lock before has written
    TW_ASSIGN_OR_RETURN(const bool is_it, file->has_its_name());
    if (is_it) return file;
  }
  return Status::error(Code::unsafe, "'{}' is replaced by other programs again and again", path);
}

Result<std::unique_ptr<StoredFile>> hold_file(Backend& backend, const std::string& path) {
  return hold_opened(path, [&] { return open_to_lock(backend, path, OpenMode::read_write); });
}

Status check_unwritten(Backend& backend, const StoredFile& held, const std::vector<std::string>& names, bool force,
                       const GoOn& go_on) {
  TW_ASSIGN_OR_RETURN(const auto before, look_at(backend, names));
  for (int tenth = 0; tenth < 10 * kLookAgainAfter; ++tenth) {
    if (go_on && !go_on()) return Status::error(Code::stopped, "'{}': stopped by the caller", held.path());
    sleep_for(std::chrono::milliseconds(100));
  }
  TW_ASSIGN_OR_RETURN(const auto now, look_at(backend, names));
  for (std::size_t i = 0; i < names.size(); ++i)
    if (now[i] != before[i])
      return Status::error(Code::unsafe,
                           "'{}' is being written on another node: '{}' was {}, then {}; end that program first",
                           held.path(), names[i], before[i], now[i]);
  if (force) return {};
  return Status::error(Code::unsafe,
                       "'{}' was not closed, and locks of its file system may not reach all nodes, so a program of "
                       "another node may have it open: nothing changed within {} seconds; end all that write it, then: "
                       "`thalweg repair --force {}`",
                       held.path(), kLookAgainAfter, shell_word(held.path()));
}

Status taken_by_another(const StoredFile& file) {
  return Status::error(Code::unsafe,
                       "'{}' was closed, repaired or appended to by another program meanwhile: what this one wrote "
                       "since then is not part of it; it is left as it is",
                       file.path());
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
