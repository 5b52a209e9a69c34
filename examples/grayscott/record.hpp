// Checkpoint records: writing by a task, and reading by any program.
//
// Every task (a thread of a rank) writes its own strip of the square into its own logical file. One multifile contains
// all checkpoints of a run: each appends one record to every logical file. A record is a header with the step and the
// cells, then the rows of u, then the rows of v.
#pragma once

#include <cstdint>
#include <thalweg/thalweg.hpp>
#include <vector>

#include "model.hpp"

namespace grayscott {

struct RecordHeader {
  static constexpr std::uint64_t kMagic = 0x314B434F4C425347;  // "GSBLOCK1"

  std::uint64_t magic = kMagic;
  std::int64_t size = 0;  // columns, and rows, of the whole square
  std::int64_t step = 0;
  Box box;  // the cells of this record

  std::int64_t field_bytes() const { return box.nx * box.ny * static_cast<std::int64_t>(sizeof(double)); }
  std::int64_t record_bytes() const { return static_cast<std::int64_t>(sizeof *this) + 2 * field_bytes(); }
};

// Appends this task's part of a checkpoint, the cells of `header.box`. Independent: no task waits for another.
void write_record(thalweg::Multifile& file, const Fields& fields, const RecordHeader& header);

struct Record {
  RecordHeader header;
  std::int64_t cells_offset = 0;  // where its cells begin, bytes from the start of the logical file
};

// The complete records of logical file `rank`, oldest first. It becomes the current file.
std::vector<Record> whole_records(thalweg::Multifile& file, std::int64_t rank);

// The record of `step`; throws when there is none.
Record record_of_step(thalweg::Multifile& file, std::int64_t rank, std::int64_t step);

// Reads the cells of the record that are in `part` into the fields. The logical file of the record is current.
void read_cells(thalweg::Multifile& file, const Record& record, const Box& part, Fields& fields);

}  // namespace grayscott
