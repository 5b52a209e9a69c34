// The flags and options of the calls that open files, and those that each kind of file takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/watch.hpp"
#include "multifile/options.hpp"
#include "os/file_ops.hpp"
#include "thalweg/health.h"
#include "thalweg/open.h"

struct tw_options {
  std::string hints;  // "name=value,name=value", checked by the open
  std::optional<thalweg::Serving> serving;
  thalweg::MappingFunction mapping;
  thalweg::ProgressFunction progress;
  std::vector<std::int64_t> shape, box_start, box_count;  // empty: none
  std::optional<std::uint32_t> permissions;
};

namespace thalweg {

enum class FileKind { multifile, file, vpfile };

// The flags of an open, one member each.
struct OpenHow {
  OpenOptions file;
  bool append = false;
  bool recover = false;
  bool direct = false;
};

// invalid_argument: a flag is unknown, flags contradict each other, or a flag or an option that is set means nothing for
// this kind of file. The message names it, the call and what to pass. `options` may be null.
Result<OpenHow> read_how_to_open(FileKind kind, std::int32_t flags, const tw_options* options);

// The hints of a multifile, checked. `options` may be null.
Result<MultifileOptions> multifile_hints(const tw_options* options);

// The callbacks of verify, repair and an open, as health.h has them.
Watch make_watch(tw_finding_fn fn, tw_progress_fn progress, void* user);

}  // namespace thalweg
