// file.h: opening, closing, and the access that all short forms (capi_file_forms.cpp) are made of.
#include <new>
#include <string>
#include <utility>

#include "capi/file_handle.hpp"
#include "capi/open_options.hpp"
#include "sharedfile/file_strategy.hpp"
#include "storage/queues.hpp"

namespace thalweg {

namespace {

static_assert(sizeof(tw_extent) == sizeof(Extent) && offsetof(tw_extent, address) == offsetof(Extent, memory) &&
                  offsetof(tw_extent, length) == offsetof(Extent, bytes) &&
                  offsetof(tw_extent, offset) == offsetof(Extent, offset),
              "a caller's list is used where it lies");

Status fill_open(const char* path, int32_t flags, const tw_options* options, PlainOpen& how) {
  if (path == nullptr) return null_argument("tw_file_open", "path");
  TW_ASSIGN_OR_RETURN(const OpenHow asked, read_how_to_open(FileKind::file, flags, options));
  how.path = path;
  how.options = asked.file;
  how.append = asked.append;
  how.direct = asked.direct;
  if (options == nullptr) return {};
  if (options->permissions.value_or(0) != 0) how.options.permissions = *options->permissions;
  how.hints = options->hints;
  return {};
}

Status check_numbers(const char* function, const tw_access& given) {
  if (given.direction != TW_ACCESS_READ && given.direction != TW_ACCESS_WRITE)
    return invalid_argument(function, "direction is {}; TW_ACCESS_READ or TW_ACCESS_WRITE", given.direction);
  if (given.placement < TW_AT_EXTENTS || given.placement > TW_IN_VIEW)
    return invalid_argument(function, "placement is {}; one of tw_placement", given.placement);
  if (given.progress < TW_PROGRESS_DEFAULT || given.progress > TW_PROGRESS_POLL)
    return invalid_argument(function, "progress is {}; one of tw_progress", given.progress);
  if (given.n < 0) return invalid_argument(function, "n is {}; 0 or more extents", given.n);
  if (given.n > 0 && given.extents == nullptr) return null_argument(function, "extents");
  return given.placement == TW_AT_OFFSET ? check_offset(function, given.offset) : Status{};
}

// Negative numbers must not become large ones.
Status check_extents(const char* function, const tw_access& given) {
  const bool placed = given.placement == TW_AT_EXTENTS;
  std::int64_t any = 0;
  for (std::int64_t i = 0; i < given.n; ++i) any |= given.extents[i].length | (placed ? given.extents[i].offset : 0);
  if (any >= 0) return {};
  for (std::int64_t i = 0; i < given.n; ++i) {
    const tw_extent& extent = given.extents[i];
    if (extent.length < 0)
      return invalid_argument(function, "extent {} has length {}; lengths are 0 .. 2^63-1", i, extent.length);
    if (placed && extent.offset < 0)
      return invalid_argument(function, "extent {} has offset {}; offsets are 0 .. 2^63-1", i, extent.offset);
  }
  return {};
}

// A view of memory goes with one extent, of its bytes.
Status check_memory(const char* function, const tw_access& given) {
  if (given.memory == nullptr) return {};
  const std::int64_t size = tw_view_size(given.memory);
  if (given.n != 1 && (given.n != 0 || size != 0))
    return invalid_argument(function, "n is {}; an access with a view of memory has 1 extent", given.n);
  if (given.n == 0 || given.extents[0].length == size) return {};
  return invalid_argument(function, "extent 0 has length {}, but the view of memory has {} bytes",
                          given.extents[0].length, size);
}

bool is_whole(const tw_access* access) { return access != nullptr && access->struct_size >= sizeof(tw_access); }

ProgressMode to_mode(tw_progress asked) {
  if (asked == TW_PROGRESS_DEFAULT) return default_progress();
  return asked == TW_PROGRESS_POLL ? ProgressMode::poll : ProgressMode::thread;
}

ProgressMode to_mode(const tw_access* access) {
  return to_mode(is_whole(access) ? access->progress : TW_PROGRESS_DEFAULT);
}

// One extent is kept with the request: the short forms have it on their stack.
void keep_only(TaskAccess& access, tw_request& request) {
  if (access.extents.size() != 1) return;
  request.only = access.extents[0];
  access.extents = {&request.only, 1};
}

Status answer(const Outcome& outcome, size_t* moved) {
  if (moved != nullptr) *moved = static_cast<size_t>(outcome.moved);
  return outcome.status;
}

// The other tasks wait for this one even where it has no memory for the message.
Status check_access(const char* function, const tw_access* given) {
  return or_out_of_memory([&]() -> Status {
    if (given == nullptr) return null_argument(function, "access");
    if (!is_whole(given))
      return invalid_argument(function, "struct_size of the access is {}, needed is {}", given->struct_size,
                              sizeof(tw_access));
    TW_RETURN_IF_ERROR(check_numbers(function, *given));
    TW_RETURN_IF_ERROR(given_status(given->status, given->os_errno, given->message));
    TW_RETURN_IF_ERROR(check_extents(function, *given));
    return check_memory(function, *given);
  });
}

// Converts an access for the engine; a failure in it is in its status. `given` may be null. `only`: storage for the one
// extent that a view of memory has which is one run, as long as the access borrows the caller's.
TaskAccess to_access(const char* function, const tw_access* given, Extent& only) {
  TaskAccess access;
  access.status = check_access(function, given);
  if (!is_whole(given)) return access;
  access.direction = given->direction == TW_ACCESS_WRITE ? Direction::write : Direction::read;
  access.placement = static_cast<Placement>(
      given->placement >= TW_AT_EXTENTS && given->placement <= TW_IN_VIEW ? given->placement : TW_AT_EXTENTS);
  access.common = given->common != 0;
  if (!access.status.ok()) return access;
  access.extents = {reinterpret_cast<const Extent*>(given->extents), static_cast<std::size_t>(given->n)};
  access.offset = access.placement == Placement::in_order ? 0 : static_cast<std::uint64_t>(given->offset);
  if (given->memory == nullptr || tw_view_size(given->memory) == 0) return access;
  const View& memory = given->memory->impl;
  if (memory.runs(0, memory.size()) > 1) {
    access.memory = &memory;
  } else if (access.extents[0].memory != nullptr) {
    only = access.extents[0];
    only.memory += memory.locate(0);
    access.extents = {&only, 1};
  }
  return access;
}

PlacedAccess for_others(tw_file* file, TaskAccess access) {
  return file != nullptr ? file->impl->place_for_others(std::move(access)) : PlacedAccess(std::move(access));
}

}  // namespace

Status check_offset(const char* function, std::int64_t offset) {
  if (offset >= 0) return {};
  return invalid_argument(function, "offset is {}; offsets are 0 .. 2^63-1", offset);
}

tw_status access_by_all(Call call, tw_file* file, tw_group* group, const tw_access* access, size_t* moved) {
  return guarded([&]() -> Status {
    if (file == nullptr && group == nullptr) return null_argument("tw_file_access_all", "file and group");
    const InCall in_call(file);
    if (file != nullptr && !in_call.ok()) return in_call.refusal("tw_file_access_all", "file");
    Extent only;
    TaskAccess mine = to_access("tw_file_access_all", access, only);
    if (group == nullptr) {
      file->last = run(calling(*file, call).access(std::move(mine)));
      return answer(file->last, moved);
    }
    Group& tasks = calling(*group->impl, call);
    const std::shared_ptr<SharedFile> shared = file != nullptr ? file->impl->shared() : nullptr;
    const IoContext io = blocking_io();
    return answer(run(access_with(tasks, shared, for_others(file, std::move(mine)), io)), moved);
  });
}

Status start_placed(const char* function, tw_file* file, tw_group* group, PlacedAccess mine, ProgressMode mode,
                    tw_request** request) {
  // The other tasks get this failure from the operation, which goes on without a request.
  Status nowhere = or_out_of_memory([&] { return request != nullptr ? Status{} : null_argument(function, "request"); });
  std::unique_ptr<tw_request> made(new (std::nothrow) tw_request);
  if (made == nullptr) nowhere = out_of_memory();
  TaskAccess& access = mine.access;
  if (access.status.ok()) access.status = nowhere;
  if (!access.status.ok()) access.extents = {};
  if (made != nullptr) keep_only(access, *made);
  const std::shared_ptr<AccessRequest> operation =
      group == nullptr ? file->impl->request(std::move(mine))
                       : request_with(group->impl, file != nullptr ? file->impl->shared() : nullptr,
                                      for_others(file, std::move(access)));
  start(operation, mode);
  if (!nowhere.ok()) return nowhere;
  made->impl = operation;
  *request = made.release();
  return {};
}

tw_status start_by_all(Call call, tw_file* file, tw_group* group, const tw_access* access, tw_request** request) {
  return guarded([&]() -> Status {
    constexpr const char* kFunction = "tw_file_iaccess_all";
    if (file == nullptr && group == nullptr) return null_argument(kFunction, "file and group");
    const InCall in_call(file);
    if (file != nullptr && !in_call.ok()) return in_call.refusal(kFunction, "file");
    (void)(group != nullptr ? calling(*group->impl, call) : starting(file->impl->group(), call));
    Extent only;
    return start_placed(kFunction, file, group, to_access(kFunction, access, only), to_mode(access), request);
  });
}

}  // namespace thalweg

using namespace thalweg;

extern "C" {

tw_status tw_file_open(tw_group* group, const char* path, int32_t flags, const tw_options* options, tw_file** file) {
  PlainOpen how;
  const auto fill = [&] { return fill_open(path, flags, options, how); };
  const auto open = [&](Group& tasks, Status mine, tw_file* handle) -> Status {
    how.status = std::move(mine);
    TW_ASSIGN_OR_RETURN(handle->impl, run(PlainFile::open(tasks, posix_backend(), std::move(how))));
    handle->opened(false);
    return {};
  };
  return open_with(group, Call::tw_file_open, file, fill, open);
}

tw_status tw_file_close(tw_file** file) {
  return end_handle(file, Call::tw_file_close,
                    [](tw_file& gone) { return run(calling(gone, Call::tw_file_close).close()); });
}

tw_status tw_file_abandon(tw_file** file) {
  return end_handle(file, Call::tw_file_abandon, [](tw_file& gone) -> Status {
    gone.impl->abandon(Call::tw_file_abandon);
    return {};
  });
}

bool tw_file::needs_transport() const { return ends_with_mpi(impl->group()); }

Status tw_file::begin_to_leave() {
  impl->abandon(Call::MPI_Finalize);
  return {};
}

tw_status tw_file_size(tw_file* file, int64_t* nbytes) {
  return on_all(file, Call::tw_file_size, [&](PlainFile& impl) -> Status {
    Status mine;
    if (nbytes == nullptr) mine = or_out_of_memory([] { return null_argument("tw_file_size", "nbytes"); });
    return put(run(impl.size(std::move(mine))), nbytes);
  });
}

tw_status tw_file_end(const tw_file* file, int64_t* nbytes) {
  auto* const handle = const_cast<tw_file*>(file);  // counts its calls
  return on_handle(handle, "tw_file_end", [&](tw_file& open) -> Status {
    if (nbytes == nullptr) return null_argument("tw_file_end", "nbytes");
    return put(open.impl->shared()->stored->size(), nbytes);
  });
}

tw_status tw_file_goes_alone(const tw_file* file, int32_t* alone) {
  auto* const handle = const_cast<tw_file*>(file);  // counts its calls
  return on_handle(handle, "tw_file_goes_alone", [&](tw_file& open) -> Status {
    if (alone == nullptr) return null_argument("tw_file_goes_alone", "alone");
    *alone = open.impl->goes_alone() ? 1 : 0;
    return {};
  });
}

tw_status tw_file_truncate(tw_file* file, int64_t nbytes) {
  return on_all(file, Call::tw_file_truncate, [&](PlainFile& impl) {
    Status mine;
    if (nbytes < 0) mine = invalid_argument("tw_file_truncate", "nbytes is {}", nbytes);
    return run(impl.truncate(static_cast<std::uint64_t>(nbytes), std::move(mine)));
  });
}

tw_status tw_file_preallocate(tw_file* file, size_t nbytes, int64_t offset) {
  return on_all(file, Call::tw_file_preallocate, [&](PlainFile& impl) {
    return run(
        impl.preallocate(static_cast<std::uint64_t>(offset), nbytes, check_offset("tw_file_preallocate", offset)));
  });
}

tw_status tw_file_sync(tw_file* file) {
  return on_all(file, Call::tw_file_sync, [](PlainFile& impl) { return run(impl.sync()); });
}

tw_status tw_file_seek(tw_file* file, int64_t offset, int32_t whence, int64_t* position) {
  return on_all(file, Call::tw_file_seek,
                [&](PlainFile& impl) { return put(run(impl.seek(offset, whence, {})), position); });
}

tw_status tw_file_set_view(tw_file* file, int64_t displacement, const tw_view* view) {
  return on_all(file, Call::tw_file_set_view, [&](PlainFile& impl) {
    Status mine = or_out_of_memory([&] { return check_number("tw_file_set_view", "displacement", displacement); });
    const View* seen = view != nullptr ? &view->impl : nullptr;
    return run(impl.set_view(seen, static_cast<std::uint64_t>(displacement), std::move(mine)));
  });
}

tw_status tw_file_seek_view(tw_file* file, int64_t offset, int32_t whence, int64_t* position) {
  return on_handle(file, "tw_file_seek_view",
                   [&](tw_file& open) { return put(open.impl->seek_view(offset, whence), position); });
}

tw_status tw_file_view_offset(tw_file* file, int64_t position, int64_t* offset) {
  return on_handle(file, "tw_file_view_offset", [&](tw_file& open) -> Status {
    if (offset == nullptr) return null_argument("tw_file_view_offset", "offset");
    TW_RETURN_IF_ERROR(check_number("tw_file_view_offset", "position", position));
    return put(open.impl->offset_in_file(static_cast<std::uint64_t>(position)), offset);
  });
}

tw_status tw_file_access_all(tw_file* file, tw_group* group, const tw_access* access, size_t* moved) {
  return access_by_all(Call::tw_file_access_all, file, group, access, moved);
}

tw_status tw_file_iaccess_all(tw_file* file, tw_group* group, const tw_access* access, tw_request** request) {
  return start_by_all(Call::tw_file_iaccess_all, file, group, access, request);
}

tw_status tw_file_access(tw_file* file, const tw_access* access, size_t* moved) {
  return on_handle(file, "tw_file_access", [&](tw_file& open) {
    const IoContext io = blocking_io();
    Extent only;
    PlacedAccess mine = open.impl->place(to_access("tw_file_access", access, only));
    return answer(run(access_one(*open.impl->shared(), std::move(mine.access), io)), moved);
  });
}

tw_status tw_file_iaccess(tw_file* file, const tw_access* access, tw_request** request) {
  return on_handle(file, "tw_file_iaccess", [&](tw_file& open) -> Status {
    if (request == nullptr) return null_argument("tw_file_iaccess", "request");
    Extent only;
    TaskAccess mine = to_access("tw_file_iaccess", access, only);
    auto made = std::make_unique<tw_request>();
    keep_only(mine, *made);
    made->impl = request_one(open.impl->shared(), open.impl->place(std::move(mine)));
    start(made->impl, to_mode(access));
    *request = made.release();
    return {};
  });
}

tw_status tw_file_progress(const tw_file* file, tw_progress asked, tw_progress* effective) {
  return guarded([&]() -> Status {
    if (effective == nullptr) return null_argument("tw_file_progress", "effective");
    if (asked < TW_PROGRESS_DEFAULT || asked > TW_PROGRESS_POLL)
      return invalid_argument("tw_file_progress", "asked is {}; TW_PROGRESS_DEFAULT, _THREAD or _POLL", asked);
    const Advancers who = file != nullptr ? file->impl->group().advancers() : Advancers::any;
    const bool polled = effective_progress(who, to_mode(asked)) == ProgressMode::poll;
    *effective = polled ? TW_PROGRESS_POLL : TW_PROGRESS_THREAD;
    return {};
  });
}

const char* tw_file_last_plan(const tw_file* file) {
  if (file == nullptr || file->last.access.tasks == 0) return "";
  try {
    auto* handle = const_cast<tw_file*>(file);  // a cache of the text
    const SharedFile& shared = *file->impl->shared();
    handle->last_plan = describe(file->last.plan) + "; " + describe(file->last.access) +
                        describe_stripes(shared.storage.stripes, asked_stripes(shared.strategy), shared.storage.kind);
    return handle->last_plan.c_str();
  } catch (...) {
    return "";
  }
}

}  // extern "C"
