// HDF5 handles that close themselves, and HDF5 errors as one line.
#pragma once

#include <hdf5.h>

#include <algorithm>
#include <string>
#include <utility>

#include "folder.hpp"

namespace probe {

// The messages of the error stack in one line, the innermost first, as it contains the reason.
inline std::string hdf5_reason() {
  std::string text;
  const auto add = [](unsigned /*depth*/, const H5E_error2_t* error, void* to) -> herr_t {
    auto& line = *static_cast<std::string*>(to);
    std::string message = error->desc == nullptr ? "" : error->desc;
    std::ranges::replace(message, '\n', ' ');
    if (!message.empty() && line.find(message) == std::string::npos) line += (line.empty() ? "" : "; ") + message;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, add, &text);
  H5Eclear2(H5E_DEFAULT);
  return text.empty() ? "HDF5 gives no reason" : text;
}

// Throws Failed unless `code` is 0 or more. `what` and `path`: "cannot WHAT 'PATH': REASON".
template <typename Code>
Code must_hdf5(Code code, const char* what, const std::string& path) {
  if (code < 0) throw Failed(std::string("cannot ") + what + " '" + path + "': " + hdf5_reason());
  return code;
}

// A space or a property list, which one rank can close alone. Files and data sets are excluded: closing a file is
// collective, and other ranks may be elsewhere after a failure.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle(hid_t id, Close close, const std::string& path) : id_(must_hdf5(id, "prepare", path)), close_(close) {}
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() { close_(id_); }

  hid_t operator*() const { return id_; }

 private:
  hid_t id_;
  Close close_;
};

}  // namespace probe
