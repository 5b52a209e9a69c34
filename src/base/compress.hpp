// Compression of one buffer into one buffer: LZ4 blocks and Zstandard frames.
//
// Invariant: decompression never writes outside its output buffer, and the memory it takes does not depend on the
// compressed bytes. Threads: any; each thread keeps its own Zstandard context.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/endian.hpp"
#include "base/status.hpp"

namespace thalweg {

enum class Compression : std::uint32_t { lz4 = 1, zstd = 2 };

// Buffer size that is enough for `bytes` bytes of any content; 0 above the limit of the method.
std::size_t compressed_bound(Compression kind, std::size_t bytes);

// Compresses `from` into `to`. Returns the number of bytes written, or 0 when `to` is too small.
// level: of Zstandard, 0 is its default; LZ4 ignores it. Fails with out_of_range (above the limit of
// compressed_bound) and no_memory.
Result<std::size_t> compress(Compression kind, int level, ByteView from, ByteSpan to);

// Decompresses `from`, exactly one block or frame, into exactly to.size() bytes.
// Fails with corrupt_file otherwise; the content of `to` is then undefined. An unknown kind, as a number read from a
// file may be, is unsupported_version.
Status decompress(Compression kind, ByteView from, ByteSpan to);

}  // namespace thalweg
