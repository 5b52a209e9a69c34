// A shared file and its requests as C++ types. Methods have the words of the C calls, whose contracts are in file.h and
// request.h. Include thalweg.hpp.
#ifndef THALWEG_FILE_HPP
#define THALWEG_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base.hpp"
#include "file.h"
#include "open.hpp"
#include "request.h"
#include "view.hpp"

namespace thalweg {
inline namespace v1 {

// A request of a list that was found complete.
struct Completed {
  std::size_t index = 0;     // in the list
  std::size_t moved = 0;     // bytes moved for this task
  tw_status status = TW_OK;  // why the operation failed
};

// An operation that was started: owns a tw_request. The destructor waits, since the operation still uses its memory.
class Request {
 public:
  explicit Request(tw_request* request = nullptr) noexcept : request_(request) {}
  Request(Request&& other) noexcept : request_(std::exchange(other.request_, nullptr)) {}
  Request& operator=(Request&& other) noexcept {
    std::swap(request_, other.request_);
    return *this;
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request() { (void)tw_request_wait(&request_, nullptr); }

  // Waits, and returns the bytes moved for this task. Throws the failure of the operation.
  std::size_t wait() {
    std::size_t moved = 0;
    check(tw_request_wait(&request_, &moved));
    return moved;
  }
  // Returns what wait() would when the operation is complete, else nothing.
  std::optional<std::size_t> test() {
    int done = 0;
    std::size_t moved = 0;
    check(tw_request_test(&request_, &done, &moved));
    return done != 0 ? std::optional<std::size_t>(moved) : std::nullopt;
  }
  // Whether the operation has not been found complete yet.
  bool is_pending() const noexcept { return request_ != nullptr; }

  // Waits for all, and returns the bytes moved by each. Throws the first failure, after all are complete.
  static std::vector<std::size_t> waitall(std::span<Request> requests) {
    List list(requests);
    std::vector<std::size_t> moved(requests.size());
    const tw_status status = tw_request_waitall(list.n(), list.data(), nullptr, moved.data());
    list.give_back();
    check(status);
    return moved;
  }
  // Returns what waitall() would when all are complete, else nothing.
  static std::optional<std::vector<std::size_t>> testall(std::span<Request> requests) {
    List list(requests);
    std::vector<std::size_t> moved(requests.size());
    int done = 0;
    const tw_status status = tw_request_testall(list.n(), list.data(), &done, nullptr, moved.data());
    list.give_back();
    check(status);
    return done != 0 ? std::optional(std::move(moved)) : std::nullopt;
  }
  // Waits for one, and returns the first that is complete; nothing when none is pending. Its status reports a failure.
  static std::optional<Completed> waitany(std::span<Request> requests) {
    return any(requests, [](auto... arguments) { return tw_request_waitany(arguments...); });
  }
  // Returns the first that is complete, if any is.
  static std::optional<Completed> testany(std::span<Request> requests) {
    int done = 0;
    return any(requests, [&done](std::int64_t n, tw_request** all, std::int64_t* index, std::size_t* moved) {
      return tw_request_testany(n, all, &done, index, moved);
    });
  }
  // Waits for one, and returns all that are complete; none when none is pending. Their statuses report failures.
  static std::vector<Completed> waitsome(std::span<Request> requests) { return some(requests, tw_request_waitsome); }
  // Returns all that are complete.
  static std::vector<Completed> testsome(std::span<Request> requests) { return some(requests, tw_request_testsome); }

 private:
  // The C handles of a list of requests, for one call.
  class List {
   public:
    explicit List(std::span<Request> requests) : requests_(requests) {
      for (const Request& request : requests) handles_.push_back(request.request_);
    }
    void give_back() noexcept {
      for (std::size_t i = 0; i < handles_.size(); ++i) requests_[i].request_ = handles_[i];
    }
    std::int64_t n() const { return static_cast<std::int64_t>(handles_.size()); }
    tw_request** data() { return handles_.data(); }

   private:
    std::span<Request> requests_;
    std::vector<tw_request*> handles_;
  };

  static std::optional<Completed> any(std::span<Request> requests, auto&& call) {
    List list(requests);
    std::int64_t index = TW_UNDEFINED;
    std::size_t moved = 0;
    const tw_status status = call(list.n(), list.data(), &index, &moved);
    list.give_back();
    if (index != TW_UNDEFINED) return Completed{static_cast<std::size_t>(index), moved, status};
    check(status);
    return std::nullopt;
  }
  static std::vector<Completed> some(std::span<Request> requests, auto&& call) {
    List list(requests);
    std::vector<std::int64_t> indices(requests.size());
    std::vector<tw_status> statuses(requests.size());
    std::vector<std::size_t> moved(requests.size());
    std::vector<Completed> done;
    done.reserve(requests.size());
    std::int64_t n = TW_UNDEFINED;
    const tw_status status = call(list.n(), list.data(), &n, indices.data(), statuses.data(), moved.data());
    list.give_back();
    if (n == TW_UNDEFINED) check(status);
    for (std::size_t i = 0; static_cast<std::int64_t>(i) < n; ++i)
      done.push_back({static_cast<std::size_t>(indices[i]), moved[i], statuses[i]});
    return done;
  }

  tw_request* request_;
};

// One shared file: owns a tw_file. Moved, not copied. Without close() its end closes it too, but cannot report
// failures. Both are collective. While an exception unwinds its end abandons it;
// a Request that is declared after it ends before, and waits.
class File {
 public:
  // flags: TW_READ, ... or letters of stdio. Collective over `group`. The handle keeps what it needs of the group,
  // which may be freed as soon as the open has returned.
  File(const Group& group, const std::string& path, Flags flags, const Options& options = {}) {
    open(required(group), path, flags, options);
  }
  // By this task alone.
  File(const std::string& path, Flags flags, const Options& options = {}) { open(nullptr, path, flags, options); }
  void close() {
    tw_file* handle = file_.release();
    check(tw_file_close(&handle));
  }
  // Independent. Instead of close(), by a task that cannot go on: the collective calls of the others fail on all of
  // them.
  void abandon() {
    tw_file* handle = file_.release();
    check(tw_file_abandon(&handle));
  }

  // Collective: from the shared position, in rank order. Reads return the bytes read for this task.
  void write_all(const PlainRange auto& data) { check(tw_file_write_all(get(), bytes_of(data), size_of(data))); }
  void write_all(const CharacterArray auto& text) = delete;  // pass std::string_view("text"), or std::span(array)
  std::size_t read_all(PlainTarget auto&& data) {
    std::size_t nread = 0;
    check(tw_file_read_all(get(), std::ranges::data(data), size_of(data), &nread));
    return nread;
  }
  // Collective: each task at its own offset, in bytes.
  void write_at_all(const PlainRange auto& data, std::int64_t offset) {
    check(tw_file_write_at_all(get(), bytes_of(data), size_of(data), offset));
  }
  void write_at_all(const CharacterArray auto& text, std::int64_t offset) = delete;  // as write_all()
  std::size_t read_at_all(PlainTarget auto&& data, std::int64_t offset) {
    std::size_t nread = 0;
    check(tw_file_read_at_all(get(), std::ranges::data(data), size_of(data), offset, &nread));
    return nread;
  }
  // Collective: from now on this task sees `view`, repeated from `displacement` on; or the file as it is.
  void set_view(std::int64_t displacement, const View& view) {
    check(tw_file_set_view(get(), displacement, view.get()));
  }
  void reset_view() { check(tw_file_set_view(get(), 0, nullptr)); }
  // Collective: each task from its own position in its view.
  void write_view_all(const PlainRange auto& data) {
    check(tw_file_write_view_all(get(), bytes_of(data), size_of(data)));
  }
  void write_view_all(const CharacterArray auto& text) = delete;  // as write_all()
  std::size_t read_view_all(PlainTarget auto&& data) {
    std::size_t nread = 0;
    check(tw_file_read_view_all(get(), std::ranges::data(data), size_of(data), &nread));
    return nread;
  }
  // Independent: moves the position in the view; whence: SEEK_SET, SEEK_CUR, SEEK_END.
  std::int64_t seek_view(std::int64_t offset, int whence) {
    std::int64_t position = 0;
    check(tw_file_seek_view(get(), offset, whence, &position));
    return position;
  }
  // Independent: where in the file a byte of the view lies.
  std::int64_t view_offset(std::int64_t position) const {
    std::int64_t offset = 0;
    check(tw_file_view_offset(get(), position, &offset));
    return offset;
  }
  // Collective and nonblocking: the data stays where it is until the request is complete.
  [[nodiscard]] Request iwrite_all(const PlainRange auto& data) {
    return started(
        [&](tw_request** request) { return tw_file_iwrite_all(get(), bytes_of(data), size_of(data), request); });
  }
  Request iwrite_all(const CharacterArray auto& text) = delete;  // as write_all()
  [[nodiscard]] Request iread_all(PlainTarget auto&& data) {
    return started([&](tw_request** request) {
      return tw_file_iread_all(get(), std::ranges::data(data), size_of(data), request);
    });
  }
  [[nodiscard]] Request iwrite_at_all(const PlainRange auto& data, std::int64_t offset) {
    return started([&](tw_request** request) {
      return tw_file_iwrite_at_all(get(), bytes_of(data), size_of(data), offset, request);
    });
  }
  Request iwrite_at_all(const CharacterArray auto& text, std::int64_t offset) = delete;  // as write_all()
  [[nodiscard]] Request iread_at_all(PlainTarget auto&& data, std::int64_t offset) {
    return started([&](tw_request** request) {
      return tw_file_iread_at_all(get(), std::ranges::data(data), size_of(data), offset, request);
    });
  }
  [[nodiscard]] Request iwrite_view_all(const PlainRange auto& data) {
    return started(
        [&](tw_request** request) { return tw_file_iwrite_view_all(get(), bytes_of(data), size_of(data), request); });
  }
  Request iwrite_view_all(const CharacterArray auto& text) = delete;  // as write_all()
  [[nodiscard]] Request iread_view_all(PlainTarget auto&& data) {
    return started([&](tw_request** request) {
      return tw_file_iread_view_all(get(), std::ranges::data(data), size_of(data), request);
    });
  }
  // Collective: this task's part of an array of items that the file has from `offset` on (tw_dim in file.h). `memory`
  // has an item for each index of the part and its halo; where it has fewer, the call fails on all tasks.
  void write_array(const PlainRange auto& memory, std::span<const tw_dim> dims, tw_array_order order = TW_ROW_MAJOR,
                   std::int64_t offset = 0) {
    check_length(memory, dims);
    check(tw_file_write_array(get(), bytes_of(memory), item_bytes(memory), n_of(dims), dims.data(), order, offset));
  }
  std::size_t read_array(PlainTarget auto&& memory, std::span<const tw_dim> dims, tw_array_order order = TW_ROW_MAJOR,
                         std::int64_t offset = 0) {
    check_length(memory, dims);
    std::size_t nread = 0;
    check(tw_file_read_array(get(), std::ranges::data(memory), item_bytes(memory), n_of(dims), dims.data(), order,
                             offset, &nread));
    return nread;
  }
  [[nodiscard]] Request iwrite_array(const PlainRange auto& memory, std::span<const tw_dim> dims,
                                     tw_array_order order = TW_ROW_MAJOR, std::int64_t offset = 0) {
    if (is_short(std::ranges::size(memory), dims)) return istop(std::ranges::size(memory));
    return started([&](tw_request** request) {
      return tw_file_iwrite_array(get(), bytes_of(memory), item_bytes(memory), n_of(dims), dims.data(), order, offset,
                                  request);
    });
  }
  [[nodiscard]] Request iread_array(PlainTarget auto&& memory, std::span<const tw_dim> dims,
                                    tw_array_order order = TW_ROW_MAJOR, std::int64_t offset = 0) {
    if (is_short(std::ranges::size(memory), dims)) return istop(std::ranges::size(memory));
    return started([&](tw_request** request) {
      return tw_file_iread_array(get(), std::ranges::data(memory), item_bytes(memory), n_of(dims), dims.data(), order,
                                 offset, request);
    });
  }
  // Any access: lists of extents, and common arguments of tasks that share memory (tw_access in file.h). The forms
  // with _all are collective. Extents and memory stay where they are until the request is complete.
  std::size_t access_all(const tw_access& access) {
    std::size_t moved = 0;
    check(tw_file_access_all(get(), nullptr, &access, &moved));
    return moved;
  }
  [[nodiscard]] Request iaccess_all(const tw_access& access) {
    return started([&](tw_request** request) { return tw_file_iaccess_all(get(), nullptr, &access, request); });
  }
  std::size_t access(const tw_access& access) {
    std::size_t moved = 0;
    check(tw_file_access(get(), &access, &moved));
    return moved;
  }
  [[nodiscard]] Request iaccess(const tw_access& access) {
    return started([&](tw_request** request) { return tw_file_iaccess(get(), &access, request); });
  }
  // Independent.
  void write_at(const PlainRange auto& data, std::int64_t offset) {
    check(tw_file_write_at(get(), bytes_of(data), size_of(data), offset));
  }
  void write_at(const CharacterArray auto& text, std::int64_t offset) = delete;  // as write_all()
  std::size_t read_at(PlainTarget auto&& data, std::int64_t offset) {
    std::size_t nread = 0;
    check(tw_file_read_at(get(), std::ranges::data(data), size_of(data), offset, &nread));
    return nread;
  }
  void write_view(const PlainRange auto& data) { check(tw_file_write_view(get(), bytes_of(data), size_of(data))); }
  void write_view(const CharacterArray auto& text) = delete;  // as write_all()
  std::size_t read_view(PlainTarget auto&& data) {
    std::size_t nread = 0;
    check(tw_file_read_view(get(), std::ranges::data(data), size_of(data), &nread));
    return nread;
  }
  [[nodiscard]] Request iwrite_at(const PlainRange auto& data, std::int64_t offset) {
    return started(
        [&](tw_request** request) { return tw_file_iwrite_at(get(), bytes_of(data), size_of(data), offset, request); });
  }
  Request iwrite_at(const CharacterArray auto& text, std::int64_t offset) = delete;  // as write_all()
  [[nodiscard]] Request iread_at(PlainTarget auto&& data, std::int64_t offset) {
    return started([&](tw_request** request) {
      return tw_file_iread_at(get(), std::ranges::data(data), size_of(data), offset, request);
    });
  }
  [[nodiscard]] Request iwrite_view(const PlainRange auto& data) {
    return started(
        [&](tw_request** request) { return tw_file_iwrite_view(get(), bytes_of(data), size_of(data), request); });
  }
  Request iwrite_view(const CharacterArray auto& text) = delete;  // as write_all()
  [[nodiscard]] Request iread_view(PlainTarget auto&& data) {
    return started([&](tw_request** request) {
      return tw_file_iread_view(get(), std::ranges::data(data), size_of(data), request);
    });
  }

  // Collective: bytes of the file.
  std::int64_t size() const {
    std::int64_t nbytes = 0;
    check(tw_file_size(get(), &nbytes));
    return nbytes;
  }
  // Collective, with the same arguments on all tasks: cuts or extends the file; reserves storage.
  void truncate(std::int64_t nbytes) { check(tw_file_truncate(get(), nbytes)); }
  void preallocate(std::size_t nbytes, std::int64_t offset) { check(tw_file_preallocate(get(), nbytes, offset)); }
  // Collective, with the same arguments on all tasks: moves the shared position, and returns it.
  std::int64_t seek(std::int64_t offset, int whence) {
    std::int64_t position = 0;
    check(tw_file_seek(get(), offset, whence, &position));
    return position;
  }
  // Collective: what was written by complete calls and requests reaches the storage.
  void sync() { check(tw_file_sync(get())); }
  // Independent: what advances requests that are started with `asked`, TW_PROGRESS_...
  tw_progress progress(tw_progress asked = TW_PROGRESS_DEFAULT) const {
    tw_progress effective = TW_PROGRESS_DEFAULT;
    check(tw_file_progress(get(), asked, &effective));
    return effective;
  }
  std::string last_plan() const { return tw_file_last_plan(get()); }
  tw_file* get() const noexcept { return file_.get(); }  // borrowed; for the calls that have no member here

 private:
  void open(tw_group* group, const std::string& path, Flags flags, const Options& options) {
    tw_file* file = nullptr;
    check(tw_file_open(group, path.c_str(), flags.get(), options.get(), &file));
    file_.reset(file);
  }
  static const void* bytes_of(const PlainRange auto& data) { return std::ranges::data(data); }
  static std::size_t size_of(const PlainRange auto& data) {
    return std::ranges::size(data) * sizeof(*std::ranges::data(data));
  }
  static std::size_t item_bytes(const PlainRange auto& memory) { return sizeof(*std::ranges::data(memory)); }
  static std::int32_t n_of(std::span<const tw_dim> dims) { return static_cast<std::int32_t>(dims.size()); }
  // Whether `items` are fewer than a part has with its halo. A part that is wrong is left to the C call.
  static bool is_short(std::size_t items, std::span<const tw_dim> dims) {
    for (const tw_dim& dim : dims)
      if (dim.count <= 0 || dim.halo_before < 0 || dim.halo_after < 0) return false;
    for (const tw_dim& dim : dims) {
      std::size_t left = items;
      for (const std::int64_t indices : {dim.count, dim.halo_before, dim.halo_after}) {
        if (static_cast<std::uint64_t>(indices) > left) return true;
        left -= static_cast<std::size_t>(indices);
      }
      items /= items - left;
    }
    return false;
  }
  // Memory that is too short: all tasks return an error, so that none waits for this one.
  static std::string short_memory(std::size_t items) {
    return "thalweg::File: the memory of an array has " + std::to_string(items) +
           " items, fewer than the part and its halo";
  }
  static tw_access stop(const std::string& message) {
    tw_access access{};
    access.struct_size = sizeof access;
    access.status = TW_ERR_INVALID;
    access.message = message.c_str();
    return access;
  }
  void check_length(const PlainRange auto& memory, std::span<const tw_dim> dims) {
    if (is_short(std::ranges::size(memory), dims)) access_all(stop(short_memory(std::ranges::size(memory))));
  }
  Request istop(std::size_t items) { return iaccess_all(stop(short_memory(items))); }
  static Request started(auto&& start) {
    tw_request* request = nullptr;
    check(start(&request));
    return Request(request);
  }
  std::unique_ptr<tw_file, End<tw_file, tw_file_close, tw_file_abandon>> file_;
};

}  // namespace v1
}  // namespace thalweg

#endif
