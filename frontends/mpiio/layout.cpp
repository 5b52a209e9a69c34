#include "mpiio/layout.hpp"

#include <algorithm>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpiio/representation.hpp"
#include "mpiio/type_contents.hpp"

namespace thalweg::mpiio {

namespace {

// Copies of one element, one behind the other from a displacement on.
struct Block {
  std::int64_t displacement = 0;
  std::int64_t count = 0;
  const Layout* element = nullptr;
};

// Makes a view by a call of the library, and throws where that fails: the caller of layout_of() gets the failure.
struct Thrown {
  Failure failure;
};

template <class Make>
ViewPtr view_of(Make&& make) {
  tw_view* made = nullptr;
  if (const tw_status status = std::forward<Make>(make)(&made); status != TW_OK) throw Thrown{failure_of(status)};
  return ViewPtr(made);
}

bool is_dense(const Layout& element) { return element.is_run() && element.extent == element.size; }

// The element as a view whose copies are its extent apart. Where the extent is negative there is one copy (with_bytes).
ViewPtr element_view(const Layout& element) {
  ViewPtr run;
  if (element.is_run()) run = view_of([&](tw_view** made) { return tw_view_contiguous(element.size, nullptr, made); });
  const tw_view* const inner = element.is_run() ? run.get() : element.view.get();
  const std::int64_t extent = std::max<std::int64_t>(element.extent, 0);
  return view_of([&](tw_view** made) { return tw_view_resized(inner, extent, made); });
}

// Blocks that have bytes; copies that go backwards become blocks of one copy each.
std::vector<Block> with_bytes(std::span<const Block> given) {
  std::vector<Block> kept;
  kept.reserve(given.size());
  for (const Block& block : given) {
    if (block.count <= 0 || block.element->size == 0) continue;
    if (block.element->extent >= 0 || block.count == 1) {
      kept.push_back(block);
      continue;
    }
    for (std::int64_t i = 0; i < block.count; ++i)
      kept.push_back({block.displacement + i * block.element->extent, 1, block.element});
  }
  return kept;
}

bool is_one_run(const Block& block) {
  return is_dense(*block.element) || (block.count == 1 && block.element->is_run());
}

// Blocks of which each continues the one before, in memory and in order.
bool are_one_run(std::span<const Block> blocks) {
  std::int64_t end = blocks[0].displacement + blocks[0].element->base;
  for (const Block& block : blocks) {
    if (!is_one_run(block) || block.displacement + block.element->base != end) return false;
    end += block.count * block.element->size;
  }
  return true;
}

bool have_one_element(std::span<const Block> blocks) {
  return std::ranges::all_of(blocks, [&](const Block& block) { return block.element == blocks[0].element; });
}

struct Lists {
  std::vector<std::int64_t> displacements, lengths;
};

Lists lists_of(std::span<const Block> blocks, std::int64_t lowest) {
  Lists lists;
  for (const Block& block : blocks) {
    lists.displacements.push_back(block.displacement + block.element->base - lowest);
    lists.lengths.push_back(block.count);
  }
  return lists;
}

ViewPtr indexed(std::span<const Block> blocks, std::int64_t lowest) {
  Lists lists = lists_of(blocks, lowest);
  const Layout& element = *blocks[0].element;
  ViewPtr view;
  if (std::ranges::all_of(blocks, is_one_run))
    for (std::int64_t& length : lists.lengths) length *= element.size;
  else
    view = element_view(element);
  const auto n = static_cast<std::int64_t>(blocks.size());
  return view_of([&](tw_view** made) {
    return tw_view_indexed(n, lists.displacements.data(), lists.lengths.data(), view.get(), made);
  });
}

ViewPtr structure(std::span<const Block> blocks, std::int64_t lowest) {
  Lists lists = lists_of(blocks, lowest);
  std::vector<ViewPtr> views;
  std::vector<const tw_view*> elements;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Layout& element = *blocks[i].element;
    if (is_one_run(blocks[i])) {
      lists.lengths[i] *= element.size;
      elements.push_back(nullptr);
    } else {
      elements.push_back(views.emplace_back(element_view(element)).get());
    }
  }
  const auto n = static_cast<std::int64_t>(blocks.size());
  return view_of([&](tw_view** made) {
    return tw_view_struct(n, lists.displacements.data(), lists.lengths.data(), elements.data(), made);
  });
}

// The extent is set by the caller.
Layout laid(std::span<const Block> given) {
  const std::vector<Block> blocks = with_bytes(given);
  Layout made;
  if (blocks.empty()) return made;
  made.base = blocks[0].displacement + blocks[0].element->base;
  std::int64_t before = made.base;
  for (const Block& block : blocks) {
    const std::int64_t begin = block.displacement + block.element->base;
    made.decreases = made.decreases || block.element->decreases || begin < before;
    before = begin;
    made.size += block.count * block.element->size;
    made.base = std::min(made.base, block.displacement + block.element->base);
  }
  if (!are_one_run(blocks))
    made.view = have_one_element(blocks) ? indexed(blocks, made.base) : structure(blocks, made.base);
  return made;
}

Layout strided(std::int64_t count, std::int64_t block, std::int64_t stride, const Layout& element) {
  if (count <= 0 || block <= 0 || element.size == 0) return {};
  if (stride < 0 || element.extent < 0) {
    std::vector<Block> blocks;
    for (std::int64_t i = 0; i < count; ++i) blocks.push_back({i * stride, block, &element});
    return laid(blocks);
  }
  Layout made;
  made.base = element.base;
  made.decreases = element.decreases;
  if (__builtin_mul_overflow(count, block, &made.size) || __builtin_mul_overflow(made.size, element.size, &made.size))
    throw Thrown{{MPI_ERR_ARG, "an access or a datatype has 2^63 bytes or more"}};
  const Block one{0, block, &element};
  if (is_one_run(one) && (count == 1 || stride == block * element.size)) return made;
  if (is_one_run(one)) {
    made.view =
        view_of([&](tw_view** to) { return tw_view_strided(count, block * element.size, stride, nullptr, to); });
    return made;
  }
  const ViewPtr inner = element_view(element);
  made.view = view_of([&](tw_view** to) { return tw_view_strided(count, block, stride, inner.get(), to); });
  return made;
}

// A view of whole elements of an array, from its first byte on.
template <class Make>
Layout array_part(const Layout& element, Make&& make) {
  Layout made;
  if (element.size == 0) return made;
  if (element.extent < 0)
    throw Thrown{{MPI_ERR_UNSUPPORTED_OPERATION, "a datatype is an array of elements with a negative extent"}};
  const ViewPtr inner = element_view(element);
  made.view = view_of([&](tw_view** to) { return make(inner.get(), to); });
  made.size = tw_view_size(made.view.get());
  made.extent = tw_view_extent(made.view.get());
  made.decreases = element.decreases;
  made.base = element.base;
  return made;
}

tw_array_order order_of(std::int64_t mpi_order) {
  return mpi_order == MPI_ORDER_FORTRAN ? TW_COLUMN_MAJOR : TW_ROW_MAJOR;
}

Layout subarray(std::span<const std::int64_t> numbers, const Layout& element) {
  const auto n = static_cast<std::size_t>(numbers[0]);
  std::vector<tw_slice> slices(n);
  for (std::size_t i = 0; i < n; ++i) slices[i] = {numbers[1 + i], numbers[1 + 2 * n + i], numbers[1 + n + i]};
  const tw_array_order order = order_of(numbers[1 + 3 * n]);
  return array_part(element, [&](const tw_view* inner, tw_view** made) {
    return tw_view_subarray(static_cast<std::int32_t>(n), slices.data(), order, inner, made);
  });
}

tw_distributed_dim distributed_dim(std::int64_t size, std::int64_t how, std::int64_t argument, std::int64_t parts) {
  const std::int64_t block = argument == MPI_DISTRIBUTE_DFLT_DARG ? 0 : argument;
  if (how == MPI_DISTRIBUTE_BLOCK) return {size, parts, block, TW_BLOCK};
  if (how == MPI_DISTRIBUTE_CYCLIC) return {size, parts, block, TW_CYCLIC};
  return {size, 1, 0, TW_NOT_DISTRIBUTED};
}

Layout distributed(std::span<const std::int64_t> numbers, const Layout& element) {
  const std::int64_t rank = numbers[1];
  const auto n = static_cast<std::size_t>(numbers[2]);
  const auto at = [&](std::size_t list, std::size_t i) { return numbers[3 + list * n + i]; };
  std::vector<tw_distributed_dim> dims(n);
  for (std::size_t i = 0; i < n; ++i) dims[i] = distributed_dim(at(0, i), at(1, i), at(2, i), at(3, i));
  const tw_array_order order = order_of(numbers[3 + 4 * n]);
  return array_part(element, [&](const tw_view* inner, tw_view** made) {
    return tw_view_distributed(static_cast<std::int32_t>(n), dims.data(), rank, order, inner, made);
  });
}

// Pairs of a value and an int that have a hole between the two.
Layout predefined(MPI_Datatype type) {
  MPI_Count size = 0;
  MPI_Type_size_x(type, &size);
  Layout made;
  made.size = size;
  if (type != MPI_SHORT_INT) return made;
  struct Pair {
    short value;
    int index;
  };
  const std::int64_t displacements[] = {0, offsetof(Pair, index)}, lengths[] = {sizeof(short), sizeof(int)};
  made.view = view_of([&](tw_view** to) { return tw_view_indexed(2, displacements, lengths, nullptr, to); });
  return made;
}

// The bounds of what a constructor makes, in a file whose representation has sizes of its own; MPI knows those in memory.
void cover(std::span<const Block> blocks, Layout& made) {
  bool first = true;
  std::int64_t lowest = 0, highest = 0;
  for (const Block& block : blocks) {
    if (block.count <= 0) continue;
    const std::int64_t low = block.displacement + block.element->lower;
    const std::int64_t high = low + block.count * block.element->extent;
    lowest = first ? low : std::min(lowest, low);
    highest = first ? high : std::max(highest, high);
    first = false;
  }
  made.lower = lowest;
  made.extent = highest - lowest;
}

Layout laid_and_bounded(std::span<const Block> blocks) {
  Layout made = laid(blocks);
  cover(blocks, made);
  return made;
}

Layout strided_and_bounded(std::int64_t count, std::int64_t block, std::int64_t stride, const Layout& element) {
  Layout made = strided(count, block, stride, element);
  const Block ends[] = {{0, count > 0 ? block : 0, &element}, {(count - 1) * stride, count > 0 ? block : 0, &element}};
  cover(ends, made);
  return made;
}

Layout build(MPI_Datatype type, const Representation* representation);

// The blocks of a constructor that lists displacements; `scale`: bytes of a unit of these.
std::vector<Block> listed(std::span<const std::int64_t> lengths, std::span<const std::int64_t> displacements,
                          std::int64_t scale, const Layout& element) {
  std::vector<Block> blocks(displacements.size());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    blocks[i] = {displacements[i] * scale, lengths[lengths.size() == 1 ? 0 : i], &element};
  return blocks;
}

Layout structure_of(const TypeContents& contents, std::size_t n, const Representation* representation) {
  std::vector<Layout> elements;
  elements.reserve(n);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < n; ++i) {
    // Equal neighbours are one element, so that a list of bytes is no tree.
    if (i == 0 || contents.types[i] != contents.types[i - 1])
      elements.push_back(build(contents.types[i], representation));
    blocks.push_back({contents.numbers[1 + n + i], contents.numbers[1 + i], &elements.back()});
  }
  return laid_and_bounded(blocks);
}

Layout listed_by(const TypeContents& contents, const Layout& element) {
  const std::span<const std::int64_t> numbers(contents.numbers);
  const auto n = static_cast<std::size_t>(numbers[0]);
  switch (contents.combiner) {
    case MPI_COMBINER_INDEXED:
      return laid_and_bounded(listed(numbers.subspan(1, n), numbers.subspan(1 + n, n), element.extent, element));
    case MPI_COMBINER_INDEXED_BLOCK:
      return laid_and_bounded(listed(numbers.subspan(1, 1), numbers.subspan(2, n), element.extent, element));
    case MPI_COMBINER_HINDEXED_BLOCK:
      return laid_and_bounded(listed(numbers.subspan(1, 1), numbers.subspan(2, n), 1, element));
    default:  // hindexed
      return laid_and_bounded(listed(numbers.subspan(1, n), numbers.subspan(1 + n, n), 1, element));
  }
}

Layout constructed(const TypeContents& contents, const Representation* representation) {
  const std::vector<std::int64_t>& numbers = contents.numbers;
  if (contents.combiner == MPI_COMBINER_STRUCT)
    return structure_of(contents, static_cast<std::size_t>(numbers[0]), representation);
  Layout element = build(contents.types[0], representation);
  switch (contents.combiner) {
    case MPI_COMBINER_DUP:
      return element;
    case MPI_COMBINER_RESIZED:
      element.lower = numbers[0];
      element.extent = numbers[1];
      return element;
    case MPI_COMBINER_CONTIGUOUS:
      return strided_and_bounded(1, numbers[0], 0, element);
    case MPI_COMBINER_VECTOR:
      return strided_and_bounded(numbers[0], numbers[1], numbers[2] * element.extent, element);
    case MPI_COMBINER_HVECTOR:
      return strided_and_bounded(numbers[0], numbers[1], numbers[2], element);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return listed_by(contents, element);
    case MPI_COMBINER_SUBARRAY:
      return subarray(numbers, element);
    case MPI_COMBINER_DARRAY:
      return distributed(numbers, element);
    default:
      throw Thrown{{MPI_ERR_UNSUPPORTED_OPERATION,
                    "a datatype was made by combiner " + std::to_string(contents.combiner) + ", which is unknown"}};
  }
}

Layout build(MPI_Datatype type, const Representation* representation) {
  const bool is_leaf = is_predefined(type);
  Layout made;
  if (is_leaf && representation != nullptr) {
    made.size = made.extent = bytes_in_file(*representation, type);
    return made;
  }
  made = is_leaf ? predefined(type) : constructed(TypeContents(type), representation);
  if (representation != nullptr) return made;
  MPI_Count lower = 0, extent = 0;
  MPI_Type_get_extent_x(type, &lower, &extent);
  made.lower = lower;
  made.extent = extent;
  return made;
}

int forget(MPI_Datatype, int, void* value, void*) {
  delete static_cast<Layout*>(value);
  return MPI_SUCCESS;
}

int copy_nothing(MPI_Datatype, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(copy_nothing, forget, &made, nullptr);
    return made;
  }();
  return key;
}

const Layout* keep(MPI_Datatype type) {
  auto made = std::make_unique<Layout>(build(type, nullptr));
  MPI_Type_set_attr(type, keyval(), made.get());
  return made.release();
}

// What `make` returns; its empty value, and the failure, where it throws.
template <class Make>
auto made_or_failed(Make&& make, Failure& failure) -> decltype(make()) {
  try {
    return std::forward<Make>(make)();
  } catch (const Thrown& thrown) {
    failure = thrown.failure;
  } catch (const std::bad_alloc&) {
    failure = {MPI_ERR_NO_MEM, "out of memory for the layout of a datatype"};
  }
  return {};
}

const Layout* find_layout(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) throw Thrown{{MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL"}};
  // Predefined datatypes live as long as MPI, so that a thread may keep their layouts.
  thread_local std::unordered_map<MPI_Datatype, Layout> predefined_ones;
  if (const auto known = predefined_ones.find(type); known != predefined_ones.end()) return &known->second;
  // Two threads may meet a datatype for the first time at once.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  void* value = nullptr;
  int found = 0;
  MPI_Type_get_attr(type, keyval(), static_cast<void*>(&value), &found);
  if (found != 0) return static_cast<const Layout*>(value);
  return is_predefined(type) ? &predefined_ones.emplace(type, build(type, nullptr)).first->second : keep(type);
}

}  // namespace

const Layout* layout_of(MPI_Datatype type, Failure& failure) {
  return made_or_failed([&] { return find_layout(type); }, failure);
}

const Layout* layout_in_file(MPI_Datatype type, const Representation* representation, Layout& own, Failure& failure) {
  const Layout* const in_memory = layout_of(type, failure);
  if (in_memory == nullptr || representation == nullptr) return in_memory;
  return made_or_failed([&]() -> const Layout* { return &(own = build(type, representation)); }, failure);
}

Layout repeat(const Layout& one, std::int64_t count, Failure& failure) {
  return made_or_failed([&] { return strided(1, count, 0, one); }, failure);
}

ViewPtr view_from_start(const Layout& one, Failure& failure) {
  return made_or_failed(
      [&] {
        const ViewPtr inner = element_view(one);
        const std::int64_t displacement = one.base, length = 1;
        const ViewPtr moved =
            view_of([&](tw_view** made) { return tw_view_indexed(1, &displacement, &length, inner.get(), made); });
        return view_of([&](tw_view** made) { return tw_view_resized(moved.get(), one.extent, made); });
      },
      failure);
}

}  // namespace thalweg::mpiio
