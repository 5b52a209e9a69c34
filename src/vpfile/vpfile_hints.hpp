// How a vpfile is to be written and read, as hints say it (base/hint_table.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace thalweg {

// All tasks use those of task 0. 0: the library chooses.
struct VpHints {
  std::uint64_t record_bytes = 0;  // of an array without NAME.meta
  std::uint64_t round_bytes = 0;   // of the CB segment, of each VP
  std::uint64_t block_bytes = 64;
  std::uint64_t superblock_bytes = 0;
  std::uint64_t directory_pointers = 6;
  std::uint64_t cache_bytes = std::uint64_t{1} << 24;
  bool assume_nb = false;
  bool overwrite_foreign = false;  // a file of another format
};

// "name=value,name=value". Hints of files are put into `of_file`, as they are. unknown_hint.
Result<VpHints> parse_vp_hints(std::string_view text, std::string& of_file);

}  // namespace thalweg
