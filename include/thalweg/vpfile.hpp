// A vpfile as a C++ type: a stream for each virtual processor (VP) of a shape; what its calls mean stands in vpfile.h.
// Include thalweg.hpp.
//
//     thalweg::vp::File file(group, "particles.vp", "w", {256, 128});       // collective
//     file.write_all(energies, 3);                                          // collective: 3 values of each VP
//     file.write_all(particles, counts);                                    // counts[i] of local VP i
//     file.write_all(fluxes, 1, [&](std::int64_t local) { return is_wall[local]; });       // of some VPs
//     file.write_all(thalweg::vp::Strided(&field[1][1], {nx, ny}, {ny + 2, 1}));           // from where they lie
//     file.for_each([](thalweg::vp::Stream stream) { stream.printf("%d\n", 5); });         // independent: one VP
//     file.close();                                                         // collective
//
// A mask says which VPs of this task take part: `all`, a range with an integer or bool for each local VP, or a function
// of the local number. What is wrong with the arguments of one task is an Error on all tasks where the call is
// collective.
#ifndef THALWEG_VPFILE_HPP
#define THALWEG_VPFILE_HPP

#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#if __has_include(<version>)
#include <version>
#endif

#ifdef __cpp_lib_format
#include <format>
#endif

#include "base.hpp"
#include "open.hpp"
#include "vpfile.h"

namespace thalweg {
inline namespace v1 {
namespace vp {

// Extents of a shape: {256, 128}, or a range of integers. {}: the shape that the file has.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) : extents_(extents) {}
  template <class Range, IfIntegers<Range> = 0>
  Shape(const Range& extents) {
    for (const auto extent : extents) extents_.push_back(static_cast<std::int64_t>(extent));
  }
  const std::vector<std::int64_t>& extents() const noexcept { return extents_; }

 private:
  std::vector<std::int64_t> extents_;
};

// The mask of all VPs.
struct All {};
inline constexpr All all{};

// A mask: All, a range with an integer or bool for every local VP, or a function of its number.
template <class M>
using IfMask = std::enable_if_t<std::is_same_v<M, All> || traits::is_integers<const M>() ||
                                    std::is_invocable_r_v<bool, const M&, std::int64_t>,
                                int>;

// Where items lie that are not one behind the other: the first item of the first local VP, the extents of the box of
// this task and the strides of its dimensions, in items. A last extent more: so many items of each VP. Copies the
// numbers, refers to the items.
template <class T, std::enable_if_t<is_plain<T>(), int> = 0>
class Strided {
 public:
  Strided(T* first, std::initializer_list<std::int64_t> extents, std::initializer_list<std::int64_t> strides)
      : first_(first), extents_(extents), strides_(strides) {}
  Strided(T* first, Span<const std::int64_t> extents, Span<const std::int64_t> strides)
      : first_(first), extents_(extents.begin(), extents.end()), strides_(strides.begin(), strides.end()) {}
  T* first() const noexcept { return first_; }
  const std::vector<std::int64_t>& extents() const noexcept { return extents_; }
  const std::vector<std::int64_t>& strides() const noexcept { return strides_; }

 private:
  T* first_;
  std::vector<std::int64_t> extents_, strides_;
};

// An argument of printf() and scanf() of all VPs: a value for every local VP, or the same for all. Refers to them.
template <class Range, std::enable_if_t<traits::IsContiguous<Range>::value, int> = 0>
tw_vpfile_argument each(Range& values) {
  using T = traits::element<Range>;
  return {const_cast<std::remove_const_t<T>*>(std::data(values)), static_cast<std::int64_t>(sizeof(T))};
}
template <class T>
tw_vpfile_argument same(T& value) {
  return {const_cast<std::remove_const_t<T>*>(&value), 0};
}

// The stream of one VP: borrows the file. Independent. Threads: as the calls of one VP in vpfile.h, several at once for
// different VPs.
class Stream {
 public:
  Stream(tw_vpfile* file, std::int64_t vp) noexcept : file_(file), vp_(vp) {}

  std::int64_t vp() const noexcept { return vp_; }  // its number in the shape
  template <class Range, IfPlainRange<Range> = 0>
  void write(const Range& data) {
    check(tw_vpfile_write(file_, vp_, std::data(data), bytes(data), nullptr));
  }
  template <class Text, IfText<Text> = 0>
  void write(const Text& text) = delete;  // pass std::string_view("text"), or std::span(array)
  template <class T, IfPlainValue<T> = 0>
  void write_value(const T& value) {
    check(tw_vpfile_write(file_, vp_, &value, sizeof value, nullptr));
  }
  // Whole elements that were read.
  template <class Range, IfPlainTarget<Range> = 0>
  std::size_t read(Range&& data) {
    std::size_t moved = 0;
    check(tw_vpfile_read(file_, vp_, std::data(data), bytes(data), &moved));
    return moved / sizeof(*std::data(data));
  }
  // Nothing where the stream ends before it has a whole one.
  template <class T, IfPlainValue<T> = 0, std::enable_if_t<std::is_default_constructible_v<T>, int> = 0>
  std::optional<T> read_value() {
    T value{};
    std::size_t moved = 0;
    check(tw_vpfile_read(file_, vp_, &value, sizeof value, &moved));
    return moved == sizeof value ? std::optional<T>(value) : std::nullopt;
  }
  void seek(std::int64_t offset, int whence = SEEK_SET) { check(tw_vpfile_seek(file_, vp_, offset, whence)); }
  std::int64_t tell() const {
    std::int64_t position = 0;
    check(tw_vpfile_tell(file_, vp_, &position, nullptr, nullptr));
    return position;
  }
  void rewind() {
    clear();
    seek(0);
  }
  std::int64_t size() const { return ask<std::int64_t>(tw_vpfile_size); }  // bytes
  bool eof() const { return flags().first; }
  bool error() const { return flags().second; }
  void clear() { seek(0, SEEK_CUR); }
  // The byte, or -1 at the end.
  int getc() {
    const auto byte = read_value<unsigned char>();
    return byte ? *byte : -1;
  }
  void putc(int byte) { write_value(static_cast<unsigned char>(byte)); }
  // A line without its newline; nothing at the end.
  std::optional<std::string> getline() {
    std::string line;
    char piece[256];
    for (;;) {
      const std::string_view got(piece, read(piece));
      const std::size_t end = got.find('\n');
      line.append(got.substr(0, end));
      if (end != got.npos) {
        seek(static_cast<std::int64_t>(end + 1) - static_cast<std::int64_t>(got.size()), SEEK_CUR);
        return line;
      }
      if (got.size() < sizeof piece) return line.empty() ? std::nullopt : std::optional(std::move(line));
    }
  }
  void puts(std::string_view text) { write(text); }
#ifdef __cpp_lib_format
  // As std::print.
  template <class... Arguments>
  void print(std::format_string<Arguments...> format, Arguments&&... arguments) {
    write(std::format(format, std::forward<Arguments>(arguments)...));
  }
#endif
#if defined(__GNUC__)
#define TW_VP_FORMAT_(kind) __attribute__((format(kind, 2, 3)))
#else
#define TW_VP_FORMAT_(kind)
#endif
  // As fprintf and fscanf; the compiler checks the format.
  void printf(const char* format, ...) TW_VP_FORMAT_(printf) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    std::string text(length > 0 ? static_cast<std::size_t>(length) + 1 : 0, '\0');
    if (length > 0) std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    if (length < 0) throw Error(TW_ERR_INVALID, "thalweg::vp::Stream: a format cannot be printed", 0);
    write(std::string_view(text).substr(0, static_cast<std::size_t>(length)));
  }
  int scanf(const char* format, ...) TW_VP_FORMAT_(scanf) {
    const auto file = fopen("r");
    va_list arguments;
    va_start(arguments, format);
    const int done = std::vfscanf(file.get(), format, arguments);
    va_end(arguments);
    if (std::ferror(file.get()) != 0) getc();  // throws why reading failed
    return done;
  }
#undef TW_VP_FORMAT_
  // A FILE* with the position of this stream (vpfile.h: tw_vpfile_fopen).
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> fopen(const char* mode) {
    std::FILE* stream = nullptr;
    check(tw_vpfile_fopen(file_, vp_, mode, &stream));
    return {stream, std::fclose};
  }
  // Afterwards the bytes that this task has written, for all its VPs, survive the death of the process (vpfile.h).
  void flush() { check(tw_vpfile_flush(file_, vp_)); }

 private:
  template <class Range>
  static std::size_t bytes(const Range& data) {
    return std::size(data) * sizeof(*std::data(data));
  }
  template <class T>
  T ask(tw_status (*question)(tw_vpfile*, std::int64_t, T*)) const {
    T answer{};
    check(question(file_, vp_, &answer));
    return answer;
  }
  std::pair<bool, bool> flags() const {
    int eof = 0;
    int error = 0;
    check(tw_vpfile_tell(file_, vp_, nullptr, &eof, &error));
    return {eof != 0, error != 0};
  }

  tw_vpfile* file_;
  std::int64_t vp_;
};

enum class Mode : std::int32_t { nb = TW_VPFILE_NB, cb = TW_VPFILE_CB, ib = TW_VPFILE_IB };

// A vpfile that is open: owns a tw_vpfile. Moved, not copied. Without close() its end closes it too, but cannot report
// failures. Both are collective. While an exception unwinds its end abandons it.
class File {
 public:
  // flags: TW_READ, ... or letters of stdio. Collective over `group`. The handle keeps what it needs of the group,
  // which may be freed as soon as the open has returned.
  File(const Group& group, const std::string& path, Flags flags, const Options& options = {}) {
    open(required(group), path, flags, options);
  }
  // The shape, if there is one, becomes that of `options`.
  File(const Group& group, const std::string& path, Flags flags, const Shape& shape, Options& options) {
    open(required(group), path, flags, options.shape(shape.extents()));
  }
  File(const Group& group, const std::string& path, Flags flags, const Shape& shape) {
    open(required(group), path, flags, Options().shape(shape.extents()));
  }
  // By this task alone.
  File(const std::string& path, Flags flags, const Options& options = {}) { open(nullptr, path, flags, options); }
  File(const std::string& path, Flags flags, const Shape& shape, Options& options) {
    open(nullptr, path, flags, options.shape(shape.extents()));
  }
  File(const std::string& path, Flags flags, const Shape& shape) {
    open(nullptr, path, flags, Options().shape(shape.extents()));
  }
  void close() {
    tw_vpfile* handle = file_.release();
    check(tw_vpfile_close(&handle));
  }
  // Independent. Instead of close(), by a task that cannot go on: what it wrote is stored, the vpfile stays marked as
  // not closed, and the collective calls of the others fail on all of them.
  void abandon() {
    tw_vpfile* handle = file_.release();
    check(tw_vpfile_abandon(&handle));
  }

  // ---- Collective: all VPs. Items are those of the VPs that take part, in order of local numbers.

  // `n` items of each, one behind the other in `data`. counts (may be empty): items moved of every local VP, also when
  // it throws.
  template <class Range, IfPlainRange<Range> = 0, class M = All, IfMask<M> = 0>
  void write_all(const Range& data, std::size_t n, const M& mask = {}, Span<std::int64_t> counts = {}) {
    move(tw_vpfile_write_all, packed(data, n), mask, counts);
  }
  // lengths[i] items of local VP i; those that take no part have no room in `data`.
  template <class Range, IfPlainRange<Range> = 0, class Lengths, IfIntegers<Lengths> = 0, class M = All, IfMask<M> = 0>
  void write_all(const Range& data, const Lengths& lengths, const M& mask = {}, Span<std::int64_t> counts = {}) {
    move_ragged(tw_vpfile_write_all, packed(data, 0), lengths, mask, counts);
  }
  // "text" ends with a NUL: pass std::string_view("text"), or std::span(array).
  template <class Text, IfText<Text> = 0, class M = All, IfMask<M> = 0>
  void write_all(const Text& text, std::size_t n, const M& mask = {}, Span<std::int64_t> counts = {}) = delete;
  template <class Text, IfText<Text> = 0, class Lengths, IfIntegers<Lengths> = 0, class M = All, IfMask<M> = 0>
  void write_all(const Text& text, const Lengths& lengths, const M& mask = {}, Span<std::int64_t> counts = {}) = delete;
  template <class T, class M = All, IfMask<M> = 0>
  void write_all(const Strided<T>& data, const M& mask = {}, Span<std::int64_t> counts = {}) {
    move_strided(tw_vpfile_write_all, data, mask, counts);
  }

  // The same. Return the items read of every local VP: fewer where a stream ended.
  template <class Range, IfPlainTarget<Range> = 0, class M = All, IfMask<M> = 0>
  std::vector<std::int64_t> read_all(Range&& data, std::size_t n, const M& mask = {}) {
    return counted([&](Span<std::int64_t> counts) { read_all(data, n, mask, counts); });
  }
  template <class Range, IfPlainTarget<Range> = 0, class Lengths, IfIntegers<Lengths> = 0, class M = All, IfMask<M> = 0>
  std::vector<std::int64_t> read_all(Range&& data, const Lengths& lengths, const M& mask = {}) {
    return counted(
        [&](Span<std::int64_t> counts) { move_ragged(tw_vpfile_read_all, packed(data, 0), lengths, mask, counts); });
  }
  template <class T, class M = All, IfMask<M> = 0, std::enable_if_t<!std::is_const_v<T>, int> = 0>
  std::vector<std::int64_t> read_all(const Strided<T>& data, const M& mask = {}) {
    return counted([&](Span<std::int64_t> counts) { move_strided(tw_vpfile_read_all, data, mask, counts); });
  }
  // Without memory of its own; counts as of write_all().
  template <class Range, IfPlainTarget<Range> = 0, class M = All, IfMask<M> = 0>
  void read_all(Range&& data, std::size_t n, const M& mask, Span<std::int64_t> counts) {
    move(tw_vpfile_read_all, packed(data, n), mask, counts);
  }

  // The byte of every local VP, -1 at its end and where it takes no part.
  template <class M = All, IfMask<M> = 0>
  std::vector<int> getc_all(const M& mask = {}) {
    std::vector<int> bytes;
    collective(
        mask, [&](const MaskBytes&) { bytes.resize(local_size()); },
        [&](bool sound, const std::uint8_t* taking_part) {
          return tw_vpfile_getc_all(get(), sound ? bytes.data() : nullptr, taking_part);
        });
    return bytes;
  }
  template <class M = All, IfMask<M> = 0>
  void putc_all(int byte, const M& mask = {}) {
    written(
        mask, [](const MaskBytes&) {},
        [&](const std::uint8_t* some) { return tw_vpfile_putc_all(get(), byte, nullptr, some); });
  }
  // A line, with its newline, of at most `most` bytes of each VP; empty at its end and where it takes no part.
  template <class M = All, IfMask<M> = 0>
  std::vector<std::string> gets_all(std::size_t most, const M& mask = {}) {
    std::vector<std::string> lines;
    std::vector<std::size_t> lengths;
    std::vector<char> text;
    collective(
        mask,
        [&](const MaskBytes&) {
          lines.resize(local_size());
          lengths.resize(lines.size());
          text.resize(lines.size() * (most + 1));
        },
        [&](bool sound, const std::uint8_t* some) {
          return tw_vpfile_gets_all(get(), text.data(), sound ? most + 1 : 0, lengths.data(), some);
        });
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i].assign(text.data() + i * (most + 1), lengths[i]);
    return lines;
  }
  template <class M = All, IfMask<M> = 0>
  void puts_all(const std::string& text, const M& mask = {}) {
    written(
        mask, [](const MaskBytes&) {},
        [&](const std::uint8_t* some) { return tw_vpfile_puts_all(get(), text.c_str(), nullptr, some); });
  }
  // The text of every local VP.
  template <class M = All, IfMask<M> = 0>
  void puts_all(Span<const std::string> texts, const M& mask = {}) {
    std::vector<const char*> each;
    written(
        mask,
        [&](const MaskBytes&) {
          expect(texts.size(), "texts");
          for (const std::string& text : texts) each.push_back(text.c_str());
        },
        [&](const std::uint8_t* some) { return tw_vpfile_puts_all(get(), nullptr, each.data(), some); });
  }
  // file.printf_all("%d %s\n", {each(numbers), same(name)}): types must be those of the conversions (vpfile.h), which
  // the compiler cannot check here.
  template <class M = All, IfMask<M> = 0>
  void printf_all(const char* format, std::initializer_list<tw_vpfile_argument> arguments, const M& mask = {}) {
    written(
        mask, [](const MaskBytes&) {},
        [&](const std::uint8_t* some) {
          return tw_vpfile_printf_all(get(), format, arguments.begin(), static_cast<std::int64_t>(arguments.size()),
                                      nullptr, some);
        });
  }
  // Conversions done of every local VP; -1 at its end.
  template <class M = All, IfMask<M> = 0>
  std::vector<std::int64_t> scanf_all(const char* format, std::initializer_list<tw_vpfile_argument> arguments,
                                      const M& mask = {}) {
    std::vector<std::int64_t> done;
    collective(
        mask, [&](const MaskBytes&) { done.resize(local_size()); },
        [&](bool sound, const std::uint8_t* some) {
          return tw_vpfile_scanf_all(get(), sound ? format : nullptr, arguments.begin(),
                                     static_cast<std::int64_t>(arguments.size()), done.data(), some);
        });
    return done;
  }

  // What was written survives the death of the process; of the machine.
  void flush_all() { check(tw_vpfile_flush_all(get())); }
  void sync_all() { check(tw_vpfile_sync_all(get())); }

  // ---- Independent: all VPs of this task.

  template <class M = All, IfMask<M> = 0>
  void seek_all(std::int64_t offset, int whence = SEEK_SET, const M& mask = {}) {
    const MaskBytes some(*this, mask);
    check(tw_vpfile_seek_all(get(), offset, nullptr, whence, some.data()));
  }
  // By offsets[i] of local VP i.
  template <class M = All, IfMask<M> = 0>
  void seek_all(Span<const std::int64_t> offsets, int whence = SEEK_SET, const M& mask = {}) {
    const MaskBytes some(*this, mask);
    expect(offsets.size(), "offsets");
    check(tw_vpfile_seek_all(get(), 0, offsets.data(), whence, some.data()));
  }
  // One for every local VP.
  std::vector<std::int64_t> tell_all() const {
    std::vector<std::int64_t> positions(local_size() + 1);
    check(tw_vpfile_tell_all(get(), positions.data(), nullptr, nullptr));
    positions.pop_back();
    return positions;
  }
  std::vector<std::uint8_t> eof_all() const {
    std::vector<std::uint8_t> flags(local_size());
    check(tw_vpfile_tell_all(get(), nullptr, flags.data(), nullptr));
    return flags;
  }
  std::vector<std::uint8_t> error_all() const {
    std::vector<std::uint8_t> flags(local_size());
    check(tw_vpfile_tell_all(get(), nullptr, nullptr, flags.data()));
    return flags;
  }
  template <class M = All, IfMask<M> = 0>
  void clear_all(const M& mask = {}) {
    const MaskBytes some(*this, mask);
    check(tw_vpfile_seek_all(get(), 0, nullptr, SEEK_CUR, some.data()));
  }
  template <class M = All, IfMask<M> = 0>
  void rewind_all(const M& mask = {}) {
    const MaskBytes some(*this, mask);
    check(tw_vpfile_seek_all(get(), 0, nullptr, SEEK_SET, some.data()));
  }
  template <class M = All, IfMask<M> = 0>
  void ungetc_all(int byte, const M& mask = {}) {
    const MaskBytes some(*this, mask);
    check(tw_vpfile_ungetc_all(get(), byte, nullptr, some.data()));
  }

  // ---- Independent: one VP.

  // `vp`: a number in the shape, of a VP of this task.
  Stream stream(std::int64_t vp) const noexcept { return {get(), vp}; }
  // act(Stream) for each of `vps`, numbers in the shape; for all of this task; one after the other.
  template <class Range, class Act>
  void for_each(Range&& vps, Act&& act) const {
    for (const auto vp : vps) act(stream(static_cast<std::int64_t>(vp)));
  }
  template <class Act>
  void for_each(Act&& act) const {
    const auto n = static_cast<std::int64_t>(local_size());
    for (std::int64_t i = 0; i < n; ++i) act(stream(number(i)));
  }

  // ---- What is it? Independent.

  tw_vpfile_summary summarize() const {
    tw_vpfile_summary summary{};
    summary.struct_size = sizeof summary;
    check(tw_vpfile_summarize(get(), &summary));
    return summary;
  }
  std::int64_t size() const { return summarize().n_vps; }                                   // VPs of the shape
  std::size_t local_size() const { return static_cast<std::size_t>(summarize().n_local); }  // of this task
  Span<const std::int64_t> shape() const { return dimensions(summarize().shape); }          // borrowed
  Span<const std::int64_t> box_start() const { return dimensions(summarize().box_start); }  // borrowed
  Span<const std::int64_t> box_count() const { return dimensions(summarize().box_count); }  // borrowed
  // The number in the shape of a local VP, and back: nothing where it is another task's.
  std::int64_t number(std::int64_t local) const {
    std::int64_t vp = 0;
    check(tw_vpfile_number(get(), local, &vp));
    return vp;
  }
  std::optional<std::int64_t> local(std::int64_t vp) const {
    std::int64_t local = 0;
    const tw_status status = tw_vpfile_local(get(), vp, &local);
    if (status == TW_ERR_NOT_FOUND) return std::nullopt;
    check(status);
    return local;
  }
  Mode mode() const { return static_cast<Mode>(summarize().mode); }  // of what was written so far
  // How the last collective access was carried out, and why it was not NB.
  Mode last_mode() const { return static_cast<Mode>(summarize().last_mode); }
  std::string_view last_cause() const { return summarize().last_cause; }
  // Changes of mode() since it was opened.
  std::vector<tw_vpfile_transition> transitions() const {
    const tw_vpfile_summary told = summarize();
    return {told.transitions, told.transitions + told.n_transitions};
  }

  tw_vpfile* get() const noexcept { return file_.get(); }  // borrowed; null when closed

 private:
  using Call = tw_status (*)(tw_vpfile*, tw_vpfile_data, const std::uint8_t*, std::int64_t*);

  // A mask as the C calls take it.
  class MaskBytes {
   public:
    MaskBytes() = default;
    MaskBytes(const File&, const All&) {}
    template <class M, IfIntegers<M> = 0>
    MaskBytes(const File& file, const M& mask) {
      file.expect(std::size(mask), "the mask");
      for (const auto one : mask) bytes_.push_back(one != 0 ? 1 : 0);
    }
    template <class M, std::enable_if_t<std::is_invocable_r_v<bool, const M&, std::int64_t>, int> = 0>
    MaskBytes(const File& file, const M& takes_part) {
      const auto n = static_cast<std::int64_t>(file.local_size());
      for (std::int64_t i = 0; i < n; ++i) bytes_.push_back(takes_part(i) ? 1 : 0);
    }
    const std::uint8_t* data() const noexcept { return bytes_.empty() ? nullptr : bytes_.data(); }
    bool has(std::size_t local) const noexcept { return bytes_.empty() || bytes_[local] != 0; }
    std::size_t count(std::size_t n) const {
      return bytes_.empty() ? n : static_cast<std::size_t>(std::count(bytes_.begin(), bytes_.end(), std::uint8_t{1}));
    }

   private:
    std::vector<std::uint8_t> bytes_;  // none: all
  };

  // Data, and how many items there are.
  struct Packed {
    tw_vpfile_data data;
    std::size_t there;
  };
  template <class Range>
  static Packed packed(const Range& data, std::size_t n) {
    using T = traits::element<const Range>;
    auto* base = const_cast<std::remove_const_t<T>*>(std::data(data));
    return {{base, sizeof(T), static_cast<std::int64_t>(n), nullptr, 0, nullptr}, std::size(data)};
  }

  void open(tw_group* group, const std::string& path, Flags flags, const Options& options) {
    tw_vpfile* file = nullptr;
    check(tw_vpfile_open(group, path.c_str(), flags.get(), options.get(), &file));
    file_.reset(file);
  }

  [[noreturn]] static void wrong(const std::string& what) {
    throw Error(TW_ERR_INVALID, ("thalweg::vp::File: " + what).c_str(), 0);
  }
  void expect(std::size_t given, const char* what) const {
    if (given == local_size()) return;
    wrong(std::string(what) + ": " + std::to_string(given) + " were given, this task has " +
          std::to_string(local_size()) + " virtual processors");
  }

  // Collective: call(true, mask), or where this task cannot prepare it call(false, ...), which must fail on all tasks.
  template <class M, class Prepare, class CallIt>
  void collective(const M& mask, Prepare prepare, CallIt call) {
    MaskBytes some;
    try {
      some = MaskBytes(*this, mask);
      prepare(some);
    } catch (...) {
      (void)call(false, nullptr);
      throw;
    }
    check(call(true, some.data()));
  }
  template <class M, class Prepare, class CallIt>
  void written(const M& mask, Prepare prepare, CallIt call) {
    collective(mask, prepare, [&](bool sound, const std::uint8_t* some) {
      return sound ? call(some) : tw_vpfile_write_all(get(), tw_vpfile_data{}, nullptr, nullptr);
    });
  }
  template <class M, class Prepare>
  void moved(Call move_all, const tw_vpfile_data& data, const M& mask, Span<std::int64_t> counts, Prepare prepare) {
    collective(mask, prepare, [&](bool sound, const std::uint8_t* some) {
      return move_all(get(), sound ? data : tw_vpfile_data{}, some, sound && !counts.empty() ? counts.data() : nullptr);
    });
  }

  template <class M>
  void move(Call move_all, Packed packed, const M& mask, Span<std::int64_t> counts) {
    moved(move_all, packed.data, mask, counts, [&](const MaskBytes& some) {
      if (!counts.empty()) expect(counts.size(), "counts");
      const std::size_t taking_part = some.count(local_size());
      if (packed.data.n_items > 0 && packed.there / static_cast<std::size_t>(packed.data.n_items) < taking_part)
        wrong(std::to_string(packed.there) + " items were given for " + std::to_string(taking_part) +
              " virtual processors with " + std::to_string(packed.data.n_items) + " each");
    });
  }
  template <class Lengths, IfIntegers<Lengths> = 0, class M>
  void move_ragged(Call move_all, Packed packed, const Lengths& lengths, const M& mask, Span<std::int64_t> counts) {
    std::vector<std::int64_t> items;
    moved(move_all, packed.data, mask, counts, [&](const MaskBytes& some) {
      expect(std::size(lengths), "lengths");
      if (!counts.empty()) expect(counts.size(), "counts");
      for (const auto n : lengths) items.push_back(static_cast<std::int64_t>(n));
      auto left = static_cast<std::int64_t>(packed.there);
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (!some.has(i)) continue;
        if (items[i] > left) wrong("fewer items were given than the lengths add up to");
        left -= items[i];
      }
      items.push_back(0);  // so that it is not null
      packed.data.n_each = items.data();
    });
  }
  template <class T, class M>
  void move_strided(Call move_all, const Strided<T>& from, const M& mask, Span<std::int64_t> counts) {
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
    std::vector<std::int64_t> strides;
    tw_vpfile_data data{const_cast<std::remove_const_t<T>*>(from.first()), sizeof(T), 1, nullptr, 0, nullptr};
    moved(move_all, data, mask, counts, [&](const MaskBytes&) {
      if (!counts.empty()) expect(counts.size(), "counts");
      const auto box = box_count();
      const auto& extents = from.extents();
      if (from.strides().size() != extents.size() || extents.size() < box.size() || extents.size() > box.size() + 1 ||
          !std::equal(box.begin(), box.end(), extents.begin()))
        wrong("the extents of a strided view are not those of the box of this task");
      for (std::size_t i = 0; i < box.size(); ++i) strides.push_back(from.strides()[i] * bytes);
      data.vp_strides = strides.data();
      if (extents.size() == box.size()) return;
      if (extents.back() < 0 || from.strides().back() == 0)
        wrong("a strided view of items that are one upon the other");
      data.n_items = extents.back();
      data.item_stride = from.strides().back() * bytes;
    });
  }
  template <class Read>
  std::vector<std::int64_t> counted(Read read) {
    std::vector<std::int64_t> counts(local_size());
    read(Span<std::int64_t>(counts));
    return counts;
  }
  Span<const std::int64_t> dimensions(const std::int64_t* first) const {
    return {first, static_cast<std::size_t>(summarize().n_dims)};
  }

  std::unique_ptr<tw_vpfile, End<tw_vpfile, tw_vpfile_close, tw_vpfile_abandon>> file_;
};

}  // namespace vp
}  // namespace v1
}  // namespace thalweg

#endif
