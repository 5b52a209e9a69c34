// A structure lists its fields once, in the order of the table of the format document: move_fields() writes them to a
// FieldWriter, and sets them from a FieldReader.
#pragma once

#include <type_traits>

#include "base/fields.hpp"
#include "store/format/bound_seal.hpp"

namespace thalweg::format {

// An enum is stored as its number, a bool as bit 0 of 32 bits of flags.
template <class Field>
void move_field(FieldWriter& out, const Field& field) {
  if constexpr (std::is_enum_v<Field>) {
    out.put(static_cast<std::underlying_type_t<Field>>(field));
  } else if constexpr (std::is_same_v<Field, bool>) {
    out.put(std::uint32_t{field});
  } else if constexpr (std::is_same_v<Field, FileIdentity>) {
    out.put_bytes(std::as_bytes(std::span(field.uuid)));
  } else {
    out.put(field);
  }
}
template <class Field>
void move_field(FieldReader& in, Field& field) {
  if constexpr (std::is_enum_v<Field>) {
    field = Field{in.get<std::underlying_type_t<Field>>()};
  } else if constexpr (std::is_same_v<Field, bool>) {
    field = (in.get<std::uint32_t>() & 1) != 0;
  } else if constexpr (std::is_same_v<Field, FileIdentity>) {
    std::memcpy(field.uuid.data(), in.get_bytes(field.uuid.size()).data(), field.uuid.size());
  } else {
    field = in.get<Field>();
  }
}

template <class... Field>
void move_fields(FieldWriter& out, const Field&... field) {
  (move_field(out, field), ...);
}
template <class... Field>
void move_fields(FieldReader& in, Field&... field) {
  (move_field(in, field), ...);
}

}  // namespace thalweg::format
