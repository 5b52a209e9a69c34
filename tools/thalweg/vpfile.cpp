// Kinds of files, shapes, numbers of virtual processors.
#include "vpfile.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

#include "new_multifile.hpp"
#include "text.hpp"

namespace tool {
namespace {

bool is_regular_file(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), R_OK) == 0;
}

tw_status look(const std::string& path, tw_vpfile_stored& stored) {
  stored = {};
  stored.struct_size = sizeof stored;
  return tw_vpfile_look(path.c_str(), &stored);
}

// Numbers separated by commas; empty on any other text.
std::vector<int64_t> numbers(std::string_view text) {
  std::vector<int64_t> all;
  const char* at = text.data();
  const char* end = at + text.size();
  for (;;) {
    int64_t number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 0) return {};
    all.push_back(number);
    if (rest == end) return all;
    if (*rest != ',') return {};
    at = rest + 1;
  }
}

}  // namespace

bool is_vpfile(const std::string& path) {
  tw_vpfile_stored stored;
  tw_status_ignore(look(path, stored));
  return stored.is_vpfile != 0;
}

std::string other_format(const std::string& path) {
  tw_multifile* multifile = nullptr;
  if (tw_multifile_open(nullptr, path.c_str(), TW_READ, nullptr, &multifile) == TW_OK)
    (void)tw_multifile_close(&multifile);
  const std::string said = multifile == nullptr ? tw_last_error() : "";
  const bool named = said.find("' looks like ") != std::string::npos && said.ends_with(", not a multifile");
  return named ? said + " or vpfile" : "";
}

void refuse_other_kinds(const std::string& path) {
  if (!is_regular_file(path) || begins_as_multifile(path) || is_vpfile(path)) return;
  if (const std::string other = other_format(path); !other.empty()) throw Failure(kDamaged, other, TW_ERR_CORRUPT);
  throw Failure(kDamaged,
                fmt::format("'{}' is neither a multifile nor a vpfile: its first bytes belong to neither, and it has "
                            "no NAME.meta; 'thalweg vp-import' makes one for an array",
                            path),
                TW_ERR_CORRUPT);
}

void check_vpfile_or_multifile(const std::string& path) {
  refuse_other_kinds(path);
  tw_vpfile_stored stored;
  const tw_status status = look(path, stored);
  if (status != TW_ERR_CORRUPT && status != TW_ERR_VERSION) check(status);
}

void explain_no_multifile(const std::string& path) {
  refuse_other_kinds(path);
  if (begins_as_multifile(path) || !is_vpfile(path)) return;
  throw Failure(kUsage, fmt::format("'{}' is a vpfile; this command needs a multifile", path));
}

void refuse_option_of_multifiles(bool given, const char* option, const std::string& path, const char* instead) {
  if (given)
    throw Failure(kUsage, fmt::format("{} applies to multifiles, but '{}' is a vpfile{}", option, path, instead));
}

void refuse_option_of_vpfiles(bool given, const char* option, const std::string& path, const char* instead) {
  if (!given) return;
  check_vpfile_or_multifile(path);
  throw Failure(kUsage, fmt::format("{} applies to vpfiles, but '{}' is a multifile{}", option, path, instead));
}

tw_vpfile_stored look_at_vpfile(const std::string& path) {
  tw_vpfile_stored stored;
  const tw_status status = look(path, stored);
  if (status == TW_ERR_CORRUPT) {
    throw Failure(kDamaged,
                  fmt::format("{}; rebuild it from the shape: thalweg repair {} --shape A,B,...", tw_last_error(),
                              shell_word(path)),
                  status);
  }
  check(status);
  return stored;
}

std::vector<int64_t> parse_shape(const std::string& text) {
  std::vector<int64_t> shape = numbers(text);
  bool legal = !shape.empty() && shape.size() <= TW_VPFILE_MOST_DIMS;
  for (const int64_t extent : shape) legal = legal && extent > 0;
  if (legal) return shape;
  throw Failure(kUsage,
                fmt::format("'{}' is not a shape: give up to {} positive numbers separated by commas, as in 256,128",
                            text, static_cast<int>(TW_VPFILE_MOST_DIMS)));
}

int64_t count_of(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

std::string shape_text(const std::vector<int64_t>& shape) { return fmt::format("{}", fmt::join(shape, ",")); }

std::vector<int64_t> shape_of(const tw_vpfile_stored& stored) { return {stored.shape, stored.shape + stored.n_dims}; }

int64_t parse_vp(const std::string& text, const std::vector<int64_t>& shape, const std::string& path) {
  const std::vector<int64_t> index = numbers(text);
  const int64_t n = count_of(shape);
  if (index.empty()) {
    throw Failure(kUsage, fmt::format("'{}' is neither the number of a virtual processor nor its index in the shape, "
                                      "as in 17 or 3,5",
                                      text));
  }
  if (index.size() == 1) {
    if (index[0] < n) return index[0];
    throw Failure(kUsage, fmt::format("no virtual processor {}: '{}' has numbers 0 to {}", text, path, n - 1));
  }
  bool inside = index.size() == shape.size();
  int64_t vp = 0;
  for (size_t i = 0; inside && i < shape.size(); ++i) {
    inside = index[i] < shape[i];
    vp = vp * shape[i] + index[i];
  }
  if (inside) return vp;
  throw Failure(kUsage, fmt::format("no virtual processor {}: '{}' has the shape {}", text, path, shape_text(shape)));
}

std::pair<int64_t, int64_t> parse_vps(const std::string& text, const std::vector<int64_t>& shape,
                                      const std::string& path) {
  const size_t dash = text.find('-');
  if (dash == std::string::npos || text.find(',') != std::string::npos) {
    const int64_t vp = parse_vp(text, shape, path);
    return {vp, vp};
  }
  const int64_t first = parse_vp(text.substr(0, dash), shape, path);
  const int64_t last = parse_vp(text.substr(dash + 1), shape, path);
  if (first <= last) return {first, last};
  throw Failure(kUsage, fmt::format("'{}' is not a range of virtual processors such as 0-7", text));
}

Vpfile::Vpfile(const std::string& path) { check(tw_vpfile_open(nullptr, path.c_str(), TW_READ, nullptr, &handle_)); }

Vpfile::~Vpfile() { (void)tw_vpfile_abandon(&handle_); }  // opened for reading: equals a close

int64_t Vpfile::bytes(int64_t vp) const {
  int64_t bytes = 0;
  check(tw_vpfile_size(handle_, vp, &bytes));
  return bytes;
}

Alike Vpfile::alike(int64_t vp) const {
  Alike found{vp};
  found.note(tw_vpfile_alike(handle_, vp, &found.last));
  return found;
}

int64_t Vpfile::skip_gap(int64_t vp) const {
  int64_t skipped = 0;
  check(tw_vpfile_skip_gap(handle_, vp, &skipped));
  return skipped;
}

void Vpfile::begin(int64_t vp) const { check(tw_vpfile_seek(handle_, vp, 0, SEEK_SET)); }

}  // namespace tool
