// The group of an open file, and what the classes of open files in thalweg._core share.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "_core.hpp"
#include "thalweg/group.h"
#include "thalweg/open.hpp"
#include "thalweg/status.h"

namespace thalweg_python {

// A Python object with the method send_receive (_mpi.py), and an exception that a method raised.
struct Transport {
  nanobind::object object;
  nanobind::object failure;
};

// Raises the exception of this thread's last failure.
[[noreturn]] void raise(tw_status status, Transport* transport);

class Group {
 public:
  Group();
  explicit Group(nanobind::object transport);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { tw_group_free(&handle_); }

  std::int64_t rank() const { return tw_group_rank(handle_); }
  std::int64_t size() const { return tw_group_size(handle_); }
  std::vector<std::int64_t> largest(std::vector<std::int64_t> mine);
  nanobind::bytes broadcast(const nanobind::bytes& mine, std::int64_t root);
  void agree(const std::optional<std::string>& complaint);

  tw_group* handle() const { return handle_; }
  void check(tw_status status) const {
    if (status != TW_OK) raise(status, transport_.get());
  }

 private:
  std::shared_ptr<Transport> transport_;
  tw_group* handle_ = nullptr;
};

// Memory of a Python object with the buffer protocol.
class Buffer {
 public:
  Buffer(nanobind::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) throw nanobind::python_error();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { PyBuffer_Release(&buffer_); }
  void* data() const { return buffer_.buf; }
  std::size_t size() const { return static_cast<std::size_t>(buffer_.len); }

 private:
  Py_buffer buffer_{};
};

struct FreeOptions {
  void operator()(tw_options* options) const { tw_options_free(&options); }
};
using Options = std::unique_ptr<tw_options, FreeOptions>;

// An open file of type Handle (tw_vpfile, ...), which Python closes or abandons: one call at a time, without the GIL.
template <class Handle>
class OpenHandle {
 public:
  OpenHandle(Group& group, const char* what) : group_(group), what_(what) {}
  OpenHandle(const OpenHandle&) = delete;
  OpenHandle& operator=(const OpenHandle&) = delete;

  Group& group() const { return group_; }

  // `open(group, &handle)`.
  template <class Open>
  void open(Open open) {
    tw_status status = TW_OK;
    {
      const nanobind::gil_scoped_release unlocked;
      status = open(group_.handle(), &handle_);
    }
    group_.check(status);
  }

  // `act(handle)`.
  template <class Act>
  void call(Act act) {
    tw_status status = TW_OK;
    bool closed = false;
    {
      const nanobind::gil_scoped_release unlocked;
      const std::lock_guard lock(mutex_);
      closed = handle_ == nullptr;
      if (!closed) status = act(handle_);
    }
    if (closed) throw nanobind::value_error(what_);
    group_.check(status);
  }

  // `act(&handle)`, which frees it.
  template <class Act>
  void end(Act act) {
    call([&](Handle* handle) {
      handle_ = nullptr;
      return act(&handle);
    });
  }

 private:
  Group& group_;  // kept alive by Python
  const char* what_;
  std::mutex mutex_;
  Handle* handle_ = nullptr;
};

void define_groups(nanobind::module_& m);      // _core_group.cpp
void define_files(nanobind::module_& m);       // _core_file.cpp
void define_multifiles(nanobind::module_& m);  // _core_multifile.cpp

}  // namespace thalweg_python
