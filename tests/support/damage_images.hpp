// Small sound multifiles that tests damage: their physical files as bytes, what was written to them, and what each
// byte is for.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "multifile/check/regions.hpp"
#include "support/write_history.hpp"

namespace thalweg::test {

inline constexpr const char* kImagePath = "damage.tw";

struct Image {
  std::string name;
  bool closed = true;
  bool checked = true;                                  // data have checksums
  std::map<std::string, std::vector<std::byte>> files;  // by path
  std::vector<History> histories;                       // by rank; every write counts
  std::vector<std::vector<std::byte>> contents;         // by rank: what they add up to
  std::vector<Region> regions;                          // of all files; of an unclosed one after a repair
};

// Closed, appended, compressed, with a table, without checksums; not closed, and not closed after an append.
const std::vector<Image>& sound_images();
const Image& sound_image(const std::string& name);

// The files of an image in a memory backend of their own.
std::shared_ptr<Backend> storage_of(const std::map<std::string, std::vector<std::byte>>& files);

}  // namespace thalweg::test
