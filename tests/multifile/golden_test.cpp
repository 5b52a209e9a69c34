// Golden files, crafted from the format document or written by the library, are read as the manifest says, and each
// invalid file, also of an earlier version, is refused with its code.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/crc32c.hpp"
#include "thalweg/multifile.h"

namespace thalweg {
namespace {

using nlohmann::json;

std::string golden(const std::string& name) { return std::string(TW_TESTS_DIR) + "/golden/" + name; }

const json& manifest() {
  static const json loaded = [] {
    std::ifstream in(golden("manifest.json"));
    return json::parse(in);
  }();
  return loaded;
}

std::string crc_text(ByteView bytes) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(crc32c(bytes)));
  return text;
}

// The manifest has one character per byte, up to 255, in UTF-8.
std::string bytes_of(const std::string& utf8) {
  std::string out;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto c = static_cast<unsigned char>(utf8[i]);
    out += c < 0x80 ? utf8[i] : static_cast<char>((c & 3) << 6 | (static_cast<unsigned char>(utf8[++i]) & 0x3F));
  }
  return out;
}

std::string path_of(const json& entry) {
  return golden(entry["files"].empty() ? std::string() : std::string(entry["files"][0]["file"]));
}

class OpenGolden {
 public:
  explicit OpenGolden(const json& entry) {
    const std::string path = path_of(entry);
    status = tw_multifile_open(nullptr, path.c_str(), entry["open"] == "recover" ? TW_READ | TW_RECOVER : TW_READ,
                               nullptr, &handle);
  }
  ~OpenGolden() {
    if (handle != nullptr) {
      EXPECT_EQ(tw_multifile_close(&handle), TW_OK);
    }
  }
  OpenGolden(const OpenGolden&) = delete;
  OpenGolden& operator=(const OpenGolden&) = delete;

  tw_multifile* handle = nullptr;
  tw_status status = TW_OK;
};

struct LogicalContent {
  std::string name;
  std::int64_t part = -1;
  std::uint32_t mode = 0;
  std::vector<std::byte> bytes;
};

tw_status read_logical(tw_multifile* file, std::int64_t rank, LogicalContent& out) {
  std::int64_t size = 0;
  if (const tw_status status = tw_multifile_size(file, rank, &size); status != TW_OK) return status;
  std::vector<char> name(5000);
  std::size_t length = 0;
  if (const tw_status status = tw_multifile_name(file, rank, name.data(), name.size(), &length, &out.mode);
      status != TW_OK)
    return status;
  out.name.assign(name.data(), length);
  if (const tw_status status = tw_multifile_part(file, rank, &out.part); status != TW_OK) return status;
  // Limited to the largest size in the manifest; the claim of a damaged entry is not trusted.
  out.bytes.resize(static_cast<std::size_t>(std::min<std::int64_t>(size, 1 << 24)));
  if (const tw_status status = tw_multifile_seek_to(file, rank, 0); status != TW_OK) return status;
  std::size_t got = 0;
  const tw_status status = tw_multifile_read(file, out.bytes.data(), out.bytes.size(), &got);
  out.bytes.resize(got);
  return status;
}

tw_status read_attributes(tw_multifile* file, std::map<std::string, std::string>& out) {
  for (std::int64_t i = 0;; ++i) {
    const char* key = nullptr;
    const void* value = nullptr;
    std::size_t bytes = 0;
    if (const tw_status status = tw_multifile_attribute_key(file, i, &key); status != TW_OK)
      return status == TW_ERR_NOT_FOUND ? TW_OK : status;
    if (const tw_status status = tw_multifile_attribute(file, key, &value, &bytes); status != TW_OK) return status;
    out[key].assign(static_cast<const char*>(value), bytes);
  }
}

// The highest rank of each name and part; -1: no part.
using RanksByName = std::map<std::pair<std::string, std::int64_t>, std::int64_t>;

void expect_found(tw_multifile* file, const RanksByName& ranks) {
  for (const auto& [name, expected] : ranks) {
    const auto& [text, part] = name;
    std::int64_t rank = -1;
    const tw_status status = part < 0 ? tw_multifile_find(file, text.c_str(), &rank)
                                      : tw_multifile_find_part(file, text.c_str(), part, &rank);
    EXPECT_EQ(status, TW_OK) << text << ": " << tw_last_error();
    EXPECT_EQ(rank, expected) << text;
  }
  std::int64_t rank = -1;
  EXPECT_EQ(tw_multifile_find(file, "no such name", &rank), TW_ERR_NOT_FOUND);
  EXPECT_EQ(tw_multifile_find_part(file, "no such name", 0, &rank), TW_ERR_NOT_FOUND);
}

TEST(Golden, FilesAreThoseOfTheManifest) {
  for (const char* kind : {"valid", "invalid"}) {
    for (const json& entry : manifest()[kind]) {
      for (const json& file : entry["files"]) {
        std::ifstream in(golden(file["file"]), std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        EXPECT_EQ(bytes.size(), file["bytes"].get<std::size_t>()) << file["file"];
        EXPECT_EQ(crc_text(std::as_bytes(std::span(bytes))), std::string(file["crc32c"])) << file["file"];
      }
    }
  }
}

TEST(Golden, ValidFilesAreReadAsTheManifestSays) {
  ASSERT_FALSE(manifest()["valid"].empty());
  for (const json& entry : manifest()["valid"]) {
    SCOPED_TRACE(std::string(entry["name"]));
    const OpenGolden file(entry);
    if (file.status != TW_OK) {
      ADD_FAILURE() << tw_status_name(file.status) << ": " << tw_last_error();
      continue;
    }
    std::int64_t rank = 0;
    RanksByName ranks;
    for (const json& expected : entry["logical"]) {
      LogicalContent found;
      const tw_status status = read_logical(file.handle, rank, found);
      EXPECT_EQ(tw_status_name(status), expected.value("code", "TW_OK")) << "rank " << rank << ": " << tw_last_error();
      if (status == TW_OK) {
        EXPECT_EQ(found.bytes.size(), expected["bytes"].get<std::size_t>()) << "rank " << rank;
        EXPECT_EQ(crc_text(found.bytes), std::string(expected["crc32c"])) << "rank " << rank;
      }
      EXPECT_EQ(found.name, bytes_of(expected["name"])) << "rank " << rank;
      EXPECT_EQ(found.part, expected.value("part", std::int64_t{-1})) << "rank " << rank;
      EXPECT_EQ(found.mode, expected["mode"].get<std::uint32_t>()) << "rank " << rank;
      if (!found.name.empty()) ranks[{found.name, found.part}] = rank;
      ++rank;
    }
    expect_found(file.handle, ranks);
    if (entry["open"] == "recover") continue;
    const std::string path = golden(entry["files"][0]["file"]);
    EXPECT_EQ(tw_multifile_verify(path.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
    LogicalContent beyond;
    EXPECT_NE(read_logical(file.handle, rank, beyond), TW_OK) << "there are no more logical files";
    std::map<std::string, std::string> attributes, expected;
    EXPECT_EQ(read_attributes(file.handle, attributes), TW_OK);
    for (const auto& [key, value] : entry["attributes"].items()) expected[bytes_of(key)] = bytes_of(value);
    EXPECT_EQ(attributes, expected);
  }
}

// Status of opening, or the first failure of reading everything.
tw_status read_everything(const json& entry) {
  const OpenGolden file(entry);
  if (file.status != TW_OK) return file.status;
  tw_multifile_summary summary{};
  summary.struct_size = sizeof summary;
  if (const tw_status status = tw_multifile_summarize(file.handle, &summary); status != TW_OK) return status;
  for (std::int64_t rank = 0; rank < summary.n_logical; ++rank) {
    LogicalContent content;
    if (const tw_status status = read_logical(file.handle, rank, content); status != TW_OK) return status;
  }
  std::map<std::string, std::string> attributes;
  return read_attributes(file.handle, attributes);
}

// Verify also checks what reading does not need (sessions, slabs).
tw_status read_and_verify(const json& entry) {
  const tw_status status = read_everything(entry);
  return status != TW_OK ? status : tw_multifile_verify(path_of(entry).c_str(), nullptr, nullptr, nullptr, nullptr);
}

TEST(Golden, InvalidFilesAreRefusedWithTheCodeOfTheManifest) {
  ASSERT_FALSE(manifest()["invalid"].empty());
  for (const json& entry : manifest()["invalid"]) {
    const tw_status status = read_and_verify(entry);
    EXPECT_EQ(tw_status_name(status), std::string(entry["code"]))
        << entry["name"] << ", rule: " << entry["rule"] << (status == TW_OK ? "" : std::string(": ") + tw_last_error());
  }
}

// A wrong number of added entries is damage for verify, and repair counts them again.
TEST(Golden, AWrongNumberOfAddedEntriesIsRepaired) {
  const std::string copy = std::filesystem::temp_directory_path() / ("golden-" + std::to_string(::getpid()) + ".tw");
  for (const char* name : {"added_fewer_than_their_entries", "added_more_than_their_entries"}) {
    std::filesystem::copy_file(golden(std::string("invalid/") + name + ".tw"), copy);
    EXPECT_EQ(tw_multifile_repair(copy.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_verify(copy.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
    std::filesystem::remove(copy);
  }
}

}  // namespace
}  // namespace thalweg
