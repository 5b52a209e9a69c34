// The kinds of storage of the conformance tests, and a fixture for them: POSIX files in the build folder and in
// /dev/shm, the memory backend, and the fault backend with an empty script.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "storage/backend.hpp"

namespace thalweg {

using Bytes = std::vector<std::byte>;

struct StorageKind {
  const char* name;
  const char* folder;  // tests create their own folder in it; null: not on disk
  std::function<std::shared_ptr<Backend>()> make;
  bool direct = false;       // supports O_DIRECT where the file system does
  bool fails = false;        // a scripted FaultBackend
  bool cheap_holes = false;  // reading a hole needs no memory
};
void PrintTo(const StorageKind& kind, std::ostream* out);
std::vector<StorageKind> storage_kinds();
std::vector<StorageKind> storage_kinds(bool StorageKind::*which);  // kinds with this property

class StorageTest : public testing::Test {
 protected:
  void use(const StorageKind& kind);  // skips the test where the folder is missing
  ~StorageTest() override;
  std::string path(const std::string& name = "file") const { return folder_.empty() ? name : folder_ + "/" + name; }
  std::unique_ptr<StoredFile> open(OpenMode mode, const std::string& name = "file");
  Code open_code(OpenMode mode, const std::string& name = "file") {
    return backend_->open(path(name), mode).status().code();
  }
  static Bytes read(StoredFile& file, std::uint64_t offset, std::size_t bytes);

  std::shared_ptr<Backend> backend_;
  std::string folder_;
};

Bytes noise(std::size_t bytes, unsigned seed);  // no zero bytes

#define EXPECT_CODE(expected, expression) EXPECT_EQ((expression).code(), expected)
#define EXPECT_OK(expression)                      \
  do {                                             \
    const ::thalweg::Status tw_got = (expression); \
    EXPECT_TRUE(tw_got.ok()) << tw_got.message();  \
  } while (false)

}  // namespace thalweg
