// How files are opened, in C++: flags from letters of stdio, and options that free themselves; what they mean stands in
// open.h. Include thalweg.hpp.
#ifndef THALWEG_OPEN_HPP
#define THALWEG_OPEN_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base.hpp"
#include "open.h"

namespace thalweg {
inline namespace v1 {

// The flags of "r", "r+", "w", "w+", "a", "a+", "x" or "x+"; a 'b' is ignored. Other letters give 0, which every open
// refuses on all tasks.
constexpr std::int32_t flags_of(std::string_view letters) noexcept {
  const char kind = letters.empty() ? ' ' : letters[0];
  bool plus = false;
  bool binary = false;
  for (const char letter : letters.substr(letters.empty() ? 0 : 1)) {
    if (letter == '+' && !plus)
      plus = true;
    else if (letter == 'b' && !binary)
      binary = true;
    else
      return 0;
  }
  switch (kind) {
    case 'r':
      return TW_READ | (plus ? TW_WRITE : 0);
    case 'w':
      return TW_CREATE | TW_TRUNCATE | (plus ? TW_READ : 0);
    case 'a':
      return TW_CREATE | TW_APPEND | (plus ? TW_READ : 0);
    case 'x':
      return TW_CREATE | TW_EXCLUSIVE | (plus ? TW_READ : 0);
    default:
      return 0;
  }
}

// The flags of an open: TW_READ, ... or letters of stdio.
class Flags {
 public:
  constexpr Flags(std::int32_t flags) noexcept : flags_(flags) {}
  constexpr Flags(const char* letters) noexcept : flags_(flags_of(letters)) {}
  constexpr std::int32_t get() const noexcept { return flags_; }

 private:
  std::int32_t flags_;
};

// Owns a tw_options. Calls can be chained:
//     thalweg::Options().hint("chunk_bytes", "4MiB").range(-1, 0, 10)
class Options {
 public:
  // `thalweg hints` lists names and values.
  Options& hint(const std::string& name, const std::string& value) {
    check(tw_options_set_hint(made(), name.c_str(), value.c_str()));
    return *this;
  }
  // "name=value,name=value".
  Options& hints(const std::string& text) {
    check(tw_options_set_hints(made(), text.c_str()));
    return *this;
  }

  // Multifile: this task serves these logical files; n_logical is -1 when reading or appending. `ranks` is copied.
  Options& ranks(std::int64_t n_logical, Span<const std::int64_t> ranks) {
    check(tw_options_set_ranks(made(), n_logical, ranks.data(), static_cast<std::int64_t>(ranks.size())));
    return *this;
  }
  // Multifile: this task serves the `count` logical files from `first` on.
  Options& range(std::int64_t n_logical, std::int64_t first, std::int64_t count) {
    check(tw_options_set_range(made(), n_logical, first, count));
    return *this;
  }
  // Multifile: which physical file holds which logical file. `user` is borrowed by every open with these options.
  Options& mapping(tw_mapping_fn function, void* user) {
    check(tw_options_set_mapping(made(), function, user));
    return *this;
  }
  // Multifile: asked now and then by long calls. `user` is borrowed until the file is closed.
  Options& progress(tw_progress_fn function, void* user) {
    check(tw_options_set_progress(made(), function, user));
    return *this;
  }

  // Vpfile: the extents of its shape, and the box of this task.
  Options& shape(Span<const std::int64_t> extents) {
    check(tw_options_set_shape(made(), static_cast<std::int32_t>(extents.size()), extents.data()));
    return *this;
  }
  Options& box(Span<const std::int64_t> start, Span<const std::int64_t> count) {
    if (start.size() != count.size())
      throw Error(TW_ERR_INVALID, "thalweg::Options: start and count of a box differ in number", 0);
    check(tw_options_set_box(made(), static_cast<std::int32_t>(start.size()), start.data(), count.data()));
    return *this;
  }

  // Shared file: of a new one.
  Options& permissions(std::uint32_t permissions) {
    check(tw_options_set_permissions(made(), permissions));
    return *this;
  }

  const tw_options* get() const noexcept { return options_.get(); }  // borrowed; null: all at their defaults

 private:
  struct Free {
    void operator()(tw_options* options) const noexcept { tw_options_free(&options); }
  };
  tw_options* made() {
    if (options_ == nullptr) {
      tw_options* options = nullptr;
      check(tw_options_create(&options));
      options_.reset(options);
    }
    return options_.get();
  }
  std::unique_ptr<tw_options, Free> options_;
};

}  // namespace v1
}  // namespace thalweg

#endif
