// Representations of data in files (MPI 4.1, 14.5): "native" and "internal", which are the bytes of memory, "external32",
// and those that the program registers.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mpiio/calls.hpp"
#include "mpiio/failure.hpp"
#include "thalweg/file.h"

namespace thalweg::mpiio {

struct Representation;

// The representation of this name; null for native and internal, which convert nothing.
const Representation* representation_of(const char* name, Failure& failure);

// Bytes of a predefined datatype in the file, which are its extent there too.
std::int64_t bytes_in_file(const Representation& representation, MPI_Datatype predefined);

// What a datatype is made of, in order: `count` copies of a predefined datatype, or of a list.
struct Signature {
  struct Item {
    std::int64_t count = 0;
    MPI_Datatype leaf = MPI_DATATYPE_NULL;
    std::shared_ptr<const Signature> list;  // instead of a leaf
  };
  std::vector<Item> items;
  std::int64_t memory_bytes = 0;
  std::int64_t file_bytes = 0;
};

// An access whose bytes are converted: its part of the file, in memory of its own.
class Conversion {
 public:
  // Of `count` instances of a datatype at `data`, which stay the program's. The datatype may be freed meanwhile.
  Conversion(const Representation& representation, tw_direction direction, void* data, std::int64_t count,
             MPI_Datatype type);
  ~Conversion();
  Conversion(const Conversion&) = delete;
  Conversion& operator=(const Conversion&) = delete;

  std::byte* in_file() { return in_file_.data(); }
  std::int64_t file_bytes() const { return static_cast<std::int64_t>(in_file_.size()); }
  // Before a write: converts what is to be written.
  Failure begin();
  // At the end: converts what was read. *moved: bytes of the file, and then the bytes of memory that they stand for.
  Failure end(std::int64_t* moved);

 private:
  Failure call_user(const std::function<LargeConversion>& function, std::int64_t count);
  Failure from_external(std::int64_t file_bytes_read, std::int64_t* moved);
  template <class Pack>
  void in_parts(std::vector<std::byte>& bytes, Pack&& pack) const;
  std::vector<std::byte> packed() const;
  void unpack(std::vector<std::byte>& bytes);

  const Representation& representation_;
  tw_direction direction_;
  void* data_;
  std::int64_t count_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  Signature signature_;
  std::vector<std::byte> in_file_;
};

}  // namespace thalweg::mpiio
