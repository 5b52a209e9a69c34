// The model of 'thalweg map': the byte ranges of the physical files, reduced to a number that a picture can show.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common.hpp"

namespace tool {

// Kinds of byte ranges: TW_REGION_*, and two more for vpfiles, where the table of a superblock is a frame and its
// unused part a tail.
constexpr int32_t kRegionNb = TW_REGION_INDEX + 1;
constexpr int32_t kRegionCb = TW_REGION_INDEX + 2;
using KindBytes = std::array<int64_t, kRegionCb + 1>;

// A byte range of either kind of file.
struct MapRegion {
  int32_t kind;
  int32_t physical;
  int64_t offset, bytes;
  int64_t rank, last_rank;  // owners; -1: none
};

// A byte range drawn as one shape.
struct Span {
  int64_t offset, bytes;
  int32_t kind;       // of most of its bytes
  int64_t rank;       // owner of its data; -1: none
  int64_t last_rank;  // the highest owner
  int64_t regions;    // number of byte ranges in it

  bool many_tasks() const { return last_rank > rank; }
};

// One physical file.
struct Strip {
  int32_t physical = 0;
  int64_t bytes = 0;
  int64_t regions = 0;
  int64_t rows = 1;   // lines of the picture
  bool exact = true;  // every region is a span; otherwise a span consists of cells that show the majority of their
                      // bytes
  std::vector<Span> spans;  // by offset

  int64_t bytes_per_row() const { return rows > 0 ? (bytes + rows - 1) / rows : 0; }
};

struct Map {
  bool vpfile = false;
  std::string file;
  bool closed = true;
  int64_t n_logical = 0;  // or virtual processors
  int32_t n_physical = 0;
  KindBytes by_kind = {};
  int64_t bytes = 0;
  int64_t regions = 0;
  std::vector<Strip> strips;       // of the first physical files
  std::vector<std::string> names;  // of the first logical files
};

constexpr int32_t kMostStrips = 64;
constexpr int64_t kMostNames = 1000;
constexpr int64_t kCellsPerRow = 500;

Map make_map(const Multifile& multifile, const std::string& path, bool closed);
Map make_vp_map(const std::string& path);

std::string region_name(const Map& map, int32_t kind);  // "data", "hole", ...
inline const char* owner_name(const Map& map) { return map.vpfile ? "VP" : "task"; }

constexpr const char* kMapMark = "<!-- made by thalweg map -->";  // near the beginning of each picture: such a file may
                                                                  // be replaced
std::string svg_picture(const Map& map);
std::string html_page(const Map& map);  // the picture in a page, without scripts

}  // namespace tool
