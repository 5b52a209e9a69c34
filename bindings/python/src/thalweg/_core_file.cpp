// Shared files and views of thalweg._core. Memory arrives as contiguous buffers.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "_core_group.hpp"
#include "_core_request.hpp"
#include "thalweg/file.h"
#include "thalweg/view.h"

namespace nb = nanobind;

namespace thalweg_python {

namespace {

using Numbers = std::vector<std::int64_t>;

void check(tw_status status) {
  if (status != TW_OK) raise(status, nullptr);
}

// ---- Views --------------------------------------------------------------------------------------------------------

struct View {
  explicit View(tw_view* made) : handle(made) {}
  View(View&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() { tw_view_free(&handle); }

  tw_view* handle;
};

// The view that `make(element, &view)` makes. No element: a byte.
template <class Make>
View made_of(const View* element, Make make) {
  tw_view* view = nullptr;
  check(make(element != nullptr ? element->handle : nullptr, &view));
  return View(view);
}

tw_array_order order_of(bool row_major) { return row_major ? TW_ROW_MAJOR : TW_COLUMN_MAJOR; }

View contiguous(std::int64_t count, const View* element) {
  return made_of(element, [&](const tw_view* of, tw_view** view) { return tw_view_contiguous(count, of, view); });
}

View strided(std::int64_t count, std::int64_t block, std::int64_t stride, const View* element) {
  return made_of(element,
                 [&](const tw_view* of, tw_view** view) { return tw_view_strided(count, block, stride, of, view); });
}

// `lengths` and `displacements` are equally long.
View indexed(const Numbers& displacements, const Numbers& lengths, const View* element) {
  return made_of(element, [&](const tw_view* of, tw_view** view) {
    return tw_view_indexed(static_cast<std::int64_t>(lengths.size()), displacements.data(), lengths.data(), of, view);
  });
}

View structure(const Numbers& displacements, const Numbers& lengths, const std::vector<const View*>& elements) {
  std::vector<const tw_view*> handles;
  for (const View* element : elements) handles.push_back(element->handle);
  return made_of(nullptr, [&](const tw_view*, tw_view** view) {
    return tw_view_struct(static_cast<std::int64_t>(lengths.size()), displacements.data(), lengths.data(),
                          handles.data(), view);
  });
}

// Each slice: (extent, start, count).
View subarray(const std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>& slices, bool row_major,
              const View* element) {
  std::vector<tw_slice> all;
  for (const auto& [size, start, count] : slices) all.push_back({size, start, count});
  return made_of(element, [&](const tw_view* of, tw_view** view) {
    return tw_view_subarray(static_cast<std::int32_t>(all.size()), all.data(), order_of(row_major), of, view);
  });
}

// Each dimension: (extent, tasks, block, distribution).
View distributed(const std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, tw_distribution>>& dimensions,
                 std::int64_t rank, bool row_major, const View* element) {
  std::vector<tw_distributed_dim> all;
  for (const auto& [size, tasks, block, how] : dimensions) all.push_back({size, tasks, block, how});
  return made_of(element, [&](const tw_view* of, tw_view** view) {
    return tw_view_distributed(static_cast<std::int32_t>(all.size()), all.data(), rank, order_of(row_major), of, view);
  });
}

View resized(const View& of, std::int64_t extent) {
  return made_of(&of, [&](const tw_view* view, tw_view** copy) { return tw_view_resized(view, extent, copy); });
}

// ---- Files --------------------------------------------------------------------------------------------------------

// Dimensions of an array in the file: (global, start, count, halo_before, halo_after) of each dimension.
using Dims = std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>>;

class SharedFile {
 public:
  SharedFile(Group& group, const std::optional<nb::bytes>& path, const std::string& mode, const std::string& hints)
      : file_(group, "the file is closed") {
    tw_options* options = nullptr;
    tw_status status = tw_options_create(&options);
    const Options owner(options);
    if (status == TW_OK) status = tw_options_set_hints(options, hints.c_str());
    const char* name = path.has_value() && status == TW_OK ? path->c_str() : nullptr;
    file_.open([&](tw_group* tasks, tw_file** handle) {
      return tw_file_open(tasks, name, thalweg::flags_of(mode), options, handle);
    });
  }

  void close() { file_.end(tw_file_close); }
  void abandon() { file_.end(tw_file_abandon); }
  void sync() { file_.call(tw_file_sync); }
  void truncate(std::int64_t bytes) {
    file_.call([&](tw_file* file) { return tw_file_truncate(file, bytes); });
  }
  void preallocate(std::size_t bytes, std::int64_t offset) {
    file_.call([&](tw_file* file) { return tw_file_preallocate(file, bytes, offset); });
  }
  std::int64_t size() {
    return number([](tw_file* file, std::int64_t* found) { return tw_file_size(file, found); });
  }
  std::int64_t end() {
    return number([](tw_file* file, std::int64_t* found) { return tw_file_end(file, found); });
  }
  std::int64_t seek(std::int64_t offset, int whence) {
    return number([&](tw_file* file, std::int64_t* found) { return tw_file_seek(file, offset, whence, found); });
  }
  std::int64_t seek_view(std::int64_t offset, int whence) {
    return number([&](tw_file* file, std::int64_t* found) { return tw_file_seek_view(file, offset, whence, found); });
  }
  std::int64_t view_offset(std::int64_t position) {
    return number([&](tw_file* file, std::int64_t* found) { return tw_file_view_offset(file, position, found); });
  }
  void set_view(std::int64_t displacement, const View* view) {
    file_.call(
        [&](tw_file* file) { return tw_file_set_view(file, displacement, view != nullptr ? view->handle : nullptr); });
  }
  std::string last_plan() {
    std::string plan;
    file_.call([&](tw_file* file) {
      plan = tw_file_last_plan(file);
      return TW_OK;
    });
    return plan;
  }

  // Bytes moved. `memory` is a str: why this task's arguments are invalid; a collective access fails on all tasks.
  std::size_t access(bool writes, bool collective, tw_placement placement, std::int64_t offset, nb::handle memory) {
    std::size_t moved = 0;
    const Access given(writes, placement, offset, memory);
    file_.call([&](tw_file* file) {
      return collective ? tw_file_access_all(file, nullptr, &given.access, &moved)
                        : tw_file_access(file, &given.access, &moved);
    });
    return moved;
  }

  Request start(bool writes, bool collective, tw_placement placement, std::int64_t offset, nb::handle memory) {
    tw_request* request = nullptr;
    Access given(writes, placement, offset, memory);
    file_.call([&](tw_file* file) {
      return collective ? tw_file_iaccess_all(file, nullptr, &given.access, &request)
                        : tw_file_iaccess(file, &given.access, &request);
    });
    return Request(request, std::move(given.buffer), std::move(given.extent));
  }

  std::size_t array(bool writes, nb::handle memory, std::size_t item_bytes, const Dims& dims, bool row_major,
                    std::int64_t offset) {
    const Buffer buffer(memory, writes ? PyBUF_SIMPLE : PyBUF_WRITABLE);
    const std::vector<tw_dim> all = dims_of(dims);
    const auto n = static_cast<std::int32_t>(all.size());
    std::size_t moved = writes ? bytes_of(all, item_bytes) : 0;
    file_.call([&](tw_file* file) {
      return writes ? tw_file_write_array(file, buffer.data(), item_bytes, n, all.data(), order_of(row_major), offset)
                    : tw_file_read_array(file, buffer.data(), item_bytes, n, all.data(), order_of(row_major), offset,
                                         &moved);
    });
    return moved;
  }

  Request start_array(bool writes, nb::handle memory, std::size_t item_bytes, const Dims& dims, bool row_major,
                      std::int64_t offset) {
    auto buffer = std::make_unique<Buffer>(memory, writes ? PyBUF_SIMPLE : PyBUF_WRITABLE);
    const std::vector<tw_dim> all = dims_of(dims);
    const auto n = static_cast<std::int32_t>(all.size());
    tw_request* request = nullptr;
    file_.call([&](tw_file* file) {
      return writes ? tw_file_iwrite_array(file, buffer->data(), item_bytes, n, all.data(), order_of(row_major), offset,
                                           &request)
                    : tw_file_iread_array(file, buffer->data(), item_bytes, n, all.data(), order_of(row_major), offset,
                                          &request);
    });
    return Request(request, std::move(buffer));
  }

 private:
  // The arguments of tw_file_access(), with the memory that they name.
  struct Access {
    Access(bool writes, tw_placement placement, std::int64_t offset, nb::handle memory)
        : extent(std::make_unique<tw_extent>()) {
      access.struct_size = sizeof access;
      access.direction = writes ? TW_ACCESS_WRITE : TW_ACCESS_READ;
      access.placement = placement;
      access.offset = offset;
      if (PyUnicode_Check(memory.ptr())) {
        complaint = nb::cast<std::string>(memory);
        access.status = TW_ERR_INVALID;
        access.message = complaint.c_str();
        return;
      }
      buffer = std::make_unique<Buffer>(memory, writes ? PyBUF_SIMPLE : PyBUF_WRITABLE);
      *extent = {buffer->data(), static_cast<std::int64_t>(buffer->size()), 0};
      access.extents = extent.get();
      access.n = 1;
    }

    tw_access access{};
    std::string complaint;
    std::unique_ptr<tw_extent> extent;
    std::unique_ptr<Buffer> buffer;
  };

  template <class Ask>
  std::int64_t number(Ask ask) {
    std::int64_t found = 0;
    file_.call([&](tw_file* file) { return ask(file, &found); });
    return found;
  }

  static std::vector<tw_dim> dims_of(const Dims& dims) {
    std::vector<tw_dim> all;
    for (const auto& [global, start, count, before, after] : dims) all.push_back({global, start, count, before, after});
    return all;
  }

  static std::size_t bytes_of(const std::vector<tw_dim>& dims, std::size_t item_bytes) {
    for (const tw_dim& dim : dims) item_bytes *= static_cast<std::size_t>(dim.count);
    return item_bytes;
  }

  OpenHandle<tw_file> file_;
};

}  // namespace

void define_files(nb::module_& m) {
  nb::class_<View>(m, "View", "Which bytes of a shared file a task sees.")
      .def_prop_ro("size", [](const View& view) { return tw_view_size(view.handle); })
      .def_prop_ro("extent", [](const View& view) { return tw_view_extent(view.handle); });
  m.def("contiguous", contiguous, nb::arg("count"), nb::arg("element").none());
  m.def("strided", strided, nb::arg("count"), nb::arg("block"), nb::arg("stride"), nb::arg("element").none());
  m.def("indexed", indexed, nb::arg("displacements"), nb::arg("lengths"), nb::arg("element").none());
  m.def("structure", structure, nb::arg("displacements"), nb::arg("lengths"), nb::arg("elements"));
  m.def("subarray", subarray, nb::arg("slices"), nb::arg("row_major"), nb::arg("element").none());
  m.def("distributed", distributed, nb::arg("dimensions"), nb::arg("rank"), nb::arg("row_major"),
        nb::arg("element").none());
  m.def("resized", resized, nb::arg("view"), nb::arg("extent"));

  nb::class_<Request>(m, "Request", "A nonblocking operation.")
      .def("wait", &Request::wait, "Bytes moved.")
      .def("done", &Request::done);
  nb::class_<SharedFile>(
      m, "SharedFile",
      "An open shared file. `path` None: the arguments of this task are invalid; the open fails on all tasks.")
      .def(nb::init<Group&, const std::optional<nb::bytes>&, const std::string&, const std::string&>(),
           nb::arg("group"), nb::arg("path").none(), nb::arg("mode"), nb::arg("hints"), nb::keep_alive<1, 2>())
      .def("close", &SharedFile::close, "Collective.")
      .def("abandon", &SharedFile::abandon)
      .def("sync", &SharedFile::sync, "Collective.")
      .def("truncate", &SharedFile::truncate, nb::arg("nbytes"), "Collective.")
      .def("preallocate", &SharedFile::preallocate, nb::arg("nbytes"), nb::arg("offset"), "Collective.")
      .def("size", &SharedFile::size, "Collective.")
      .def("end", &SharedFile::end)
      .def("seek", &SharedFile::seek, nb::arg("offset"), nb::arg("whence"), "Collective.")
      .def("seek_view", &SharedFile::seek_view, nb::arg("offset"), nb::arg("whence"))
      .def("view_offset", &SharedFile::view_offset, nb::arg("position"))
      .def("set_view", &SharedFile::set_view, nb::arg("displacement"), nb::arg("view").none(), "Collective.")
      .def("last_plan", &SharedFile::last_plan)
      .def("access", &SharedFile::access, nb::arg("writes"), nb::arg("collective"), nb::arg("placement"),
           nb::arg("offset"), nb::arg("memory"))
      .def("start", &SharedFile::start, nb::arg("writes"), nb::arg("collective"), nb::arg("placement"),
           nb::arg("offset"), nb::arg("memory"))
      .def("array", &SharedFile::array, nb::arg("writes"), nb::arg("memory"), nb::arg("item_bytes"), nb::arg("dims"),
           nb::arg("row_major"), nb::arg("offset"), "Collective.")
      .def("start_array", &SharedFile::start_array, nb::arg("writes"), nb::arg("memory"), nb::arg("item_bytes"),
           nb::arg("dims"), nb::arg("row_major"), nb::arg("offset"), "Collective.");
}

}  // namespace thalweg_python
