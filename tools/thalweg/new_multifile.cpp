// Writes under a temporary name, then renames; a replaced file is exchanged.
#include "new_multifile.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "vpfile.hpp"

namespace tool {
namespace {

constexpr int32_t kMostOnDemand = 4096;  // physical files that the library makes when data need them, in all

constexpr std::string_view kMagic = "\x89THALW\r\n";

// The first bytes of a regular file, as many as the magic has; no value on failure.
std::optional<std::string> begin_of(const std::string& path) {
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status = {};
  if (!fd || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::string begin(kMagic.size(), '\0');
  const ssize_t got = pread(fd.get(), begin.data(), begin.size(), 0);
  if (got < 0) return std::nullopt;
  begin.resize(static_cast<size_t>(got));
  return begin;
}

// Physical files but the first: NAME.000001 may also be unrelated to multifiles.
bool is_foreign(const std::string& path) {
  const auto begin = begin_of(path);
  return !begin || (!begin->empty() && *begin != kMagic);
}

// 1 when `path` is no multifile.
int32_t planned_files_of(const std::string& path) {
  try {
    return open_in_any_state(path).first.summarize().n_planned;
  } catch (const Failure&) {
    return 1;
  }
}

[[noreturn]] void refuse_existing(const std::string& path) {
  throw Failure(kUnsafe, fmt::format("refused: '{}' exists already; replace it with --force", path));
}

// `a` and `b` change places. Where the file system cannot do that in one step neither is ever gone, but `b` is missing
// for a moment.
bool exchange(const std::string& a, const std::string& b) {
  if (renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  const std::string aside = a + ".old";
  if (rename(b.c_str(), aside.c_str()) != 0) return false;
  if (rename(a.c_str(), b.c_str()) != 0) {
    const int number = errno;
    if (rename(aside.c_str(), b.c_str()) != 0) fail_with_errno("rename to", b);
    errno = number;
    return false;
  }
  return rename(aside.c_str(), a.c_str()) == 0;
}

}  // namespace

bool begins_as_multifile(const std::string& path) { return begin_of(path) == kMagic; }

std::string physical_name(const std::string& path, int32_t number) {
  return number == 0 ? path : fmt::format("{}.{:06d}", path, number);
}

std::vector<int32_t> physical_files_of(const std::string& path) {
  const size_t slash = path.rfind('/') + 1;  // 0 without one
  std::vector<int32_t> numbers;
  if (exists(path)) numbers.push_back(0);
  std::error_code failed;
  std::filesystem::directory_iterator at(slash == 0 ? "." : path.substr(0, slash), failed);
  for (; !failed && at != std::filesystem::directory_iterator(); at.increment(failed)) {
    const std::string name = at->path().filename();
    const char* digits = name.c_str() + std::min(name.size(), path.size() - slash + 1);
    const auto k = static_cast<int32_t>(std::strtol(digits, nullptr, 10));
    if (k > 0 && name == physical_name(path, k).substr(slash)) numbers.push_back(k);
  }
  for (int32_t k = 1; failed && (k < kMostOnDemand || exists(physical_name(path, k))); ++k)  // it may not be listed
    if (exists(physical_name(path, k))) numbers.push_back(k);
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

StoredBytes bytes_of_physical_files(const std::string& path, const Multifile& multifile) {
  StoredBytes bytes;
  for (int32_t k = multifile.summarize().n_planned; k-- > 0;) {
    if (k % 256 == 0) stop_if_interrupted();
    struct stat status = {};
    if (stat(physical_name(path, k).c_str(), &status) != 0) continue;
    bytes.apparent = sum_of(bytes.apparent, status.st_size);
    bytes.on_disk = sum_of(bytes.on_disk, 512 * status.st_blocks);
  }
  return bytes;
}

NewMultifile::NewMultifile(std::string path, bool force)
    : path_(std::move(path)), passing_(fmt::format("{}.part-{}", path_, getpid())), force_(force) {
  check_folder_of(path_);
  struct stat status = {};
  if (lstat(path_.c_str(), &status) != 0) return;
  if (!force_) refuse_existing(path_);
  if (S_ISDIR(status.st_mode)) throw Failure(kUnsafe, fmt::format("refused: '{}' is a directory", path_));
  held_.hold(AT_FDCWD, path_, path_);
  refuse_other_formats();
}

// --force neither corrects a mistaken name, nor leaves side files of a vpfile beside a multifile.
void NewMultifile::refuse_other_formats() const {
  constexpr const char* kWayOut = "remove it, or choose another name";
  if (is_vpfile(path_)) throw Failure(kUnsafe, fmt::format("refused: '{}' is a vpfile; {}", path_, kWayOut));
  const std::string other = other_format(path_);
  if (!other.empty()) throw Failure(kUnsafe, fmt::format("refused: {}; {}", other, kWayOut));
}

NewMultifile::~NewMultifile() { remove(); }

void NewMultifile::remove() const {
  if (!swaps_.empty()) return;  // restoring failed: the file with the temporary name is the only copy of the old one
  for (const int32_t k : physical_files_of(passing_)) unlink(physical_name(passing_, k).c_str());
}

void NewMultifile::publish() {
  stop_if_interrupted();
  if (force_) held_.hold(AT_FDCWD, path_, path_);
  const int32_t old = force_ && exists(path_) ? planned_files_of(path_) : 0;
  const std::vector<int32_t> mine = physical_files_of(passing_);
  try {
    for (size_t i = mine.size(); i-- > 0;) move_in(mine[i]);
  } catch (const Failure&) {
    put_back();
    throw;
  }
  for (const Swap& swap : swaps_) {
    if (swap.replaced) unlink(physical_name(passing_, swap.number).c_str());
  }
  for (int32_t k = old - 1; k >= 0; --k)
    if (!std::ranges::binary_search(mine, k) && !is_foreign(physical_name(path_, k)))
      unlink(physical_name(path_, k).c_str());
  swaps_.clear();
}

void NewMultifile::move_in(int32_t number) {
  const std::string from = physical_name(passing_, number);
  const std::string to = physical_name(path_, number);
  if (move_file(AT_FDCWD, from, to)) {
    swaps_.push_back({number, false});
    return;
  }
  if (errno != EEXIST) fail_with_errno("rename to", to);
  if (!force_) refuse_existing(to);
  struct stat status = {};
  if (lstat(to.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    throw Failure(kUnsafe, fmt::format("refused: '{}' is a directory", to));
  if (number > 0 && is_foreign(to))
    throw Failure(
        kUnsafe,
        fmt::format("refused: '{}' exists and is not part of a multifile; remove it, or choose another name", to));
  if (!exchange(from, to)) fail_with_errno("rename to", to);
  swaps_.push_back({number, true});
}

void NewMultifile::put_back() {
  for (; !swaps_.empty(); swaps_.pop_back()) {
    const std::string mine = physical_name(path_, swaps_.back().number);
    const std::string passing = physical_name(passing_, swaps_.back().number);
    if (swaps_.back().replaced ? exchange(mine, passing) : move_file(AT_FDCWD, mine, passing)) continue;
    const int error = errno;
    throw Failure(kInputOutput, fmt::format("'{}' could not be restored ({}); its old content is in '{}'", mine,
                                            std::strerror(error), passing));
  }
}

std::string NewMultifile::in_final_words(std::string message) const {
  message.erase(std::min(message.find("; it stays unclosed"), message.size()));  // it is removed instead
  for (size_t at = message.find(passing_); at != std::string::npos; at = message.find(passing_, at + path_.size()))
    message.replace(at, passing_.size(), path_);
  return message;
}

}  // namespace tool
