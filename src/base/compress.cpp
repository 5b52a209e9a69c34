#include "base/compress.hpp"

#include <fmt/core.h>
#include <lz4.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <limits>
#include <memory>
#include <string>

namespace thalweg {

namespace {

// One context per thread is kept: making one costs far more than compressing a small record.
ZSTD_CCtx* compression_context() {
  static thread_local std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(nullptr, ZSTD_freeCCtx);
  if (!context) context.reset(ZSTD_createCCtx());
  return context.get();
}

ZSTD_DCtx* decompression_context() {
  static thread_local std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(nullptr, ZSTD_freeDCtx);
  if (!context) context.reset(ZSTD_createDCtx());
  return context.get();
}

const char* as_chars(ByteView bytes) { return reinterpret_cast<const char*>(bytes.data()); }
char* as_chars(ByteSpan bytes) { return reinterpret_cast<char*>(bytes.data()); }

int int_size(std::size_t bytes) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  return static_cast<int>(bytes < kMost ? bytes : kMost);
}

Status no_zstd_context() { return Status::error(Code::no_memory, "no memory for a Zstandard context"); }

Status damaged(const char* what, ByteView from, std::size_t expected, const std::string& why) {
  return Status::error(Code::corrupt_file, "{} of {} bytes does not give the {} bytes it should: {}", what, from.size(),
                       expected, why);
}

Status decompress_lz4(ByteView from, ByteSpan to) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (from.size() > kMost || to.size() > kMost)
    return damaged("LZ4 block", from, to.size(), "larger than a block can be");
  const int got = LZ4_decompress_safe(as_chars(from), as_chars(to), int_size(from.size()), int_size(to.size()));
  if (got < 0) return damaged("LZ4 block", from, to.size(), "malformed or too long");
  if (static_cast<std::size_t>(got) != to.size())
    return damaged("LZ4 block", from, to.size(), fmt::format("it gives {}", got));
  return {};
}

Status decompress_zstd(ByteView from, ByteSpan to) {
  // ZSTD_decompress would also accept several frames and skippable frames.
  const std::size_t frame = ZSTD_findFrameCompressedSize(from.data(), from.size());
  if (ZSTD_isError(frame)) return damaged("Zstandard frame", from, to.size(), ZSTD_getErrorName(frame));
  if (frame != from.size()) return damaged("Zstandard frame", from, to.size(), "bytes follow the frame");
  ZSTD_DCtx* context = decompression_context();
  if (context == nullptr) return no_zstd_context();
  const std::size_t got = ZSTD_decompressDCtx(context, to.data(), to.size(), from.data(), from.size());
  if (ZSTD_isError(got)) return damaged("Zstandard frame", from, to.size(), ZSTD_getErrorName(got));
  if (got != to.size()) return damaged("Zstandard frame", from, to.size(), fmt::format("it gives {}", got));
  return {};
}

Result<std::size_t> compress_zstd(int level, ByteView from, ByteSpan to) {
  ZSTD_CCtx* context = compression_context();
  if (context == nullptr) return no_zstd_context();
  const std::size_t got = ZSTD_compressCCtx(context, to.data(), to.size(), from.data(), from.size(), level);
  if (!ZSTD_isError(got)) return got;
  if (ZSTD_getErrorCode(got) == ZSTD_error_dstSize_tooSmall) return std::size_t{0};
  if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation) return no_zstd_context();
  return Status::error(Code::internal, std::string("Zstandard cannot compress: ") + ZSTD_getErrorName(got));
}

}  // namespace

std::size_t compressed_bound(Compression kind, std::size_t bytes) {
  if (kind == Compression::lz4)
    return bytes > LZ4_MAX_INPUT_SIZE ? 0 : static_cast<std::size_t>(LZ4_compressBound(int_size(bytes)));
  const std::size_t bound = ZSTD_compressBound(bytes);
  return ZSTD_isError(bound) ? 0 : bound;
}

Result<std::size_t> compress(Compression kind, int level, ByteView from, ByteSpan to) {
  if (compressed_bound(kind, from.size()) == 0) {
    return Status::error(Code::out_of_range, "cannot compress {} bytes at once", from.size());
  }
  if (kind == Compression::zstd) return compress_zstd(level, from, to);
  const int got = LZ4_compress_default(as_chars(from), as_chars(to), int_size(from.size()), int_size(to.size()));
  return static_cast<std::size_t>(got < 0 ? 0 : got);
}

Status decompress(Compression kind, ByteView from, ByteSpan to) {
  switch (kind) {
    case Compression::lz4:
      return decompress_lz4(from, to);
    case Compression::zstd:
      return decompress_zstd(from, to);
  }
  return Status::error(Code::unsupported_version, "codec {} is not known to this library; a newer one reads the piece",
                       static_cast<std::uint32_t>(kind));
}

}  // namespace thalweg
