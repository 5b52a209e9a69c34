#include "vpfile/vp_hints.hpp"

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
  return {};
}

}  // namespace

Result<VpHints> parse_vp_hints(std::string_view text, std::string& of_file) {
  VpHints hints;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view entry = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    if (entry.empty()) continue;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos)
      return Status::error(Code::unknown_hint, "hint '" + std::string(entry) + "' has no value; write NAME=VALUE");
    if (find_hint(entry.substr(0, equals), HintScope::file).has_value()) {
      of_file.append(of_file.empty() ? "" : ",").append(entry);
      continue;
    }
    TW_RETURN_IF_ERROR(set_vp_hint(hints, entry.substr(0, equals), entry.substr(equals + 1)));
  }
  return hints;
}

}  // namespace thalweg
