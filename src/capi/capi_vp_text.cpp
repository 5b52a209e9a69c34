// vpfile.h: characters, lines and formatted text of all VPs.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "capi/vpfile_handle.hpp"
#include "vpfile/formatted_text.hpp"

using namespace thalweg;

namespace {

bool takes_part(const std::uint8_t* mask, std::uint64_t local) { return mask == nullptr || mask[local] != 0; }

// Collective: text of every local VP, which `make(local, out)` appends to `out`; all of it is made before the first
// message.
template <class Make>
Status write_texts(VpFile& file, const std::uint8_t* mask, std::size_t* counts, Make make) {
  const std::uint64_t n = file.vps().count();
  std::string text;
  std::vector<std::uint64_t> each;
  VpTransfer what{.direction = Direction::write, .mask = mask, .moved = reinterpret_cast<std::uint64_t*>(counts)};
  what.status = or_out_of_memory([&]() -> Status {
    each.resize(n);
    for (std::uint64_t local = 0; local < n; ++local) {
      if (!takes_part(mask, local)) continue;
      const std::size_t before = text.size();
      TW_RETURN_IF_ERROR(make(local, text));
      each[local] = text.size() - before;
    }
    return {};
  });
  what.each = each.data();
  what.base = reinterpret_cast<std::byte*>(text.data());
  return run(file.transfer(what));
}

// Collective: `act(local)` for the VPs that take part, one after the other; all agree on the worst status.
template <class Act>
Status each_alone(VpFile& file, const std::uint8_t* mask, Status mine, Act act) {
  for (std::uint64_t local = 0; mine.ok() && local < file.vps().count(); ++local)
    if (takes_part(mask, local)) mine = or_out_of_memory([&] { return act(local); });
  return run(file.meet(file.group().call(), std::move(mine)));
}

std::byte* address_of(const tw_vpfile_argument& argument, std::uint64_t local) {
  return static_cast<std::byte*>(argument.base) + argument.stride * static_cast<std::int64_t>(local);
}

Status check_arguments(const char* function, const Result<std::vector<FormatPart>>& parts,
                       const tw_vpfile_argument* arguments, std::int64_t n_arguments) {
  if (!parts.has_value()) return parts.error();
  const std::size_t wanted = count_arguments(parts.value());
  const auto n = static_cast<std::size_t>(std::max<std::int64_t>(n_arguments, 0));
  if (n_arguments < 0) return invalid_argument(function, "n_arguments is {}", n_arguments);
  if (n > 0 && arguments == nullptr) return null_argument(function, "arguments");
  for (std::size_t i = 0; i < n; ++i)
    if (arguments[i].base == nullptr) return invalid_argument(function, "base of argument {} is NULL", i);
  if (wanted == n) return {};
  return invalid_argument(function, "the format has {} conversions, and {} arguments are given", wanted, n);
}

// The conversions done, as fscanf counts them.
int scan(std::FILE* stream, const std::vector<FormatPart>& parts, const tw_vpfile_argument* arguments,
         std::uint64_t local) {
  int done = 0;
  for (const FormatPart& part : parts) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    const bool has_argument = part.conversion != 0;
    const int one = has_argument ? std::fscanf(stream, part.text.c_str(), address_of(arguments[done], local))
                                 : std::fscanf(stream, part.text.c_str());
#pragma GCC diagnostic pop
    if (one < 0) return done == 0 ? -1 : done;
    if (!has_argument) continue;
    if (one == 0) return done;
    ++done;
  }
  return done;
}

}  // namespace

extern "C" {

tw_status tw_vpfile_getc_all(tw_vpfile* vpfile, int* bytes, const uint8_t* mask) {
  return on_all(vpfile, Call::tw_vpfile_getc_all, [&](VpFile& file) -> Status {
    const std::uint64_t n = file.vps().count();
    std::vector<std::byte> got;
    std::vector<std::uint64_t> moved;
    VpTransfer what{.bytes = 1, .mask = mask};
    std::int64_t stride = 1;
    std::vector<std::int64_t> strides;
    what.status = or_out_of_memory([&]() -> Status {
      if (bytes == nullptr && n > 0) return null_argument("tw_vpfile_getc_all", "bytes");
      got.resize(n);
      moved.resize(n);
      strides.resize(file.shape().size());
      for (std::size_t i = strides.size(); i-- > 0;) {
        strides[i] = stride;
        stride *= static_cast<std::int64_t>(file.vps().box().count[i]);
      }
      return {};
    });
    what.base = got.data();
    what.vp_strides = strides;
    what.moved = moved.data();
    TW_RETURN_IF_ERROR(run(file.transfer(what)));
    for (std::uint64_t local = 0; local < n; ++local)
      bytes[local] = moved[local] == 1 ? std::to_integer<int>(got[local]) : -1;
    return {};
  });
}

tw_status tw_vpfile_putc_all(tw_vpfile* vpfile, int byte, const int* bytes, const uint8_t* mask) {
  return on_all(vpfile, Call::tw_vpfile_putc_all, [&](VpFile& file) {
    return write_texts(file, mask, nullptr, [&](std::uint64_t local, std::string& text) -> Status {
      text += static_cast<char>(bytes != nullptr ? bytes[local] : byte);
      return {};
    });
  });
}

tw_status tw_vpfile_ungetc_all(tw_vpfile* vpfile, int byte, const int* bytes, const uint8_t* mask) {
  return on_handle(vpfile, "tw_vpfile_ungetc_all", [&](tw_vpfile& open) -> Status {
    TW_RETURN_IF_ERROR(open.streams.settle_all());
    VpFile& file = *open.impl;
    for (std::uint64_t local = 0; local < file.vps().count(); ++local) {
      if (!takes_part(mask, local)) continue;
      const int one = bytes != nullptr ? bytes[local] : byte;
      if (one == EOF) continue;
      TW_RETURN_IF_ERROR(file.stream(local).push_back(static_cast<std::byte>(one)));
    }
    return {};
  });
}

tw_status tw_vpfile_gets_all(tw_vpfile* vpfile, char* lines, size_t size, size_t* lengths, const uint8_t* mask) {
  return on_all(vpfile, Call::tw_vpfile_gets_all, [&](VpFile& file) -> Status {
    Status mine;
    if (lines == nullptr && file.vps().count() > 0) mine = null_argument("tw_vpfile_gets_all", "lines");
    if (size == 0) mine = invalid_argument("tw_vpfile_gets_all", "size is 0; at least 1");
    if (lengths != nullptr) std::fill_n(lengths, file.vps().count(), std::size_t{0});
    std::string line;
    return each_alone(file, mask, std::move(mine), [&](std::uint64_t local) {
      line.clear();
      const Status status = read_line(file, local, size - 1, line);
      std::memcpy(lines + local * size, line.c_str(), line.size() + 1);
      if (lengths != nullptr) lengths[local] = line.size();
      return status;
    });
  });
}

tw_status tw_vpfile_puts_all(tw_vpfile* vpfile, const char* text, const char* const* texts, const uint8_t* mask) {
  return on_all(vpfile, Call::tw_vpfile_puts_all, [&](VpFile& file) {
    return write_texts(file, mask, nullptr, [&](std::uint64_t local, std::string& out) -> Status {
      const char* one = texts != nullptr ? texts[local] : text;
      if (one == nullptr) return null_argument("tw_vpfile_puts_all", texts != nullptr ? "one of texts" : "text");
      out += one;
      return {};
    });
  });
}

tw_status tw_vpfile_printf_all(tw_vpfile* vpfile, const char* format, const tw_vpfile_argument* arguments,
                               int64_t n_arguments, size_t* counts, const uint8_t* mask) {
  return on_all(vpfile, Call::tw_vpfile_printf_all, [&](VpFile& file) {
    const auto parts = or_out_of_memory([&] { return split_format(format != nullptr ? format : "", false); });
    Status mine = or_out_of_memory([&] {
      if (format == nullptr) return null_argument("tw_vpfile_printf_all", "format");
      return check_arguments("tw_vpfile_printf_all", parts, arguments, n_arguments);
    });
    return write_texts(file, mask, counts, [&](std::uint64_t local, std::string& out) -> Status {
      TW_RETURN_IF_ERROR(mine);
      std::size_t i = 0;
      for (const FormatPart& part : parts.value())
        TW_RETURN_IF_ERROR(print_part(part, part.conversion != 0 ? address_of(arguments[i++], local) : nullptr, out));
      return {};
    });
  });
}

tw_status tw_vpfile_scanf_all(tw_vpfile* vpfile, const char* format, const tw_vpfile_argument* arguments,
                              int64_t n_arguments, int64_t* counts, const uint8_t* mask) {
  return on_all(vpfile, Call::tw_vpfile_scanf_all, [&](VpFile& file) -> Status {
    const auto parts = or_out_of_memory([&] { return split_format(format != nullptr ? format : "", true); });
    Status mine = or_out_of_memory([&] {
      if (format == nullptr) return null_argument("tw_vpfile_scanf_all", "format");
      return check_arguments("tw_vpfile_scanf_all", parts, arguments, n_arguments);
    });
    if (counts != nullptr) std::fill_n(counts, file.vps().count(), std::int64_t{0});
    return each_alone(file, mask, std::move(mine), [&](std::uint64_t local) -> Status {
      return read_as_stdio(*vpfile, local, [&](std::FILE* stream) {
        const int done = scan(stream, parts.value(), arguments, local);
        if (counts != nullptr) counts[local] = done;
      });
    });
  });
}

}  // extern "C"
