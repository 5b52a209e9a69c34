#include "capi/open_flags.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <string>

#include "thalweg/file.h"
#include "thalweg/multifile.h"

namespace thalweg {

namespace {

struct OpenFlag {
  std::int32_t value;
  const char* name;
  const char* call;
};

constexpr char kMultifile[] = "tw_multifile_open";
constexpr char kFile[] = "tw_file_open";

constexpr std::array kFlags = {
    OpenFlag{TW_READ, "TW_READ", kMultifile},
    OpenFlag{TW_CREATE, "TW_CREATE", kMultifile},
    OpenFlag{TW_APPEND, "TW_APPEND", kMultifile},
    OpenFlag{TW_EXCLUSIVE, "TW_EXCLUSIVE", kMultifile},
    OpenFlag{TW_RECOVER, "TW_RECOVER", kMultifile},
    OpenFlag{TW_FILE_READ, "TW_FILE_READ", kFile},
    OpenFlag{TW_FILE_WRITE, "TW_FILE_WRITE", kFile},
    OpenFlag{TW_FILE_CREATE, "TW_FILE_CREATE", kFile},
    OpenFlag{TW_FILE_EXCLUSIVE, "TW_FILE_EXCLUSIVE", kFile},
    OpenFlag{TW_FILE_TRUNCATE, "TW_FILE_TRUNCATE", kFile},
    OpenFlag{TW_FILE_APPEND, "TW_FILE_APPEND", kFile},
    OpenFlag{TW_FILE_DIRECT, "TW_FILE_DIRECT", kFile},
};

constexpr std::uint32_t kAllBits = [] {
  std::uint32_t bits = 0;
  for (const OpenFlag& flag : kFlags) bits |= static_cast<std::uint32_t>(flag.value);
  return bits;
}();
static_assert(std::popcount(kAllBits) == static_cast<int>(kFlags.size()), "every flag has a bit of its own");

Status refuse_others(const char* call, std::int32_t given, const char* accepted) {
  const std::uint32_t unknown = static_cast<std::uint32_t>(given) & ~kAllBits;
  if (unknown != 0) {
    std::array<char, 64> bits{};
    std::snprintf(bits.data(), bits.size(), "%#x contains the unknown flags %#x", static_cast<unsigned>(given),
                  static_cast<unsigned>(unknown));
    return Status::error(Code::invalid_argument, std::string(call) + ": " + bits.data() + "; " + accepted);
  }
  for (const OpenFlag& flag : kFlags) {
    if ((given & flag.value) != 0 && flag.call != call)
      return Status::error(Code::invalid_argument,
                           std::string(call) + ": " + flag.name + " is a flag of " + flag.call + "; " + accepted);
  }
  return {};
}

}  // namespace

Status check_multifile_mode(std::int32_t mode) {
  return refuse_others(kMultifile, mode, "pass TW_READ, TW_CREATE or TW_APPEND, with TW_EXCLUSIVE or TW_RECOVER");
}

Status check_file_flags(std::int32_t flags) {
  return refuse_others(kFile, flags, "pass TW_FILE_READ, TW_FILE_WRITE or both, with other TW_FILE_ flags");
}

}  // namespace thalweg
