#include "multifile/options.hpp"

#include "base/hint_table.hpp"

namespace thalweg {

namespace {

Status power_of_two(std::string_view name, std::uint64_t value) {
  if ((value & (value - 1)) == 0) return {};
  return Status::error(Code::invalid_argument, "hint '{}' is {} bytes; it must be a power of two", name, value);
}

}  // namespace

Status set_option(MultifileOptions& options, std::string_view name, std::string_view value) {
  TW_ASSIGN_OR_RETURN(const HintSpec* spec, find_hint(name, HintScope::multifile));
  TW_ASSIGN_OR_RETURN(const std::uint64_t number, parse_hint(*spec, value));
  const bool word = number >= kHintWord;
  if (spec->scope == HintScope::file_or_multifile) {
    const std::string text = spec->type == HintType::choice ? std::string(value) : std::to_string(number);
    options.storage_hints.append(options.storage_hints.empty() ? "" : ",").append(name).append("=").append(text);
  } else if (name == "chunk_bytes") {
    options.chunk_bytes = word ? kAuto : number;
  } else if (name == "physical_files") {
    options.physical_files = !word                 ? static_cast<std::uint32_t>(number)
                             : number == kHintWord ? static_cast<std::uint32_t>(kAuto)
                                                   : kOnePerNode;
  } else if (name == "alignment_bytes") {
    if (!word) TW_RETURN_IF_ERROR(power_of_two(name, number));
    options.alignment_bytes = word ? static_cast<std::uint32_t>(kAuto) : static_cast<std::uint32_t>(number);
  } else if (name == "buffer_bytes") {
    options.buffer_bytes = number;
  } else if (name == "granule_bytes") {
    TW_RETURN_IF_ERROR(power_of_two(name, number));
    options.granule_bytes = static_cast<std::uint32_t>(number);
  } else if (name == "checksum") {
    options.checksum = static_cast<format::Checksum>(number);
  } else if (name == "compression") {
    options.codec = static_cast<format::Codec>(number);
  } else if (name == "verify") {
    options.verify = number != 0;
  } else if (name == "sync_on_close") {
    options.sync_on_close = number != 0;
  } else if (name == "duplicates") {
    options.refuses_duplicates = number != 0;
  } else if (name == "tier") {
    options.tier = value == "none" ? "" : value;
  } else if (name == "partner") {
    options.partner = number != 0;
  } else if (name == "drain") {
    options.drain = static_cast<MultifileOptions::Drain>(number);
  } else if (name == "overwrite_foreign") {
    options.overwrite_foreign = number != 0;
  } else {
    return Status::error(Code::internal, "hint '{}' is in the table but not in use", name);
  }
  return {};
}

}  // namespace thalweg
