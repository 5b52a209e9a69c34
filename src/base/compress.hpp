// Compression of one buffer into one buffer: LZ4 blocks and Zstandard frames.
//
// Invariant: decompression writes nothing outside the buffer it is given and takes no memory that depends on what the
// compressed bytes say. Threads: any; each thread keeps its own Zstandard context.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/endian.hpp"
#include "base/status.hpp"

namespace thalweg {

enum class Compression : std::uint32_t { lz4 = 1, zstd = 2 };

// The size of a buffer into which any `bytes` bytes fit when compressed; 0 when so many cannot be compressed at once.
std::size_t compressed_bound(Compression kind, std::size_t bytes);

// Compresses `from` into `to`; the number of bytes written, or 0 when `to` is too small for them.
// level: of Zstandard, 0 is its default; LZ4 has none here. Fails with out_of_range (more than compressed_bound takes)
// and no_memory.
Result<std::size_t> compress(Compression kind, int level, ByteView from, ByteSpan to);

// Decompresses `from`, one block or frame and nothing else, into exactly to.size() bytes.
// Fails with corrupt_file when it is not that; the content of `to` is then undefined. A kind that is none of the above,
// as a number off disk may be, is unsupported_version.
Status decompress(Compression kind, ByteView from, ByteSpan to);

}  // namespace thalweg
