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
#include "_core_group.hpp"
#include "thalweg/status.h"
#include "thalweg/version.h"
#include "thalweg/vpfile.h"

namespace nb = nanobind;
using thalweg_python::Buffer;
using thalweg_python::Group;
using thalweg_python::Options;
using thalweg_python::text;

namespace {

using Numbers = std::vector<std::int64_t>;

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

// ---- Vpfiles -----------------------------------------------------------------------------------------------------

// (address, item_bytes, n_items, address of n_each or 0, item_stride, vp_strides or None)
using Memory =
    std::tuple<std::uintptr_t, std::size_t, std::int64_t, std::uintptr_t, std::int64_t, std::optional<Numbers>>;

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

class File {
 public:
  File(Group& group, const std::optional<nb::bytes>& path, const std::string& mode, const Numbers& shape,
       const std::optional<std::pair<Numbers, Numbers>>& box, const std::string& hints)
      : file_(group, "the vpfile is closed") {
    tw_options* options = nullptr;
    group.check(tw_options_create(&options));
    const Options owner(options);
    group.check(tw_options_set_hints(options, hints.c_str()));
    group.check(tw_options_set_shape(options, static_cast<std::int32_t>(shape.size()), shape.data()));
    if (box.has_value())
      group.check(tw_options_set_box(options, static_cast<std::int32_t>(box->first.size()), box->first.data(),
                                     box->second.data()));
    const char* name = path.has_value() ? path->c_str() : nullptr;
    file_.open([&](tw_group* tasks, tw_vpfile** handle) {
      return tw_vpfile_open(tasks, name, thalweg::flags_of(mode), options, handle);
    });
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() = default;  // vp.py closes or abandons it

  void close() { file_.end(tw_vpfile_close); }
  void abandon() { file_.end(tw_vpfile_abandon); }

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
  template <class Act>
  void call(Act act) {
    file_.call(act);
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

  thalweg_python::OpenHandle<tw_vpfile> file_;
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

  thalweg_python::define_groups(m);

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

  thalweg_python::define_files(m);
  thalweg_python::define_multifiles(m);
  thalweg_python::define_whole_files(m);
}
