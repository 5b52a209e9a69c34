#include "support/engine/storage_kinds.hpp"

#include <stdlib.h>

#include <filesystem>
#include <random>

#include "sim/memory_backend.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg {

void PrintTo(const StorageKind& kind, std::ostream* out) { *out << kind.name; }

std::vector<StorageKind> storage_kinds() {
  const auto without_fault = [] {
    FaultScript script;
    script.record = script.keep_journal = true;
    script.space_bytes = std::uint64_t{1} << 40;
    return make_fault_backend(make_memory_backend(), script);
  };
  return {{.name = "posix_here", .folder = ".", .make = posix_backend, .direct = true},
          {.name = "posix_shm", .folder = "/dev/shm", .make = posix_backend, .cheap_holes = true},
          {.name = "memory", .folder = nullptr, .make = make_memory_backend, .direct = true},
          {.name = "fault_without_fault", .folder = nullptr, .make = without_fault, .direct = true, .fails = true}};
}

std::vector<StorageKind> storage_kinds(bool StorageKind::*which) {
  std::vector<StorageKind> kinds = storage_kinds();
  std::erase_if(kinds, [which](const StorageKind& kind) { return !(kind.*which); });
  return kinds;
}

void StorageTest::use(const StorageKind& kind) {
  backend_ = kind.make();
  if (kind.folder == nullptr) return;
  if (!std::filesystem::is_directory(kind.folder)) GTEST_SKIP() << "no " << kind.folder << " here";
  std::string name = std::string(kind.folder) + "/thalweg_backend_XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  folder_ = name;
}

StorageTest::~StorageTest() {
  if (!folder_.empty()) std::filesystem::remove_all(folder_);
}

std::unique_ptr<StoredFile> StorageTest::open(OpenMode mode, const std::string& name) {
  auto file = backend_->open(path(name), mode);
  EXPECT_TRUE(file.has_value()) << file.status().message();
  return file.has_value() ? std::move(file).value() : nullptr;
}

Bytes StorageTest::read(StoredFile& file, std::uint64_t offset, std::size_t bytes) {
  Bytes out(bytes, std::byte{0xEE});
  auto got = file.read(offset, out);
  EXPECT_TRUE(got.has_value()) << got.status().message();
  out.resize(got.has_value() ? got.value() : 0);
  return out;
}

Bytes noise(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  Bytes out(bytes);
  for (auto& byte : out) byte = static_cast<std::byte>(random() | 1);
  return out;
}

}  // namespace thalweg
