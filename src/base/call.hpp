// Call: the collective calls of the library, by which tasks are told apart that make different ones at once.
//
// The C API says which call a task makes (Group::set_call). A team compares the calls at each epoch (team.hpp), and
// finds tasks that wait in different teams (roster.hpp); elsewhere calls travel in records that tasks fold anyway
// (CallsOfAll).
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "base/visibility.hpp"

namespace thalweg {

// Forms of one access stand together: tasks may mix them. Calls after which a task has no handle any more stand last.
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

// The collectives of a group, of which every call is made.
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

// Tasks that make calls of one class make the same call.
constexpr Call class_of(Call call) {
  if (call >= Call::tw_file_access_all && call <= Call::tw_file_read_array) return Call::tw_file_access_all;
  if (call >= Call::tw_file_iaccess_all && call <= Call::tw_file_iread_array) return Call::tw_file_iaccess_all;
  if (call >= Call::tw_vpfile_write_all && call <= Call::tw_vpfile_printf_all) return Call::tw_vpfile_write_all;
  return call;
}
constexpr bool ends_handle(Call call) { return call >= Call::tw_file_close; }
constexpr bool abandons(Call call) { return call >= Call::tw_file_abandon; }

// A task that does not come to a collective of the others, and the call in which it said so.
struct Leaver {
  std::int64_t task = 0;
  Call call = Call::none;  // none: nobody
};

// Two tasks and what each of them is in.
struct TwoCalls {
  std::int64_t first, second;  // ranks
  const char *of_first, *of_second;
};
// What every task says of different calls at once; and of every later call, which waits for nobody any more. `left`:
// the second task has given its handle up. Where there is no memory for the words, that.
TW_SHARED Status different_calls(const TwoCalls& calls);
TW_SHARED Status out_of_step(const TwoCalls& calls, bool left);
// What they say where the calls are alike, and what they are made on is not.
TW_SHARED Status different_handles(const TwoCalls& calls);

// What all other tasks say once this one has freed its handle of the group.
TW_SHARED Status gone_without(std::int64_t rank);
// The status on the tasks that find out that one has left; not_closed where it has abandoned their common file.
TW_SHARED Status has_left(const Leaver& leaver);

// The calls of some tasks; joined, those of all, as far as is needed to see whether they are one call.
class CallsOfAll {
 public:
  CallsOfAll() = default;  // of no task
  CallsOfAll(Call call, std::int64_t rank);
  void join(const CallsOfAll& other);
  bool differ() const;
  // The task that makes the highest call: where calls differ, one that ends its handle if any does.
  Leaver highest() const;
  // Both where they differ.
  Status now() const;
  Status later() const;

 private:
  TwoCalls two() const;
  // Class and call above the complement of the rank: of equal calls the lowest rank is the larger number. The second
  // one has the complement of the class.
  std::int64_t highest_ = 0;
  std::int64_t lowest_ = 0;
};

}  // namespace thalweg
