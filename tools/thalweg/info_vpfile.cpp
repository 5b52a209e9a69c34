// Facts of a vpfile: shape, segments, sizes of streams.
#include "info_vpfile.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "progress.hpp"
#include "stream_sizes.hpp"
#include "vpfile.hpp"

namespace tool {
namespace {

constexpr const char* kModes[] = {"NB", "CB", "IB"};  // by TW_VP_*

// Streams differ only in the IB segment.
Json sizes_of(const std::string& path, const tw_vpfile_stored& stored, Json* each) {
  StreamSizes sizes;
  const int64_t lattice = stored.nb_bytes + stored.cb_bytes;
  const bool equal = stored.block_bytes == 0;
  if (equal) sizes.add(lattice, stored.n_vps);
  if (!equal || each != nullptr) {
    const Vpfile file(path);
    OneByOne one_by_one;
    for (int64_t vp = 0, i = 0; vp < stored.n_vps; ++i) {
      note_work("info", vp, stored.n_vps, "virtual processors");
      if (i % 256 == 0) stop_if_interrupted();
      const Alike alike = file.alike(vp);
      if (alike.lost()) throw Failure(kDamaged, alike.message, alike.status);
      const int64_t n = alike.last - vp + 1;
      const int64_t bytes = n > 1 ? lattice : file.bytes(vp);
      if (!equal) sizes.add(bytes, n);
      if (each != nullptr && n > 1 && !one_by_one.takes(n)) {
        each->push_back({{"vps", n}, {"bytes", bytes}});
      } else if (each != nullptr) {
        for (int64_t one = 0; one < n; ++one) each->push_back(bytes);
      }
      vp = alike.last + 1;
    }
  }
  return {{"total", sizes.total},
          {"min", sizes.min},
          {"max", sizes.max},
          {"empty", sizes.empty},
          {"histogram", histogram(sizes)}};
}

Json segments_of(const tw_vpfile_stored& s) {
  const auto segment = [](const char* unit, int64_t of_unit, const char* also, int64_t of_also, int64_t bytes) {
    return of_unit == 0 ? Json() : Json{{unit, of_unit}, {also, of_also}, {"bytes", bytes}};
  };
  return {{"nb", segment("record_bytes", s.nb_record, "bytes_per_vp", s.nb_bytes, s.nb_bytes * s.n_vps)},
          {"cb", segment("round_bytes", s.cb_round, "bytes_per_vp", s.cb_bytes, s.cb_bytes * s.n_vps)},
          {"ib", segment("block_bytes", s.block_bytes, "superblock_bytes", s.superblock_bytes, s.ib_bytes)}};
}

Json files_of(const std::string& path) {
  Json files = Json::array();
  for (const char* ending : kVpfileEndings) {
    struct stat status = {};
    const std::string name = path + ending;
    if (stat(name.c_str(), &status) == 0) files.push_back({{"name", name}, {"bytes", status.st_size}});
  }
  return files;
}

}  // namespace

Json describe_vpfile(const std::string& path, bool each) {
  const tw_vpfile_stored stored = look_at_vpfile(path);
  const bool closed = stored.closed != 0;
  Json info = json_head("info", path);
  info["kind"] = "vpfile";
  info["health"] = closed ? "closed" : "not closed";
  info["closed"] = closed;
  info["format"] = fmt::format("{}.{}", stored.version_major, stored.version_minor);
  info["sessions"] = stored.sessions;
  info["shape"] = shape_of(stored);
  info["vps"] = stored.n_vps;
  info["mode"] = kModes[stored.mode];
  info["segments"] = segments_of(stored);
  Json list = Json::array();
  info["sizes"] = closed ? sizes_of(path, stored, each ? &list : nullptr) : Json();
  info["files"] = files_of(path);
  if (each && closed) info["vp_bytes"] = list;
  info["exit_code"] = static_cast<int>(closed ? kFine : kDamaged);
  return info;
}

namespace {

void print_segments(const Json& segments) {
  const auto line = [](const char* name, const Json& segment, const std::string& made_of) {
    if (segment.is_null()) return;
    put(fmt::format("  {}  {}, {}\n", name, size_text(segment["bytes"]), made_of));
  };
  const auto lattice = [](const Json& segment, const char* key, const char* thing) {
    if (segment.is_null()) return std::string();
    return fmt::format("{} of each virtual processor, {} of {}", short_size(segment["bytes_per_vp"]), thing,
                       short_size(segment[key]));
  };
  const Json& ib = segments["ib"];
  line("NB", segments["nb"], lattice(segments["nb"], "record_bytes", "records"));
  line("CB", segments["cb"], lattice(segments["cb"], "round_bytes", "rounds"));
  line("IB", ib,
       ib.is_null() ? std::string()
                    : fmt::format("blocks of {} in superblocks of {}", short_size(ib["block_bytes"]),
                                  short_size(ib["superblock_bytes"])));
}

}  // namespace

void print_vpfile(const Json& info) {
  const auto text = [&](const char* key) { return info[key].get<std::string>(); };
  put(fmt::format("file            {}\n", printable(text("file"))));
  put(fmt::format("kind            vpfile, mode {}\n", text("mode")));
  put(fmt::format("health          {}\n", text("health")));
  put(fmt::format("format          {}, {} written\n", text("format"), count_text(info["sessions"], "session")));
  put(fmt::format("shape           {}: {}\n", shape_text(info["shape"].get<std::vector<int64_t>>()),
                  count_text(info["vps"], "virtual processor")));
  put("segments\n");
  print_segments(info["segments"]);
  const Json& sizes = info["sizes"];
  if (!sizes.is_null()) {
    put(fmt::format("streams         {}\n", size_text(sizes["total"])));
    put(fmt::format("per processor   min {}, mean {}, max {}; {} empty\n", short_size(sizes["min"]),
                    short_size(sizes["total"].get<int64_t>() / info["vps"].get<int64_t>()), short_size(sizes["max"]),
                    sizes["empty"].get<int64_t>()));
    print_histogram(sizes["histogram"]);
  }
  for (const Json& file : info["files"])
    put(fmt::format("stored          {}: {}\n", printable(file["name"].get<std::string>()), size_text(file["bytes"])));
  if (!info.contains("vp_bytes")) return;
  print_each("vp", 12, info["vp_bytes"]);
}

}  // namespace tool
