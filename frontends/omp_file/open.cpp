// Opening and closing: one thread acts, all threads share the result.
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "omp_file/omp_file.h"
#include "omp_file/open_files.hpp"
#include "omp_file/outcome.hpp"
#include "omp_file/requests.hpp"
#include "omp_file/team.hpp"
#include "thalweg/group.h"

namespace thalweg::omp_file {

namespace {

struct Opening {
  int* fd;
  const char* path;
  int flags;
  mode_t mode;
  const char* hints;  // not null
};

constexpr int kSyncFlags = O_SYNC | O_DSYNC;
constexpr int kIgnoredFlags = O_CLOEXEC | O_LARGEFILE | O_NOCTTY;
constexpr int kKnownFlags = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_DIRECT | kSyncFlags | kIgnoredFlags;

using Text = std::array<char, 512>;

constexpr mode_t kAllPermissions = 07777;

// `text` holds the text of the complaint.
Complaint check(const Opening& mine, const Opening& first, Text& text) {
  if (mine.fd == nullptr) return invalid("fd is NULL", EFAULT);
  if (mine.path == nullptr) return invalid("filename is NULL", EFAULT);
  if (mine.path[0] == '\0') return invalid("filename is empty", ENOENT);  // as open(2) reports
  const int access = mine.flags & O_ACCMODE;
  if ((mine.flags & ~kKnownFlags) != 0) {
    std::snprintf(text.data(), text.size(), "omp_file_open_all does not know the flags %#x of %#x",
                  static_cast<unsigned>(mine.flags & ~kKnownFlags), static_cast<unsigned>(mine.flags));
    return invalid(text.data());
  }
  if (access != O_RDONLY && access != O_WRONLY && access != O_RDWR) {
    return invalid("none of O_RDONLY, O_WRONLY and O_RDWR");
  }
  if (access == O_RDONLY && (mine.flags & (O_CREAT | O_TRUNC)) != 0) {
    return invalid("O_CREAT and O_TRUNC need O_WRONLY or O_RDWR");
  }
  if (mine.mode > kAllPermissions) {
    std::snprintf(text.data(), text.size(), "omp_file_open_all got the mode %#o; permissions are at most 07777",
                  static_cast<unsigned>(mine.mode));
    return invalid(text.data());
  }
  if (first.path == nullptr) return {};  // its own thread reports that
  if (mine.flags != first.flags || mine.mode != first.mode || std::strcmp(mine.path, first.path) != 0 ||
      std::strcmp(mine.hints, first.hints) != 0) {
    return invalid("omp_file_open_all got different arguments on different threads");
  }
  return {};
}

std::int32_t to_library_flags(int flags) {
  const int access = flags & O_ACCMODE;
  std::int32_t result = 0;
  if (access != O_WRONLY) result |= TW_READ;
  if (access != O_RDONLY) result |= TW_WRITE;
  if ((flags & O_CREAT) != 0) result |= TW_CREATE;
  if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) result |= TW_EXCLUSIVE;
  if ((flags & O_TRUNC) != 0) result |= TW_TRUNCATE;
  if ((flags & O_APPEND) != 0) result |= TW_APPEND;
  if ((flags & O_DIRECT) != 0) result |= TW_DIRECT;
  return result;
}

// The complaint points into tw_last_error().
Complaint library_complaint(tw_status status) { return {status, tw_last_errno(), tw_last_error()}; }

// `text` holds the text of a complaint about hints, which names where they are from.
Complaint open_alone(const Opening& mine, int& fd, Text& text) {
  const int access = mine.flags & O_ACCMODE;
  std::unique_ptr<OpenFile> file(new (std::nothrow) OpenFile{.handle = nullptr,
                                                             .readable = access != O_WRONLY,
                                                             .writable = access != O_RDONLY,
                                                             .syncs = (mine.flags & kSyncFlags) != 0});
  if (file == nullptr) return {TW_ERR_NO_MEMORY, ENOMEM, "no memory for an open file"};
  tw_options* options = nullptr;
  tw_status status = tw_options_create(&options);
  if (status == TW_OK) status = tw_options_set_permissions(options, mine.mode);
  const char* const of_environment = std::getenv("OMP_FILE_HINTS");
  if (status == TW_OK && of_environment != nullptr) status = tw_options_set_hints(options, of_environment);
  if (status == TW_OK) status = tw_options_set_hints(options, mine.hints);  // a later value replaces an earlier one
  if (status == TW_OK) status = tw_file_open(nullptr, mine.path, to_library_flags(mine.flags), options, &file->handle);
  Complaint wrong = status == TW_OK ? Complaint{} : library_complaint(status);
  if (status == TW_ERR_UNKNOWN_HINT && of_environment != nullptr) {
    std::snprintf(text.data(), text.size(), "%s; the hints are '%s' of OMP_FILE_HINTS and '%s' of the call",
                  wrong.message, of_environment, mine.hints);
    wrong.message = text.data();
  }
  tw_options_free(&options);
  if (!wrong.none()) return wrong;
  fd = add_descriptor(file.get());
  if (fd < 0) {
    (void)tw_file_close(&file->handle);  // no data was written; the reason is reported below
    if (fd == -1) return {TW_ERR_NO_MEMORY, EMFILE, "too many files are open by omp_file_open_all"};
    return {TW_ERR_NO_MEMORY, ENOMEM, "no memory for an open file"};
  }
  static_cast<void>(file.release());  // owned by the descriptor
  return {};
}

Outcome open_all(Meeting& meeting, const Opening& mine) {
  Team::Shared& shared = meeting.shared();
  Text text{};
  Outcome outcome = agree(meeting, check(mine, *static_cast<const Opening*>(shared.arguments), text));
  if (!outcome.ok()) return outcome;
  Complaint wrong;
  if (meeting.rank() == 0) {
    int fd = -1;
    wrong = open_alone(mine, fd, text);
    shared.value = fd;
  }
  outcome = agree(meeting, wrong);
  if (!outcome.ok()) return outcome;
  __atomic_store_n(mine.fd, static_cast<int>(shared.value), __ATOMIC_RELAXED);  // fd may be one shared variable
  // With a shared variable, no thread continues to read it while another one still writes it.
  return outcome_of(tw_group_barrier(meeting.group()));
}

// The caller holds the descriptor's reference. A call still gathering its threads may need this very thread, from an
// outer region; that call closes the file when it ends.
tw_status close_last(OpenFile* file) {
  settle_requests_on(file);
  for (int round = 0; others_are_at_work(*file); ++round) {
    if (round < 100) {
      sched_yield();
    } else {
      usleep(100);
    }
    settle_requests_on(file);  // so that all of them have begun
  }
  return release(file);
}

Outcome close_all(Meeting& meeting, int fd) {
  Team::Shared& shared = meeting.shared();
  const Outcome outcome = agree(meeting, check_descriptor(meeting, fd));
  if (!outcome.ok()) return outcome;
  Complaint wrong;
  if (meeting.rank() == 0) {
    OpenFile* file = forget_descriptor(fd);
    if (file == nullptr) {
      wrong = invalid("another team closed the file at the same time", EBADF);
    } else {
      shared.file = nullptr;
      release(file);  // not the last one
      const tw_status status = close_last(file);
      if (status != TW_OK) wrong = library_complaint(status);
    }
  }
  return agree(meeting, wrong);
}

constexpr Call kOpen{"omp_file_open_all"};
constexpr Call kClose{"omp_file_close_all", false, let_go_of_file};

int open_as(const Opening& mine) {
  Meeting meeting(kOpen, [&](Team& team) { team.shared.arguments = &mine; });
  if (meeting.is_refused()) return refuse(meeting);
  const Outcome outcome = open_all(meeting, mine);
  return to_return(outcome, meeting.leave());
}

}  // namespace

}  // namespace thalweg::omp_file

extern "C" int omp_file_open_all(int* fd, const char* filename, int flags, mode_t mode, const char* hints) {
  const mode_t used = (flags & O_CREAT) != 0 ? mode : 0;
  return thalweg::omp_file::open_as(
      {.fd = fd, .path = filename, .flags = flags, .mode = used, .hints = hints != nullptr ? hints : ""});
}

extern "C" int omp_file_close_all(int fd) {
  using namespace thalweg::omp_file;
  Meeting meeting(kClose, [&](Team& team) {
    team.shared.fd = fd;
    team.shared.file = acquire(fd);
  });
  if (meeting.is_refused()) return refuse(meeting);
  const Outcome outcome = close_all(meeting, fd);
  return to_return(outcome, meeting.leave());
}
