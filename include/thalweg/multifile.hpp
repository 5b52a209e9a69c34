// A multifile as a C++ type; what its calls mean stands in multifile.h. Include thalweg.hpp.
#ifndef THALWEG_MULTIFILE_HPP
#define THALWEG_MULTIFILE_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base.hpp"
#include "multifile.h"
#include "open.hpp"
#include "request.hpp"

namespace thalweg {
inline namespace v1 {

struct StreamClose {
  void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
};
// A FILE* that is closed with its owner. get() it for fprintf, fread and so on. close() of the multifile flushes it;
// from then on its calls fail with EBADF.
using Stream = std::unique_ptr<std::FILE, StreamClose>;

// An open multifile: owns a tw_multifile. Moved, not copied.
class Multifile {
 public:
  // Collective over `group`. The handle keeps what it needs of the group, which may be freed as soon as the open has
  // returned. flags: TW_READ, TW_CREATE or TW_APPEND, with others; or letters of stdio.
  Multifile(const Group& group, const std::string& path, Flags flags, const Options& options = {}) {
    open(required(group), path, flags, options);
  }
  // For one task alone: no group, no communication. The task serves all logical files of an existing multifile.
  Multifile(const std::string& path, Flags flags, const Options& options = {}) { open(nullptr, path, flags, options); }

  // Collective too, when the multifile is still open: it is then closed, and a failure to do so is lost. So call
  // close() where the bytes matter. While an exception unwinds it is abandoned instead, which waits for nobody.
  ~Multifile() = default;
  Multifile(Multifile&&) noexcept = default;
  Multifile& operator=(Multifile&&) noexcept = default;

  // Collective. Afterwards only is_open() and the destructor may be called, also when it throws: then the
  // multifile stays marked as not closed, and what was flushed can be repaired.
  void close() {
    tw_multifile* handle = handle_.release();
    check(tw_multifile_close(&handle));
  }
  // Independent. Instead of close(), by a task that cannot go on: what it wrote is flushed, the multifile stays marked
  // as not closed, and the close of the others fails on all of them.
  void abandon() {
    tw_multifile* handle = handle_.release();
    check(tw_multifile_abandon(&handle));
  }
  bool is_open() const noexcept { return handle_ != nullptr; }

  // ---- Write: independent. `data` may be changed when the call returns.

  template <class Range, IfPlainRange<Range> = 0>
  void write(const Range& data) {
    write(std::data(data), bytes_of(data));
  }
  template <class Text, IfText<Text> = 0>
  void write(const Text& text) = delete;  // pass std::string_view("text"), or std::span(array)
  void write(const void* data, std::size_t bytes) { check(tw_multifile_write(get(), data, bytes)); }

  // At `offset` bytes of the current logical file; the position stays.
  template <class Range, IfPlainRange<Range> = 0>
  void write_at(const Range& data, std::int64_t offset) {
    check(tw_multifile_write_at(get(), std::data(data), bytes_of(data), offset));
  }
  template <class Text, IfText<Text> = 0>
  void write_at(const Text& text, std::int64_t offset) = delete;  // as write()

  // One object, as its bytes in memory.
  template <class T, IfPlainValue<T> = 0>
  void write_value(const T& value) {
    write(&value, sizeof value);
  }

  void flush() { check(tw_multifile_flush(get())); }  // what was written survives the death of the process
  void sync() { check(tw_multifile_sync(get())); }    // ... of the machine
  // A sync in the background. The request is complete when what was written before the call survives the death of the
  // machine; wait() returns 0.
  [[nodiscard]] Request isync() {
    tw_request* request = nullptr;
    check(tw_multifile_isync(get(), &request));
    return Request(request);
  }

  // A flush in the same way: what was written survives the death of the process.
  [[nodiscard]] Request iflush() {
    tw_request* request = nullptr;
    check(tw_multifile_iflush(get(), &request));
    return Request(request);
  }

  // ---- Read: independent. All return the number of whole elements that were read, fewer than asked only where the
  // logical file ends.

  template <class Range, IfPlainTarget<Range> = 0>
  std::size_t read(Range&& data) {
    return read(std::data(data), bytes_of(data)) / element_bytes<Range>;
  }
  // In bytes.
  std::size_t read(void* data, std::size_t bytes) {
    std::size_t got = 0;
    check(tw_multifile_read(get(), data, bytes, &got));
    return got;
  }

  // At `offset` bytes of the current logical file; the position stays.
  template <class Range, IfPlainTarget<Range> = 0>
  std::size_t read_at(Range&& data, std::int64_t offset) {
    std::size_t got = 0;
    check(tw_multifile_read_at(get(), std::data(data), bytes_of(data), offset, &got));
    return got / element_bytes<Range>;
  }

  // One object; nothing when fewer bytes than it has are left, and the position is then the end.
  template <class T, IfPlainValue<T> = 0, std::enable_if_t<std::is_default_constructible_v<T>, int> = 0>
  std::optional<T> read_value() {
    T value;
    return read(&value, sizeof value) == sizeof value ? std::optional<T>(value) : std::nullopt;
  }

  // ---- Position in the current logical file, in bytes. Independent.

  void seek(std::int64_t offset, int whence = SEEK_SET) { check(tw_multifile_seek(get(), offset, whence)); }
  // Makes logical file `rank` current; without a position that file goes on where it was.
  void seek_to(std::int64_t rank, std::int64_t position = -1) { check(tw_multifile_seek_to(get(), rank, position)); }
  std::int64_t tell() const {
    std::int64_t position = 0;
    check(tw_multifile_tell(get(), &position, nullptr));
    return position;
  }
  // The rank of the current logical file, -1 when the task serves none.
  std::int64_t current() const {
    std::int64_t rank = -1;
    check(tw_multifile_tell(get(), nullptr, &rank));
    return rank;
  }
  // Looks ahead: true before a read comes short.
  bool eof() const {
    std::int64_t left = 0;
    check(tw_multifile_available(get(), nullptr, &left));
    return left == 0;
  }

  // ---- stdio. mode: "r" when reading, "w" or "a" when writing.
  Stream fopen(std::int64_t rank, const char* mode) {
    std::FILE* stream = nullptr;
    check(tw_multifile_fopen(get(), rank, mode, &stream));
    return Stream(stream);
  }
  Stream fopen(const char* mode) { return fopen(current(), mode); }

  // ---- Names and attributes. Independent.

  // Names the current logical file. posix_mode: as st_mode, 0 when there is none.
  void set_name(const std::string& name, std::uint32_t posix_mode = 0) {
    check(tw_multifile_set_name(get(), name.c_str(), posix_mode));
  }
  // Makes a new logical file of this name, which becomes the current one.
  void add(const std::string& name, std::uint32_t posix_mode = 0) {
    check(tw_multifile_add(get(), name.c_str(), posix_mode));
  }
  // As add(), for one of several logical files that share a name, such as the blocks of an array.
  void add_part(const std::string& name, std::int64_t part, std::uint32_t posix_mode = 0) {
    check(tw_multifile_add_part(get(), name.c_str(), part, posix_mode));
  }
  // Empty when logical file `rank` has no name.
  std::string name(std::int64_t rank) const {
    std::size_t length = 0;
    check(tw_multifile_name(get(), rank, nullptr, 0, &length, nullptr));
    std::string text(length + 1, '\0');
    check(tw_multifile_name(get(), rank, text.data(), text.size(), nullptr, nullptr));
    text.resize(length);
    return text;
  }
  // The highest rank of a logical file of that name, if there is one.
  std::optional<std::int64_t> find(const std::string& name) const {
    std::int64_t rank = 0;
    return found(tw_multifile_find(get(), name.c_str(), &rank), rank);
  }
  std::optional<std::int64_t> find_part(const std::string& name, std::int64_t part) const {
    std::int64_t rank = 0;
    return found(tw_multifile_find_part(get(), name.c_str(), part, &rank), rank);
  }
  // The part of logical file `rank`, if it has one.
  std::optional<std::int64_t> part(std::int64_t rank) const {
    std::int64_t number = -1;
    check(tw_multifile_part(get(), rank, &number));
    return number < 0 ? std::nullopt : std::optional(number);
  }
  void set_attribute(const std::string& key, std::string_view value) {
    check(tw_multifile_set_attribute(get(), key.c_str(), value.data(), value.size()));
  }
  // A copy of the value, if there is one.
  std::optional<std::string> attribute(const std::string& key) const {
    const void* value = nullptr;
    std::size_t bytes = 0;
    const tw_status status = tw_multifile_attribute(get(), key.c_str(), &value, &bytes);
    if (status == TW_ERR_NOT_FOUND) return std::nullopt;
    check(status);
    return std::string(static_cast<const char*>(value), bytes);
  }

  // ---- What is it? Independent.

  tw_multifile_summary summarize() const {
    tw_multifile_summary summary{};
    summary.struct_size = sizeof summary;
    check(tw_multifile_summarize(get(), &summary));
    return summary;
  }
  // Bytes of logical file `rank`.
  std::int64_t size(std::int64_t rank) const {
    std::int64_t bytes = 0;
    check(tw_multifile_size(get(), rank, &bytes));
    return bytes;
  }
  // What the library chose and why, one line.
  std::string strategy() const { return summarize().strategy; }

  tw_multifile* get() const noexcept { return handle_.get(); }  // borrowed; null when closed

 private:
  static std::optional<std::int64_t> found(tw_status status, const std::int64_t& rank) {
    if (status == TW_ERR_NOT_FOUND) return std::nullopt;
    check(status);
    return rank;
  }
  template <class Range>
  static constexpr std::size_t element_bytes = sizeof(traits::element<Range>);
  // Cannot overflow: the range lies in memory.
  template <class Range>
  static std::size_t bytes_of(const Range& data) {
    return static_cast<std::size_t>(std::size(data)) * element_bytes<const Range&>;
  }

  void open(tw_group* group, const std::string& path, Flags flags, const Options& options) {
    tw_multifile* handle = nullptr;
    check(tw_multifile_open(group, path.c_str(), flags.get(), options.get(), &handle));
    handle_.reset(handle);
  }

  std::unique_ptr<tw_multifile, End<tw_multifile, tw_multifile_close, tw_multifile_abandon>> handle_;
};

}  // namespace v1
}  // namespace thalweg

#endif
