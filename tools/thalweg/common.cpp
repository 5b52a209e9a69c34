// Failures and exit codes, RAII over the C API, signals.
#include "common.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>

#include "progress.hpp"
#include "text.hpp"
#include "vpfile.hpp"

namespace tool {
namespace {

volatile std::sig_atomic_t g_signal = 0;

void remember_signal(int number) { g_signal = number; }

std::function<void()> g_undo;       // of EndAtOnce; empty: a signal unwinds
std::function<void(int)> g_report;  // of main()

[[noreturn]] void end_at_once(int number) {
  std::exchange(g_undo, nullptr)();
  try {
    g_report(number);
  } catch (const std::exception&) {
  } catch (const Interrupted&) {  // standard output takes no more
  } catch (const BrokenPipe&) {
  }
  std::signal(number, SIG_DFL);
  std::raise(number);
  _exit(128 + number);
}

}  // namespace

Exit exit_code(tw_status status) {
  switch (status) {
    case TW_OK:
      return kFine;
    case TW_ERR_CORRUPT:
    case TW_ERR_NOT_CLOSED:
      return kDamaged;
    case TW_ERR_INVALID:
    case TW_ERR_UNKNOWN_HINT:
    case TW_ERR_RANGE:
    case TW_ERR_MODE:
      return kUsage;
    case TW_ERR_EXISTS:
    case TW_ERR_UNSAFE:
      return kUnsafe;
    default:
      return kInputOutput;  // not found, permission, no space, input/output, memory, newer version, ...
  }
}

void catch_signals() {
  std::signal(SIGPIPE, SIG_IGN);  // writes then fail with EPIPE
  std::signal(SIGXFSZ, SIG_IGN);  // or with EFBIG
  struct sigaction action = {};
  action.sa_handler = remember_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Ctrl-C ends the program at once
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old = {};
    sigaction(number, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

EndAtOnce::EndAtOnce(std::function<void()> undo) { g_undo = std::move(undo); }
EndAtOnce::~EndAtOnce() { g_undo = nullptr; }

void set_interrupted_report(std::function<void(int signal)> report) { g_report = std::move(report); }

int caught_signal() {
  const bool ends_here = g_signal != 0 && gettid() == getpid();  // other threads return to the first one
  if (ends_here && g_undo) end_at_once(g_signal);
  return g_signal;
}

void stop_if_interrupted() {
  if (const int number = caught_signal(); number != 0) throw Interrupted{number};
}

void fail_with_status(tw_status status) {
  if (status == TW_ERR_STOPPED) stop_if_interrupted();
  const char* text = tw_last_error();
  throw Failure(exit_code(status), *text != '\0' ? text : tw_status_name(status), status);
}

void fail_with_errno(const std::string& action, const std::string& path) {
  const int number = errno;
  throw Failure(kInputOutput, fmt::format("cannot {} '{}': {}", action, path, std::strerror(number)));
}

void check_folder_of(const std::string& path) {
  const std::string plain = path.substr(0, path.find_last_not_of('/') + 1);
  const std::string folder = std::filesystem::path(plain).parent_path().string();
  if (folder.empty()) return;
  struct stat status = {};
  const bool there = stat(folder.c_str(), &status) == 0;
  if (there && S_ISDIR(status.st_mode)) return;
  if (!there && errno != ENOENT && errno != ENOTDIR) fail_with_errno("look at folder", folder);
  throw Failure(kInputOutput, fmt::format("cannot create '{}': the folder '{}' does not exist", path, folder));
}

Config::Config() {
  const auto stop = [](int64_t done, int64_t total, void*) {
    if (total > 0) note_work("recovery", done, total, nullptr);
    return caught_signal();
  };
  progress(stop, nullptr);
}

void Config::set_hint(const std::string& assignment) {
  const size_t at = assignment.find('=');
  if (at == std::string::npos || at == 0) {
    throw Failure(kUsage,
                  fmt::format("hint '{}' is not of the form NAME=VALUE; 'thalweg hints' lists all", assignment));
  }
  hint(assignment.substr(0, at), assignment.substr(at + 1));
}

Multifile::Multifile(const std::string& path, int mode, const tw_options* config, tw_group* group) {
  const Config any;
  const tw_status status =
      tw_multifile_open(group, path.c_str(), mode, config != nullptr ? config : any.get(), &handle_);
  if (status == TW_OK) return;
  const std::string text = tw_last_error();
  if (status == TW_ERR_STOPPED) stop_if_interrupted();
  if (status == TW_ERR_CORRUPT) explain_no_multifile(path);
  throw Failure(exit_code(status), text.empty() ? tw_status_name(status) : text, status);
}

Multifile::~Multifile() {
  if (handle_ != nullptr) (void)tw_multifile_abandon(&handle_);  // during unwinding
}

void Multifile::close() { check(tw_multifile_close(&handle_)); }

tw_multifile_summary Multifile::summarize() const {
  tw_multifile_summary summary = {};
  summary.struct_size = sizeof summary;
  check(tw_multifile_summarize(handle_, &summary));
  return summary;
}

void Alike::note(tw_status found) {
  status = found;
  if (!is_loss(status)) check(status);
  if (lost()) message = tw_last_error();
}

Alike Multifile::alike(int64_t rank) const {
  Alike found{rank};
  found.note(tw_multifile_alike(handle_, rank, &found.last));
  return found;
}

int64_t Multifile::bytes(int64_t rank) const {
  int64_t bytes = 0;
  check(tw_multifile_size(handle_, rank, &bytes));
  return bytes;
}

std::string Multifile::name(int64_t rank, uint32_t* mode) const {
  char text[4097];
  size_t length = 0;
  check(tw_multifile_name(handle_, rank, text, sizeof text, &length, mode));
  return std::string(text, std::min(length, sizeof text - 1));
}

int64_t Multifile::part(int64_t rank) const {
  int64_t part = -1;
  check(tw_multifile_part(handle_, rank, &part));
  return part;
}

std::string Multifile::stored_strategy() const {
  const void* text = nullptr;
  size_t bytes = 0;
  const tw_status status = tw_multifile_attribute(handle_, kStrategyKey, &text, &bytes);
  if (status == TW_ERR_NOT_FOUND) return {};
  check(status);
  return {static_cast<const char*>(text), bytes};
}

std::pair<Multifile, bool> open_in_any_state(const std::string& path) {
  try {
    return {Multifile(path, TW_READ), true};
  } catch (const Failure& failure) {
    if (failure.status != TW_ERR_NOT_CLOSED) throw;
  }
  return {Multifile(path, TW_READ | TW_RECOVER), false};
}

void report_not_closed(const std::string& path) {
  flush_output();
  say(fmt::format("'{}' was not closed; run: thalweg repair {}", path, shell_word(path)));
}

Multifile open_for_reading(const std::string& path, bool recover) {
  if (recover) return open_in_any_state(path).first;
  return Multifile(path, TW_READ);
}

bool is_loss(tw_status status) {
  return status == TW_ERR_CORRUPT || status == TW_ERR_NOT_FOUND || status == TW_ERR_NOT_CLOSED || status == TW_ERR_IO ||
         status == TW_ERR_PERMISSION;
}

int64_t sum_of(int64_t a, int64_t b, int64_t times) {
  int64_t product = 0;
  int64_t sum = 0;
  if (__builtin_mul_overflow(b, times, &product) || __builtin_add_overflow(a, product, &sum)) return INT64_MAX;
  return sum;
}

void check_rank(int64_t rank, int64_t n_logical, const std::string& path) {
  if (rank >= 0 && rank < n_logical) return;
  if (n_logical == 0) throw Failure(kUsage, fmt::format("no task {}: '{}' has no logical files", rank, path));
  throw Failure(kUsage, fmt::format("no task {}: '{}' has tasks 0 to {}", rank, path, n_logical - 1));
}

static bool is_pattern(const std::string& wanted) { return wanted.find_first_of("*?[") != std::string::npos; }

static bool chooses(std::string wanted, const std::string& name) {
  while (wanted.size() > 1 && wanted.ends_with('/')) wanted.pop_back();
  if (is_pattern(wanted) && fnmatch(wanted.c_str(), name.c_str(), FNM_LEADING_DIR) == 0) return true;
  return !wanted.empty() && (name + '/').starts_with(wanted + '/');
}

// The rank of a name, or NAME.PART, found without reading all names; -1: it may be a directory or a pattern.
static int64_t found_at_once(const Multifile& multifile, const std::string& wanted) {
  if (is_pattern(wanted)) return -1;
  int64_t rank = -1;
  uint32_t mode = 0;
  tw_status status = tw_multifile_find(multifile.get(), wanted.c_str(), &rank);
  const size_t digits = wanted.rfind('.') + 1;  // 0 without a dot
  const char* const end = wanted.data() + wanted.size();
  int64_t part = -1;
  const char* const rest = std::from_chars(wanted.data() + digits, end, part).ptr;
  if (status == TW_ERR_NOT_FOUND && digits > 1 && rest == end && part >= 0)
    status = tw_multifile_find_part(multifile.get(), wanted.substr(0, digits - 1).c_str(), part, &rank);
  if (is_loss(status)) return -1;
  check(status);
  multifile.name(rank, &mode);
  return S_ISDIR(mode) ? -1 : rank;
}

void for_chosen(const Multifile& multifile, const std::string& path, const std::vector<std::string>& all, bool& whole,
                const std::function<void(int64_t rank)>& use) {
  std::set<int64_t> at_once;
  std::vector<std::string> names;  // the others
  for (const std::string& name : all) {
    const int64_t rank = found_at_once(multifile, name);
    if (rank < 0) names.push_back(name);
    if (rank >= 0) at_once.insert(rank);
  }
  if (names.empty()) std::ranges::for_each(at_once, use);
  std::vector<bool> found(names.size());
  std::vector<bool> exact(names.size());
  std::string lost;
  const int64_t n = names.empty() ? 0 : multifile.summarize().n_logical;
  for (int64_t rank = 0, last = 0; rank < n; rank = last + 1) {
    stop_if_interrupted();
    const Alike alike = multifile.alike(rank);
    last = alike.last;
    if (alike.lost()) lost = alike.message;
    if (alike.lost() || last > rank) continue;  // no name
    std::string name;
    try {
      name = multifile.name(rank);
    } catch (const Failure& failure) {
      if (!is_loss(failure.status)) throw;
      lost = failure.what();
    }
    bool any = at_once.contains(rank);
    for (size_t i = 0; i < names.size() && !name.empty(); ++i)
      if (chooses(names[i], name)) {
        any = found[i] = true;
        exact[i] = exact[i] || name == names[i];
      }
    if (any) use(rank);
  }
  const auto missing = std::ranges::find(found, false);
  if (missing == found.end()) {
    if (lost.empty() || std::ranges::find(exact, false) == exact.end()) return;
    whole = false;
    return say(fmt::format("there may be more of these names among those that cannot be read: {}", lost));
  }
  const std::string& name = names[static_cast<size_t>(missing - found.begin())];
  if (!lost.empty()) throw Failure(kDamaged, fmt::format("no readable name is '{}': {}", name, lost));
  throw Failure(kUsage, fmt::format("'{}' has no logical file named '{}'; 'thalweg ls' lists all", path, name));
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

bool write_all(int fd, const char* data, size_t bytes) { return write_some(fd, data, bytes) == bytes; }

size_t write_some(int fd, const char* data, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t wrote = ::write(fd, data + done, bytes - done);
    if (wrote < 0 && errno == EINTR && g_signal == 0) continue;
    if (wrote < 0) break;
    done += static_cast<size_t>(wrote);
    errno = EINTR;  // a signal interrupts a started write without an error
    if (g_signal != 0) break;
  }
  return done;
}

}  // namespace tool
