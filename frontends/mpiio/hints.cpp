#include "mpiio/hints.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include "thalweg/storage.h"
#include "thalweg/version.h"

namespace thalweg::mpiio {

namespace {

constexpr std::string_view kOwn = "thalweg_";
// In what a program is given, and may pass on.
constexpr const char* kVersion = "thalweg_version";
constexpr const char* kStripes = "thalweg_stripes";
constexpr const char* kFactor = "striping_factor";
constexpr const char* kUnit = "striping_unit";

// A hint of MPI or ROMIO, and the hint of the library that has its meaning ("": it is kept, and changes nothing).
struct Known {
  std::string_view name;
  const char* own;
};
constexpr Known kKnown[] = {
    {"access_style", ""},
    {"cb_block_size", ""},
    {"cb_buffer_size", "aggregator_bytes"},
    {"cb_config_list", ""},
    {"cb_nodes", "aggregators"},
    {"collective_buffering", "method"},
    {"file_perm", ""},
    {"ind_rd_buffer_size", "staging_bytes"},
    {"ind_wr_buffer_size", "staging_bytes"},
    {"io_node_list", ""},
    {"num_io_nodes", ""},
    {"romio_cb_read", "method"},
    {"romio_cb_write", "method"},
    {"romio_ds_read", ""},
    {"romio_ds_write", "sieve_writes"},
    {"romio_no_indep_rw", ""},
    {kFactor, kFactor},
    {kUnit, kUnit},
};

const Known* known(std::string_view name) {
  const auto* const found = std::ranges::find(kKnown, name, &Known::name);
  return found != std::end(kKnown) ? found : nullptr;
}

bool is_own_hint(std::string_view name) {
  for (std::int64_t i = 0; tw_hint_info(i) != nullptr; ++i)
    if (const tw_hint& hint = *tw_hint_info(i); hint.name == name)
      return std::string_view(hint.scope).find("file") == 0;  // "file", "file or multifile"
  return false;
}

// A number within what the library takes; "" for no number.
std::string clamped(const std::string& value, long long least, long long most) {
  char* end = nullptr;
  const long long number = std::strtoll(value.c_str(), &end, 10);
  if (end == value.c_str() || number <= 0) return "";
  return std::to_string(std::clamp(number, least, most));
}

// The value of the library's hint; "": leave its default.
std::string translated(std::string_view own, const std::string& value) {
  const bool on = value == "enable" || value == "true", off = value == "disable" || value == "false";
  if (own == "aggregators") return clamped(value, 1, 1024);
  if (own == "aggregator_bytes") return clamped(value, 64 << 10, 1 << 30);
  if (own == "staging_bytes") return clamped(value, 4 << 10, 1 << 30);
  if (own == kFactor) return value == "-1" ? "all" : clamped(value, 1, 2000);
  if (own == kUnit) return clamped(value, 64 << 10, 1 << 30);
  if (own == "method") return on ? "aggregate" : off ? "direct" : "";
  if (own == "sieve_writes") return on ? "on" : off ? "off" : "";
  return "";
}

void add_hint(const std::string& name, const std::string& value, bool warn, Hints& hints) {
  if (name == kVersion || name == kStripes) return;
  const bool is_own = name.starts_with(kOwn);
  if (is_own ? is_own_hint(std::string_view(name).substr(kOwn.size())) : known(name) != nullptr) {
    hints[name] = value;
    return;
  }
  if (is_own && warn)
    std::fprintf(stderr, "thalweg: the hint '%s' is unknown and ignored; `thalweg hints` lists those of a file\n",
                 name.c_str());
}

// As ROMIO has it: lines "KEY VALUE". The first line of a key holds, and lines that begin with # are comments. The file is
// read once in a process.
Hints read_system_hints() {
  Hints hints;
  const char* const named = std::getenv("ROMIO_HINTS");
  std::ifstream file(named != nullptr ? named : "/etc/romio-hints");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key, value;
    if (words >> key >> value && !key.starts_with('#') && !hints.contains(key)) add_hint(key, value, false, hints);
  }
  return hints;
}

}  // namespace

Hints system_hints() {
  static const Hints read = read_system_hints();
  return read;
}

void add_hints(MPI_Info info, bool warn, Hints& hints) {
  if (info == MPI_INFO_NULL) return;
  int n = 0;
  MPI_Info_get_nkeys(info, &n);
  for (int i = 0; i < n; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = {};
    int length = 0, found = 0;
    MPI_Info_get_nthkey(info, i, key);
    MPI_Info_get_valuelen(info, key, &length, &found);
    if (found == 0) continue;
    std::string value(static_cast<std::size_t>(length) + 1, '\0');
    MPI_Info_get(info, key, length, value.data(), &found);
    value.resize(static_cast<std::size_t>(length));
    add_hint(key, value, warn, hints);
  }
}

void apply_hints(const Hints& hints, tw_options* options) {
  for (const auto& [name, value] : hints) {
    const Known* const other = known(name);
    const std::string own = other != nullptr ? other->own : name.substr(kOwn.size());
    const std::string set = other != nullptr ? translated(own, value) : value;
    if (!own.empty() && !set.empty()) (void)tw_options_set_hint(options, own.c_str(), set.c_str());
  }
}

void show_stripes(const std::string& path, Hints& hints) {
  tw_storage_info found = {};
  found.struct_size = sizeof found;
  const bool told = tw_storage_describe(path.c_str(), &found) == TW_OK && found.stripe_bytes > 0;
  if (told) hints[kUnit] = std::to_string(found.stripe_bytes);
  if (told && found.stripe_count > 0) hints[kFactor] = std::to_string(found.stripe_count);
  if (!told && (hints.contains(kUnit) || hints.contains(kFactor)))
    hints[kStripes] = "not followed: the file system tells no stripes";
}

void to_info(const Hints& hints, MPI_Info* info) {
  MPI_Info_create(info);
  for (const auto& [name, value] : hints) MPI_Info_set(*info, name.c_str(), value.c_str());
  MPI_Info_set(*info, kVersion, tw_version_string());
}

}  // namespace thalweg::mpiio
