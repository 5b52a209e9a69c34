// Groups of thalweg._core: this task, or the tasks of a Python object that sends messages.
#include "_core_group.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "thalweg/status.h"

namespace nb = nanobind;

namespace thalweg_python {

namespace {

using Shared = std::shared_ptr<Transport>;

// Calls `act(object)` in Python; returns 0, or 1 after an exception.
template <class Act>
int in_python(void* user, Act act) noexcept {
  const nb::gil_scoped_acquire locked;
  Transport& transport = **static_cast<Shared*>(user);
  try {
    act(transport.object);
    return 0;
  } catch (nb::python_error& error) {
    transport.failure = nb::borrow(error.value());
  } catch (...) {
  }
  return 1;
}

nb::object view(const void* data, std::size_t bytes, int access) {
  static char nothing;
  char* start = data != nullptr ? static_cast<char*>(const_cast<void*>(data)) : &nothing;
  return nb::steal(PyMemoryView_FromMemory(start, static_cast<Py_ssize_t>(bytes), access));
}

std::int64_t size_of(const nb::object& transport) { return nb::cast<std::int64_t>(transport.attr("size")); }

int send_receive(void* user, const void* out, std::size_t out_bytes, std::int64_t to, void* in, std::size_t in_bytes,
                 std::int64_t from) {
  return in_python(user, [&](nb::object& calls) {
    calls.attr("send_receive")(view(out, out_bytes, PyBUF_READ), to, view(in, in_bytes, PyBUF_WRITE), from);
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
    *copy = new Shared(std::make_shared<Transport>(Transport{calls.attr("duplicate")(), {}}));
  });
}

void release(void* user) {
  if (Py_IsInitialized() == 0) return;  // a leak at the end of the process
  const nb::gil_scoped_acquire locked;
  (void)in_python(user, [](nb::object& calls) { calls.attr("free")(); });
  delete static_cast<Shared*>(user);
}

}  // namespace

void raise(tw_status status, Transport* transport) {
  nb::object cause = nb::none();
  if (transport != nullptr && transport->failure.is_valid()) cause = std::exchange(transport->failure, {});
  const nb::object error =
      nb::module_::import_("thalweg.errors").attr("from_status")(status, tw_last_errno(), text(tw_last_error()), cause);
  raise_again(error);
}

Group::Group() { check(tw_group_self(&handle_)); }

Group::Group(nb::object transport) : transport_(std::make_shared<Transport>(Transport{std::move(transport), {}})) {
  tw_transport calls{};
  calls.struct_size = sizeof calls;
  calls.rank = nb::cast<std::int64_t>(transport_->object.attr("rank"));
  calls.size = size_of(transport_->object);
  calls.send_receive = send_receive;
  calls.duplicate = duplicate;
  calls.release = release;
  calls.start_largest = start_largest;
  calls.finish_largest = finish_largest;
  calls.process_id = calls.node_id = -1;
  calls.user = new Shared(transport_);
  tw_status status = TW_OK;
  {
    const nb::gil_scoped_release unlocked;
    status = tw_group_callbacks(&calls, &handle_);
  }
  check(status);
}

std::vector<std::int64_t> Group::largest(std::vector<std::int64_t> mine) {
  tw_status status = TW_OK;
  {
    const nb::gil_scoped_release unlocked;
    status = tw_group_allreduce(handle_, mine.data(), static_cast<std::int64_t>(mine.size()), TW_MAX);
  }
  check(status);
  return mine;
}

nb::bytes Group::broadcast(const nb::bytes& mine, std::int64_t root) {
  const std::int64_t length = largest({rank() == root ? static_cast<std::int64_t>(mine.size()) : 0})[0];
  std::string data(static_cast<std::size_t>(length), '\0');
  if (rank() == root) data.assign(mine.c_str(), mine.size());
  tw_status status = TW_OK;
  {
    const nb::gil_scoped_release unlocked;
    status = tw_group_broadcast(handle_, data.data(), data.size(), root);
  }
  check(status);
  return nb::bytes(data.data(), data.size());
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
  nb::class_<Group>(m, "Group", "The tasks of a file: this task, or those of an object that sends messages (_mpi.py).")
      .def(nb::init<>())
      .def(nb::init<nb::object>(), nb::arg("transport"))
      .def_prop_ro("rank", &Group::rank)
      .def_prop_ro("size", &Group::size)
      .def("largest", &Group::largest, nb::arg("mine"), "The maximum of each number over all tasks. Collective.")
      .def("broadcast", &Group::broadcast, nb::arg("mine"), nb::arg("root"), "The bytes of one task. Collective.")
      .def("agree", &Group::agree, nb::arg("complaint").none(),
           "Raises InvalidArgument when any task passes an error message. Collective.");
}

}  // namespace thalweg_python
