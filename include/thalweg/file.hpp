// A shared file as a C++ type. Methods have the words of the C calls, whose contracts are in file.h. Include
// thalweg.hpp.
#ifndef THALWEG_FILE_HPP
#define THALWEG_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base.hpp"
#include "file.h"
#include "open.hpp"
#include "request.hpp"
#include "view.hpp"

namespace thalweg {
inline namespace v1 {

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
  template <class Range, IfPlainRange<Range> = 0>
  void write_all(const Range& data) {
    check(tw_file_write_all(get(), bytes_of(data), size_of(data)));
  }
  template <class Text, IfText<Text> = 0>
  void write_all(const Text& text) = delete;  // pass std::string_view("text"), or std::span(array)
  template <class Range, IfPlainTarget<Range> = 0>
  std::size_t read_all(Range&& data) {
    std::size_t nread = 0;
    check(tw_file_read_all(get(), std::data(data), size_of(data), &nread));
    return nread;
  }
  // Collective: each task at its own offset, in bytes.
  template <class Range, IfPlainRange<Range> = 0>
  void write_at_all(const Range& data, std::int64_t offset) {
    check(tw_file_write_at_all(get(), bytes_of(data), size_of(data), offset));
  }
  template <class Text, IfText<Text> = 0>
  void write_at_all(const Text& text, std::int64_t offset) = delete;  // as write_all()
  template <class Range, IfPlainTarget<Range> = 0>
  std::size_t read_at_all(Range&& data, std::int64_t offset) {
    std::size_t nread = 0;
    check(tw_file_read_at_all(get(), std::data(data), size_of(data), offset, &nread));
    return nread;
  }
  // Collective: from now on this task sees `view`, repeated from `displacement` on; or the file as it is.
  void set_view(std::int64_t displacement, const View& view) {
    check(tw_file_set_view(get(), displacement, view.get()));
  }
  void reset_view() { check(tw_file_set_view(get(), 0, nullptr)); }
  // Collective: each task from its own position in its view.
  template <class Range, IfPlainRange<Range> = 0>
  void write_view_all(const Range& data) {
    check(tw_file_write_view_all(get(), bytes_of(data), size_of(data)));
  }
  template <class Text, IfText<Text> = 0>
  void write_view_all(const Text& text) = delete;  // as write_all()
  template <class Range, IfPlainTarget<Range> = 0>
  std::size_t read_view_all(Range&& data) {
    std::size_t nread = 0;
    check(tw_file_read_view_all(get(), std::data(data), size_of(data), &nread));
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
  template <class Range, IfPlainRange<Range> = 0>
  [[nodiscard]] Request iwrite_all(const Range& data) {
    return started(
        [&](tw_request** request) { return tw_file_iwrite_all(get(), bytes_of(data), size_of(data), request); });
  }
  template <class Text, IfText<Text> = 0>
  Request iwrite_all(const Text& text) = delete;  // as write_all()
  template <class Range, IfPlainTarget<Range> = 0>
  [[nodiscard]] Request iread_all(Range&& data) {
    return started(
        [&](tw_request** request) { return tw_file_iread_all(get(), std::data(data), size_of(data), request); });
  }
  template <class Range, IfPlainRange<Range> = 0>
  [[nodiscard]] Request iwrite_at_all(const Range& data, std::int64_t offset) {
    return started([&](tw_request** request) {
      return tw_file_iwrite_at_all(get(), bytes_of(data), size_of(data), offset, request);
    });
  }
  template <class Text, IfText<Text> = 0>
  Request iwrite_at_all(const Text& text, std::int64_t offset) = delete;  // as write_all()
  template <class Range, IfPlainTarget<Range> = 0>
  [[nodiscard]] Request iread_at_all(Range&& data, std::int64_t offset) {
    return started([&](tw_request** request) {
      return tw_file_iread_at_all(get(), std::data(data), size_of(data), offset, request);
    });
  }
  template <class Range, IfPlainRange<Range> = 0>
  [[nodiscard]] Request iwrite_view_all(const Range& data) {
    return started(
        [&](tw_request** request) { return tw_file_iwrite_view_all(get(), bytes_of(data), size_of(data), request); });
  }
  template <class Text, IfText<Text> = 0>
  Request iwrite_view_all(const Text& text) = delete;  // as write_all()
  template <class Range, IfPlainTarget<Range> = 0>
  [[nodiscard]] Request iread_view_all(Range&& data) {
    return started(
        [&](tw_request** request) { return tw_file_iread_view_all(get(), std::data(data), size_of(data), request); });
  }
  // Collective: this task's part of an array of items that the file has from `offset` on (tw_dim in file.h). `memory`
  // has an item for each index of the part and its halo; where it has fewer, the call fails on all tasks.
  template <class Range, IfPlainRange<Range> = 0>
  void write_array(const Range& memory, Span<const tw_dim> dims, tw_array_order order = TW_ROW_MAJOR,
                   std::int64_t offset = 0) {
    check_length(memory, dims);
    check(tw_file_write_array(get(), bytes_of(memory), item_bytes(memory), n_of(dims), dims.data(), order, offset));
  }
  template <class Range, IfPlainTarget<Range> = 0>
  std::size_t read_array(Range&& memory, Span<const tw_dim> dims, tw_array_order order = TW_ROW_MAJOR,
                         std::int64_t offset = 0) {
    check_length(memory, dims);
    std::size_t nread = 0;
    check(tw_file_read_array(get(), std::data(memory), item_bytes(memory), n_of(dims), dims.data(), order, offset,
                             &nread));
    return nread;
  }
  template <class Range, IfPlainRange<Range> = 0>
  [[nodiscard]] Request iwrite_array(const Range& memory, Span<const tw_dim> dims, tw_array_order order = TW_ROW_MAJOR,
                                     std::int64_t offset = 0) {
    if (is_short(std::size(memory), dims)) return istop(std::size(memory));
    return started([&](tw_request** request) {
      return tw_file_iwrite_array(get(), bytes_of(memory), item_bytes(memory), n_of(dims), dims.data(), order, offset,
                                  request);
    });
  }
  template <class Range, IfPlainTarget<Range> = 0>
  [[nodiscard]] Request iread_array(Range&& memory, Span<const tw_dim> dims, tw_array_order order = TW_ROW_MAJOR,
                                    std::int64_t offset = 0) {
    if (is_short(std::size(memory), dims)) return istop(std::size(memory));
    return started([&](tw_request** request) {
      return tw_file_iread_array(get(), std::data(memory), item_bytes(memory), n_of(dims), dims.data(), order, offset,
                                 request);
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
  template <class Range, IfPlainRange<Range> = 0>
  void write_at(const Range& data, std::int64_t offset) {
    check(tw_file_write_at(get(), bytes_of(data), size_of(data), offset));
  }
  template <class Text, IfText<Text> = 0>
  void write_at(const Text& text, std::int64_t offset) = delete;  // as write_all()
  template <class Range, IfPlainTarget<Range> = 0>
  std::size_t read_at(Range&& data, std::int64_t offset) {
    std::size_t nread = 0;
    check(tw_file_read_at(get(), std::data(data), size_of(data), offset, &nread));
    return nread;
  }
  template <class Range, IfPlainRange<Range> = 0>
  void write_view(const Range& data) {
    check(tw_file_write_view(get(), bytes_of(data), size_of(data)));
  }
  template <class Text, IfText<Text> = 0>
  void write_view(const Text& text) = delete;  // as write_all()
  template <class Range, IfPlainTarget<Range> = 0>
  std::size_t read_view(Range&& data) {
    std::size_t nread = 0;
    check(tw_file_read_view(get(), std::data(data), size_of(data), &nread));
    return nread;
  }
  template <class Range, IfPlainRange<Range> = 0>
  [[nodiscard]] Request iwrite_at(const Range& data, std::int64_t offset) {
    return started(
        [&](tw_request** request) { return tw_file_iwrite_at(get(), bytes_of(data), size_of(data), offset, request); });
  }
  template <class Text, IfText<Text> = 0>
  Request iwrite_at(const Text& text, std::int64_t offset) = delete;  // as write_all()
  template <class Range, IfPlainTarget<Range> = 0>
  [[nodiscard]] Request iread_at(Range&& data, std::int64_t offset) {
    return started(
        [&](tw_request** request) { return tw_file_iread_at(get(), std::data(data), size_of(data), offset, request); });
  }
  template <class Range, IfPlainRange<Range> = 0>
  [[nodiscard]] Request iwrite_view(const Range& data) {
    return started(
        [&](tw_request** request) { return tw_file_iwrite_view(get(), bytes_of(data), size_of(data), request); });
  }
  template <class Text, IfText<Text> = 0>
  Request iwrite_view(const Text& text) = delete;  // as write_all()
  template <class Range, IfPlainTarget<Range> = 0>
  [[nodiscard]] Request iread_view(Range&& data) {
    return started(
        [&](tw_request** request) { return tw_file_iread_view(get(), std::data(data), size_of(data), request); });
  }

  // Collective: bytes of the file.
  std::int64_t size() const {
    std::int64_t nbytes = 0;
    check(tw_file_size(get(), &nbytes));
    return nbytes;
  }
  // Independent: bytes of the file as it is now.
  std::int64_t end() const {
    std::int64_t nbytes = 0;
    check(tw_file_end(get(), &nbytes));
    return nbytes;
  }
  // Independent: whether accesses without messages are as fast as collective ones (tw_file_goes_alone).
  bool goes_alone() const {
    std::int32_t alone = 0;
    check(tw_file_goes_alone(get(), &alone));
    return alone != 0;
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
  template <class Range>
  static const void* bytes_of(const Range& data) {
    return std::data(data);
  }
  template <class Range>
  static std::size_t size_of(const Range& data) {
    return std::size(data) * sizeof(*std::data(data));
  }
  template <class Range>
  static std::size_t item_bytes(const Range& memory) {
    return sizeof(*std::data(memory));
  }
  static std::int32_t n_of(Span<const tw_dim> dims) { return static_cast<std::int32_t>(dims.size()); }
  // Whether `items` are fewer than a part has with its halo. A part that is wrong is left to the C call.
  static bool is_short(std::size_t items, Span<const tw_dim> dims) {
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
  template <class Range, IfPlainRange<Range> = 0>
  void check_length(const Range& memory, Span<const tw_dim> dims) {
    if (is_short(std::size(memory), dims)) access_all(stop(short_memory(std::size(memory))));
  }
  Request istop(std::size_t items) { return iaccess_all(stop(short_memory(items))); }
  template <class Start>
  static Request started(Start&& start) {
    tw_request* request = nullptr;
    check(start(&request));
    return Request(request);
  }
  std::unique_ptr<tw_file, End<tw_file, tw_file_close, tw_file_abandon>> file_;
};

}  // namespace v1
}  // namespace thalweg

#endif
