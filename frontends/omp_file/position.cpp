// Position, size and sync of a file: thread 0 calls the library, all threads get the result.
#include <cstdio>

#include "omp_file/omp_file.h"
#include "omp_file/outcome.hpp"
#include "omp_file/team.hpp"

namespace thalweg::omp_file {

namespace {

// Every thread's descriptor and complaint; thread 0 then calls `act(file, value)`. `result` may be NULL.
struct Arguments {
  int fd;
  const void* others = nullptr;
};

template <class Check, class Act>
int on_file(const Call& call, Arguments mine, off_t* result, Check&& check, Act&& act) {
  const int fd = mine.fd;
  Meeting meeting(call, [&](Team& team) {
    team.shared.arguments = mine.others;
    team.shared.fd = fd;
    team.shared.file = acquire(fd);
  });
  if (meeting.is_refused()) return refuse(meeting);
  Team::Shared& shared = meeting.shared();
  Complaint wrong = check_descriptor(meeting, fd);
  if (wrong.none()) wrong = check(shared.arguments);
  Outcome outcome = agree(meeting, wrong);
  if (outcome.ok()) {
    tw_status status = TW_OK;
    if (meeting.rank() == 0) {
      meeting.lock_file();
      status = act(shared.file->handle, &shared.value);
    }
    outcome = tell(meeting, status);
  }
  if (outcome.ok() && result != nullptr) __atomic_store_n(result, off_t{shared.value}, __ATOMIC_RELAXED);
  return to_return(outcome, meeting.leave());
}

constexpr Call kSeek{"omp_file_seek_all", false, let_go_of_file};
constexpr Call kSize{"omp_file_size_all", false, let_go_of_file};
constexpr Call kSync{"omp_file_sync_all", false, let_go_of_file};

struct Seek {
  off_t offset;
  int whence;
};

}  // namespace

}  // namespace thalweg::omp_file

using namespace thalweg::omp_file;

extern "C" int omp_file_seek_all(int fd, off_t offset, int whence, off_t* position) {
  const Seek mine = {.offset = offset, .whence = whence};
  const auto check = [&](const void* arguments) -> Complaint {
    const auto& first = *static_cast<const Seek*>(arguments);
    if (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END) return invalid("no such whence");
    if (first.offset == offset && first.whence == whence) return {};
    return invalid("omp_file_seek_all got different arguments on different threads");
  };
  return on_file(kSeek, {fd, &mine}, position, check,
                 [&](tw_file* file, std::int64_t* value) { return tw_file_seek(file, offset, whence, value); });
}

extern "C" int omp_file_size_all(int fd, off_t* size) {
  const auto check = [&](const void*) { return size != nullptr ? Complaint{} : invalid("size is NULL", EFAULT); };
  return on_file(kSize, {fd}, size, check,
                 [](tw_file* file, std::int64_t* value) { return tw_file_size(file, value); });
}

extern "C" int omp_file_sync_all(int fd) {
  const auto check = [](const void*) { return Complaint{}; };
  return on_file(kSync, {fd}, nullptr, check, [](tw_file* file, std::int64_t*) { return tw_file_sync(file); });
}
