// The file pointers, and the calls that move them.
#include <string>

#include "mpiio/calls.hpp"
#include "mpiio/open_file.hpp"
#include "mpiio/shared_pointer.hpp"

namespace thalweg::mpiio {

namespace {

int number_of_current(const OpenFile& file) { return file.shared.slot.first + file.shared.current; }

Failure wrong(const char* call, const std::string& what) { return {MPI_ERR_ARG, std::string(call) + ": " + what}; }

Failure refuse_sequential(const OpenFile& file, const char* call) {
  if ((file.amode & MPI_MODE_SEQUENTIAL) == 0) return {};
  return {MPI_ERR_UNSUPPORTED_OPERATION,
          std::string(call) + ": the file was opened with MPI_MODE_SEQUENTIAL, which permits no seeking"};
}

// The end of the file in etypes of the view: those that lie before it, rounded up.
Failure end_in_view(OpenFile& file, std::int64_t& end) {
  const Failure failure = failure_of(tw_file_seek_view(file.file, 0, SEEK_END, &end));
  end = (end + file.view.etype_bytes - 1) / file.view.etype_bytes;
  return failure;
}

// The position that `whence` counts from.
Failure origin_of(OpenFile& file, const char* call, int whence, std::int64_t current, std::int64_t& origin) {
  origin = 0;
  if (whence == MPI_SEEK_SET) return {};
  origin = current;
  if (whence == MPI_SEEK_CUR) return {};
  if (whence == MPI_SEEK_END) return end_in_view(file, origin);
  return wrong(call, "whence is " + std::to_string(whence) + "; MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END");
}

Failure move(const char* call, std::int64_t origin, MPI_Offset offset, std::int64_t& position) {
  std::int64_t moved = 0;
  if (__builtin_add_overflow(origin, static_cast<std::int64_t>(offset), &moved) || moved < 0)
    return wrong(call, "offset " + std::to_string(offset) + " from position " + std::to_string(origin) +
                           " is before the view or beyond 2^63-1");
  position = moved;
  return {};
}

// Whether all ranks pass the same, and may seek: an amode may be another one on one rank.
Failure check_same(const OpenFile& file, MPI_Offset offset, int whence) {
  const Failure mine = refuse_sequential(file, "MPI_File_seek_shared");
  std::int64_t most[5] = {offset, -offset, whence, -std::int64_t{whence}, mine.none() ? 0 : 1};
  const Failure failure = failure_of(tw_group_allreduce(file.group, most, 5, TW_MAX));
  if (!mine.none() || !failure.none()) return mine.none() ? failure : mine;
  if (most[4] != 0)
    return {MPI_ERR_NOT_SAME, "MPI_File_seek_shared: another rank opened the file with MPI_MODE_SEQUENTIAL"};
  if (most[0] == -most[1] && most[2] == -most[3]) return {};
  return {MPI_ERR_NOT_SAME, "MPI_File_seek_shared: offset or whence differ between ranks (" + std::to_string(-most[1]) +
                                " .. " + std::to_string(most[0]) + ")"};
}

// Every rank has arrived, so that the pointer is final; rank 0 reads it and broadcasts it.
Failure agreed_origin(OpenFile& file, int whence, std::int64_t& origin) {
  Failure failure;
  if (file.communicator->rank == 0) {
    const std::int64_t now = whence == MPI_SEEK_CUR ? advance_shared(file, 0) : 0;
    failure = origin_of(file, "MPI_File_seek_shared", whence, now, origin);
  }
  std::int64_t told[2] = {failure.error_class, origin};
  const Failure sent = failure_of(tw_group_broadcast(file.group, told, sizeof told, 0));
  if (!sent.none()) return sent;
  origin = told[1];
  if (told[0] == MPI_SUCCESS || !failure.none()) return failure;
  return {static_cast<int>(told[0]),
          "MPI_File_seek_shared: rank 0 cannot tell where whence counts from; its message has the reason"};
}

Failure move_shared(OpenFile& file, MPI_Offset offset, int whence) {
  if (Failure failure = check_same(file, offset, whence); !failure.none()) return failure;
  std::int64_t origin = 0, position = 0;
  if (Failure failure = agreed_origin(file, whence, origin); !failure.none()) return failure;
  if (Failure failure = move("MPI_File_seek_shared", origin, offset, position); !failure.none()) return failure;
  set_shared(file, position);
  return failure_of(tw_group_barrier(file.group));
}

}  // namespace

std::int64_t advance_shared(OpenFile& file, std::int64_t etypes) {
  return file.shared.base + file.shared.slot.numbers->fetch_and_add(number_of_current(file), etypes);
}

void set_shared(OpenFile& file, std::int64_t position) {
  const int left = number_of_current(file);
  file.shared.current = 1 - file.shared.current;
  file.shared.base = position;
  if (file.communicator->rank == 0) file.shared.slot.numbers->clear(left);
}

std::int64_t advance_ordered(OpenFile& file, std::int64_t etypes) {
  const SharedSlot& slot = file.shared.slot;
  const int turn = slot.first + 2;
  slot.numbers->await_turn(turn, file.shared.rounds);
  const std::int64_t begin = advance_shared(file, etypes);
  slot.numbers->give_turn(turn, file.shared.rounds);
  slot.numbers->await_round(turn, file.shared.rounds++, file.group);
  return begin;
}

int seek(MPI_File handle, MPI_Offset offset, int whence) {
  constexpr const char* kCall = "MPI_File_seek";
  const auto file = file_of(handle);
  if (file == nullptr) return conclude(nullptr, not_open(kCall));
  std::int64_t origin = 0;
  Failure failure = refuse_sequential(*file, kCall);
  {
    const std::scoped_lock lock(file->mutex);
    if (failure.none()) failure = origin_of(*file, kCall, whence, file->position, origin);
    if (failure.none()) failure = move(kCall, origin, offset, file->position);
  }
  return conclude(file.get(), failure);
}

int get_position(MPI_File handle, MPI_Offset* offset) {
  const auto file = file_of(handle);
  if (file == nullptr) return conclude(nullptr, not_open("MPI_File_get_position"));
  const Failure failure = refuse_sequential(*file, "MPI_File_get_position");
  if (failure.none()) {
    const std::scoped_lock lock(file->mutex);
    *offset = file->position;
  }
  return conclude(file.get(), failure);
}

int seek_shared(MPI_File handle, MPI_Offset offset, int whence) {
  constexpr const char* kCall = "MPI_File_seek_shared";
  const auto file = file_of(handle);
  if (file == nullptr) return conclude(nullptr, not_open(kCall));
  return conclude(file.get(), move_shared(*file, offset, whence));
}

int get_position_shared(MPI_File handle, MPI_Offset* offset) {
  constexpr const char* kCall = "MPI_File_get_position_shared";
  const auto file = file_of(handle);
  if (file == nullptr) return conclude(nullptr, not_open(kCall));
  const Failure failure = refuse_sequential(*file, kCall);
  if (failure.none()) *offset = advance_shared(*file, 0);
  return conclude(file.get(), failure);
}

}  // namespace thalweg::mpiio
