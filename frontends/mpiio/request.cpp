#include "mpiio/request.hpp"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpiio/mpi_library.hpp"
#include "mpiio/open_file.hpp"

namespace thalweg::mpiio {

namespace {

// A request that MPI has.
struct Published {
  std::unique_ptr<Request> request;  // null: freed by the program before it was complete
  MPI_Request handle = MPI_REQUEST_NULL;
  bool completed = false;  // MPI knows
};

struct Table {
  std::mutex mutex;
  std::unordered_map<MPI_Request, Published*> of_files;
  std::vector<std::unique_ptr<Published>> freed;  // by MPI; destroyed when it has returned
  std::atomic<std::size_t> n{0};
};

Table& table() {
  static auto* const kept = new Table;
  return *kept;
}

bool none_is_of_a_file() { return table().n.load(std::memory_order_acquire) == 0; }

Published* find(MPI_Request handle) {
  Table& all = table();
  const std::scoped_lock lock(all.mutex);
  const auto found = all.of_files.find(handle);
  return found != all.of_files.end() ? found->second : nullptr;
}

// --- what MPI calls ----------------------------------------------------------------------------------------------------

int query(void* state, MPI_Status* status) {
  const auto* const published = static_cast<const Published*>(state);
  set_status(status, published->request != nullptr ? published->request->moved : 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

// MPI frees the request, and then gives its handle to another one. It is within a call, so that it must not be called.
int free_state(void* state) {
  std::unique_ptr<Published> published(static_cast<Published*>(state));
  Table& all = table();
  const std::scoped_lock lock(all.mutex);
  all.of_files.erase(published->handle);
  all.n.store(all.of_files.size(), std::memory_order_release);
  all.freed.push_back(std::move(published));
  return MPI_SUCCESS;
}

void destroy_freed() {
  std::vector<std::unique_ptr<Published>> freed;  // destroyed behind the lock: a file may end with its last request
  Table& all = table();
  const std::scoped_lock lock(all.mutex);
  freed.swap(all.freed);
}

// An access that was started is carried out: a cancel may have no effect (MPI 4.1, 3.8.4).
int ignore_cancel(void*, int) { return MPI_SUCCESS; }

// --- the requests of files in a list that a program passes to a call of MPI -------------------------------------------

class OfFiles {
 public:
  explicit OfFiles(std::span<MPI_Request> requests) : requests_(requests) {
    if (none_is_of_a_file()) return;
    for (std::size_t i = 0; i < requests.size(); ++i)
      if (Published* const found = requests[i] != MPI_REQUEST_NULL ? find(requests[i]) : nullptr; found != nullptr)
        ours_.push_back({i, found});
  }
  ~OfFiles() {
    if (!ours_.empty()) destroy_freed();
  }
  OfFiles(const OfFiles&) = delete;
  OfFiles& operator=(const OfFiles&) = delete;

  bool empty() const { return ours_.empty(); }
  bool are_all() const { return ours_.size() == requests_.size(); }

  void wait() {
    for (const Entry& entry : ours_) {
      entry.published->request->wait();
      complete(entry);
    }
  }
  void advance() {
    for (const Entry& entry : ours_)
      if (!entry.published->completed && entry.published->request->test()) complete(entry);
    failed_.clear();
    for (const Entry& entry : ours_) note(entry);
  }

  // After the call, which has returned `error`: invokes the error handlers of the files whose requests it freed.
  int conclude_one(int error) const {
    for (const Failed& failed : failed_)
      if (is_freed(failed)) error = conclude(failed.file.get(), failed.failure);
    return error;
  }
  // statuses[k] is that of requests[place(k)], for k < n.
  template <class Place>
  int conclude_all(int error, MPI_Status* statuses, int n, Place&& place) const {
    bool any = false;
    for (const Failed& failed : failed_) any = any || is_freed(failed);
    if (!any) return error;
    if (statuses != MPI_STATUSES_IGNORE && error == MPI_SUCCESS)
      for (int k = 0; k < n; ++k) statuses[k].MPI_ERROR = MPI_SUCCESS;
    for (const Failed& failed : failed_) {
      if (!is_freed(failed)) continue;
      conclude(failed.file.get(), failed.failure);
      for (int k = 0; k < n && statuses != MPI_STATUSES_IGNORE; ++k)
        if (static_cast<std::size_t>(place(k)) == failed.index) statuses[k].MPI_ERROR = failed.failure.error_class;
    }
    return MPI_ERR_IN_STATUS;
  }

 private:
  struct Entry {
    std::size_t index;
    Published* published;  // until the call frees the request
  };
  struct Failed {
    std::size_t index;
    std::shared_ptr<OpenFile> file;
    Failure failure;
  };

  bool is_freed(const Failed& failed) const { return requests_[failed.index] == MPI_REQUEST_NULL; }
  void complete(const Entry& entry) {
    if (!std::exchange(entry.published->completed, true)) MPI_Grequest_complete(entry.published->handle);
    note(entry);
  }
  void note(const Entry& entry) {
    const Request& request = *entry.published->request;
    if (entry.published->completed && !request.failure.none())
      failed_.push_back({entry.index, request.file, request.failure});
  }

  std::span<MPI_Request> requests_;
  std::vector<Entry> ours_;
  std::vector<Failed> failed_;
};

// The function behind this library, looked up once for each layer.
#define NEXT(call)                                                                                   \
  [](Layer of) {                                                                                     \
    static decltype(call)* const layers[] = {next_mpi<decltype(call)>("P" #call, Layer::tool),       \
                                             next_mpi<decltype(call)>("P" #call, Layer::profiling)}; \
    return layers[static_cast<std::size_t>(of)];                                                     \
  }(layer)

std::span<MPI_Request> list(int n, MPI_Request* requests) {
  return {requests, n > 0 && requests != nullptr ? static_cast<std::size_t>(n) : 0};
}

// Requests of files beside others: tests them in turn until `test` says that it is done.
template <class Test>
int poll(OfFiles& ours, Test&& test) {
  for (int round = 0;; ++round) {
    ours.advance();
    bool done = false;
    const int error = test(&done);
    if (done || error != MPI_SUCCESS) return error;
    // The progress thread has the core meanwhile.
    if (round < 100)
      ::sched_yield();
    else
      ::usleep(20);
  }
}

int same_place(int k) { return k; }

}  // namespace

void Request::wait() {
  if (operation == nullptr) return;
  const Stopwatch time(file->activity);
  std::size_t bytes = 0;
  const tw_status status = tw_request_wait(&operation, &bytes);
  finish(status, bytes);
}

bool Request::test() {
  if (operation == nullptr) return true;
  std::size_t bytes = 0;
  int done = 0;
  const tw_status status = tw_request_test(&operation, &done, &bytes);
  if (done != 0 || status != TW_OK) finish(status, bytes);
  return operation == nullptr;
}

void Request::finish(tw_status status, std::size_t bytes) {
  moved = static_cast<std::int64_t>(bytes);
  const bool is_known = !failure.none();
  if (!is_known) failure = failure_of(status);
  if (failure.none() && conversion != nullptr) failure = conversion->end(&moved);
  conversion.reset();
  file->activity.add(direction, moved);
  if (failure.none() || is_known) return;
  failure.message = std::string(call) + ": " + failure.message;
}

MPI_Request publish(std::unique_ptr<Request> request) {
  auto published = std::make_unique<Published>();
  published->request = std::move(request);
  MPI_Grequest_start(query, free_state, ignore_cancel, published.get(), &published->handle);
  Table& all = table();
  const std::scoped_lock lock(all.mutex);
  all.of_files[published->handle] = published.get();
  all.n.store(all.of_files.size(), std::memory_order_release);
  return published.release()->handle;
}

void set_status(MPI_Status* status, std::int64_t moved) {
  if (status == MPI_STATUS_IGNORE) return;
  MPI_Status_set_elements_x(status, MPI_BYTE, moved);
  MPI_Status_set_cancelled(status, 0);
}

int wait(Layer layer, MPI_Request* request, MPI_Status* status) {
  const auto next = NEXT(MPI_Wait);
  if (none_is_of_a_file()) return next(request, status);
  OfFiles ours(list(1, request));
  ours.wait();
  return ours.conclude_one(next(request, status));
}

int test(Layer layer, MPI_Request* request, int* flag, MPI_Status* status) {
  const auto next = NEXT(MPI_Test);
  if (none_is_of_a_file()) return next(request, flag, status);
  OfFiles ours(list(1, request));
  ours.advance();
  return ours.conclude_one(next(request, flag, status));
}

int wait_all(Layer layer, int n, MPI_Request* requests, MPI_Status* statuses) {
  const auto next = NEXT(MPI_Waitall);
  if (none_is_of_a_file()) return next(n, requests, statuses);
  OfFiles ours(list(n, requests));
  ours.wait();
  return ours.conclude_all(next(n, requests, statuses), statuses, n, same_place);
}

int test_all(Layer layer, int n, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  const auto next = NEXT(MPI_Testall);
  if (none_is_of_a_file()) return next(n, requests, flag, statuses);
  OfFiles ours(list(n, requests));
  ours.advance();
  return ours.conclude_all(next(n, requests, flag, statuses), statuses, n, same_place);
}

int wait_any(Layer layer, int n, MPI_Request* requests, int* index, MPI_Status* status) {
  const auto next = NEXT(MPI_Waitany);
  OfFiles ours(list(n, requests));
  if (ours.empty()) return next(n, requests, index, status);
  const auto test = NEXT(MPI_Testany);
  const int error = poll(ours, [&](bool* done) {
    int flag = 0;
    const int tested = test(n, requests, index, &flag, status);
    *done = flag != 0;
    return tested;
  });
  return ours.conclude_one(error);
}

int test_any(Layer layer, int n, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  const auto next = NEXT(MPI_Testany);
  OfFiles ours(list(n, requests));
  ours.advance();
  return ours.conclude_one(next(n, requests, index, flag, status));
}

int wait_some(Layer layer, int n, MPI_Request* requests, int* n_done, int* indices, MPI_Status* statuses) {
  const auto next = NEXT(MPI_Waitsome);
  OfFiles ours(list(n, requests));
  if (ours.empty()) return next(n, requests, n_done, indices, statuses);
  const auto test = NEXT(MPI_Testsome);
  const int error = poll(ours, [&](bool* done) {
    const int tested = test(n, requests, n_done, indices, statuses);
    *done = *n_done != 0;
    return tested;
  });
  return ours.conclude_all(error, statuses, *n_done, [&](int k) { return indices[k]; });
}

int test_some(Layer layer, int n, MPI_Request* requests, int* n_done, int* indices, MPI_Status* statuses) {
  const auto next = NEXT(MPI_Testsome);
  OfFiles ours(list(n, requests));
  ours.advance();
  const int error = next(n, requests, n_done, indices, statuses);
  return ours.conclude_all(error, statuses, *n_done, [&](int k) { return indices[k]; });
}

int request_get_status(Layer layer, MPI_Request request, int* flag, MPI_Status* status) {
  const auto next = NEXT(MPI_Request_get_status);
  OfFiles ours(list(1, &request));
  ours.advance();
  return next(request, flag, status);
}

void advance(int n, const MPI_Request* requests) {
  OfFiles ours(list(n, const_cast<MPI_Request*>(requests)));
  ours.advance();
}

int request_free(Layer layer, MPI_Request* request) {
  const auto next = NEXT(MPI_Request_free);
  Published* const published =
      request != nullptr && *request != MPI_REQUEST_NULL && !none_is_of_a_file() ? find(*request) : nullptr;
  if (published != nullptr && !std::exchange(published->completed, true)) {
    // The access goes on: the close of its file completes it.
    const std::shared_ptr<OpenFile> file = published->request->file;
    {
      const std::scoped_lock lock(file->mutex);
      std::erase_if(file->freed, [](const auto& earlier) { return earlier->test(); });
      file->freed.push_back(std::move(published->request));
    }
    MPI_Grequest_complete(*request);
  }
  const int error = next(request);
  if (published != nullptr) destroy_freed();
  return error;
}

}  // namespace thalweg::mpiio
