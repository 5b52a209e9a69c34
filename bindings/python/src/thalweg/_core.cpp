// thalweg._core: the C API for the package's Python modules.
//
// This file does not use NumPy: memory arrives as addresses, and the caller keeps it alive. Every call that may wait
// releases the interpreter's lock (GIL). A handle serves one call at a time, so threads wait for each other.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "_core.hpp"
#include "thalweg/group.h"
#include "thalweg/open.hpp"
#include "thalweg/status.h"
#include "thalweg/version.h"
#include "thalweg/vpfile.h"

namespace nb = nanobind;
using thalweg_python::text;

namespace {

using Numbers = std::vector<std::int64_t>;

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

// ---- Groups ------------------------------------------------------------------------------------------------------

// A Python object with the methods barrier, broadcast, gather, scatter (_mpi.py), and an exception raised by one of
// them.
struct Collectives {
  nb::object object;
  nb::object failure;
};
using Shared = std::shared_ptr<Collectives>;

// Calls `act(object)` in Python; returns 0, or 1 after an exception.
template <class Act>
int in_python(void* user, Act act) noexcept {
  const nb::gil_scoped_acquire locked;
  Collectives& collectives = **static_cast<Shared*>(user);
  try {
    act(collectives.object);
    return 0;
  } catch (nb::python_error& error) {
    collectives.failure = nb::borrow(error.value());
  } catch (...) {
  }
  return 1;
}

nb::object view(const void* data, std::size_t bytes, int access) {
  static char nothing;
  char* start = data != nullptr ? static_cast<char*>(const_cast<void*>(data)) : &nothing;
  return nb::steal(PyMemoryView_FromMemory(start, static_cast<Py_ssize_t>(bytes), access));
}

// On the root the memory and lengths of all; None elsewhere.
std::pair<nb::object, nb::object> all_of(const void* all, const std::size_t* bytes_of, std::int64_t size, int access) {
  if (bytes_of == nullptr) return {nb::none(), nb::none()};
  nb::list lengths;
  std::size_t sum = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    lengths.append(bytes_of[i]);
    sum += bytes_of[i];
  }
  return {view(all, sum, access), lengths};
}

std::int64_t size_of(const nb::object& collectives) { return nb::cast<std::int64_t>(collectives.attr("size")); }

int barrier(void* user) {
  return in_python(user, [](nb::object& calls) { calls.attr("barrier")(); });
}

int broadcast(void* user, void* data, std::size_t bytes, std::int64_t root) {
  return in_python(user, [&](nb::object& calls) { calls.attr("broadcast")(view(data, bytes, PyBUF_WRITE), root); });
}

int gather(void* user, const void* data, std::size_t bytes, void* all, const std::size_t* bytes_of, std::int64_t root) {
  return in_python(user, [&](nb::object& calls) {
    const auto [memory, lengths] = all_of(all, bytes_of, size_of(calls), PyBUF_WRITE);
    calls.attr("gather")(view(data, bytes, PyBUF_READ), memory, lengths, root);
  });
}

int scatter(void* user, const void* all, const std::size_t* bytes_of, void* data, std::size_t bytes,
            std::int64_t root) {
  return in_python(user, [&](nb::object& calls) {
    const auto [memory, lengths] = all_of(all, bytes_of, size_of(calls), PyBUF_READ);
    calls.attr("scatter")(memory, lengths, view(data, bytes, PyBUF_WRITE), root);
  });
}

int start_largest(void* user, std::int64_t* numbers, std::int64_t n, void** pending) {
  return in_python(user, [&](nb::object& calls) {
    const nb::object number =
        calls.attr("start_largest")(view(numbers, static_cast<std::size_t>(n) * sizeof *numbers, PyBUF_WRITE));
    *pending = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(number));
  });
}

int finish_largest(void* user, void* pending) {
  return in_python(user,
                   [&](nb::object& calls) { calls.attr("finish_largest")(reinterpret_cast<std::uintptr_t>(pending)); });
}

int duplicate(void* user, void** copy) {
  return in_python(user, [&](nb::object& calls) {
    *copy = new Shared(std::make_shared<Collectives>(Collectives{calls.attr("duplicate")(), {}}));
  });
}

void release(void* user) {
  if (Py_IsInitialized() == 0) return;  // a leak at the end of the process
  const nb::gil_scoped_acquire locked;
  (void)in_python(user, [](nb::object& calls) { calls.attr("free")(); });
  delete static_cast<Shared*>(user);
}

// Raises the exception of this thread's last failure.
[[noreturn]] void raise(tw_status status, Collectives* collectives) {
  nb::object cause = nb::none();
  if (collectives != nullptr && collectives->failure.is_valid()) cause = std::exchange(collectives->failure, {});
  const nb::object error =
      nb::module_::import_("thalweg.errors").attr("from_status")(status, tw_last_errno(), text(tw_last_error()), cause);
  thalweg_python::raise_again(error);
}

class Group {
 public:
  Group() { check(tw_group_self(&handle_)); }

  explicit Group(nb::object collectives)
      : collectives_(std::make_shared<Collectives>(Collectives{std::move(collectives), {}})) {
    tw_collectives calls{};
    calls.struct_size = sizeof calls;
    calls.rank = nb::cast<std::int64_t>(collectives_->object.attr("rank"));
    calls.size = size_of(collectives_->object);
    calls.barrier = barrier;
    calls.broadcast = broadcast;
    calls.gather = gather;
    calls.scatter = scatter;
    calls.duplicate = duplicate;
    calls.release = release;
    calls.start_largest = start_largest;
    calls.finish_largest = finish_largest;
    calls.process_id = calls.node_id = -1;
    calls.user = new Shared(collectives_);
    tw_status status = TW_OK;
    {
      const nb::gil_scoped_release unlocked;
      status = tw_group_callbacks(&calls, &handle_);
    }
    check(status);
  }

  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { tw_group_free(&handle_); }

  std::int64_t rank() const { return tw_group_rank(handle_); }
  std::int64_t size() const { return tw_group_size(handle_); }

  bool any(bool mine) {
    std::int64_t all = mine ? 1 : 0;
    tw_status status = TW_OK;
    {
      const nb::gil_scoped_release unlocked;
      status = tw_group_allreduce(handle_, &all, 1, TW_MAX);
    }
    check(status);
    return all != 0;
  }

  void agree(const std::optional<std::string>& complaint) {
    tw_status status = TW_OK;
    {
      const nb::gil_scoped_release unlocked;
      status = tw_group_agree(handle_, complaint.has_value() ? TW_ERR_INVALID : TW_OK, 0,
                              complaint.has_value() ? complaint->c_str() : nullptr);
    }
    check(status);
  }

  tw_group* handle() const { return handle_; }
  Collectives* collectives() const { return collectives_.get(); }
  void check(tw_status status) const {
    if (status != TW_OK) raise(status, collectives_.get());
  }

 private:
  Shared collectives_;
  tw_group* handle_ = nullptr;
};

// ---- Vpfiles -----------------------------------------------------------------------------------------------------

// Memory of a Python object with the buffer protocol.
class Buffer {
 public:
  Buffer(nb::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) throw nb::python_error();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { PyBuffer_Release(&buffer_); }
  void* data() const { return buffer_.buf; }
  std::size_t size() const { return static_cast<std::size_t>(buffer_.len); }

 private:
  Py_buffer buffer_{};
};

// (address, item_bytes, n_items, address of n_each or 0, item_stride, vp_strides or None)
using Memory =
    std::tuple<std::uintptr_t, std::size_t, std::size_t, std::uintptr_t, std::int64_t, std::optional<Numbers>>;

tw_vpfile_data data_of(const Memory& memory) {
  const auto& [address, item_bytes, n_items, n_each, item_stride, vp_strides] = memory;
  return {at<void>(address),        item_bytes,  n_items,
          at<std::int64_t>(n_each), item_stride, vp_strides.has_value() ? vp_strides->data() : nullptr};
}

// Saves position and end-of-file flag of VP `vp` and restores them at the end: a stream has a position of its own.
class Aside {
 public:
  Aside(tw_vpfile* file, std::int64_t vp) : file_(file), vp_(vp) {
    status_ = tw_vpfile_tell(file, vp, &position_, nullptr, nullptr);
    if (status_ == TW_OK) status_ = tw_vpfile_tell(file, vp, nullptr, &eof_, &error_);
  }
  tw_status status() const { return status_; }

  // Returns `result`, unless it is success and the restore fails.
  tw_status end(tw_status result) {
    if (result != TW_OK && error_ == 0) (void)tw_vpfile_seek(file_, vp_, 0, SEEK_CUR);
    const tw_status moved = tw_vpfile_seek(file_, vp_, position_, SEEK_SET);
    char byte = 0;
    std::size_t n = 0;  // reading there sets the flag again
    if (eof_ != 0 && tw_vpfile_read(file_, vp_, &byte, 1, &n) == TW_OK && n > 0)
      (void)tw_vpfile_seek(file_, vp_, position_, SEEK_SET);
    return result != TW_OK ? result : moved;
  }

 private:
  tw_vpfile* file_;
  std::int64_t vp_;
  std::int64_t position_ = 0;
  int eof_ = 0;
  int error_ = 0;
  tw_status status_;
};

struct FreeOptions {
  void operator()(tw_options* options) const { tw_options_free(&options); }
};

class File {
 public:
  File(Group& group, const std::optional<nb::bytes>& path, const std::string& mode, const Numbers& shape,
       const std::optional<std::pair<Numbers, Numbers>>& box, const std::string& hints)
      : group_(group) {
    tw_options* options = nullptr;
    group.check(tw_options_create(&options));
    const std::unique_ptr<tw_options, FreeOptions> owner(options);
    group.check(tw_options_set_hints(options, hints.c_str()));
    group.check(tw_options_set_shape(options, static_cast<std::int32_t>(shape.size()), shape.data()));
    if (box.has_value())
      group.check(tw_options_set_box(options, static_cast<std::int32_t>(box->first.size()), box->first.data(),
                                     box->second.data()));
    const char* name = path.has_value() ? path->c_str() : nullptr;
    tw_status status = TW_OK;
    {
      const nb::gil_scoped_release unlocked;
      status = tw_vpfile_open(group.handle(), name, thalweg::flags_of(mode), options, &handle_);
    }
    group.check(status);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() = default;  // vp.py closes or abandons it

  void close() {
    call([this](tw_vpfile* file) {
      handle_ = nullptr;
      return tw_vpfile_close(&file);
    });
  }

  void abandon() {
    call([this](tw_vpfile* file) {
      handle_ = nullptr;
      return tw_vpfile_abandon(&file);
    });
  }

  nb::tuple summary() {
    tw_vpfile_summary summary{};
    summary.struct_size = sizeof summary;
    call([&](tw_vpfile* file) { return tw_vpfile_summarize(file, &summary); });
    const auto numbers = [&](const std::int64_t* from) {
      nb::list list;
      for (std::int32_t i = 0; i < summary.n_dims; ++i) list.append(from[i]);
      return nb::tuple(list);
    };
    return nb::make_tuple(numbers(summary.shape), numbers(summary.box_start), numbers(summary.box_count), summary.mode);
  }

  nb::tuple mode() {
    tw_vpfile_summary summary{};
    summary.struct_size = sizeof summary;
    call([&](tw_vpfile* file) { return tw_vpfile_summarize(file, &summary); });
    return nb::make_tuple(summary.last_mode, summary.last_cause);
  }

  nb::list transitions() {
    nb::list all;
    std::vector<tw_vpfile_transition> changes;
    tw_vpfile_summary summary{};
    summary.struct_size = sizeof summary;
    call([&](tw_vpfile* file) {
      const tw_status status = tw_vpfile_summarize(file, &summary);
      if (status == TW_OK) changes.assign(summary.transitions, summary.transitions + summary.n_transitions);
      return status;
    });
    for (const tw_vpfile_transition& one : changes) all.append(nb::make_tuple(one.access, one.from, one.to, one.cause));
    return all;
  }

  std::int64_t local(std::int64_t vp) {
    std::int64_t local = 0;
    call([&](tw_vpfile* file) { return tw_vpfile_local(file, vp, &local); });
    return local;
  }

  void read_all(const Memory& memory, std::uintptr_t mask, std::uintptr_t counts) {
    call([&](tw_vpfile* file) {
      come_together(file);
      return tw_vpfile_read_all(file, data_of(memory), at<std::uint8_t>(mask), at<std::int64_t>(counts));
    });
  }

  void write_all(const Memory& memory, std::uintptr_t mask) {
    call([&](tw_vpfile* file) {
      come_together(file);
      return tw_vpfile_write_all(file, data_of(memory), at<std::uint8_t>(mask), nullptr);
    });
  }

  void seek_all(std::int64_t offset, std::uintptr_t offsets, int whence, std::uintptr_t mask) {
    call([&](tw_vpfile* file) {
      come_together(file);
      return tw_vpfile_seek_all(file, offset, at<std::int64_t>(offsets), whence, at<std::uint8_t>(mask));
    });
  }

  void tell_all(std::uintptr_t positions) {
    call([&](tw_vpfile* file) { return tw_vpfile_tell_all(file, at<std::int64_t>(positions), nullptr, nullptr); });
  }

  void eof_all(std::uintptr_t eof) {
    call([&](tw_vpfile* file) { return tw_vpfile_tell_all(file, nullptr, at<std::uint8_t>(eof), nullptr); });
  }

  // Size of the stream of every local VP.
  void size_all(std::uintptr_t sizes, std::int64_t n) {
    call([&](tw_vpfile* file) -> tw_status {
      for (std::int64_t local = 0; local < n; ++local) {
        std::int64_t vp = 0;
        tw_status status = tw_vpfile_number(file, local, &vp);
        if (status == TW_OK) status = tw_vpfile_size(file, vp, at<std::int64_t>(sizes) + local);
        if (status != TW_OK) return status;
      }
      return TW_OK;
    });
  }

  void flush() { call(tw_vpfile_flush_all); }
  void sync() { call(tw_vpfile_sync_all); }

  std::int64_t size(std::int64_t vp) {
    std::int64_t bytes = 0;
    call([&](tw_vpfile* file) { return tw_vpfile_size(file, vp, &bytes); });
    return bytes;
  }

  std::size_t read_at(std::int64_t vp, std::int64_t position, nb::handle to) {
    const Buffer memory(to, PyBUF_WRITABLE);
    std::size_t moved = 0;
    call([&](tw_vpfile* file) {
      std::int64_t size = 0;
      const tw_status status = tw_vpfile_size(file, vp, &size);
      if (status != TW_OK || position >= size || memory.size() == 0) return status;
      const std::size_t bytes = std::min(memory.size(), static_cast<std::size_t>(size - position));
      return aside(file, vp, position, [&] { return tw_vpfile_read(file, vp, memory.data(), bytes, &moved); });
    });
    return moved;
  }

  // Returns the position after the written bytes.
  std::int64_t write_at(std::int64_t vp, std::int64_t position, nb::handle from) {
    const Buffer memory(from, PyBUF_SIMPLE);
    std::int64_t end = position;
    call([&](tw_vpfile* file) {
      return aside(file, vp, position, [&] {
        const tw_status status = tw_vpfile_write(file, vp, memory.data(), memory.size(), nullptr);
        return status != TW_OK ? status : tw_vpfile_tell(file, vp, &end, nullptr, nullptr);
      });
    });
    return end;
  }

 private:
  // Calls `act(file)` without the GIL.
  template <class Act>
  void call(Act act) {
    tw_status status = TW_OK;
    bool closed = false;
    {
      const nb::gil_scoped_release unlocked;
      const std::lock_guard lock(mutex_);
      closed = handle_ == nullptr;
      if (!closed) status = act(handle_);
    }
    if (closed) throw nb::value_error("the vpfile is closed");
    group_.check(status);
  }

  template <class Act>
  tw_status aside(tw_vpfile* file, std::int64_t vp, std::int64_t position, Act act) {
    apart_ = true;
    Aside place(file, vp);
    if (place.status() != TW_OK) return place.status();
    const tw_status status = tw_vpfile_seek(file, vp, position, SEEK_SET);
    return place.end(status != TW_OK ? status : act());
  }

  // After calls of single VPs the library treats positions as different until a seek shows that they are equal. This
  // seek moves nothing.
  void come_together(tw_vpfile* file) {
    if (!apart_) return;
    apart_ = false;
    tw_vpfile_summary summary{};
    summary.struct_size = sizeof summary;
    if (tw_vpfile_summarize(file, &summary) != TW_OK || summary.n_local == 0) return;
    const std::vector<std::uint8_t> none(static_cast<std::size_t>(summary.n_local), 0);
    (void)tw_vpfile_seek_all(file, 0, nullptr, SEEK_CUR, none.data());
  }

  Group& group_;  // kept alive by Python
  std::mutex mutex_;
  tw_vpfile* handle_ = nullptr;
  bool apart_ = false;
};

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The C API for the package's Python modules. Private: it may change in any version.";
  m.attr("version") = tw_version_string();

  nb::dict status;
  const std::pair<const char*, tw_status> codes[] = {
      {"INVALID", TW_ERR_INVALID},
      {"UNKNOWN_HINT", TW_ERR_UNKNOWN_HINT},
      {"RANGE", TW_ERR_RANGE},
      {"MODE", TW_ERR_MODE},
      {"NOT_FOUND", TW_ERR_NOT_FOUND},
      {"EXISTS", TW_ERR_EXISTS},
      {"PERMISSION", TW_ERR_PERMISSION},
      {"UNSAFE", TW_ERR_UNSAFE},
      {"IO", TW_ERR_IO},
      {"NO_SPACE", TW_ERR_NO_SPACE},
      {"NO_MEMORY", TW_ERR_NO_MEMORY},
      {"CORRUPT", TW_ERR_CORRUPT},
      {"VERSION", TW_ERR_VERSION},
      {"NOT_CLOSED", TW_ERR_NOT_CLOSED},
      {"STOPPED", TW_ERR_STOPPED},
      {"NOT_BUILT", TW_ERR_NOT_BUILT},
      {"INTERNAL", TW_ERR_INTERNAL},
  };
  for (const auto& [name, code] : codes) status[name] = code;
  m.attr("status") = status;

  nb::class_<Group>(m, "Group", "The tasks of a file: this task, or those of an object with collectives (_mpi.py).")
      .def(nb::init<>())
      .def(nb::init<nb::object>(), nb::arg("collectives"))
      .def_prop_ro("rank", &Group::rank)
      .def_prop_ro("size", &Group::size)
      .def("any", &Group::any, nb::arg("mine"), "Whether the value is true on any task. Collective.")
      .def("agree", &Group::agree, nb::arg("complaint").none(),
           "Raises InvalidArgument when any task passes an error message. Collective.");

  nb::class_<File>(m, "File",
                   "An open vpfile. `path` None: the arguments of this task are invalid; the open fails on all tasks.")
      .def(nb::init<Group&, const std::optional<nb::bytes>&, const std::string&, const Numbers&,
                    const std::optional<std::pair<Numbers, Numbers>>&, const std::string&>(),
           nb::arg("group"), nb::arg("path").none(), nb::arg("mode"), nb::arg("shape"), nb::arg("box").none(),
           nb::arg("hints"), nb::keep_alive<1, 2>())
      .def("close", &File::close, "Collective.")
      .def("abandon", &File::abandon)
      .def("summary", &File::summary, "(shape, start of the box, its extents, mode of the file)")
      .def("mode", &File::mode, "(mode, cause) of the last collective access")
      .def("transitions", &File::transitions, "[(access, from, to, cause)]")
      .def("local", &File::local, nb::arg("vp"))
      .def("read_all", &File::read_all, nb::arg("memory"), nb::arg("mask"), nb::arg("counts"), "Collective.")
      .def("write_all", &File::write_all, nb::arg("memory"), nb::arg("mask"), "Collective.")
      .def("seek_all", &File::seek_all, nb::arg("offset"), nb::arg("offsets"), nb::arg("whence"), nb::arg("mask"))
      .def("tell_all", &File::tell_all, nb::arg("positions"))
      .def("eof_all", &File::eof_all, nb::arg("eof"))
      .def("size_all", &File::size_all, nb::arg("sizes"), nb::arg("n"))
      .def("flush", &File::flush, "Collective.")
      .def("sync", &File::sync, "Collective.")
      .def("size", &File::size, nb::arg("vp"))
      .def("read_at", &File::read_at, nb::arg("vp"), nb::arg("position"), nb::arg("to"))
      .def("write_at", &File::write_at, nb::arg("vp"), nb::arg("position"), nb::arg("from_"));

  thalweg_python::define_whole_files(m);
}
