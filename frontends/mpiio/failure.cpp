#include "mpiio/failure.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "mpiio/mpi_library.hpp"
#include "mpiio/open_file.hpp"

namespace thalweg::mpiio {

namespace {

thread_local Failure last;

struct Handler {
  MPI_File_errhandler_function* function = nullptr;
  FortranHandler* in_fortran = nullptr;  // instead
  int users = 0;
};

struct Handlers {
  std::mutex mutex;
  std::map<MPI_Errhandler, Handler> made;
  std::optional<MPI_Errhandler> of_no_file;  // set for MPI_FILE_NULL; MPI_ERRORS_RETURN otherwise
};

Handlers& handlers() {
  static auto* const kept = new Handlers;  // a program may fail while its static objects go
  return *kept;
}

int class_of_invalid(int os_errno) { return os_errno != 0 ? class_of_errno(os_errno) : MPI_ERR_ARG; }

MPI_Errhandler handler_of(const OpenFile* file) {
  if (file != nullptr) return file->handler;
  Handlers& all = handlers();
  const std::scoped_lock lock(all.mutex);
  return all.of_no_file.value_or(MPI_ERRORS_RETURN);
}

// MPI 4 adds one, which ends the same ranks here: those of the file are not known to MPI.
bool is_fatal(MPI_Errhandler handler) {
#ifdef MPI_ERRORS_ABORT
  if (handler == MPI_ERRORS_ABORT) return true;
#endif
  return handler == MPI_ERRORS_ARE_FATAL;
}

[[noreturn]] void abort_for(const Failure& failure) {
  std::fprintf(stderr, "thalweg: %s (the error handler of the file ends the program)\n", failure.message.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, failure.error_class);
  std::abort();
}

// Returns the error code as the handler leaves it (MPI 4.1, 9.3).
int invoke(OpenFile* file, const Failure& failure) {
  const MPI_Errhandler handler = handler_of(file);
  if (handler == MPI_ERRORS_RETURN) return failure.error_class;
  if (is_fatal(handler)) abort_for(failure);
  Handler known;
  {
    Handlers& all = handlers();
    const std::scoped_lock lock(all.mutex);
    if (const auto found = all.made.find(handler); found != all.made.end()) known = found->second;
  }
  int code = failure.error_class;
  MPI_File handle = handle_of(file);
  MPI_Fint number = number_of(handle);
  if (known.in_fortran != nullptr)
    known.in_fortran(&number, &code);
  else if (known.function != nullptr)
    known.function(&handle, &code);
  return code;
}

// Both with the mutex held.
void add_user(Handlers& all, MPI_Errhandler handler) {
  const auto found = all.made.find(handler);
  if (found != all.made.end()) ++found->second.users;
}

int drop_user(Handlers& all, MPI_Errhandler handler) {
  const auto found = all.made.find(handler);
  if (found == all.made.end() || --found->second.users > 0) return MPI_SUCCESS;
  all.made.erase(found);
  return next_mpi<int(MPI_Errhandler*)>("PMPI_Errhandler_free")(&handler);
}

}  // namespace

int class_of_errno(int os_errno) {
  switch (os_errno) {
    case ENOENT:
    case ENOTDIR:
      return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case ENOSPC:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return MPI_ERR_BAD_FILE;
    case EBUSY:
    case ETXTBSY:
      return MPI_ERR_FILE_IN_USE;
    case ENOMEM:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_IO;
  }
}

Failure failure_of(tw_status status) {
  if (status == TW_OK) return {};
  Failure made{MPI_ERR_IO, tw_last_error()};
  const int os_errno = tw_last_errno();
  switch (status) {
    case TW_ERR_INVALID:
      made.error_class = class_of_invalid(os_errno);
      break;
    case TW_ERR_NOT_FOUND:
      made.error_class = MPI_ERR_NO_SUCH_FILE;
      break;
    case TW_ERR_EXISTS:
      made.error_class = MPI_ERR_FILE_EXISTS;
      break;
    case TW_ERR_PERMISSION:
      made.error_class = os_errno == EROFS ? MPI_ERR_READ_ONLY : MPI_ERR_ACCESS;
      break;
    case TW_ERR_MODE:
      made.error_class = MPI_ERR_ACCESS;
      break;
    case TW_ERR_NO_SPACE:
      made.error_class = os_errno == EDQUOT ? MPI_ERR_QUOTA : MPI_ERR_NO_SPACE;
      break;
    case TW_ERR_NO_MEMORY:
      made.error_class = MPI_ERR_NO_MEM;
      break;
    case TW_ERR_RANGE:
      made.error_class = MPI_ERR_ARG;
      break;
    default:
      if (os_errno != 0) made.error_class = class_of_errno(os_errno);
      break;
  }
  return made;
}

int conclude(OpenFile* file, const Failure& failure) {
  if (failure.none()) return MPI_SUCCESS;
  last = failure;
  return invoke(file, failure);
}

bool last_message(int error_class, char* text, int* length) {
  if (last.none() || last.error_class != error_class) return false;
  const std::size_t n = std::min(last.message.size(), std::size_t{MPI_MAX_ERROR_STRING - 1});
  std::memcpy(text, last.message.data(), n);
  text[n] = '\0';
  *length = static_cast<int>(n);
  return true;
}

MPI_Errhandler take_default_handler() {
  Handlers& all = handlers();
  const std::scoped_lock lock(all.mutex);
  const MPI_Errhandler handler = all.of_no_file.value_or(MPI_ERRORS_RETURN);
  add_user(all, handler);
  return handler;
}

void drop_handler(MPI_Errhandler handler) {
  Handlers& all = handlers();
  const std::scoped_lock lock(all.mutex);
  drop_user(all, handler);
}

int create_handler(MPI_File_errhandler_function* function, MPI_Errhandler* handler) {
  const int error =
      next_mpi<int(MPI_File_errhandler_function*, MPI_Errhandler*)>("PMPI_File_create_errhandler")(function, handler);
  if (error != MPI_SUCCESS) return error;
  Handlers& all = handlers();
  const std::scoped_lock lock(all.mutex);
  all.made[*handler] = {function, nullptr, 1};
  return MPI_SUCCESS;
}

void keep_handler(FortranHandler* function, MPI_Errhandler handler) {
  Handlers& all = handlers();
  const std::scoped_lock lock(all.mutex);
  all.made[handler] = {nullptr, function, 1};
}

namespace {

// The file of a handle, or null for MPI_FILE_NULL, which has an error handler too; false for a handle that is not open.
bool find_file(MPI_File handle, std::shared_ptr<OpenFile>& file) {
  file = file_of(handle);
  return file != nullptr || handle == MPI_FILE_NULL;
}

}  // namespace

int set_handler(MPI_File handle, MPI_Errhandler handler) {
  std::shared_ptr<OpenFile> file;
  if (!find_file(handle, file)) return conclude(nullptr, not_open("MPI_File_set_errhandler"));
  if (handler == MPI_ERRHANDLER_NULL)
    return conclude(file.get(), {MPI_ERR_ARG, "MPI_File_set_errhandler: the handler is MPI_ERRHANDLER_NULL"});
  Handlers& all = handlers();
  const std::scoped_lock lock(all.mutex);
  add_user(all, handler);
  MPI_Errhandler& place =
      file != nullptr ? file->handler : all.of_no_file.emplace(all.of_no_file.value_or(MPI_ERRORS_RETURN));
  return drop_user(all, std::exchange(place, handler));
}

int get_handler(MPI_File handle, MPI_Errhandler* handler) {
  std::shared_ptr<OpenFile> file;
  if (!find_file(handle, file)) return conclude(nullptr, not_open("MPI_File_get_errhandler"));
  *handler = handler_of(file.get());
  Handlers& all = handlers();
  const std::scoped_lock lock(all.mutex);
  add_user(all, *handler);
  return MPI_SUCCESS;
}

int call_handler(MPI_File handle, int error_code) {
  std::shared_ptr<OpenFile> file;
  if (!find_file(handle, file)) return conclude(nullptr, not_open("MPI_File_call_errhandler"));
  int error_class = error_code;
  MPI_Error_class(error_code, &error_class);
  invoke(file.get(), {error_code, "MPI_File_call_errhandler: error class " + std::to_string(error_class)});
  return MPI_SUCCESS;
}

bool release_handler(MPI_Errhandler* handler, int* error) {
  // MPI_File_get_errhandler() gave it without a reference, and Open MPI would drop one of its own.
  if (handler != nullptr && (*handler == MPI_ERRORS_RETURN || is_fatal(*handler))) {
    *handler = MPI_ERRHANDLER_NULL;
    *error = MPI_SUCCESS;
    return true;
  }
  Handlers& all = handlers();
  const std::scoped_lock lock(all.mutex);
  if (handler == nullptr || all.made.find(*handler) == all.made.end()) return false;
  *error = drop_user(all, *handler);
  *handler = MPI_ERRHANDLER_NULL;
  return true;
}

}  // namespace thalweg::mpiio
