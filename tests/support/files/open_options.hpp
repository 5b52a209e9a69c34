// Options and flags of an open, written in its place: OpenWith().hints("io=direct").shape({4}).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/open.h"

namespace thalweg::test {

class OpenWith {
 public:
  OpenWith() { must(tw_options_create(&options_)); }
  ~OpenWith() { tw_options_free(&options_); }
  OpenWith(const OpenWith&) = delete;
  OpenWith& operator=(const OpenWith&) = delete;

  OpenWith& hints(const char* text) {
    if (text != nullptr) must(tw_options_set_hints(options_, text));
    return *this;
  }
  OpenWith& hints(const std::string& text) { return hints(text.c_str()); }
  OpenWith& shape(const std::vector<std::int64_t>& extents) {
    must(tw_options_set_shape(options_, static_cast<std::int32_t>(extents.size()), extents.data()));
    return *this;
  }
  OpenWith& shape(std::int32_t n_dims, const std::int64_t* extents) {
    must(tw_options_set_shape(options_, n_dims, extents));
    return *this;
  }
  OpenWith& box(const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& count) {
    must(tw_options_set_box(options_, static_cast<std::int32_t>(count.size()), start.data(), count.data()));
    return *this;
  }
  OpenWith& range(std::int64_t n_logical, std::int64_t first, std::int64_t count) {
    must(tw_options_set_range(options_, n_logical, first, count));
    return *this;
  }
  OpenWith& permissions(std::uint32_t mode) {
    must(tw_options_set_permissions(options_, mode));
    return *this;
  }
  operator const tw_options*() const { return options_; }

 private:
  static void must(tw_status status) {
    if (status != TW_OK) std::abort();
  }

  tw_options* options_ = nullptr;
};

// The flags of letters of stdio; 0 for others.
inline std::int32_t flags_of(std::string_view letters) {
  std::string plain;
  for (const char letter : letters)
    if (letter != 'b') plain += letter;
  if (plain == "r") return TW_READ;
  if (plain == "r+") return TW_READ | TW_WRITE;
  const std::int32_t reads = plain.size() == 2 && plain[1] == '+' ? TW_READ : 0;
  if (plain.size() != (reads != 0 ? 2u : 1u)) return 0;
  if (plain[0] == 'w') return TW_CREATE | TW_TRUNCATE | reads;
  if (plain[0] == 'a') return TW_CREATE | TW_APPEND | reads;
  return 0;
}

}  // namespace thalweg::test
