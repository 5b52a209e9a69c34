#include "mpiio/external32.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace thalweg::mpiio {

namespace {

// IEEE binary128: what external32 has for a long double.
__extension__ typedef __float128 Quad;

struct Row {
  MPI_Datatype type;
  NumberKind kind;
  std::size_t in_file;  // bytes of a component
  std::size_t components = 1;
  bool with_index = false;
};

using Forms = std::unordered_map<MPI_Datatype, ExternalForm>;

// MPI 4.1, 14.5.2. Datatypes whose sizes are those of memory are added by sized().
std::vector<Row> rows_of_standard() {
  constexpr auto kInteger = NumberKind::integer, kUnsigned = NumberKind::unsigned_integer, kReal = NumberKind::real,
                 kLong = NumberKind::long_double;
  return {
      {MPI_WCHAR, kUnsigned, 2},
      {MPI_SHORT, kInteger, 2},
      {MPI_UNSIGNED_SHORT, kUnsigned, 2},
      {MPI_INT, kInteger, 4},
      {MPI_UNSIGNED, kUnsigned, 4},
      {MPI_LONG, kInteger, 4},
      {MPI_UNSIGNED_LONG, kUnsigned, 4},
      {MPI_LONG_LONG, kInteger, 8},
      {MPI_UNSIGNED_LONG_LONG, kUnsigned, 8},
      {MPI_FLOAT, kReal, 4},
      {MPI_DOUBLE, kReal, 8},
      {MPI_LONG_DOUBLE, kLong, 16},
      {MPI_INT16_T, kInteger, 2},
      {MPI_INT32_T, kInteger, 4},
      {MPI_INT64_T, kInteger, 8},
      {MPI_UINT16_T, kUnsigned, 2},
      {MPI_UINT32_T, kUnsigned, 4},
      {MPI_UINT64_T, kUnsigned, 8},
      {MPI_AINT, kInteger, 8},
      {MPI_COUNT, kInteger, 8},
      {MPI_OFFSET, kInteger, 8},
      {MPI_C_COMPLEX, kReal, 4, 2},
      {MPI_C_DOUBLE_COMPLEX, kReal, 8, 2},
      {MPI_C_LONG_DOUBLE_COMPLEX, kLong, 16, 2},
      {MPI_CXX_FLOAT_COMPLEX, kReal, 4, 2},
      {MPI_CXX_DOUBLE_COMPLEX, kReal, 8, 2},
      {MPI_CXX_LONG_DOUBLE_COMPLEX, kLong, 16, 2},
      {MPI_LOGICAL, kInteger, 4},
      {MPI_INTEGER, kInteger, 4},
      {MPI_REAL, kReal, 4},
      {MPI_DOUBLE_PRECISION, kReal, 8},
      {MPI_COMPLEX, kReal, 4, 2},
      {MPI_DOUBLE_COMPLEX, kReal, 8, 2},
      {MPI_2INT, kInteger, 4, 2},
      {MPI_2INTEGER, kInteger, 4, 2},
      {MPI_2REAL, kReal, 4, 2},
      {MPI_2DOUBLE_PRECISION, kReal, 8, 2},
      {MPI_FLOAT_INT, kReal, 4, 1, true},
      {MPI_DOUBLE_INT, kReal, 8, 1, true},
      {MPI_LONG_DOUBLE_INT, kLong, 16, 1, true},
      {MPI_SHORT_INT, kInteger, 2, 1, true},
      {MPI_LONG_INT, kInteger, 4, 1, true},
  };
}

Forms listed() {
  Forms made;
  for (const Row& row : rows_of_standard()) {
    if (row.type == MPI_DATATYPE_NULL) continue;
    int size = 0;
    MPI_Type_size(row.type, &size);
    const std::size_t index = row.with_index ? sizeof(int) : 0, bytes = static_cast<std::size_t>(size);
    made[row.type] = {row.kind,
                      row.components,
                      (bytes - index) / row.components,
                      row.in_file,
                      row.with_index,
                      bytes,
                      row.components * row.in_file + (row.with_index ? 4 : 0)};
  }
  return made;
}

// Fortran's numbers of a given size, and whatever else has its size of memory in the file.
Forms sized() {
  const std::pair<MPI_Datatype, NumberKind> rows[] = {
      {MPI_INTEGER2, NumberKind::integer}, {MPI_INTEGER4, NumberKind::integer}, {MPI_INTEGER8, NumberKind::integer},
      {MPI_REAL4, NumberKind::real},       {MPI_REAL8, NumberKind::real},       {MPI_REAL16, NumberKind::real},
      {MPI_COMPLEX8, NumberKind::real},    {MPI_COMPLEX16, NumberKind::real},   {MPI_COMPLEX32, NumberKind::real}};
  Forms made;
  for (const auto& [type, kind] : rows) {
    if (type == MPI_DATATYPE_NULL) continue;
    int size = 0;
    MPI_Type_size(type, &size);
    const bool complex = type == MPI_COMPLEX8 || type == MPI_COMPLEX16 || type == MPI_COMPLEX32;
    const std::size_t bytes = static_cast<std::size_t>(size), each = complex ? bytes / 2 : bytes;
    made[type] = {kind, complex ? 2U : 1U, each, each, false, bytes, bytes};
  }
  return made;
}

// Datatypes of MPI_Type_create_f90_real() and its like.
ExternalForm parametrised(MPI_Datatype type) {
  int n_integers = 0, n_addresses = 0, n_types = 0, combiner = 0, size = 0;
  MPI_Type_get_envelope(type, &n_integers, &n_addresses, &n_types, &combiner);
  MPI_Type_size(type, &size);
  const auto bytes = static_cast<std::size_t>(size);
  if (combiner == MPI_COMBINER_F90_INTEGER) return {NumberKind::integer, 1, bytes, bytes, false, bytes, bytes};
  if (combiner == MPI_COMBINER_F90_REAL) return {NumberKind::real, 1, bytes, bytes, false, bytes, bytes};
  if (combiner == MPI_COMBINER_F90_COMPLEX) return {NumberKind::real, 2, bytes / 2, bytes / 2, false, bytes, bytes};
  return {NumberKind::bytes, bytes, 1, 1, false, bytes, bytes};  // characters, truth values
}

void reverse_copy(const std::byte* from, std::size_t bytes, std::byte* to) {
  std::reverse_copy(from, from + bytes, to);
}

// An integer of `from` little-endian bytes in `to` of them.
bool resize(NumberKind kind, const std::byte* from, std::size_t from_bytes, std::byte* to, std::size_t to_bytes) {
  const bool negative = kind == NumberKind::integer && (std::to_integer<unsigned>(from[from_bytes - 1]) & 0x80U) != 0;
  const std::byte fill = negative ? std::byte{0xff} : std::byte{0};
  std::fill_n(to, to_bytes, fill);
  std::copy_n(from, std::min(from_bytes, to_bytes), to);
  bool fits = std::all_of(from + std::min(from_bytes, to_bytes), from + from_bytes,
                          [&](std::byte byte) { return byte == fill; });
  if (kind == NumberKind::integer && to_bytes < from_bytes)
    fits = fits && ((std::to_integer<unsigned>(to[to_bytes - 1]) & 0x80U) != 0) == negative;
  return fits;
}

bool number_to_file(NumberKind kind, const std::byte* memory, std::size_t bytes, std::byte* file, std::size_t in_file) {
  std::byte native[16];
  bool fits = true;
  if (kind == NumberKind::long_double) {
    long double value = 0;
    std::memcpy(&value, memory, sizeof value);
    const Quad wide = value;
    std::memcpy(native, &wide, sizeof wide);
  } else if (bytes == in_file) {
    std::memcpy(native, memory, bytes);
  } else {
    fits = resize(kind, memory, bytes, native, in_file);
  }
  reverse_copy(native, in_file, file);
  return fits;
}

bool number_from_file(NumberKind kind, const std::byte* file, std::size_t in_file, std::byte* memory,
                      std::size_t bytes) {
  std::byte native[16];
  reverse_copy(file, in_file, native);
  if (kind == NumberKind::long_double) {
    Quad wide = 0;
    std::memcpy(&wide, native, sizeof wide);
    const auto value = static_cast<long double>(wide);
    std::memcpy(memory, &value, sizeof value);
    return true;
  }
  if (bytes != in_file) return resize(kind, native, in_file, memory, bytes);
  std::memcpy(memory, native, bytes);
  return true;
}

}  // namespace

ExternalForm external_form(MPI_Datatype predefined) {
  static const Forms known = [] {
    Forms all = listed();
    all.merge(sized());
    return all;
  }();
  const auto found = known.find(predefined);
  return found != known.end() ? found->second : parametrised(predefined);
}

bool to_external(const ExternalForm& form, const std::byte* memory, std::byte* file) {
  bool fits = true;
  for (std::size_t i = 0; i < form.components; ++i) {
    fits = number_to_file(form.kind, memory, form.number_bytes, file, form.number_bytes_in_file) && fits;
    memory += form.number_bytes;
    file += form.number_bytes_in_file;
  }
  if (form.with_index) number_to_file(NumberKind::integer, memory, sizeof(int), file, 4);
  return fits;
}

bool from_external(const ExternalForm& form, const std::byte* file, std::byte* memory) {
  bool fits = true;
  for (std::size_t i = 0; i < form.components; ++i) {
    fits = number_from_file(form.kind, file, form.number_bytes_in_file, memory, form.number_bytes) && fits;
    memory += form.number_bytes;
    file += form.number_bytes_in_file;
  }
  if (form.with_index) number_from_file(NumberKind::integer, file, 4, memory, sizeof(int));
  return fits;
}

}  // namespace thalweg::mpiio
