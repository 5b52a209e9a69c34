// ExtentRun: extents that follow each other at equal distances, in the file and in memory, and how they are sent.
//
// Extents are encoded as runs, by their differences, in as few bytes as these need (7 bits in each): three or four
// bytes for a small piece, and one run for any number of pieces at equal distances. Receivers decode them in place.
#pragma once

#include <cstdint>

#include "access/extent.hpp"
#include "base/wire.hpp"

namespace thalweg {

// `count` extents, each so much further on than the one before.
struct ExtentRun {
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t address = 0;
  std::uint64_t count = 0;
  std::uint64_t offset_step = 0, address_step = 0;  // modulo 2^64
  Extent at(std::uint64_t i) const {
    return {reinterpret_cast<std::byte*>(address + i * address_step), bytes, offset + i * offset_step};
  }
};

//   inline_data    the bytes of the extents go within messages
//   remote_memory  the aggregator copies them from and to the memory of the task, and needs addresses
enum class DataPath : std::uint8_t { inline_data, remote_memory };

// Encodes extents in rising order of their offsets.
class ExtentEncoder {
 public:
  // Without `to` it only counts.
  explicit ExtentEncoder(DataPath data_path, Bytes* to = nullptr)
      : addresses_(data_path == DataPath::remote_memory), to_(to) {}
  void add(const Extent& extent);                 // may throw std::bad_alloc
  void finish();                                  // behind the last one; may throw std::bad_alloc
  std::uint64_t size() const { return size_; }    // bytes of all runs but the last one, which may still grow
  std::uint64_t bytes() const { return bytes_; }  // of the extents

 private:
  bool continues(const Extent& extent);
  void put(std::uint64_t number);
  void put_run();

  const bool addresses_;
  Bytes* const to_;
  ExtentRun run_;
  std::uint64_t last_offset_ = 0, last_address_ = 0;  // where the last extent of the run before begins, and its end
  std::uint64_t size_ = 0, bytes_ = 0;
};

// Decodes the runs of an ExtentEncoder.
class ExtentDecoder {
 public:
  ExtentDecoder(ByteView encoded, DataPath data_path)
      : in_(encoded), addresses_(data_path == DataPath::remote_memory) {}
  bool next(ExtentRun& run);

 private:
  WireReader in_;
  const bool addresses_;
  std::uint64_t last_offset_ = 0, last_address_ = 0;
};

}  // namespace thalweg
