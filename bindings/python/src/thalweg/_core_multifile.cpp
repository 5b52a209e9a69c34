// Multifiles of thalweg._core. Names are bytes; the memory of buffers is used during the call only.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <vector>

#include "_core_group.hpp"
#include "_core_request.hpp"
#include "thalweg/multifile.h"

namespace nb = nanobind;

namespace thalweg_python {

namespace {

using Numbers = std::vector<std::int64_t>;

class Multifile {
 public:
  Multifile(Group& group, const std::optional<nb::bytes>& path, const std::string& mode, std::int64_t n_logical,
            const std::optional<Numbers>& ranks, bool recovers, const std::string& hints)
      : file_(group, "the multifile is closed") {
    tw_options* options = nullptr;
    std::optional<nb::python_error> mine;  // what this task alone finds wrong: the open then fails on all tasks
    try {
      group.check(tw_options_create(&options));
      group.check(tw_options_set_hints(options, hints.c_str()));
      if (ranks.has_value())
        group.check(tw_options_set_ranks(options, n_logical, ranks->data(), static_cast<std::int64_t>(ranks->size())));
    } catch (nb::python_error& error) {
      mine.emplace(std::move(error));
    }
    const Options owner(options);
    const char* name = path.has_value() && !mine.has_value() ? path->c_str() : nullptr;
    const std::int32_t flags = thalweg::flags_of(mode) | (recovers ? TW_RECOVER : 0);
    try {
      file_.open([&](tw_group* tasks, tw_multifile** handle) {
        return tw_multifile_open(tasks, name, flags, options, handle);
      });
    } catch (nb::python_error&) {
      if (!mine.has_value()) throw;
    }
    if (mine.has_value()) throw std::move(*mine);
  }

  void close() { file_.end(tw_multifile_close); }
  void abandon() { file_.end(tw_multifile_abandon); }
  void flush() { file_.call(tw_multifile_flush); }
  void sync() { file_.call(tw_multifile_sync); }

  Request begin(bool syncs) {
    tw_request* request = nullptr;
    file_.call([&](tw_multifile* file) {
      return syncs ? tw_multifile_isync(file, &request) : tw_multifile_iflush(file, &request);
    });
    return Request(request);
  }

  // Rank of the current logical file; -1: this handle serves none.
  std::int64_t current() {
    std::int64_t rank = -1;
    file_.call([&](tw_multifile* file) { return tw_multifile_tell(file, nullptr, &rank); });
    return rank;
  }

  void write_at(std::int64_t rank, std::int64_t position, nb::handle from) {
    const Buffer memory(from, PyBUF_SIMPLE);
    file_.call([&](tw_multifile* file) {
      const tw_status status = tw_multifile_seek_to(file, rank, position);
      return status != TW_OK ? status : tw_multifile_write(file, memory.data(), memory.size());
    });
  }

  std::size_t read_at(std::int64_t rank, std::int64_t position, nb::handle to) {
    const Buffer memory(to, PyBUF_WRITABLE);
    std::size_t got = 0;
    file_.call([&](tw_multifile* file) {
      const tw_status status = tw_multifile_seek_to(file, rank, position);
      return status != TW_OK ? status : tw_multifile_read(file, memory.data(), memory.size(), &got);
    });
    return got;
  }

  void check_rank(std::int64_t rank) {
    file_.call([&](tw_multifile* file) { return tw_multifile_seek_to(file, rank, -1); });
  }

  std::int64_t size(std::int64_t rank) {
    std::int64_t bytes = 0;
    file_.call([&](tw_multifile* file) { return tw_multifile_size(file, rank, &bytes); });
    return bytes;
  }

  // (name, permissions, part)
  nb::tuple name(std::int64_t rank) {
    std::array<char, 4097> name{};
    std::size_t length = 0;
    std::uint32_t permissions = 0;
    std::int64_t part = -1;
    file_.call([&](tw_multifile* file) {
      const tw_status status = tw_multifile_name(file, rank, name.data(), name.size(), &length, &permissions);
      return status != TW_OK ? status : tw_multifile_part(file, rank, &part);
    });
    return nb::make_tuple(nb::bytes(name.data(), length), permissions, part);
  }

  void set_name(std::int64_t rank, const nb::bytes& name, std::uint32_t permissions) {
    file_.call([&](tw_multifile* file) {
      const tw_status status = tw_multifile_seek_to(file, rank, -1);
      return status != TW_OK ? status : tw_multifile_set_name(file, name.c_str(), permissions);
    });
  }

  // `part` -1: none. Returns -1 where there is none.
  std::int64_t find(const nb::bytes& name, std::int64_t part) {
    std::int64_t rank = -1;
    file_.call([&](tw_multifile* file) {
      const tw_status status = part < 0 ? tw_multifile_find(file, name.c_str(), &rank)
                                        : tw_multifile_find_part(file, name.c_str(), part, &rank);
      return status == TW_ERR_NOT_FOUND ? TW_OK : status;
    });
    return rank;
  }

  std::int64_t add(const nb::bytes& name, std::int64_t part, std::uint32_t permissions) {
    std::int64_t number = -1;
    file_.call([&](tw_multifile* file) {
      const tw_status status = part < 0 ? tw_multifile_add(file, name.c_str(), permissions)
                                        : tw_multifile_add_part(file, name.c_str(), part, permissions);
      return status != TW_OK ? status : tw_multifile_tell(file, nullptr, &number);
    });
    return number;
  }

  // The last of the ranks from `rank` on of which nothing is stored; `rank` where something is.
  std::int64_t alike(std::int64_t rank) {
    std::int64_t last = rank;
    file_.call([&](tw_multifile* file) { return tw_multifile_alike(file, rank, &last); });
    return last;
  }

  nb::object attribute(const nb::bytes& key) {
    std::optional<std::vector<char>> copy;
    file_.call([&](tw_multifile* file) {
      const void* value = nullptr;
      std::size_t bytes = 0;
      const tw_status status = tw_multifile_attribute(file, key.c_str(), &value, &bytes);
      if (status == TW_OK) copy.emplace(static_cast<const char*>(value), static_cast<const char*>(value) + bytes);
      return status == TW_ERR_NOT_FOUND ? TW_OK : status;
    });
    return copy.has_value() ? nb::object(nb::bytes(copy->data(), copy->size())) : nb::object(nb::none());
  }

  void set_attribute(const nb::bytes& key, const nb::bytes& value) {
    file_.call(
        [&](tw_multifile* file) { return tw_multifile_set_attribute(file, key.c_str(), value.c_str(), value.size()); });
  }

  std::vector<nb::bytes> attribute_keys() {
    std::vector<std::string> keys;
    file_.call([&](tw_multifile* file) {
      const char* key = nullptr;
      tw_status status = TW_OK;
      for (std::int64_t i = 0; (status = tw_multifile_attribute_key(file, i, &key)) == TW_OK; ++i)
        keys.emplace_back(key);
      return status == TW_ERR_NOT_FOUND ? TW_OK : status;
    });
    std::vector<nb::bytes> all;
    for (const std::string& key : keys) all.emplace_back(key.data(), key.size());
    return all;
  }

  nb::dict summary() {
    tw_multifile_summary summary{};
    summary.struct_size = sizeof summary;
    file_.call([&](tw_multifile* file) { return tw_multifile_summarize(file, &summary); });
    nb::dict all;
    all["n_logical"] = summary.n_logical;
    all["n_physical"] = summary.n_physical;
    all["n_planned"] = summary.n_planned;
    all["checksum"] = summary.checksum == TW_CHECKSUM_CRC32C ? "crc32c" : "none";
    all["alignment_bytes"] = summary.alignment_bytes;
    all["granule_bytes"] = summary.granule_bytes;
    all["sessions"] = summary.sessions;
    all["closed"] = summary.closed != 0;
    all["recovered"] = summary.recovered != 0;
    all["uuid"] = summary.uuid;
    all["strategy"] = text(summary.strategy);
    return all;
  }

 private:
  OpenHandle<tw_multifile> file_;
};

}  // namespace

void define_multifiles(nb::module_& m) {
  nb::class_<Multifile>(
      m, "Multifile",
      "An open multifile. `path` None: the arguments of this task are invalid; the open fails on all tasks.")
      .def(nb::init<Group&, const std::optional<nb::bytes>&, const std::string&, std::int64_t,
                    const std::optional<Numbers>&, bool, const std::string&>(),
           nb::arg("group"), nb::arg("path").none(), nb::arg("mode"), nb::arg("n_logical"), nb::arg("ranks").none(),
           nb::arg("recovers"), nb::arg("hints"), nb::keep_alive<1, 2>())
      .def("close", &Multifile::close, "Collective.")
      .def("abandon", &Multifile::abandon)
      .def("flush", &Multifile::flush)
      .def("sync", &Multifile::sync)
      .def("begin", &Multifile::begin, nb::arg("syncs"))
      .def("current", &Multifile::current)
      .def("write_at", &Multifile::write_at, nb::arg("rank"), nb::arg("position"), nb::arg("from_"))
      .def("read_at", &Multifile::read_at, nb::arg("rank"), nb::arg("position"), nb::arg("to"))
      .def("check_rank", &Multifile::check_rank, nb::arg("rank"))
      .def("size", &Multifile::size, nb::arg("rank"))
      .def("name", &Multifile::name, nb::arg("rank"))
      .def("set_name", &Multifile::set_name, nb::arg("rank"), nb::arg("name"), nb::arg("permissions"))
      .def("find", &Multifile::find, nb::arg("name"), nb::arg("part"))
      .def("add", &Multifile::add, nb::arg("name"), nb::arg("part"), nb::arg("permissions"))
      .def("alike", &Multifile::alike, nb::arg("rank"))
      .def("attribute", &Multifile::attribute, nb::arg("key"))
      .def("set_attribute", &Multifile::set_attribute, nb::arg("key"), nb::arg("value"))
      .def("attribute_keys", &Multifile::attribute_keys)
      .def("summary", &Multifile::summary);
}

}  // namespace thalweg_python
