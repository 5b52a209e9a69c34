// Groups of thalweg._core: this task, or the tasks of a Python object with collectives.
#include "_core_group.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "thalweg/status.h"

namespace nb = nanobind;

namespace thalweg_python {

namespace {

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

}  // namespace

void raise(tw_status status, Collectives* collectives) {
  nb::object cause = nb::none();
  if (collectives != nullptr && collectives->failure.is_valid()) cause = std::exchange(collectives->failure, {});
  const nb::object error =
      nb::module_::import_("thalweg.errors").attr("from_status")(status, tw_last_errno(), text(tw_last_error()), cause);
  raise_again(error);
}

Group::Group() { check(tw_group_self(&handle_)); }

Group::Group(nb::object collectives)
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

bool Group::any(bool mine) {
  std::int64_t all = mine ? 1 : 0;
  tw_status status = TW_OK;
  {
    const nb::gil_scoped_release unlocked;
    status = tw_group_allreduce(handle_, &all, 1, TW_MAX);
  }
  check(status);
  return all != 0;
}

void Group::agree(const std::optional<std::string>& complaint) {
  tw_status status = TW_OK;
  {
    const nb::gil_scoped_release unlocked;
    status = tw_group_agree(handle_, complaint.has_value() ? TW_ERR_INVALID : TW_OK, 0,
                            complaint.has_value() ? complaint->c_str() : nullptr);
  }
  check(status);
}

void define_groups(nb::module_& m) {
  nb::class_<Group>(m, "Group", "The tasks of a file: this task, or those of an object with collectives (_mpi.py).")
      .def(nb::init<>())
      .def(nb::init<nb::object>(), nb::arg("collectives"))
      .def_prop_ro("rank", &Group::rank)
      .def_prop_ro("size", &Group::size)
      .def("any", &Group::any, nb::arg("mine"), "Whether the value is true on any task. Collective.")
      .def("agree", &Group::agree, nb::arg("complaint").none(),
           "Raises InvalidArgument when any task passes an error message. Collective.");
}

}  // namespace thalweg_python
