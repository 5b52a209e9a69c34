// The storages that everything must work on in the same way, and a fixture that makes one of them: POSIX files in the
// build folder and in /dev/shm, the memory backend, and the fault backend as long as its script is empty.
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
  const char* folder;  // the tests make their own one in it; null: nothing on disk
  std::function<std::shared_ptr<Backend>()> make;
  bool direct = false;       // can be read and written past the page cache, where the file system of the folder can
  bool fails = false;        // as a script says: a FaultBackend
  bool cheap_holes = false;  // reading a hole costs no memory
};
void PrintTo(const StorageKind& kind, std::ostream* out);
std::vector<StorageKind> storage_kinds();
std::vector<StorageKind> storage_kinds(bool StorageKind::*which);  // those that are so

class StorageTest : public testing::Test {
 protected:
  void use(const StorageKind& kind);  // skips where the folder is not there
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

Bytes noise(std::size_t bytes, unsigned seed);  // none of them zero

#define EXPECT_CODE(expected, expression) EXPECT_EQ((expression).code(), expected)
#define EXPECT_OK(expression)                      \
  do {                                             \
    const ::thalweg::Status tw_got = (expression); \
    EXPECT_TRUE(tw_got.ok()) << tw_got.message();  \
  } while (false)

}  // namespace thalweg
