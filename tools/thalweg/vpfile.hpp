// Functions for vpfiles: the kind of a file, an open vpfile that closes itself, shapes and numbers in arguments.
#pragma once

#include <thalweg/vpfile.h>

#include <string>
#include <utility>
#include <vector>

#include "common.hpp"

namespace tool {

constexpr const char* kVpfileEndings[] = {"", ".meta", ".first", ".dir", ".batches"};  // of its files

bool is_vpfile(const std::string& path);  // false also when unknown: the open reports the reason

// "'x' looks like HDF5, not a multifile or vpfile", as the library reports; empty: no known format.
std::string other_format(const std::string& path);

// Fails with exit 1 when `path` is neither a multifile nor a vpfile.
void refuse_other_kinds(const std::string& path);
// Also fails when it is missing or unreadable.
void check_vpfile_or_multifile(const std::string& path);

// For a file that could not be opened as a multifile; exit 2 when it is a vpfile.
void explain_no_multifile(const std::string& path);

// Fails with exit 2, naming the option, when `given`: it applies to files of the other kind.
void refuse_option_of_multifiles(bool given, const char* option, const std::string& path, const char* instead = "");
void refuse_option_of_vpfiles(bool given, const char* option, const std::string& path, const char* instead = "");

tw_vpfile_stored look_at_vpfile(const std::string& path);

// "256,128". Throws Failure (usage) on any other text.
std::vector<int64_t> parse_shape(const std::string& text);
int64_t count_of(const std::vector<int64_t>& shape);  // virtual processors
std::string shape_text(const std::vector<int64_t>& shape);
std::vector<int64_t> shape_of(const tw_vpfile_stored& stored);

// "17", or an index in the shape as "3,5". Throws Failure (usage) on any other text, and outside the shape.
int64_t parse_vp(const std::string& text, const std::vector<int64_t>& shape, const std::string& path);
// A VP as above, or a range "3-7" of numbers.
std::pair<int64_t, int64_t> parse_vps(const std::string& text, const std::vector<int64_t>& shape,
                                      const std::string& path);

// A vpfile opened for reading, with all VPs.
class Vpfile {
 public:
  explicit Vpfile(const std::string& path);
  Vpfile(const Vpfile&) = delete;
  Vpfile& operator=(const Vpfile&) = delete;
  ~Vpfile();
  int64_t bytes(int64_t vp) const;
  // The range of VPs from `vp` on whose streams have only the bytes common to all.
  Alike alike(int64_t vp) const;
  int64_t skip_gap(int64_t vp) const;  // bytes that were skipped
  void begin(int64_t vp) const;        // rewinds the stream
  // `got` is the number of valid bytes read, also on failure; 0 at the end.
  tw_status read(int64_t vp, char* data, size_t bytes, size_t& got) const {
    got = 0;
    return tw_vpfile_read(handle_, vp, data, bytes, &got);
  }

 private:
  tw_vpfile* handle_ = nullptr;
};

}  // namespace tool
