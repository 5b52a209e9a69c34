// What commands need of vpfiles: which kind a file is, an open vpfile that closes itself, shapes and numbers as words.
#pragma once

#include <thalweg/vpfile.h>

#include <string>
#include <utility>
#include <vector>

#include "common.hpp"

namespace tool {

bool is_vpfile(const std::string& path);  // false also where that cannot be found out: who opens it tells why

// "'x' looks like HDF5, not a multifile or vpfile", as the library finds; empty: it knows no other format of `path`.
std::string other_format(const std::string& path);

// Fails with exit 1 when `path` is a file that is neither a multifile nor a vpfile.
void refuse_other_kinds(const std::string& path);
// Also when it is not there or cannot be read.
void check_vpfile_or_multifile(const std::string& path);

// The same for a file that could not be opened as multifile; with exit 2 when it is a vpfile.
void explain_no_multifile(const std::string& path);

// Fails with exit 2, naming the option, when `given`: it is for files of the other kind.
void refuse_option_of_multifiles(bool given, const char* option, const std::string& path, const char* instead = "");
void refuse_option_of_vpfiles(bool given, const char* option, const std::string& path, const char* instead = "");

tw_vpfile_stored look_at_vpfile(const std::string& path);

// "256,128". Throws Failure (usage) on anything else.
std::vector<int64_t> parse_shape(const std::string& text);
int64_t count_of(const std::vector<int64_t>& shape);  // virtual processors
std::string shape_text(const std::vector<int64_t>& shape);
std::vector<int64_t> shape_of(const tw_vpfile_stored& stored);

// "17", or an index in the shape as "3,5". Throws Failure (usage) on anything else, and when it is not in the shape.
int64_t parse_vp(const std::string& text, const std::vector<int64_t>& shape, const std::string& path);
// The same, or a range "3-7" of numbers.
std::pair<int64_t, int64_t> parse_vps(const std::string& text, const std::vector<int64_t>& shape,
                                      const std::string& path);

// An open vpfile, all VPs of it, for reading.
class Vpfile {
 public:
  explicit Vpfile(const std::string& path);
  Vpfile(const Vpfile&) = delete;
  Vpfile& operator=(const Vpfile&) = delete;
  ~Vpfile();
  int64_t bytes(int64_t vp) const;
  // VPs from `vp` on whose streams have nothing but what all have.
  Alike alike(int64_t vp) const;
  int64_t skip_gap(int64_t vp) const;  // bytes that were skipped
  void begin(int64_t vp) const;        // reading goes on at the begin of its stream
  // `got` tells, also on failure, how many bytes were read that are sound; 0 at the end.
  tw_status read(int64_t vp, char* data, size_t bytes, size_t& got) const {
    got = 0;
    return tw_vp_read(handle_, vp, data, bytes, &got);
  }

 private:
  tw_vpfile* handle_ = nullptr;
};

}  // namespace tool
