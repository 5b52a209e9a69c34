#include "capi/open_flags.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <string>

#include "thalweg/open.h"

namespace thalweg {

namespace {

struct Kind {
  const char* call;
  const char* name;
  const char* accepted;
};
constexpr std::array kKinds = {
    Kind{"tw_multifile_open", "a multifile",
         "pass TW_READ, optionally with TW_RECOVER, or TW_CREATE or TW_APPEND, optionally with TW_TRUNCATE or "
         "TW_EXCLUSIVE"},
    Kind{
        "tw_file_open", "a shared file",
        "pass TW_READ, TW_WRITE or both, optionally with TW_CREATE, TW_EXCLUSIVE, TW_TRUNCATE, TW_APPEND or TW_DIRECT"},
    Kind{"tw_vpfile_open", "a vpfile",
         "pass TW_READ, TW_WRITE or both, optionally with TW_CREATE, TW_EXCLUSIVE, TW_TRUNCATE or TW_APPEND"},
};
const Kind& kind_of(FileKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

struct OpenFlag {
  std::int32_t value;
  const char* name;
  bool multifile, file, vpfile;  // whether it means something there

  bool is_of(FileKind kind) const {
    return kind == FileKind::multifile ? multifile : kind == FileKind::file ? file : vpfile;
  }
};
constexpr std::array kFlags = {
    OpenFlag{TW_READ, "TW_READ", true, true, true},         OpenFlag{TW_WRITE, "TW_WRITE", true, true, true},
    OpenFlag{TW_CREATE, "TW_CREATE", true, true, true},     OpenFlag{TW_EXCLUSIVE, "TW_EXCLUSIVE", true, true, true},
    OpenFlag{TW_TRUNCATE, "TW_TRUNCATE", true, true, true}, OpenFlag{TW_APPEND, "TW_APPEND", true, true, true},
    OpenFlag{TW_RECOVER, "TW_RECOVER", true, false, false}, OpenFlag{TW_DIRECT, "TW_DIRECT", false, true, false},
};

constexpr std::uint32_t kAllBits = [] {
  std::uint32_t bits = 0;
  for (const OpenFlag& flag : kFlags) bits |= static_cast<std::uint32_t>(flag.value);
  return bits;
}();
static_assert(std::popcount(kAllBits) == static_cast<int>(kFlags.size()), "every flag has a bit of its own");

Status refuse(FileKind kind, const std::string& what) {
  return Status::error(Code::invalid_argument,
                       std::string(kind_of(kind).call) + ": " + what + "; " + kind_of(kind).accepted);
}

Status check_bits(FileKind kind, std::int32_t flags) {
  const std::uint32_t unknown = static_cast<std::uint32_t>(flags) & ~kAllBits;
  if (unknown != 0) {
    std::array<char, 64> bits{};
    std::snprintf(bits.data(), bits.size(), "%#x contains the unknown flags %#x", static_cast<unsigned>(flags),
                  static_cast<unsigned>(unknown));
    return refuse(kind, bits.data());
  }
  for (const OpenFlag& flag : kFlags) {
    if ((flags & flag.value) != 0 && !flag.is_of(kind))
      return refuse(kind, std::string(flag.name) + " means nothing for " + kind_of(kind).name);
  }
  return {};
}

Status check_multifile(const OpenHow& how, std::int32_t flags) {
  constexpr FileKind kKind = FileKind::multifile;
  if (how.read && how.write) return refuse(kKind, "a multifile is open for reading or for writing, not for both");
  if (how.write && (flags & (TW_CREATE | TW_APPEND | TW_TRUNCATE)) == 0)
    return refuse(kKind, "TW_WRITE needs TW_CREATE or TW_APPEND");
  if (how.recover && !how.read)
    return refuse(kKind, "TW_RECOVER goes with TW_READ only (to append, repair the file first)");
  return {};
}

}  // namespace

Result<OpenHow> read_open_flags(FileKind kind, std::int32_t flags) {
  TW_RETURN_IF_ERROR(check_bits(kind, flags));
  const auto has = [flags](std::int32_t some) { return (flags & some) != 0; };
  OpenHow how;
  how.read = has(TW_READ);
  how.write = has(TW_WRITE | TW_CREATE | TW_TRUNCATE | TW_APPEND);
  how.create = has(TW_CREATE);
  how.exclusive = has(TW_EXCLUSIVE);
  how.truncate = has(TW_TRUNCATE);
  how.append = has(TW_APPEND);
  how.recover = has(TW_RECOVER);
  how.direct = has(TW_DIRECT);
  if (kind == FileKind::multifile) TW_RETURN_IF_ERROR(check_multifile(how, flags));
  if (!how.read && !how.write) return refuse(kind, "neither reading nor writing is asked for");
  if (how.exclusive && !how.create) return refuse(kind, "TW_EXCLUSIVE needs TW_CREATE");
  if (kind == FileKind::file) return how;
  if (how.truncate && !how.create) return refuse(kind, "TW_TRUNCATE needs TW_CREATE");
  if (how.create && !how.truncate && !how.append) how.exclusive = true;
  return how;
}

}  // namespace thalweg
