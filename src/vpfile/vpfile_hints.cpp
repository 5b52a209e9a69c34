#include "vpfile/vpfile_hints.hpp"

#include "base/hint_table.hpp"

namespace thalweg {

namespace {

// Words among the values are "auto", booleans 0 and 1.
Status set_vp_hint(VpHints& hints, std::string_view name, std::string_view value) {
  TW_ASSIGN_OR_RETURN(const HintSpec* spec, find_hint(name, HintScope::vpfile));
  TW_ASSIGN_OR_RETURN(std::uint64_t number, parse_hint(*spec, value));
  if ((number & kHintWord) != 0) number = 0;
  if (name == "record_bytes") hints.record_bytes = number;
  if (name == "round_bytes") hints.round_bytes = number;
  if (name == "block_bytes") hints.block_bytes = number;
  if (name == "superblock_bytes") hints.superblock_bytes = number;
  if (name == "directory_pointers") hints.directory_pointers = number;
  if (name == "cache_bytes") hints.cache_bytes = number;
  if (name == "assume_nb") hints.assume_nb = number != 0;
  if (name == "overwrite_foreign") hints.overwrite_foreign = number != 0;
  return {};
}

}  // namespace

Result<VpHints> parse_vp_hints(std::string_view text, std::string& of_file) {
  VpHints hints;
  TW_RETURN_IF_ERROR(for_each_hint(text, [&](std::string_view name, std::string_view value) -> Status {
    if (!find_hint(name, HintScope::file).has_value()) return set_vp_hint(hints, name, value);
    of_file.append(of_file.empty() ? "" : ",").append(name).append("=").append(value);
    return {};
  }));
  return hints;
}

}  // namespace thalweg
