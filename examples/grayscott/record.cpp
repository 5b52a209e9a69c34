#include "record.hpp"

#include <span>
#include <stdexcept>
#include <string>

namespace grayscott {
namespace {

std::size_t to_size(std::int64_t n) { return static_cast<std::size_t>(n); }

}  // namespace

void write_record(thalweg::Multifile& file, const Fields& fields, const RecordHeader& header) {
  const Box& box = header.box;
  file.write_value(header);
  for (std::int64_t y = box.y; y < box.y + box.ny; ++y) file.write(std::span(fields.u(box.x, y), to_size(box.nx)));
  for (std::int64_t y = box.y; y < box.y + box.ny; ++y) file.write(std::span(fields.v(box.x, y), to_size(box.nx)));
}

std::vector<Record> whole_records(thalweg::Multifile& file, std::int64_t rank) {
  std::vector<Record> records;
  std::int64_t offset = 0;
  file.seek_to(rank, offset);
  while (const auto header = file.read_value<RecordHeader>()) {
    if (header->magic != RecordHeader::kMagic) throw std::runtime_error("this is no checkpoint of grayscott");
    const std::int64_t cells_offset = offset + static_cast<std::int64_t>(sizeof *header);
    offset += header->record_bytes();
    if (offset > file.size(rank)) break;  // the program died during this record
    records.push_back({*header, cells_offset});
    file.seek(offset);
  }
  return records;
}

Record record_of_step(thalweg::Multifile& file, std::int64_t rank, std::int64_t step) {
  for (const Record& record : whole_records(file, rank)) {
    if (record.header.step == step) return record;
  }
  throw std::runtime_error("logical file " + std::to_string(rank) + " holds no whole record of step " +
                           std::to_string(step));
}

void read_cells(thalweg::Multifile& file, const Record& record, const Box& part, Fields& fields) {
  const Box& box = record.header.box;
  const Box wanted = overlap(box, part);
  for (std::int64_t y = wanted.y; y < wanted.y + wanted.ny; ++y) {
    const std::int64_t cell = (y - box.y) * box.nx + (wanted.x - box.x);
    const std::int64_t offset = record.cells_offset + cell * static_cast<std::int64_t>(sizeof(double));
    const std::span row_u(fields.u(wanted.x, y), to_size(wanted.nx)), row_v(fields.v(wanted.x, y), to_size(wanted.nx));
    if (file.read_at(row_u, offset) != row_u.size() ||
        file.read_at(row_v, offset + record.header.field_bytes()) != row_v.size()) {
      throw std::runtime_error("the checkpoint ends too early");
    }
  }
}

}  // namespace grayscott
