#include "mpiio/random_types.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace thalweg::test {

namespace {

using Counts = std::vector<MPI_Count>;

constexpr std::int64_t kLargest = 4096;  // bytes of a type from its first to its last

// A function, as the handles of Open MPI are no constants.
const auto& leaves() {
  static const std::array all = {
      std::pair{"byte", MPI_BYTE},
      std::pair{"char", MPI_CHAR},
      std::pair{"short", MPI_SHORT},
      std::pair{"int", MPI_INT},
      std::pair{"float", MPI_FLOAT},
      std::pair{"double", MPI_DOUBLE},
      std::pair{"long_double", MPI_LONG_DOUBLE},
      std::pair{"complex", MPI_C_DOUBLE_COMPLEX},
      std::pair{"2int", MPI_2INT},
      std::pair{"short_int", MPI_SHORT_INT},
      std::pair{"float_int", MPI_FLOAT_INT},
      std::pair{"double_int", MPI_DOUBLE_INT},
      std::pair{"long_int", MPI_LONG_INT},
      std::pair{"long_double_int", MPI_LONG_DOUBLE_INT},
  };
  return all;
}

// --- the constructors, for int and, where `large`, for MPI_Count -------------------------------------------------------

std::vector<int> narrow(const Counts& wide) { return {wide.begin(), wide.end()}; }
std::vector<MPI_Aint> bytes(const Counts& wide) { return {wide.begin(), wide.end()}; }
int n_of(const Counts& list) { return static_cast<int>(list.size()); }

// Calls the function for large counts where it is wanted and exists, else the other one.
template <class Large, class Small>
MPI_Datatype by(bool large, const char* name, Large&& call_large, Small&& call_small) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  void* const found = large ? ::dlsym(RTLD_DEFAULT, name) : nullptr;
  const int error = found != nullptr ? call_large(found, &made) : call_small(&made);
  return error == MPI_SUCCESS ? made : MPI_DATATYPE_NULL;
}

MPI_Datatype contiguous(bool large, MPI_Count n, MPI_Datatype old) {
  return by(
      large, "MPI_Type_contiguous_c",
      [&](void* call, MPI_Datatype* made) {
        return reinterpret_cast<int (*)(MPI_Count, MPI_Datatype, MPI_Datatype*)>(call)(n, old, made);
      },
      [&](MPI_Datatype* made) { return MPI_Type_contiguous(static_cast<int>(n), old, made); });
}

MPI_Datatype vector(bool large, bool in_bytes, MPI_Count n, MPI_Count length, MPI_Count stride, MPI_Datatype old) {
  return by(
      large, in_bytes ? "MPI_Type_create_hvector_c" : "MPI_Type_vector_c",
      [&](void* call, MPI_Datatype* made) {
        return reinterpret_cast<int (*)(MPI_Count, MPI_Count, MPI_Count, MPI_Datatype, MPI_Datatype*)>(call)(
            n, length, stride, old, made);
      },
      [&](MPI_Datatype* made) {
        if (in_bytes) return MPI_Type_create_hvector(static_cast<int>(n), static_cast<int>(length), stride, old, made);
        return MPI_Type_vector(static_cast<int>(n), static_cast<int>(length), static_cast<int>(stride), old, made);
      });
}

MPI_Datatype indexed(bool large, bool in_bytes, const Counts& lengths, const Counts& places, MPI_Datatype old) {
  return by(
      large, in_bytes ? "MPI_Type_create_hindexed_c" : "MPI_Type_indexed_c",
      [&](void* call, MPI_Datatype* made) {
        return reinterpret_cast<int (*)(MPI_Count, const MPI_Count*, const MPI_Count*, MPI_Datatype, MPI_Datatype*)>(
            call)(n_of(places), lengths.data(), places.data(), old, made);
      },
      [&](MPI_Datatype* made) {
        if (in_bytes)
          return MPI_Type_create_hindexed(n_of(places), narrow(lengths).data(), bytes(places).data(), old, made);
        return MPI_Type_indexed(n_of(places), narrow(lengths).data(), narrow(places).data(), old, made);
      });
}

MPI_Datatype indexed_block(bool large, bool in_bytes, MPI_Count length, const Counts& places, MPI_Datatype old) {
  return by(
      large, in_bytes ? "MPI_Type_create_hindexed_block_c" : "MPI_Type_create_indexed_block_c",
      [&](void* call, MPI_Datatype* made) {
        return reinterpret_cast<int (*)(MPI_Count, MPI_Count, const MPI_Count*, MPI_Datatype, MPI_Datatype*)>(call)(
            n_of(places), length, places.data(), old, made);
      },
      [&](MPI_Datatype* made) {
        const int n = n_of(places), each = static_cast<int>(length);
        if (in_bytes) return MPI_Type_create_hindexed_block(n, each, bytes(places).data(), old, made);
        return MPI_Type_create_indexed_block(n, each, narrow(places).data(), old, made);
      });
}

MPI_Datatype structure(bool large, const Counts& lengths, const Counts& places, const std::vector<MPI_Datatype>& old) {
  return by(
      large, "MPI_Type_create_struct_c",
      [&](void* call, MPI_Datatype* made) {
        return reinterpret_cast<int (*)(MPI_Count, const MPI_Count*, const MPI_Count*, const MPI_Datatype*,
                                        MPI_Datatype*)>(call)(n_of(places), lengths.data(), places.data(), old.data(),
                                                              made);
      },
      [&](MPI_Datatype* made) {
        return MPI_Type_create_struct(n_of(places), narrow(lengths).data(), bytes(places).data(), old.data(), made);
      });
}

MPI_Datatype resized(bool large, MPI_Count lower, MPI_Count extent, MPI_Datatype old) {
  return by(
      large, "MPI_Type_create_resized_c",
      [&](void* call, MPI_Datatype* made) {
        return reinterpret_cast<int (*)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Datatype*)>(call)(old, lower, extent,
                                                                                                  made);
      },
      [&](MPI_Datatype* made) { return MPI_Type_create_resized(old, lower, extent, made); });
}

MPI_Datatype subarray(bool large, const Counts& sizes, const Counts& parts, const Counts& starts, int order,
                      MPI_Datatype old) {
  return by(
      large, "MPI_Type_create_subarray_c",
      [&](void* call, MPI_Datatype* made) {
        return reinterpret_cast<int (*)(int, const MPI_Count*, const MPI_Count*, const MPI_Count*, int, MPI_Datatype,
                                        MPI_Datatype*)>(call)(n_of(sizes), sizes.data(), parts.data(), starts.data(),
                                                              order, old, made);
      },
      [&](MPI_Datatype* made) {
        return MPI_Type_create_subarray(n_of(sizes), narrow(sizes).data(), narrow(parts).data(), narrow(starts).data(),
                                        order, old, made);
      });
}

struct Grid {
  int ranks = 1, rank = 0, order = MPI_ORDER_C;
  Counts sizes;
  std::vector<int> kinds, arguments, parts;
};

MPI_Datatype darray(bool large, const Grid& grid, MPI_Datatype old) {
  return by(
      large, "MPI_Type_create_darray_c",
      [&](void* call, MPI_Datatype* made) {
        return reinterpret_cast<int (*)(int, int, int, const MPI_Count*, const int*, const int*, const int*, int,
                                        MPI_Datatype, MPI_Datatype*)>(call)(
            grid.ranks, grid.rank, n_of(grid.sizes), grid.sizes.data(), grid.kinds.data(), grid.arguments.data(),
            grid.parts.data(), grid.order, old, made);
      },
      [&](MPI_Datatype* made) {
        return MPI_Type_create_darray(grid.ranks, grid.rank, n_of(grid.sizes), narrow(grid.sizes).data(),
                                      grid.kinds.data(), grid.arguments.data(), grid.parts.data(), grid.order, old,
                                      made);
      });
}

// --- the generator ----------------------------------------------------------------------------------------------------

std::string list(const Counts& values) {
  std::string text = "{";
  for (const MPI_Count value : values) text += (text.size() > 1 ? " " : "") + std::to_string(value);
  return text + "}";
}

struct Made {
  MPI_Datatype type;
  std::string text;
  Places places;
};

struct Extent {
  std::int64_t lower = 0, extent = 0;
};

Extent extent_of(MPI_Datatype type) {
  MPI_Count lower = 0, extent = 0;
  MPI_Type_get_extent_x(type, &lower, &extent);
  return {lower, extent};
}

// Where a type ends that begins at 0 or later.
std::int64_t end_of(const Places& places) { return places.empty() ? 0 : *std::ranges::max_element(places) + 1; }

std::int64_t span_of(const Places& places, std::int64_t extent) {
  if (places.empty()) return std::max<std::int64_t>(1, std::abs(extent));
  const auto [least, most] = std::ranges::minmax_element(places);
  return std::max(std::abs(extent), *most - *least + 1);
}

void append(Places& to, const Places& places, std::int64_t extent, std::int64_t at, std::int64_t copies) {
  for (std::int64_t i = 0; i < copies; ++i)
    for (const std::int64_t place : places) to.push_back(at + i * extent + place);
}

// The indices of a dimension of an array that a rank has (MPI 4.1, 5.1.4).
std::vector<std::int64_t> owned(std::int64_t size, int kind, std::int64_t argument, std::int64_t parts,
                                std::int64_t part) {
  std::vector<std::int64_t> found;
  const bool block = kind == MPI_DISTRIBUTE_BLOCK;
  std::int64_t each = argument;
  if (argument == MPI_DISTRIBUTE_DFLT_DARG) each = block ? (size + parts - 1) / parts : 1;
  for (std::int64_t i = 0; i < size; ++i)
    if (kind == MPI_DISTRIBUTE_NONE || (block ? i / each == part : i / each % parts == part)) found.push_back(i);
  return found;
}

// The elements of an array that have one of the given indices in every dimension.
Places array_places(const std::vector<std::vector<std::int64_t>>& indices, const Counts& sizes, int order,
                    const Made& old, std::int64_t extent) {
  std::vector<std::int64_t> elements = {0};
  const std::size_t n = sizes.size();
  for (std::size_t i = 0; i < n; ++i) {
    // From the dimension that changes slowest to the one that changes fastest.
    const std::size_t dimension = order == MPI_ORDER_C ? i : n - 1 - i;
    std::vector<std::int64_t> finer;
    for (const std::int64_t element : elements)
      for (const std::int64_t index : indices[dimension]) finer.push_back(element * sizes[dimension] + index);
    elements = finer;
  }
  Places places;
  for (const std::int64_t element : elements) append(places, old.places, extent, element * extent, 1);
  return places;
}

std::vector<std::int64_t> range(std::int64_t from, std::int64_t n) {
  std::vector<std::int64_t> made;
  for (std::int64_t i = 0; i < n; ++i) made.push_back(from + i);
  return made;
}

// A value and an int, with the padding between them.
Places pair_places(std::int64_t value, std::int64_t at) {
  Places places = range(0, value);
  append(places, range(0, sizeof(int)), 0, at, 1);
  return places;
}

Places places_of_leaf(MPI_Datatype type) {
  struct ShortInt {
    short value;
    int index;
  };
  if (type == MPI_SHORT_INT) return pair_places(sizeof(short), offsetof(ShortInt, index));
  int size = 0;
  MPI_Type_size(type, &size);
  return range(0, size);
}

void release(MPI_Datatype type) {
  const auto same = [type](const auto& leaf) { return leaf.second == type; };
  if (std::ranges::none_of(leaves(), same)) MPI_Type_free(&type);
}

MPI_Datatype dup_of(MPI_Datatype type) {
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  MPI_Type_dup(type, &copy);
  return copy;
}

MPI_Datatype one_of(MPI_Datatype type) {
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1, type, &copy);
  return copy;
}

class Maker {
 public:
  Maker(Random& random, const TypeRules& rules) : random_(random), rules_(rules) {
    if (rules.unit != MPI_DATATYPE_NULL) grain_ = extent_of(rules.unit).extent;
  }

  Made make(int depth) {
    if (depth == 0 || random_.one_in(8)) return leaf();
    if (random_.one_in(8)) return make_struct(depth);
    Made old = make(depth - 1);
    old_ = extent_of(old.type);
    span_ = span_of(old.places, old_.extent);
    if (span_ > kLargest) return old;
    large_ = !rules_.plain && random_.one_in(2);
    // The library refuses arrays of elements with a negative extent.
    Made made = construct(old, old_.extent < 0 ? random_.up_to(7) : random_.up_to(rules_.plain ? 9 : 10));
    if (made.type == MPI_DATATYPE_NULL) {  // Open MPI refuses some arrays of which a rank has no element
      made = {copy_of(old.type), old.text, old.places};
    }
    release(old.type);
    return made;
  }

 private:
  MPI_Datatype copy_of(MPI_Datatype type) const { return rules_.plain ? one_of(type) : dup_of(type); }

  Made leaf() {
    if (rules_.unit != MPI_DATATYPE_NULL) {
      return {copy_of(rules_.unit), "unit", places_of_leaf(rules_.unit)};
    }
    const auto& [name, type] =
        leaves()[static_cast<std::size_t>(random_.up_to(rules_.plain ? 5 : leaves().size() - 1))];
    return {type, name, places_of_leaf(type)};
  }

  // A small number of copies of the element, at most the room that is left; sometimes 0.
  MPI_Count few(int most, MPI_Count taken = 1) {
    if (random_.one_in(24)) return 0;
    const std::int64_t room = std::max<std::int64_t>(1, kLargest / span_ / std::max<MPI_Count>(1, taken));
    return random_.between(1, std::min<std::int64_t>(most, room));
  }

  Made construct(const Made& old, std::int64_t constructor) {
    switch (constructor) {
      case 0: {
        const MPI_Count n = few(4);
        Made made{contiguous(large_, n, old.type), "contiguous(" + std::to_string(n) + " " + old.text + ")", {}};
        append(made.places, old.places, old_.extent, 0, n);
        return made;
      }
      case 1:
        return make_vector(old, false);
      case 2:
        return make_vector(old, true);
      case 3:
        return make_indexed(old, false);
      case 4:
        return make_indexed(old, true);
      case 5:
        return make_blocks(old, false);
      case 6:
        return make_blocks(old, true);
      case 7:
        return make_resized(old);
      case 8:
        return make_subarray(old);
      case 9:
        return make_darray(old);
      default:
        return {copy_of(old.type), "dup(" + old.text + ")", old.places};
    }
  }

  Made make_vector(const Made& old, bool in_bytes) {
    const MPI_Count n = few(4), length = few(3, n);
    MPI_Count stride = rules_.ascending ? length + random_.up_to(3) : random_.between(-5, 6);
    if (in_bytes)
      stride = stride * old_.extent + (rules_.ascending ? random_.up_to(3) : random_.between(-3, 3)) * grain_;
    Made made{vector(large_, in_bytes, n, length, stride, old.type),
              (in_bytes ? "hvector(" : "vector(") + list({n, length, stride}) + " " + old.text + ")",
              {}};
    for (MPI_Count i = 0; i < n; ++i)
      append(made.places, old.places, old_.extent, i * stride * (in_bytes ? 1 : old_.extent), length);
    return made;
  }

  Places blocks(const Made& old, bool in_bytes, const Counts& lengths, const Counts& at) const {
    Places places;
    for (std::size_t i = 0; i < at.size(); ++i)
      append(places, old.places, old_.extent, at[i] * (in_bytes ? 1 : old_.extent), lengths[i]);
    return places;
  }

  // Displacements of blocks in elements, or in bytes.
  Counts places(const Counts& lengths, bool in_bytes) {
    Counts found;
    MPI_Count next = random_.up_to(2);
    for (const MPI_Count length : lengths) {
      const MPI_Count at = rules_.ascending ? next : random_.between(-6, 8);
      const MPI_Count moved = random_.up_to(3) * grain_;
      found.push_back(in_bytes ? at * old_.extent + moved + (rules_.ascending ? extra_ : 0) : at);
      extra_ += moved;
      next = at + length + random_.up_to(2);
    }
    extra_ = 0;
    return found;
  }

  Made make_indexed(const Made& old, bool in_bytes) {
    Counts lengths(static_cast<std::size_t>(few(4)));
    for (MPI_Count& length : lengths) length = few(3, n_of(lengths));
    const Counts at = places(lengths, in_bytes);
    return {indexed(large_, in_bytes, lengths, at, old.type),
            (in_bytes ? "hindexed(" : "indexed(") + list(lengths) + " " + list(at) + " " + old.text + ")",
            blocks(old, in_bytes, lengths, at)};
  }

  Made make_blocks(const Made& old, bool in_bytes) {
    const Counts lengths(static_cast<std::size_t>(few(4)), few(3));
    const MPI_Count length = lengths.empty() ? 1 : lengths[0];
    const Counts at = places(lengths, in_bytes);
    return {indexed_block(large_, in_bytes, length, at, old.type),
            (in_bytes ? "hindexed_block(" : "indexed_block(") + std::to_string(length) + " " + list(at) + " " +
                old.text + ")",
            blocks(old, in_bytes, lengths, at)};
  }

  Made make_struct(int depth) {
    const auto n = static_cast<std::size_t>(random_.between(random_.one_in(16) ? 0 : 1, 3));
    std::vector<MPI_Datatype> types;
    Counts lengths, at;
    std::string text;
    Places places;
    MPI_Count next = random_.up_to(2) * grain_;
    for (std::size_t i = 0; i < n; ++i) {
      const Made old = make(depth - 1);
      old_ = extent_of(old.type);
      span_ = span_of(old.places, old_.extent);
      types.push_back(old.type);
      lengths.push_back(few(2, 3));
      at.push_back(rules_.ascending ? next : random_.between(-20, 60) * grain_);
      next += (lengths.back() * std::max(old_.extent, end_of(old.places)) / grain_ + 1 + random_.up_to(2)) * grain_;
      append(places, old.places, old_.extent, at.back(), lengths.back());
      text += " " + old.text;
    }
    Made made{structure(!rules_.plain && random_.one_in(2), lengths, at, types),
              "struct(" + list(lengths) + " " + list(at) + text + ")", places};
    for (const MPI_Datatype type : types) release(type);
    return made;
  }

  Made make_subarray(const Made& old) {
    Counts sizes, parts, starts;
    std::vector<std::vector<std::int64_t>> indices;
    const std::int64_t dimensions = random_.between(1, 3);
    MPI_Count taken = 1;
    for (std::int64_t i = 0; i < dimensions; ++i) {
      sizes.push_back(std::max<MPI_Count>(1, few(4, taken)));
      taken *= sizes.back();
      parts.push_back(random_.between(1, sizes.back()));
      starts.push_back(random_.up_to(sizes.back() - parts.back()));
      indices.push_back(range(starts.back(), parts.back()));
    }
    const int order = random_.one_in(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    return {subarray(large_, sizes, parts, starts, order, old.type),
            "subarray(" + list(sizes) + " " + list(parts) + " " + list(starts) +
                (order == MPI_ORDER_C ? " C " : " F ") + old.text + ")",
            array_places(indices, sizes, order, old, old_.extent)};
  }

  Made make_darray(const Made& old) {
    Grid grid;
    std::string text;
    const std::int64_t dimensions = random_.between(1, 3);
    MPI_Count taken = 1;
    for (std::int64_t i = 0; i < dimensions; ++i) {
      const MPI_Count size = std::max<MPI_Count>(1, few(6, taken));
      const int parts = static_cast<int>(random_.between(1, 3));
      taken *= size;
      grid.sizes.push_back(size);
      grid.kinds.push_back(parts == 1 && random_.one_in(2) ? MPI_DISTRIBUTE_NONE
                           : random_.one_in(2)             ? MPI_DISTRIBUTE_BLOCK
                                                           : MPI_DISTRIBUTE_CYCLIC);
      grid.parts.push_back(parts);
      const bool block = grid.kinds.back() == MPI_DISTRIBUTE_BLOCK;
      const auto least = static_cast<int>(block ? (size + parts - 1) / parts : 1);
      const bool chosen = grid.kinds.back() != MPI_DISTRIBUTE_NONE && random_.one_in(2);
      grid.arguments.push_back(chosen ? least + static_cast<int>(random_.up_to(1)) : MPI_DISTRIBUTE_DFLT_DARG);
      grid.ranks *= parts;
      text += " " + std::to_string(size) +
              (block                                      ? "b"
               : grid.kinds.back() == MPI_DISTRIBUTE_NONE ? "n"
                                                          : "c") +
              std::to_string(grid.arguments.back()) + "/" + std::to_string(parts);
    }
    grid.rank = static_cast<int>(random_.up_to(grid.ranks - 1));
    grid.order = random_.one_in(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    std::vector<std::vector<std::int64_t>> indices(grid.sizes.size());
    int rest = grid.rank;
    for (std::size_t i = indices.size(); i-- > 0; rest /= grid.parts[i])
      indices[i] = owned(grid.sizes[i], grid.kinds[i], grid.arguments[i], grid.parts[i], rest % grid.parts[i]);
    return {darray(large_, grid, old.type),
            "darray(" + std::to_string(grid.rank) + text + (grid.order == MPI_ORDER_C ? " C " : " F ") + old.text + ")",
            array_places(indices, grid.sizes, grid.order, old, old_.extent)};
  }

  Made make_resized(const Made& old) {
    MPI_Count lower = 0;
    MPI_Count extent =
        (std::max(old_.extent, end_of(old.places)) + grain_ - 1) / grain_ * grain_ + random_.up_to(3) * grain_;
    if (!rules_.ascending) {
      lower = old_.lower + random_.between(-3, 3) * grain_;
      extent = old_.extent + random_.between(-4, 6) * grain_;
      if (random_.one_in(12)) extent = -extent;
    }
    return {resized(large_, lower, extent, old.type), "resized(" + list({lower, extent}) + " " + old.text + ")",
            old.places};
  }

  Random& random_;
  const TypeRules& rules_;
  std::int64_t grain_ = 1;
  Extent old_;
  std::int64_t span_ = 1;
  bool large_ = false;
  MPI_Count extra_ = 0;
};

// Before and behind what a type is said to need.
constexpr std::int64_t kMargin = 64;

}  // namespace

RandomType random_type(Random& random, const TypeRules& rules) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  Made made = Maker(random, rules).make(rules.depth);
  const MPI_Datatype copy = rules.plain ? one_of(made.type) : dup_of(made.type);  // a predefined one must not be freed
  release(made.type);
  return {Type(copy), made.text, made.places, extent_of(copy).extent};
}

RandomType plain_type(MPI_Datatype type) {
  return {Type(one_of(type)), "plain", places_of_leaf(type), extent_of(type).extent};
}

Places RandomType::of(int count) const {
  Places all;
  append(all, places, extent, 0, count);
  return all;
}

Memory::Memory(const RandomType& type, int count, unsigned seed) {
  std::int64_t begin = 0, end = 0;
  for (const std::int64_t place : type.of(count)) {
    begin = std::min(begin, place);
    end = std::max(end, place + 1);
  }
  origin_ = kMargin - begin;
  bytes_.resize(static_cast<std::size_t>(end + origin_ + kMargin));
  Random random(seed);
  for (char& byte : bytes_) byte = static_cast<char>(random.between(1, 255));
}

Places packed_places(const RandomType& type, int count) {
  const auto n = static_cast<std::size_t>(count * type.size());
  Places places(n);
  Memory memory(type, count, 0);
  const auto all = static_cast<std::int64_t>(memory.bytes().size());
  const auto origin = static_cast<std::int64_t>(static_cast<char*>(memory.buffer()) - memory.bytes().data());
  std::vector<unsigned char> packed(n + 64);
  for (int pass = 0; pass < 3; ++pass) {
    for (std::int64_t i = 0; i < all; ++i) memory.at(i - origin) = static_cast<char>((i >> (8 * pass)) & 255);
    int position = 0;
    EXPECT_MPI(MPI_Pack(memory.buffer(), count, type.type, packed.data(), static_cast<int>(packed.size()), &position,
                        MPI_COMM_SELF));
    EXPECT_EQ(position, n);
    for (std::size_t i = 0; i < n; ++i) places[i] |= std::int64_t{packed[i]} << (8 * pass);
  }
  // The memory begins with a margin, which no byte of a type lies in: MPICH moves a long double by an instruction that
  // leaves its last bytes out, which are padding, so that they are 0.
  for (std::size_t i = 1; i < n; ++i)
    if (places[i] == 0) places[i] = places[i - 1] + 1;
  for (std::int64_t& place : places) place -= origin;
  return places;
}

bool overlaps(Places places) {
  std::ranges::sort(places);
  return std::ranges::adjacent_find(places) != places.end();
}

bool ascends(const Places& places) {
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i] <= places[i - 1]) return false;
  return places.empty() || places[0] >= 0;
}

}  // namespace thalweg::test
