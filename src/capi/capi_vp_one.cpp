// vpfile.h: the calls of one VP.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "capi/guard.hpp"
#include "capi/vpfile_handle.hpp"
#include "vpfile/formatted_text.hpp"

using namespace thalweg;

namespace {

// `act(file, local)` for a VP of this task.
template <class Act>
tw_status on_vp(const char* function, tw_vpfile* vpfile, int64_t vp, Act act) {
  return guarded([&]() -> Status {
    TW_IN_CALL(vpfile, function);
    TW_ASSIGN_OR_RETURN(const std::uint64_t local, local_of(*vpfile, vp));
    return act(*vpfile->impl, local);
  });
}

Status write_text(VpFile& file, std::uint64_t local, std::string_view text) {
  return file.stream(local).write(std::as_bytes(std::span(text))).status();
}

}  // namespace

extern "C" {

tw_status tw_vp_read(tw_vpfile* vpfile, int64_t vp, void* data, size_t bytes, size_t* moved) {
  if (moved != nullptr) *moved = 0;
  return on_vp("tw_vp_read", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (data == nullptr && bytes > 0) return null_argument("tw_vp_read", "data");
    TW_ASSIGN_OR_RETURN(const std::uint64_t got, file.stream(local).read({static_cast<std::byte*>(data), bytes}));
    if (moved != nullptr) *moved = got;
    return {};
  });
}

tw_status tw_vp_write(tw_vpfile* vpfile, int64_t vp, const void* data, size_t bytes, size_t* moved) {
  if (moved != nullptr) *moved = 0;
  return on_vp("tw_vp_write", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (data == nullptr && bytes > 0) return null_argument("tw_vp_write", "data");
    TW_ASSIGN_OR_RETURN(const std::uint64_t done,
                        file.stream(local).write({static_cast<const std::byte*>(data), bytes}));
    if (moved != nullptr) *moved = done;
    return {};
  });
}

tw_status tw_vp_seek(tw_vpfile* vpfile, int64_t vp, int64_t offset, int whence) {
  return on_vp("tw_vp_seek", vpfile, vp,
               [&](VpFile& file, std::uint64_t local) { return file.stream(local).seek(offset, whence); });
}

tw_status tw_vp_tell(tw_vpfile* vpfile, int64_t vp, int64_t* position) {
  return on_vp("tw_vp_tell", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (position == nullptr) return null_argument("tw_vp_tell", "position");
    *position = static_cast<int64_t>(file.stream(local).position());
    return {};
  });
}

tw_status tw_vp_rewind(tw_vpfile* vpfile, int64_t vp) {
  return on_vp("tw_vp_rewind", vpfile, vp, [&](VpFile& file, std::uint64_t local) {
    file.stream(local).clear();
    return file.stream(local).seek(0, SEEK_SET);
  });
}

tw_status tw_vp_size(tw_vpfile* vpfile, int64_t vp, int64_t* bytes) {
  return on_vp("tw_vp_size", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (bytes == nullptr) return null_argument("tw_vp_size", "bytes");
    TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.stream(local).size());
    *bytes = static_cast<int64_t>(size);
    return {};
  });
}

tw_status tw_vp_alike(tw_vpfile* vpfile, int64_t vp, int64_t* last) {
  return on_vp("tw_vp_alike", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (last == nullptr) return null_argument("tw_vp_alike", "last");
    auto end = file.stream(local).end_of_alike();
    const std::uint64_t run_end = (local / file.vps().run_length() + 1) * file.vps().run_length();
    *last = vp + static_cast<int64_t>((end.has_value() ? *end : run_end) - local) - 1;
    return end.status();
  });
}

tw_status tw_vp_skip_gap(tw_vpfile* vpfile, int64_t vp, int64_t* skipped) {
  return on_vp("tw_vp_skip_gap", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (skipped == nullptr) return null_argument("tw_vp_skip_gap", "skipped");
    TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, file.stream(local).skip_gap());
    *skipped = static_cast<int64_t>(bytes);
    return {};
  });
}

tw_status tw_vp_flags(tw_vpfile* vpfile, int64_t vp, int* eof, int* error) {
  return on_vp("tw_vp_flags", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (eof != nullptr) *eof = file.stream(local).at_eof() ? 1 : 0;
    if (error != nullptr) *error = file.stream(local).failed() ? 1 : 0;
    return {};
  });
}

tw_status tw_vp_clearerr(tw_vpfile* vpfile, int64_t vp) {
  return on_vp("tw_vp_clearerr", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    file.stream(local).clear();
    return {};
  });
}

tw_status tw_vp_getc(tw_vpfile* vpfile, int64_t vp, int* byte) {
  return on_vp("tw_vp_getc", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (byte == nullptr) return null_argument("tw_vp_getc", "byte");
    std::byte one{};
    TW_ASSIGN_OR_RETURN(const std::uint64_t got, file.stream(local).read({&one, 1}));
    *byte = got == 1 ? std::to_integer<int>(one) : -1;
    return {};
  });
}

tw_status tw_vp_putc(tw_vpfile* vpfile, int64_t vp, int byte) {
  return on_vp("tw_vp_putc", vpfile, vp, [&](VpFile& file, std::uint64_t local) {
    const auto one = static_cast<std::byte>(byte);
    return file.stream(local).write({&one, 1}).status();
  });
}

tw_status tw_vp_ungetc(tw_vpfile* vpfile, int64_t vp, int byte) {
  return on_vp("tw_vp_ungetc", vpfile, vp, [&](VpFile& file, std::uint64_t local) {
    return byte == EOF ? Status{} : file.stream(local).push_back(static_cast<std::byte>(byte));
  });
}

tw_status tw_vp_gets(tw_vpfile* vpfile, int64_t vp, char* line, size_t size, size_t* got) {
  if (got != nullptr) *got = 0;
  return on_vp("tw_vp_gets", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (line == nullptr) return null_argument("tw_vp_gets", "line");
    if (size == 0) return Status::error(Code::invalid_argument, "tw_vp_gets: size is 0; at least 1");
    std::string text;
    const Status status = read_line(file, local, size - 1, text);
    std::memcpy(line, text.c_str(), text.size() + 1);
    if (got != nullptr) *got = text.size();
    return status;
  });
}

tw_status tw_vp_puts(tw_vpfile* vpfile, int64_t vp, const char* text) {
  return on_vp("tw_vp_puts", vpfile, vp, [&](VpFile& file, std::uint64_t local) {
    return text == nullptr ? null_argument("tw_vp_puts", "text") : write_text(file, local, text);
  });
}

tw_status tw_vp_vprintf(tw_vpfile* vpfile, int64_t vp, const char* format, va_list arguments) {
  return on_vp("tw_vp_vprintf", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (format == nullptr) return null_argument("tw_vp_vprintf", "format");
    va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    if (length < 0)
      return Status::error(Code::invalid_argument, std::string("format '") + format + "' cannot be printed");
    std::string text(static_cast<std::size_t>(length) + 1, '\0');
    std::vsnprintf(text.data(), text.size(), format, arguments);
    text.pop_back();
    return write_text(file, local, text);
  });
}

tw_status tw_vp_printf(tw_vpfile* vpfile, int64_t vp, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const tw_status status = tw_vp_vprintf(vpfile, vp, format, arguments);
  va_end(arguments);
  return status;
}

tw_status tw_vp_vscanf(tw_vpfile* vpfile, int64_t vp, int* done, const char* format, va_list arguments) {
  return on_vp("tw_vp_vscanf", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (format == nullptr) return null_argument("tw_vp_vscanf", "format");
    Status failure;
    TW_ASSIGN_OR_RETURN(StdioStream stream, open_vp_stream(file, local, failure));
    const int n = std::vfscanf(stream.get(), format, arguments);
    stream.reset();  // gives back what was read ahead, which may fail
    if (done != nullptr) *done = n;
    return failure;
  });
}

tw_status tw_vp_scanf(tw_vpfile* vpfile, int64_t vp, int* done, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const tw_status status = tw_vp_vscanf(vpfile, vp, done, format, arguments);
  va_end(arguments);
  return status;
}

tw_status tw_vp_flush(tw_vpfile* vpfile, int64_t vp) {
  return on_vp("tw_vp_flush", vpfile, vp, [](VpFile& file, std::uint64_t local) { return file.stream(local).flush(); });
}

}  // extern "C"
