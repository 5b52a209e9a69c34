// The one table of the flags that open files: which kind of file each of them means something for.
#pragma once

#include <cstdint>

#include "base/status.hpp"

namespace thalweg {

enum class FileKind { multifile, file, vpfile };

// What the flags of an open ask for.
struct OpenHow {
  bool read = false;
  bool write = false;
  bool create = false;     // make it where there is none
  bool exclusive = false;  // with create: fail where there is one
  bool truncate = false;   // begin with an empty one
  bool append = false;
  bool recover = false;
  bool direct = false;
};

// invalid_argument: a flag is unknown or means nothing for this kind of file, or flags contradict each other. The
// message names the flag, the call and what to pass.
Result<OpenHow> read_open_flags(FileKind kind, std::int32_t flags);

}  // namespace thalweg
