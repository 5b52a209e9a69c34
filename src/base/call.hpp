// Call: the collective calls of the library. Tasks that make different calls at once are found by comparing them.
//
// The C API sets the call of a task (Group::set_call). A team compares the calls at each epoch (team.hpp), and finds
// tasks that wait in different teams (roster.hpp). Other groups send calls within records that are folded anyway
// (CallsOfAll).
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "base/visibility.hpp"

namespace thalweg {

// The forms of one access stand together: tasks may mix them. Calls that end a handle stand last.
// clang-format off
#define TW_COLLECTIVE_CALLS(call) \
  call(tw_group_barrier) call(tw_group_broadcast) call(tw_group_allreduce) call(tw_group_agree) \
  call(tw_group_duplicate) call(tw_group_hybrid) call(tw_group_callbacks) call(tw_group_mpi) \
  call(tw_multifile_open) call(tw_file_open) call(tw_vpfile_open) \
  call(tw_file_access_all) \
  call(tw_file_write_all) call(tw_file_read_all) call(tw_file_write_at_all) call(tw_file_read_at_all) \
  call(tw_file_write_view_all) call(tw_file_read_view_all) call(tw_file_write_array) call(tw_file_read_array) \
  call(tw_file_iaccess_all) \
  call(tw_file_iwrite_all) call(tw_file_iread_all) call(tw_file_iwrite_at_all) call(tw_file_iread_at_all) \
  call(tw_file_iwrite_view_all) call(tw_file_iread_view_all) call(tw_file_iwrite_array) call(tw_file_iread_array) \
  call(tw_file_size) call(tw_file_truncate) call(tw_file_preallocate) call(tw_file_sync) \
  call(tw_file_seek) call(tw_file_set_view) \
  call(tw_vpfile_write_all) call(tw_vpfile_read_all) call(tw_vpfile_getc_all) call(tw_vpfile_putc_all) \
  call(tw_vpfile_puts_all) call(tw_vpfile_printf_all) \
  call(tw_vpfile_gets_all) call(tw_vpfile_scanf_all) call(tw_vpfile_flush_all) call(tw_vpfile_sync_all) \
  call(tw_file_close) call(tw_vpfile_close) call(tw_multifile_close) \
  call(tw_file_abandon) call(tw_vpfile_abandon) call(tw_multifile_abandon) call(MPI_Finalize)
// clang-format on

enum class Call : std::uint8_t {
  none,
#define TW_CALL_NUMBER(name) name,
  TW_COLLECTIVE_CALLS(TW_CALL_NUMBER)
#undef TW_CALL_NUMBER
};

// The collectives of a group; every call consists of these.
enum class Primitive : std::uint8_t {
  none,
  barrier,
  broadcast,
  gather,
  scatter,
  allgather,
  allreduce,
  fold,
  exchange,
  share_in_process,
  duplicate,
  leave
};

TW_SHARED const char* name_of(Call call);  // "" for none
TW_SHARED const char* name_of(Primitive primitive);

// Tasks may make different calls of one class: they match.
constexpr Call class_of(Call call) {
  if (call >= Call::tw_file_access_all && call <= Call::tw_file_read_array) return Call::tw_file_access_all;
  if (call >= Call::tw_file_iaccess_all && call <= Call::tw_file_iread_array) return Call::tw_file_iaccess_all;
  if (call >= Call::tw_vpfile_write_all && call <= Call::tw_vpfile_printf_all) return Call::tw_vpfile_write_all;
  return call;
}
constexpr bool ends_handle(Call call) { return call >= Call::tw_file_close; }
constexpr bool abandons(Call call) { return call >= Call::tw_file_abandon; }

// A task that takes no further part in collectives, and the call by which it left.
struct Leaver {
  std::int64_t task = 0;
  Call call = Call::none;  // none: no task has left
};

// Two tasks and the call of each.
struct TwoCalls {
  std::int64_t first, second;  // ranks
  const char *of_first, *of_second;
};
// The failure of all tasks after different calls were made at once; later calls fail with it, too, without waiting.
// `left`: the second task has given up its handle. Returns out_of_memory() where the message cannot be built.
TW_SHARED Status different_calls(const TwoCalls& calls);
TW_SHARED Status out_of_step(const TwoCalls& calls, bool left);
// The failure of all tasks where the calls match but their handles do not.
TW_SHARED Status different_handles(const TwoCalls& calls);

// The failure of the other tasks once task `rank` has freed its handle of the group.
TW_SHARED Status gone_without(std::int64_t rank);
// The status of tasks that detect a leaver; not_closed where it has abandoned their common file.
TW_SHARED Status has_left(const Leaver& leaver);

// The calls of some tasks, joined: lowest and highest, which is enough to see whether all are one call.
class CallsOfAll {
 public:
  CallsOfAll() = default;  // the calls of no task
  CallsOfAll(Call call, std::int64_t rank);
  void join(const CallsOfAll& other);
  bool differ() const;
  // The task with the highest call. Where calls differ and one of them ends its handle, it is this one.
  Leaver highest() const;
  // the failures of this call and of later ones, where calls differ
  Status now() const;
  Status later() const;

 private:
  TwoCalls two() const;
  // Class and call, above the complement of the rank: among equal calls the lowest rank gives the largest number.
  // lowest_ holds the complement of the class.
  std::int64_t highest_ = 0;
  std::int64_t lowest_ = 0;
};

}  // namespace thalweg
