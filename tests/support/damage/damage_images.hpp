// Small undamaged multifiles as input for damage tests: the bytes of their physical files, what was written, and the
// meaning of each byte.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "multifile/check/regions.hpp"
#include "support/crash/write_history.hpp"

namespace thalweg::test {

inline constexpr const char* kImagePath = "damage.tw";

struct Image {
  std::string name;
  bool closed = true;
  bool checked = true;                                  // data has checksums
  std::uint64_t n_numbered = 0;                         // logical files that no task added
  std::map<std::string, std::vector<std::byte>> files;  // by path
  std::vector<History> histories;                       // by rank, those that were added last; every write is durable
  std::vector<std::vector<std::byte>> contents;         // by rank: the resulting content
  std::vector<Region> regions;                          // of all files; for an unclosed image, those after a repair
};

// Closed, appended, compressed, with a table, without checksums, with logical files that were added by names, with a
// later physical file, unclosed, and unclosed after an append.
const std::vector<Image>& sound_images();
std::vector<std::string> image_names();
const Image& sound_image(const std::string& name);

// Copies the files of an image into a new memory backend.
std::shared_ptr<Backend> storage_of(const std::map<std::string, std::vector<std::byte>>& files);

}  // namespace thalweg::test
