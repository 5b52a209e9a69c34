// Golden vpfiles: files of earlier versions read as the manifest says, also after repair has rebuilt their side files,
// and each invalid file is refused with its code.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/crc32c.hpp"
#include "support/files/open_options.hpp"
#include "thalweg/vpfile.h"

namespace thalweg {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kGolden = fs::path(TW_TESTS_DIR) / "golden" / "vpfile";

const json& vp_manifest() {
  static const json loaded = [] {
    std::ifstream in(kGolden / "manifest.json");
    return json::parse(in);
  }();
  return loaded;
}

std::string vp_crc_text(ByteView bytes) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(crc32c(bytes)));
  return text;
}

// A writable copy of the files, removed by the destructor.
class Copy {
 public:
  explicit Copy(const json& entry) {
    std::string name = (fs::temp_directory_path() / "thalweg_golden_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
    for (const json& file : entry["files"]) {
      const fs::path from = kGolden / std::string(file["file"]);
      fs::copy_file(from, folder_ / from.filename());
    }
    path = (folder_ / fs::path(std::string(entry["files"][0]["file"])).filename()).string();
  }
  ~Copy() { fs::remove_all(folder_); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  std::string path;

 private:
  fs::path folder_;
};

tw_status read_stream(tw_vpfile* file, std::int64_t vp, std::vector<std::byte>& bytes) {
  std::int64_t size = 0;
  if (const tw_status status = tw_vpfile_size(file, vp, &size); status != TW_OK) return status;
  EXPECT_GE(size, 0);
  // Limited to the largest golden size; the claim of a damaged entry is not trusted.
  bytes.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(size, 0, 1 << 24)));
  std::size_t got = 0;
  const tw_status status = tw_vpfile_read(file, vp, bytes.data(), bytes.size(), &got);
  bytes.resize(got);
  return status;
}

// Returns the first failure of opening the file and reading everything.
tw_status read_vpfile(const json& entry, const std::string& path, std::vector<std::vector<std::byte>>& streams) {
  const std::vector<std::int64_t> shape = entry["shape"];
  const std::uint64_t record = entry["record"];
  const std::string hints = record == 0 ? "" : "record_bytes=" + std::to_string(record);
  test::OpenWith options;
  options.hints(hints.c_str());
  tw_vpfile* file = nullptr;
  tw_status status = tw_vpfile_open(nullptr, path.c_str(), TW_READ,
                                    options.shape(static_cast<std::int32_t>(shape.size()), shape.data()), &file);
  if (status != TW_OK) return status;
  for (std::size_t vp = 0; status == TW_OK && vp < streams.size(); ++vp)
    status = read_stream(file, static_cast<std::int64_t>(vp), streams[vp]);
  const tw_status closed = tw_vpfile_close(&file);
  return status != TW_OK ? status : closed;
}

void expect_streams(const json& entry, const std::string& path) {
  std::vector<std::vector<std::byte>> streams(entry["streams"].size());
  ASSERT_EQ(read_vpfile(entry, path, streams), TW_OK) << tw_last_error();
  for (std::size_t vp = 0; vp < streams.size(); ++vp) {
    EXPECT_EQ(streams[vp].size(), entry["streams"][vp]["bytes"].get<std::size_t>()) << "VP " << vp;
    EXPECT_EQ(vp_crc_text(streams[vp]), std::string(entry["streams"][vp]["crc32c"])) << "VP " << vp;
  }
}

bool has(const std::string& path, const char* side) { return fs::exists(path + side); }

TEST(VpGolden, FilesAreThoseOfTheManifest) {
  for (const char* kind : {"valid", "invalid"}) {
    ASSERT_FALSE(vp_manifest()[kind].empty());
    for (const json& entry : vp_manifest()[kind]) {
      for (const json& file : entry["files"]) {
        std::ifstream in(kGolden / std::string(file["file"]), std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        EXPECT_EQ(vp_crc_text(std::as_bytes(std::span(bytes))), std::string(file["crc32c"])) << file["file"];
      }
    }
  }
}

TEST(VpGolden, ValidFilesAreReadAsTheManifestSays) {
  for (const json& entry : vp_manifest()["valid"]) {
    SCOPED_TRACE(std::string(entry["name"]));
    const std::string path = (kGolden / std::string(entry["files"][0]["file"])).string();
    expect_streams(entry, path);
    if (!has(path, ".meta")) continue;
    EXPECT_EQ(tw_vpfile_verify(path.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  }
}

TEST(VpGolden, RepairMakesTheSideFilesAnew) {
  for (const json& entry : vp_manifest()["valid"]) {
    SCOPED_TRACE(std::string(entry["name"]));
    const Copy copy(entry);
    if (!has(copy.path, ".first")) continue;
    const std::vector<std::int64_t> shape = entry["shape"];
    for (const std::vector<const char*>& lost : {std::vector{".first", ".dir"}, std::vector{".meta", ".first"},
                                                 std::vector{".batches"}, std::vector{".meta", ".first", ".batches"}}) {
      for (const char* side : lost) fs::remove(copy.path + side);
      ASSERT_EQ(tw_vpfile_repair(copy.path.c_str(), 0, static_cast<std::int32_t>(shape.size()), shape.data(), nullptr,
                                 nullptr, nullptr, nullptr),
                TW_OK)
          << tw_last_error();
      expect_streams(entry, copy.path);
    }
  }
}

// The refused slot must no longer be in force.
TEST(VpGolden, RepairOfAMetaThatIsRefusedIsRead) {
  for (const json& entry : vp_manifest()["invalid"]) {
    if (entry["name"] != "meta_block" && entry["name"] != "meta_end_of_superblocks") continue;
    const Copy copy(entry);
    const std::vector<std::int64_t> shape = entry["shape"];
    EXPECT_EQ(tw_vpfile_repair(copy.path.c_str(), 0, static_cast<std::int32_t>(shape.size()), shape.data(), nullptr,
                               nullptr, nullptr, nullptr),
              TW_OK)
        << tw_last_error();
    EXPECT_EQ(tw_vpfile_verify(copy.path.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  }
}

TEST(VpGolden, InvalidFilesAreRefusedWithTheCodeOfTheManifest) {
  for (const json& entry : vp_manifest()["invalid"]) {
    const std::string path = (kGolden / std::string(entry["files"][0]["file"])).string();
    std::size_t n = 1;
    for (const std::int64_t extent : entry["shape"]) n *= static_cast<std::size_t>(extent);
    std::vector<std::vector<std::byte>> streams(n);
    // Verify also checks what reading does not need.
    tw_status status = read_vpfile(entry, path, streams);
    if (status == TW_OK) status = tw_vpfile_verify(path.c_str(), nullptr, nullptr, nullptr, nullptr);
    EXPECT_EQ(tw_status_name(status), std::string(entry["code"]))
        << entry["name"] << ", rule: " << entry["rule"] << (status == TW_OK ? "" : std::string(": ") + tw_last_error());
  }
}

}  // namespace
}  // namespace thalweg
