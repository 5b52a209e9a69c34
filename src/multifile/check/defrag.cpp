// Defragmenting a multifile: a copy with one chunk for each logical file and without hidden bytes.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/shell_word.hpp"
#include "formats/known_file.hpp"
#include "group/groups.hpp"
#include "multifile/check/all_logical_files.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/multifile.hpp"
#include "multifile/write/create_files.hpp"
#include "storage/hold_file.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kGapBytes = 1 << 20;  // a gap of this size stays a gap; a smaller one is cheaper as zeros

// Bytes from `at` on before the next gap, at most `most`.
Result<std::uint64_t> dense_bytes(LogicalReader& reader, std::uint64_t at, std::uint64_t most, FullRead& full) {
  std::uint64_t end = at;
  for (std::uint64_t i = 1; end < reader.size() && end - at < most; ++i) {
    if (i % kAskEach == 0) TW_RETURN_IF_ERROR(full.at(at));
    const std::uint64_t next = reader.skip_zeros(end);
    if (next - end >= kGapBytes) break;
    reader.seek(next);
    end = next + reader.contiguous();
  }
  return std::min(end - at, most);
}

// A gap may have up to 2^63 bytes, so it is not copied; the byte at its end is.
Status copy_bytes(LogicalReader& reader, WriteHandle& to, std::span<std::byte> buffer, FullRead& full) {
  LogicalWriter& writer = *to.current();
  std::uint64_t run_end = 0;
  for (std::uint64_t at = 0; at < reader.size();) {
    if (at >= run_end) {
      const std::uint64_t next = reader.skip_zeros(at);
      if (next - at >= kGapBytes) at = next == reader.size() ? next - 1 : next;  // the last byte sets the size
      TW_ASSIGN_OR_RETURN(const std::uint64_t dense, dense_bytes(reader, at, reader.size(), full));
      run_end = at + std::max<std::uint64_t>(dense, 1);
      to.expect(run_end - at);
    }
    const auto block = buffer.first(std::min<std::uint64_t>(buffer.size(), run_end - at));
    std::size_t got = 0;
    TW_RETURN_IF_ERROR(reader.read(at, block, got));
    writer.seek(at);
    TW_RETURN_IF_ERROR(to.write(writer, block.first(got)));
    at += got;
    TW_RETURN_IF_ERROR(full.at(at));
  }
  return {};
}

// Bytes that the pieces of a logical file hold, gaps left out.
Result<std::uint64_t> bytes_to_copy(ReadHandle& from, std::uint64_t rank, const format::FileEntry& entry) {
  TW_ASSIGN_OR_RETURN(const auto pieces, from.pieces(rank));
  std::uint64_t bytes = 0;
  for (const format::PieceEntry& piece : pieces) bytes += std::min(piece.logical_bytes, entry.bytes - bytes);
  return bytes;
}

Status copy_logical(ReadHandle& from, WriteHandle& to, std::uint64_t rank, std::vector<std::byte>& buffer,
                    FullRead& full) {
  TW_RETURN_IF_ERROR(from.seek_to(rank, 0));
  std::uint32_t mode = 0;
  TW_ASSIGN_OR_RETURN(const std::string name, from.name(rank, mode));
  const bool added = rank >= from.files().header().n_logical;
  TW_RETURN_IF_ERROR(added ? to.add(name, mode) : to.seek_to(rank, 0));
  if (!added && (!name.empty() || mode != 0)) TW_RETURN_IF_ERROR(to.set_name(*to.current(), name, mode));
  return copy_bytes(*from.current(), to, buffer, full);
}

Status copy_all(ReadHandle& from, WriteHandle& to, Reporter& report) {
  std::vector<std::byte> buffer;
  FullRead full(from, report);
  TW_RETURN_IF_ERROR(full.count());
  const auto copy = [&](std::uint64_t rank, const EntryRun& run) -> Status {
    TW_RETURN_IF_ERROR(run.lost);
    if (!run.has_entry) return {};
    TW_ASSIGN_OR_RETURN(const format::FileEntry entry, from.entry(rank));
    TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, bytes_to_copy(from, rank, entry));
    buffer.resize(std::clamp<std::uint64_t>(bytes, 1, 8 * kReadBytes));
    TW_RETURN_IF_ERROR(copy_logical(from, to, rank, buffer, full));
    return full.finished(rank);
  };
  TW_RETURN_IF_ERROR(full.each_run(copy));
  TW_ASSIGN_OR_RETURN(const format::Attributes* attributes, from.attributes());
  for (const auto& [key, value] : *attributes)
    if (key != kStrategyAttribute) to.attributes()[key] = value;  // the copy has its own
  return {};
}

// Bytes of one slab that takes everything, so that no chunk has to be cut where a slab ends: space that is not used
// costs nothing. `stored` receives the numbered logical files that have something stored.
Result<std::uint64_t> room_for(ReadHandle& from, Reporter& report, std::uint64_t alignment,
                               std::vector<std::int64_t>& stored) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  const std::uint64_t around = 4 * std::max(alignment, kGapBytes);  // a piece: frame, boundary, a gap that is filled
  std::uint64_t room = 0;
  const auto add = [&](std::uint64_t rank, const EntryRun& run) -> Status {
    TW_RETURN_IF_ERROR(run.lost);
    const bool numbered = rank < from.files().header().n_logical;
    if (run.has_entry && numbered) stored.push_back(static_cast<std::int64_t>(rank));
    if (!run.has_entry || room == kMost) return {};
    TW_ASSIGN_OR_RETURN(const format::FileEntry entry, from.entry(rank));
    TW_ASSIGN_OR_RETURN(const auto pieces, from.pieces(rank));
    TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, bytes_to_copy(from, rank, entry));
    const std::uint64_t frames = (bytes >> 10) + (pieces.size() + 1) * around;
    room = std::min(room + std::min(bytes, kMost) + std::min(frames, kMost), kMost);
    return {};
  };
  TW_RETURN_IF_ERROR(FullRead(from, report).each_run(add));
  return room;
}

}  // namespace

Status defrag_multifile(std::shared_ptr<Backend> backend, const std::string& from, const std::string& to,
                        const MultifileOptions& options, const Watch& watch) {
  CheckResult unused;
  Reporter report(watch, unused);
  TW_RETURN_IF_ERROR(check_may_overwrite(*backend, to, format::KnownFormat::multifile));
  TW_ASSIGN_OR_RETURN(ReadHandle source, open_all(backend, from, ReadSet::Unclosed::refuse, report.watch()));
  TW_ASSIGN_OR_RETURN(const std::uint64_t lost, count_without_rank(source.files(), [&] { return report.go_on(); }));
  if (lost > 0)
    return source.files().first().corrupt(
        fmt::format("{} added logical files have no rank; {} gives them ranks", lost, repair_command(from)));
  const auto n = static_cast<std::int64_t>(source.files().header().n_logical);
  const auto group = make_self_group();
  OpenRequest request;
  request.backend = backend;
  request.path = to;
  request.access = MultifileMode::create;
  request.exclusive = true;
  request.options = options;
  request.progress = [&report](auto, auto) { return report.go_on(); };
  request.options.physical_files = 1;
  request.options.refuses_duplicates = false;  // the copy keeps equal names
  request.options.defragments = true;
  std::vector<std::int64_t> stored;
  TW_ASSIGN_OR_RETURN(request.options.chunk_bytes, room_for(source, report, options.alignment_bytes, stored));
  const bool all = std::cmp_equal(stored.size(), n);
  request.serving = {all ? Serving::Kind::range : Serving::Kind::list, n, 0, all ? n : 0, {}};
  if (!all) request.serving.list = std::move(stored);
  TW_ASSIGN_OR_RETURN(auto target, run(open_multifile(*group, std::move(request))));
  const format::FileHeader made = target->root->plan.files.front().header;
  Status status = copy_all(source, *target->writing, report);
  if (status.ok()) status = run(close_multifile(*group, std::move(target)));
  if (status.ok()) return status;
  target.reset();                               // the file is removed, so it needs no index
  const auto locked = hold_file(*backend, to);  // another program may write it by now
  if (locked.has_value()) remove_file(*backend, to, made);
  return status;
}

}  // namespace thalweg
