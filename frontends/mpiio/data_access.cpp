#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "mpiio/calls.hpp"
#include "mpiio/open_file.hpp"
#include "mpiio/shared_pointer.hpp"

namespace thalweg::mpiio {

namespace {

// An access as the library takes it.
struct Prepared {
  tw_access access{};
  tw_extent extent{};
  Layout memory;
  std::unique_ptr<Conversion> conversion;  // null: the bytes of memory are those of the file
  std::int64_t bytes = 0;                  // of the file
  std::int64_t etypes = 0;
  std::int64_t position = 0;  // where it begins, in etypes
  bool collective = false;    // the library's access, too
  Failure failure;
};

Failure wrong(int error_class, const DataAccess& asked, const std::string& what) {
  return {error_class, std::string(asked.call) + ": " + what};
}

// Whether the file permits such an access.
Failure check_mode(const OpenFile& file, const DataAccess& asked) {
  const bool writes = asked.direction == TW_ACCESS_WRITE;
  if (writes && (file.amode & MPI_MODE_RDONLY) != 0)
    return wrong(MPI_ERR_READ_ONLY, asked, "'" + file.path + "' was opened with MPI_MODE_RDONLY");
  if (!writes && (file.amode & MPI_MODE_WRONLY) != 0)
    return wrong(MPI_ERR_ACCESS, asked, "'" + file.path + "' was opened with MPI_MODE_WRONLY");
  if ((file.amode & MPI_MODE_SEQUENTIAL) != 0 && asked.pointer != Pointer::shared && asked.pointer != Pointer::ordered)
    return wrong(MPI_ERR_UNSUPPORTED_OPERATION, asked,
                 "'" + file.path + "' was opened with MPI_MODE_SEQUENTIAL, which permits shared pointers only");
  return {};
}

Failure check_numbers(const OpenFile& file, const DataAccess& asked, std::int64_t bytes) {
  if (asked.pointer == Pointer::given && asked.offset < 0)
    return wrong(MPI_ERR_ARG, asked, "offset is " + std::to_string(asked.offset) + "; offsets are 0 or more");
  if (bytes % file.view.etype_bytes == 0) return {};
  return wrong(MPI_ERR_ARG, asked,
               std::to_string(bytes) + " bytes are no multiple of the etype, which has " +
                   std::to_string(file.view.etype_bytes));
}

// The access moves the bytes of a conversion.
Failure convert(const OpenFile& file, const DataAccess& asked, Prepared& made) try {
  made.conversion = std::make_unique<Conversion>(*file.view.representation, asked.direction,
                                                 const_cast<void*>(asked.data), asked.count, asked.type);
  made.memory = {};
  made.bytes = made.memory.size = made.conversion->file_bytes();
  const Failure failure = asked.direction == TW_ACCESS_WRITE ? made.conversion->begin() : Failure{};
  return failure.none() ? failure : wrong(failure.error_class, asked, failure.message);
} catch (const std::exception&) {  // no memory, or a vector of more bytes than there can be
  made.conversion.reset();
  return wrong(MPI_ERR_NO_MEM, asked, "out of memory for converting " + std::to_string(asked.count) + " items");
}

Failure lay_memory(const OpenFile& file, const DataAccess& asked, Prepared& made) {
  if (Failure failure = check_mode(file, asked); !failure.none()) return failure;
  if (asked.count < 0)
    return wrong(MPI_ERR_COUNT, asked, "count is " + std::to_string(asked.count) + "; counts are 0 or more");
  Failure failure;
  const Layout* const one = layout_of(asked.type, failure);
  if (one != nullptr) made.memory = repeat(*one, asked.count, failure);
  if (!failure.none()) return wrong(failure.error_class, asked, failure.message);
  made.bytes = made.memory.size;
  if (file.view.representation != nullptr) failure = convert(file, asked, made);
  return failure.none() ? check_numbers(file, asked, made.bytes) : failure;
}

void fill(const DataAccess& asked, Prepared& made) {
  made.access.struct_size = sizeof made.access;
  made.access.direction = asked.direction;
  made.access.placement = TW_AT_OFFSET;
  if (!made.failure.none()) {
    made.access.status = TW_ERR_INVALID;
    made.access.message = made.failure.message.c_str();
    return;
  }
  const void* const data = made.conversion != nullptr ? made.conversion->in_file() : asked.data;
  const auto begin = reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(made.memory.base);
  made.extent = {reinterpret_cast<void*>(begin), made.bytes, 0};
  made.access.extents = &made.extent;
  made.access.n = made.bytes > 0 ? 1 : 0;
  made.access.memory = made.bytes > 0 ? made.memory.view.get() : nullptr;
}

// Where the access begins, in etypes; moves the pointer by what is asked for. Ordered: collective.
std::int64_t take_position(OpenFile& file, const DataAccess& asked, std::int64_t etypes) {
  switch (asked.pointer) {
    case Pointer::given:
      return asked.offset;
    case Pointer::individual:
      return std::exchange(file.position, file.position + etypes);
    case Pointer::shared:
      return advance_shared(file, etypes);
    default:
      return advance_ordered(file, etypes);
  }
}

// The members of `made` point to one another: it stays where it is. Locks the file, but for an ordered access while it
// waits for other ranks: another thread of this one may have to do something before they come.
std::unique_lock<std::mutex> prepare(OpenFile& file, const DataAccess& asked, Prepared& made) {
  std::unique_lock lock(file.mutex, std::defer_lock);
  if (asked.pointer != Pointer::ordered) lock.lock();
  // Ordered accesses lie one behind the other, and their ranks meet for the pointer: each rank moves its own bytes.
  made.collective = asked.collective && asked.pointer != Pointer::ordered && !file.goes_alone;
  made.failure = lay_memory(file, asked, made);
  made.etypes = made.failure.none() ? made.bytes / file.view.etype_bytes : 0;
  fill(asked, made);
  if (!made.failure.none() && asked.pointer != Pointer::ordered) return lock;
  made.position = take_position(file, asked, made.etypes);
  std::int64_t offset = 0;
  if (made.failure.none() && __builtin_mul_overflow(made.position, file.view.etype_bytes, &offset)) {
    made.failure = wrong(MPI_ERR_ARG, asked, "offset " + std::to_string(made.position) + " is beyond 2^63-1 bytes");
    fill(asked, made);
  }
  made.access.offset = offset;
  if (!lock) lock.lock();
  file.had_collective = file.had_collective || asked.collective;
  return lock;
}

Failure named(const DataAccess& asked, Failure failure) {
  if (!failure.none()) failure.message = std::string(asked.call) + ": " + failure.message;
  return failure;
}

bool reads_at_pointer(const DataAccess& asked) {
  return asked.pointer == Pointer::individual && asked.direction == TW_ACCESS_READ;
}

// The whole etypes of `made` that lie before the end of the file; all, where bytes of the view are not in file order.
std::int64_t etypes_before_end(const OpenFile& file, const Prepared& made) {
  std::int64_t end = 0;
  if (tw_file_seek_view(file.file, 0, SEEK_END, &end) != TW_OK) return made.etypes;
  return std::clamp<std::int64_t>(end / file.view.etype_bytes - made.position, 0, made.etypes);
}

// File pointers move by the amount accessed (MPI 4.1, 14.6.10): takes the individual one back to the end of the file where
// it is still behind this read, which accesses so many whole etypes. `file.mutex` is held.
void move_back(OpenFile& file, const Prepared& made, std::int64_t etypes) {
  if (file.position == made.position + made.etypes) file.position = made.position + etypes;
}

// Carries out an access of atomic mode: each rank its own, while it has the lock. `file.mutex` is held: the locks of one
// handle do not exclude its own threads.
Failure carry_out_locked(OpenFile& file, const DataAccess& asked, Prepared& made, std::int64_t& moved) {
  if (!made.failure.none() || made.bytes == 0) return made.failure;
  std::int64_t first = 0, last = 0;
  Failure failure = failure_of(tw_file_view_offset(file.file, made.access.offset, &first));
  if (failure.none()) failure = failure_of(tw_file_view_offset(file.file, made.access.offset + made.bytes - 1, &last));
  if (failure.none()) failure = file.locks.lock(asked.direction, first, last - first + 1);
  if (!failure.none()) return named(asked, failure);
  std::size_t bytes = 0;
  failure = failure_of(tw_file_access(file.file, &made.access, &bytes));
  file.locks.unlock();
  moved = static_cast<std::int64_t>(bytes);
  if (failure.none() && reads_at_pointer(asked)) move_back(file, made, moved / file.view.etype_bytes);
  if (failure.none() && made.conversion != nullptr) failure = made.conversion->end(&moved);
  return named(asked, failure);
}

// The failure of one rank becomes that of all. Collective.
Failure agree(const OpenFile& file, const DataAccess& asked, const Failure& mine) {
  const tw_status status =
      tw_group_agree(file.group, mine.none() ? TW_OK : TW_ERR_IO, 0, mine.none() ? nullptr : mine.message.c_str());
  return mine.none() ? named(asked, failure_of(status)) : mine;
}

// Starts the access. Where this rank alone is wrong, the others of a collective access learn of it.
Failure start_prepared(OpenFile& file, const DataAccess& asked, Prepared& made, Request& request) {
  request.call = asked.call;
  request.direction = asked.direction;
  if (file.atomic) {  // complete when it is started
    request.failure = carry_out_locked(file, asked, made, request.moved);
    file.activity.add(asked.direction, request.moved);
    return {};
  }
  if (!made.failure.none() && !made.collective) return made.failure;
  request.conversion = std::move(made.conversion);
  request.failure = made.failure;  // with its own error class, which the status of the library does not have
  const tw_status status = made.collective ? tw_file_iaccess_all(file.file, nullptr, &made.access, &request.operation)
                                           : tw_file_iaccess(file.file, &made.access, &request.operation);
  if (status != TW_OK && !made.failure.none()) return made.failure;
  // Its pointer is final from now on.
  if (status == TW_OK && reads_at_pointer(asked)) move_back(file, made, etypes_before_end(file, made));
  return named(asked, failure_of(status));
}

Failure carry_out(OpenFile& file, const DataAccess& asked, Prepared& made, std::int64_t& moved) {
  if (!made.failure.none() && !made.collective) return made.failure;
  std::size_t bytes = 0;
  const tw_status status = made.collective ? tw_file_access_all(file.file, nullptr, &made.access, &bytes)
                                           : tw_file_access(file.file, &made.access, &bytes);
  moved = static_cast<std::int64_t>(bytes);
  if (!made.failure.none()) return made.failure;
  Failure failure = failure_of(status);
  if (failure.none() && moved < made.bytes && reads_at_pointer(asked)) {
    const std::scoped_lock lock(file.mutex);
    move_back(file, made, moved / file.view.etype_bytes);
  }
  if (failure.none() && made.conversion != nullptr) failure = made.conversion->end(&moved);
  return named(asked, std::move(failure));
}

}  // namespace

int access(MPI_File handle, const DataAccess& asked, MPI_Status* status) {
  const auto file = file_of(handle);
  if (file == nullptr) return conclude(nullptr, not_open(asked.call));
  Prepared made;
  Failure failure;
  std::int64_t moved = 0;
  bool is_done = false;
  const Stopwatch time(file->activity);
  {
    const auto lock = prepare(*file, asked, made);
    is_done = file->atomic;
    if (is_done) failure = carry_out_locked(*file, asked, made, moved);
  }
  if (!is_done) failure = carry_out(*file, asked, made, moved);
  if (is_done && asked.collective) failure = agree(*file, asked, failure);
  file->activity.add(asked.direction, moved);
  set_status(status, moved);
  return conclude(file.get(), failure);
}

int start(MPI_File handle, const DataAccess& asked, MPI_Request* request) {
  const auto file = file_of(handle);
  if (file == nullptr) return conclude(nullptr, not_open(asked.call));
  auto started = std::make_unique<Request>();
  started->file = file;
  Prepared made;
  Failure failure;
  const Stopwatch time(file->activity);
  {
    const auto lock = prepare(*file, asked, made);
    failure = start_prepared(*file, asked, made, *started);
  }
  *request = failure.none() ? publish(std::move(started)) : MPI_REQUEST_NULL;
  return conclude(file.get(), failure);
}

namespace {

Failure begin(const std::shared_ptr<OpenFile>& file, const DataAccess& asked) {
  auto started = std::make_unique<Request>();
  started->file = file;
  Prepared made;
  const auto lock = prepare(*file, asked, made);
  if (file->split != nullptr)
    return wrong(MPI_ERR_OTHER, asked,
                 std::string(file->split_call) + " has begun on '" + file->path +
                     "' and has not ended; a file has one split collective call at a time");
  Failure failure = start_prepared(*file, asked, made, *started);
  if (!failure.none()) return failure;
  file->split = std::move(started);
  file->split_call = asked.call;
  return {};
}

}  // namespace

int begin_split(MPI_File handle, const DataAccess& asked) {
  const auto file = file_of(handle);
  if (file == nullptr) return conclude(nullptr, not_open(asked.call));
  return conclude(file.get(), begin(file, asked));
}

int end_split(MPI_File handle, const char* call, const char* begun_by, MPI_Status* status) {
  const auto file = file_of(handle);
  if (file == nullptr) return conclude(nullptr, not_open(call));
  std::unique_ptr<Request> request;
  {
    const std::scoped_lock lock(file->mutex);
    // The call for large counts has one letter more.
    if (file->split != nullptr && std::string_view(file->split_call).starts_with(begun_by))
      request = std::move(file->split);
  }
  if (request == nullptr)
    return conclude(file.get(), {MPI_ERR_OTHER, std::string(call) + ": " + begun_by + " has not been called on '" +
                                                    file->path + "' before"});
  request->wait();
  set_status(status, request->moved);
  return conclude(file.get(), request->failure);
}

}  // namespace thalweg::mpiio
