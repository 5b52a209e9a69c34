// Places of a file where a structure may begin: section 6 of docs/format/store.md.
#pragma once

#include <functional>

#include "base/endian.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// Reads `data.size()` bytes; those behind the end of the file are zeros.
Status read_padded(StoredFile& file, std::uint64_t at, ByteSpan data);

// The first place from `at` on, outside of holes, for a structure that begins on a multiple of `step`.
Result<std::uint64_t> next_place(StoredFile& file, std::uint64_t at, std::uint64_t step);

// Calls visit(at, image) with the first `bytes` bytes at each multiple of `step` from `begin` on, except in holes, until
// it fails or returns false.
Status each_place(StoredFile& file, std::uint64_t begin, std::uint64_t step, std::uint64_t bytes,
                  const std::function<Result<bool>(std::uint64_t at, ByteView image)>& visit);

}  // namespace thalweg
