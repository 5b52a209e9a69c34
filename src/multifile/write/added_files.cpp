#include "multifile/write/added_files.hpp"

#include <algorithm>

#include "base/crc32c.hpp"

namespace thalweg {

namespace {

std::size_t bytes_of(const LogicalWriter& writer) {
  return contribution_bytes(writer.contribution().name.size(), writer.n_pieces());
}

}  // namespace

LogicalWriter* AddedFiles::push(std::unique_ptr<LogicalWriter> writer) {
  if (!in_memory_.empty()) bytes_ += bytes_of(*in_memory_.back());  // mostly it is complete
  in_memory_.push_back(std::move(writer));
  ++next_number_;
  return in_memory_.back().get();
}

Result<LogicalWriter*> AddedFiles::at(std::uint64_t number, PhysicalWriter& home, WriterSettings& settings) {
  if (number >= first_newest()) return in_memory_[number - first_newest()].get();
  if (const auto kept = kept_.find(number); kept != kept_.end()) return kept->second.get();
  const auto behind = std::ranges::partition_point(stored_, [=](const auto& s) { return s.first <= number; });
  std::vector<std::byte> block;
  if (behind != stored_.begin()) {
    TW_ASSIGN_OR_RETURN(block, read_contributions(home.file(), behind[-1]));
  }
  for (std::span<const std::byte> rest = block; !rest.empty();) {
    const Contribution stored = take_contribution(rest);
    auto writer = std::make_unique<LogicalWriter>(home, stored.local_index, stored.local_index, stored.bytes, settings,
                                                  stored.sequences);
    writer->seek(stored.position);
    kept_.emplace(stored.local_index, std::move(writer));
  }
  if (const auto kept = kept_.find(number); kept != kept_.end()) return kept->second.get();
  return Status::error(Code::internal, "added file {} is not where it was stored", number);
}

Status AddedFiles::store(PhysicalWriter& home, bool last_stays) {
  const std::size_t n_before = stored_.size();
  const Status status = write_blocks(home, in_memory_.size() - (last_stays ? 1 : 0));
  if (!status.ok()) stored_.resize(n_before);  // all are still in memory
  return status;
}

Status AddedFiles::write_blocks(PhysicalWriter& home, std::size_t n) {
  const std::uint64_t most = home.max_piece_bytes();
  std::vector<std::byte> block;
  std::uint64_t first = 0;
  const auto write_block = [&]() -> Status {
    if (block.empty()) return {};
    TW_ASSIGN_OR_RETURN(const std::uint64_t offset, home.store_aside(block));
    stored_.push_back({first, offset, static_cast<std::uint32_t>(block.size()), crc32c(block)});
    block.clear();
    return {};
  };
  std::vector<WrittenPiece> room;
  for (std::size_t i = 0; i < n; ++i) {
    const LogicalWriter& writer = *in_memory_[i];
    const std::size_t bytes = bytes_of(writer);
    if (bytes > most) continue;
    if (block.size() + bytes > most) TW_RETURN_IF_ERROR(write_block());
    if (block.empty()) first = writer.rank();
    append_contribution(block, writer.contribution(), writer.pieces(room));
  }
  TW_RETURN_IF_ERROR(write_block());
  for (std::size_t i = 0; i < n; ++i)  // too long for a block: it stays in memory until the close
    if (bytes_of(*in_memory_[i]) > most) kept_[in_memory_[i]->rank()].swap(in_memory_[i]);
  in_memory_.erase(in_memory_.begin(), in_memory_.begin() + static_cast<std::ptrdiff_t>(n));
  bytes_ = 0;
  return {};
}

std::vector<std::unique_ptr<LogicalWriter>> AddedFiles::take_writers() {
  std::vector<std::unique_ptr<LogicalWriter>> all = std::move(in_memory_);
  for (auto& [number, writer] : kept_) all.push_back(std::move(writer));
  kept_.clear();
  return all;
}

}  // namespace thalweg
