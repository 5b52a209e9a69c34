// Two walks over the regions: the first counts, the second keeps them, or accumulates them in cells when they are too
// many.
#include "map_model.hpp"

#include <algorithm>

#include "progress.hpp"
#include "vpfile.hpp"

namespace tool {
namespace {

constexpr int64_t kMostExact = 3000;  // regions of one physical file that are drawn individually
constexpr int64_t kRegionsPerRow = 40;
constexpr int64_t kMostRunsOfOneColour = 3;  // a cell with more gets the colour for several tasks
constexpr int64_t kMostRows = 32;            // of all strips together, at least one each

int32_t known_kind(int32_t kind) { return kind >= TW_REGION_HEADER && kind <= kRegionCb ? kind : TW_REGION_HOLE; }

// The cells of a strip with too many regions.
struct Cell {
  KindBytes by_kind = {};
  int64_t rank = -1, rank_bytes = 0;  // the longest run of data of one rank
  int64_t first_rank = INT64_MAX, last_rank = -1;
  int64_t regions = 0, data_regions = 0;
};

struct Builder {
  Map map;
  std::vector<Cell> cells;  // of the strip `cells_of`
  int32_t cells_of = -1;
};

int count_region(const MapRegion* region, Builder& builder) {
  Map& map = builder.map;
  const auto kind = static_cast<size_t>(known_kind(region->kind));
  map.by_kind[kind] = sum_of(map.by_kind[kind], region->bytes);
  map.bytes = sum_of(map.bytes, region->bytes);
  ++map.regions;
  note_work("map", map.regions, 0, "byte ranges");
  if (region->physical < 0 || region->physical >= static_cast<int32_t>(map.strips.size())) return caught_signal();
  Strip& strip = map.strips[static_cast<size_t>(region->physical)];
  strip.bytes = std::max(strip.bytes, region->offset + region->bytes);
  ++strip.regions;
  return caught_signal();
}

void choose_rows(Map& map) {
  const auto n = static_cast<int64_t>(map.strips.size());
  const int64_t most = std::max<int64_t>(1, kMostRows / std::max<int64_t>(1, n));
  for (Strip& strip : map.strips) {
    strip.rows = std::clamp((strip.regions + kRegionsPerRow - 1) / kRegionsPerRow, int64_t{1}, most);
    strip.exact = strip.regions <= kMostExact;
  }
}

int64_t cell_bytes(const Strip& strip) {
  const int64_t n = strip.rows * kCellsPerRow;
  return std::max<int64_t>(1, (strip.bytes + n - 1) / n);
}

void add_rank(Cell& cell, int64_t rank, int64_t last_rank, int64_t bytes) {
  cell.data_regions += last_rank - rank + 1;
  cell.first_rank = std::min(cell.first_rank, rank);
  cell.last_rank = std::max(cell.last_rank, last_rank);
  if (bytes <= cell.rank_bytes) return;
  cell.rank = rank;
  cell.rank_bytes = bytes;
}

void add_to_cells(std::vector<Cell>& cells, const Strip& strip, const MapRegion& region) {
  const int64_t size = cell_bytes(strip);
  const auto kind = static_cast<size_t>(known_kind(region.kind));
  for (int64_t at = region.offset; at < region.offset + region.bytes;) {
    const int64_t index = at / size;
    const int64_t part = std::min((index + 1) * size, region.offset + region.bytes) - at;
    Cell& cell = cells[static_cast<size_t>(index)];
    cell.by_kind[kind] += part;
    ++cell.regions;
    if (region.kind == TW_REGION_DATA) add_rank(cell, region.rank, region.last_rank, part);
    at += part;
  }
}

// Joins equal neighbours to one span.
void append(std::vector<Span>& spans, const Span& next) {
  if (!spans.empty()) {
    Span& last = spans.back();
    const bool same = last.kind == next.kind && last.rank == next.rank && !last.many_tasks() && !next.many_tasks();
    if (same && last.offset + last.bytes == next.offset) {
      last.bytes += next.bytes;
      last.regions += next.regions;
      return;
    }
  }
  spans.push_back(next);
}

void cells_to_spans(Builder& builder) {
  if (builder.cells_of < 0) return;
  Strip& strip = builder.map.strips[static_cast<size_t>(builder.cells_of)];
  const int64_t size = cell_bytes(strip);
  for (size_t i = 0; i < builder.cells.size(); ++i) {
    const Cell& cell = builder.cells[i];
    const int64_t offset = static_cast<int64_t>(i) * size;
    if (cell.regions == 0 || offset >= strip.bytes) continue;
    const auto most = std::ranges::max_element(cell.by_kind);
    const auto kind = static_cast<int32_t>(most - cell.by_kind.begin());
    Span span{offset, std::min(size, strip.bytes - offset), kind, -1, -1, cell.regions};
    if (kind == TW_REGION_DATA) {
      const bool many = cell.data_regions > kMostRunsOfOneColour;
      span.rank = many ? cell.first_rank : cell.rank;
      span.last_rank = many ? cell.last_rank : cell.rank;
    }
    append(strip.spans, span);
  }
  builder.cells_of = -1;
}

int keep_region(const MapRegion* region, Builder& builder) {
  if (region->physical < 0 || region->physical >= static_cast<int32_t>(builder.map.strips.size()))
    return caught_signal();
  Strip& strip = builder.map.strips[static_cast<size_t>(region->physical)];
  if (strip.exact) {
    strip.spans.push_back(
        {region->offset, region->bytes, known_kind(region->kind), region->rank, region->last_rank, 1});
    return caught_signal();
  }
  if (builder.cells_of != region->physical) {
    cells_to_spans(builder);
    builder.cells.assign(static_cast<size_t>(strip.rows * kCellsPerRow), Cell{});
    builder.cells_of = region->physical;
  }
  add_to_cells(builder.cells, strip, *region);
  return caught_signal();
}

template <auto Take>
int of_multifile(const tw_region* region, void* user) {
  const MapRegion same{region->kind, region->physical, region->offset, region->bytes, region->rank, region->rank};
  return Take(&same, *static_cast<Builder*>(user));
}

int32_t kind_of(const tw_vpfile_region& region) {
  // by TW_VPFILE_REGION_*
  constexpr int32_t kKinds[] = {TW_REGION_HOLE, kRegionNb,      kRegionCb,      TW_REGION_HEADER,
                                TW_REGION_DATA, TW_REGION_TAIL, TW_REGION_FRAME};
  return region.kind > 0 && region.kind < std::ssize(kKinds) ? kKinds[region.kind] : TW_REGION_HOLE;
}

template <auto Take>
int of_vpfile(const tw_vpfile_region* region, void* user) {
  const int32_t kind = kind_of(*region);
  const bool data = kind == TW_REGION_DATA;
  const MapRegion same{
      kind, 0, region->offset, region->bytes, data ? region->first_vp : -1, data ? region->last_vp : -1};
  return Take(&same, *static_cast<Builder*>(user));
}

// `walk(take)` runs twice: to count, and to keep.
template <class Walk>
Map build(Builder& builder, Walk walk) {
  note_work("map", 0, 0, "byte ranges");
  walk(true);
  stop_if_interrupted();
  choose_rows(builder.map);
  walk(false);
  stop_if_interrupted();
  cells_to_spans(builder);
  return std::move(builder.map);
}

}  // namespace

std::string region_name(const Map& map, int32_t kind) {
  // by TW_REGION_*, kRegionNb and kRegionCb
  constexpr const char* kNames[][kRegionCb + 1] = {
      {"", "header", "frame", "data", "unused tail", "hole", "index", "NB segment", "CB segment"},
      {"", "header", "table", "blocks", "unused room", "hole", "index", "NB segment", "CB segment"}};
  return kNames[map.vpfile ? 1 : 0][known_kind(kind)];
}

Map make_map(const Multifile& multifile, const std::string& path, bool closed) {
  const tw_multifile_summary summary = multifile.summarize();
  Builder builder;
  Map& map = builder.map;
  map.file = path;
  map.closed = closed;
  map.n_logical = summary.n_logical;
  map.n_physical = summary.n_physical;
  map.strips.resize(static_cast<size_t>(std::min(summary.n_planned, kMostStrips)));
  for (size_t i = 0; i < map.strips.size(); ++i) map.strips[i].physical = static_cast<int32_t>(i);
  for (int64_t rank = 0; rank < std::min(summary.n_logical, kMostNames); ++rank)
    map.names.push_back(multifile.name(rank));
  Map made = build(builder, [&](bool first) {
    check(tw_multifile_regions(multifile.get(), first ? of_multifile<count_region> : of_multifile<keep_region>,
                               &builder));
  });
  std::erase_if(made.strips, [](const Strip& strip) { return strip.physical > 0 && strip.bytes == 0; });  // never made
  return made;
}

Map make_vp_map(const std::string& path) {
  const tw_vpfile_stored stored = look_at_vpfile(path);
  Builder builder;
  Map& map = builder.map;
  map.vpfile = true;
  map.file = path;
  map.closed = stored.closed != 0;
  map.n_logical = stored.n_vps;
  map.n_physical = 1;
  map.strips.resize(1);
  return build(builder, [&](bool first) {
    check(tw_vpfile_regions(path.c_str(), first ? of_vpfile<count_region> : of_vpfile<keep_region>, &builder));
  });
}

}  // namespace tool
