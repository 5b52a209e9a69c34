// What tw_options is, and what each kind of file takes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capi/open_flags.hpp"
#include "multifile/options.hpp"
#include "thalweg/open.h"

struct tw_options {
  std::string hints;  // "name=value,name=value", checked by the open
  std::optional<thalweg::Serving> serving;
  thalweg::MappingFunction mapping;
  thalweg::ProgressFunction progress;
  std::vector<std::int64_t> shape;  // empty: none
  struct Box {
    std::vector<std::int64_t> start, count;
  };
  std::optional<Box> box;
  std::optional<std::uint32_t> permissions;
};

namespace thalweg {

// invalid_argument: an option is set that means nothing for this kind of file. `options` may be null.
Status check_options(FileKind kind, const tw_options* options);

// The hints of a multifile, checked. `options` may be null.
Result<MultifileOptions> multifile_hints(const tw_options* options);

}  // namespace thalweg
