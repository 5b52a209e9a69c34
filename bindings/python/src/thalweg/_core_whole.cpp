// The calls of thalweg._core on a whole vpfile: verify, repair, flatten, import and regions.
//
// They return their status and their results, which are valid also after a failure.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "_core.hpp"
#include "thalweg/health.h"
#include "thalweg/status.h"
#include "thalweg/vpfile.h"

namespace nb = nanobind;

namespace thalweg_python {
namespace {

using Numbers = std::vector<std::int64_t>;

// The callback of a long operation, and its exception.
struct Listener {
  nb::object progress;  // None: no callback
  nb::list findings;
  nb::object failure = {};
};

// Calls `act()` in Python; returns 0, or 1 to stop the operation.
template <class Act>
int tell(Listener& listener, Act act) noexcept {
  const nb::gil_scoped_acquire locked;
  if (listener.failure.is_valid()) return 1;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return act() ? 1 : 0;
  } catch (nb::python_error& error) {
    listener.failure = nb::borrow(error.value());
  } catch (...) {
  }
  return 1;
}

int on_progress(std::int64_t done, std::int64_t total, void* user) {
  Listener& listener = *static_cast<Listener*>(user);
  return tell(listener, [&] {
    return !listener.progress.is_none() && nb::cast<bool>(nb::bool_(listener.progress(done, total)));
  });
}

void on_finding(const char* line, void* user) {
  Listener& listener = *static_cast<Listener*>(user);
  tell(listener, [&] {
    listener.findings.append(text(line));
    return false;
  });
}

// (status, errno, message) of this thread's last operation.
nb::tuple outcome(tw_status status) {
  return status == TW_OK ? nb::make_tuple(0, 0, "") : nb::make_tuple(status, tw_last_errno(), text(tw_last_error()));
}

// The outcome of `act()`, called without the interpreter's lock. An exception of the callback is raised again.
template <class Act>
nb::tuple carried_out(const Listener& listener, Act act) {
  tw_status status = TW_OK;
  {
    const nb::gil_scoped_release unlocked;
    status = act();
  }
  nb::tuple result = outcome(status);
  if (listener.failure.is_valid()) raise_again(listener.failure);
  return result;
}

nb::tuple told(const nb::tuple& outcome, const tw_health& health, const Listener& listener) {
  return nb::make_tuple(outcome, nb::make_tuple(health.n_logical, health.damaged_logical, health.logical_bytes,
                                                health.closed != 0, health.repaired != 0, listener.findings));
}

nb::tuple verify(const nb::bytes& path, nb::object progress) {
  Listener listener{std::move(progress), {}};
  tw_health health{};
  health.struct_size = sizeof health;
  const nb::tuple status = carried_out(listener, [&, name = path.c_str()] {
    return tw_vpfile_verify(name, on_finding, on_progress, &listener, &health);
  });
  return told(status, health, listener);
}

nb::tuple repair(const nb::bytes& path, const Numbers& shape, bool force, nb::object progress) {
  Listener listener{std::move(progress), {}};
  tw_health health{};
  health.struct_size = sizeof health;
  const nb::tuple status = carried_out(listener, [&, name = path.c_str()] {
    return tw_vpfile_repair(name, force ? TW_REPAIR_FORCE : 0, static_cast<std::int32_t>(shape.size()), shape.data(),
                            on_finding, on_progress, &listener, &health);
  });
  return told(status, health, listener);
}

nb::tuple flatten(const nb::bytes& from, const nb::bytes& to, std::int64_t record_bytes, unsigned char fill,
                  nb::object progress) {
  Listener listener{std::move(progress), {}};
  return carried_out(listener, [&, source = from.c_str(), target = to.c_str()] {
    return tw_vpfile_flatten(source, target, record_bytes, fill, on_progress, &listener);
  });
}

nb::tuple import_array(const nb::bytes& path, const Numbers& shape, std::int64_t record_bytes) {
  return carried_out({nb::none(), {}}, [&, name = path.c_str()] {
    return tw_vpfile_import(name, static_cast<std::int32_t>(shape.size()), shape.data(), record_bytes);
  });
}

nb::tuple is_vpfile(const nb::bytes& path) {
  tw_vpfile_stored stored{};
  stored.struct_size = sizeof stored;
  const nb::tuple status = carried_out({nb::none(), {}}, [&, name = path.c_str()] {
    const tw_status looked = tw_vpfile_look(name, &stored);
    return looked == TW_ERR_CORRUPT || looked == TW_ERR_VERSION ? tw_status{TW_OK} : looked;
  });
  return nb::make_tuple(status, stored.is_vpfile != 0);
}

nb::tuple look(const nb::bytes& path) {
  tw_vpfile_stored stored{};
  stored.struct_size = sizeof stored;
  const nb::tuple status =
      carried_out({nb::none(), {}}, [&, name = path.c_str()] { return tw_vpfile_look(name, &stored); });
  nb::list shape;
  for (std::int32_t i = 0; i < stored.n_dims; ++i) shape.append(stored.shape[i]);
  nb::dict facts;
  facts["shape"] = nb::tuple(shape);
  facts["mode"] = stored.mode;
  facts["closed"] = stored.closed != 0;
  facts["version"] = nb::make_tuple(stored.version_major, stored.version_minor);
  facts["sessions"] = stored.sessions;
  facts["nb_record"] = stored.nb_record;
  facts["nb_bytes"] = stored.nb_bytes;
  facts["cb_round"] = stored.cb_round;
  facts["cb_bytes"] = stored.cb_bytes;
  facts["block_bytes"] = stored.block_bytes;
  facts["superblock_bytes"] = stored.superblock_bytes;
  facts["ib_bytes"] = stored.ib_bytes;
  return nb::make_tuple(status, facts);
}

nb::tuple regions(const nb::bytes& path) {
  std::vector<tw_vpfile_region> all;
  const auto keep = [](const tw_vpfile_region* region, void* user) noexcept {
    static_cast<std::vector<tw_vpfile_region>*>(user)->push_back(*region);
    return 0;
  };
  const nb::tuple status =
      carried_out({nb::none(), {}}, [&, name = path.c_str()] { return tw_vpfile_regions(name, keep, &all); });
  nb::list list;
  for (const tw_vpfile_region& one : all)
    list.append(nb::make_tuple(one.kind, one.offset, one.bytes, one.superblock, one.first_vp, one.last_vp));
  return nb::make_tuple(status, list);
}

}  // namespace

void define_whole_files(nb::module_& m) {
  m.def("verify", verify, nb::arg("path"), nb::arg("progress").none(), "(outcome, health)");
  m.def("repair", repair, nb::arg("path"), nb::arg("shape"), nb::arg("force"), nb::arg("progress").none(),
        "(outcome, health)");
  m.def("flatten", flatten, nb::arg("from_"), nb::arg("to"), nb::arg("record_bytes"), nb::arg("fill"),
        nb::arg("progress").none(), "outcome");
  m.def("import_array", import_array, nb::arg("path"), nb::arg("shape"), nb::arg("record_bytes"), "outcome");
  m.def("is_vpfile", is_vpfile, nb::arg("path"), "(outcome, yes)");
  m.def("look", look, nb::arg("path"), "(outcome, fields)");
  m.def("regions", regions, nb::arg("path"), "(outcome, [(kind, offset, bytes, superblock, first_vp, last_vp)])");
}

}  // namespace thalweg_python
