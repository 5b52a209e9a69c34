// Finds a hint by its name, and explains a name that the file has no hint for.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/hint_table.hpp"

namespace thalweg {

namespace {

// Names in other libraries: SIONlib, ROMIO and OMPIO, the MPI standard, Lustre, HDF5.
struct OtherName {
  std::string_view name;
  std::string_view ours;
  std::string_view ours_of_files = ours;  // for shared files and vpfiles
};
constexpr OtherName kOtherNames[] = {
    {"chunksize", "chunk_bytes"},
    {"chunk_size", "chunk_bytes"},
    {"fsblksize", "alignment_bytes"},
    {"numfiles", "physical_files"},
    {"num_files", "physical_files"},
    {"nfiles", "physical_files"},
    {"cb_nodes", "aggregators"},
    {"cb_config_list", "aggregators"},
    {"num_aggregators", "aggregators"},
    {"cb_buffer_size", "aggregator_bytes"},
    {"collective_buffering", "method"},
    {"romio_cb_write", "method"},
    {"romio_cb_read", "method"},
    {"romio_no_indep_rw", "method"},
    {"romio_ds_write", "sieve_writes"},
    {"romio_ds_read", "staging_bytes"},
    {"ind_rd_buffer_size", "staging_bytes"},
    {"ind_wr_buffer_size", "staging_bytes"},
    {"direct_io", "io"},
    {"direct_read", "io"},
    {"direct_write", "io"},
    {"stripe_count", "striping_factor"},
    {"stripe_size", "striping_unit"},
    {"alignment", "alignment_bytes"},
    {"deflate", "compression"},
    {"gzip", "compression"},
    {"fletcher32", "checksum"},
    {"sieve_buf_size", "staging_bytes"},
};

struct Kind {
  const char* one;
  const char* many;
  const char* call;
};
constexpr Kind kKinds[] = {  // by HintScope
    {"a multifile", "multifiles", "tw_multifile_open"},
    {"a shared file", "shared files", "tw_file_open"},
    {"a vpfile", "vpfiles", "tw_vpfile_open"},
    {"a multifile or vpfile", "multifiles and vpfiles", "tw_multifile_open, tw_vpfile_open"},
    {"a shared file or multifile", "shared files and multifiles", "tw_file_open, tw_multifile_open"}};

const Kind& kind_of(HintScope scope) { return kKinds[static_cast<std::size_t>(scope)]; }

bool is_of(HintScope opened, HintScope hint) {
  return hint == opened || (hint == HintScope::multifile_or_vpfile && opened != HintScope::file) ||
         (hint == HintScope::file_or_multifile && opened != HintScope::vpfile);
}
// A vpfile also takes the hints of shared files.
bool takes(HintScope opened, HintScope hint) {
  return is_of(opened, hint) || (opened == HintScope::vpfile && is_of(HintScope::file, hint));
}

const HintSpec* named(std::string_view name) {
  const auto found =
      std::ranges::find(hint_table(), name, [](const HintSpec& spec) { return std::string_view(spec.name); });
  return found == hint_table().end() ? nullptr : &*found;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

// The hint with the name closest to `name`; null when none is close.
const HintSpec* most_alike(std::string_view name, HintScope opened) {
  const HintSpec* nearest = nullptr;
  std::size_t least = ~std::size_t{0};
  for (const HintSpec& spec : hint_table()) {
    if (!takes(opened, spec.scope)) continue;
    const std::size_t distance = edit_distance(name, spec.name);
    const bool alike = 3 * distance <= std::string_view(spec.name).size();  // a larger distance is not similar
    if (!alike || distance >= least) continue;
    least = distance;
    nearest = &spec;
  }
  return nearest;
}

const HintSpec* proposal_for(std::string_view given, HintScope opened) {
  std::string name(given.substr(0, 64));
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const OtherName& other : kOtherNames) {
    if (name == other.name) return named(opened == HintScope::multifile ? other.ours : other.ours_of_files);
  }
  if (name.ends_with("size")) name.replace(name.size() - 4, 4, "bytes");
  return most_alike(name, opened);
}

std::string names_of(HintScope opened) {
  std::string names;
  for (const HintSpec& spec : hint_table()) {
    if (takes(opened, spec.scope)) names += (names.empty() ? "" : ", ") + std::string(spec.name);
  }
  return names;
}

std::string refusal(std::string_view name, HintScope opened) {
  const auto of_kind = [](const HintSpec& spec) {
    const Kind& kind = kind_of(spec.scope);
    return fmt::format("a hint of {} ({})", kind.many, kind.call);
  };
  if (const HintSpec* other = named(name); other != nullptr && !takes(opened, other->scope))
    return fmt::format("'{}' is {}; {} has {}", name, of_kind(*other), kind_of(opened).one, names_of(opened));
  std::string text = fmt::format("unknown hint '{}'; ", name);
  if (const HintSpec* proposal = proposal_for(name, opened); proposal != nullptr)
    text += fmt::format("did you mean '{}'{}? ", proposal->name,
                        takes(opened, proposal->scope) ? "" : ", " + of_kind(*proposal));
  return text + "`thalweg hints` lists all";
}

}  // namespace

Result<const HintSpec*> find_hint(std::string_view name, HintScope scope) {
  for (const HintSpec& spec : hint_table()) {
    if (is_of(scope, spec.scope) && name == spec.name) return &spec;
  }
  return Status::error(Code::unknown_hint, refusal(name, scope));
}

}  // namespace thalweg
