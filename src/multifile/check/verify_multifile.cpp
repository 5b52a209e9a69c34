// Verifying a multifile: every logical file is read to its end, then sessions and frames are walked.
#include <fmt/core.h>

#include <algorithm>

#include "base/shell_word.hpp"
#include "multifile/check/all_logical_files.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/check/regions.hpp"
#include "multifile/read/name_places.hpp"

namespace thalweg {

namespace {

// Reads one logical file to its end, and its name; the failure when it cannot be.
Status read_whole(ReadHandle& handle, std::uint64_t rank, std::vector<std::byte>& buffer, FullRead& full) {
  TW_RETURN_IF_ERROR(handle.seek_to(rank, 0));
  LogicalReader* reader = handle.current();
  if (buffer.size() < kReadBytes) buffer.resize(std::min<std::uint64_t>(kReadBytes, reader->size()));
  // A gap may have up to 2^63 bytes, so its zeros are skipped.
  for (std::uint64_t at = reader->skip_zeros(0); at < reader->size(); at = reader->skip_zeros(at)) {
    std::size_t got = 0;
    TW_RETURN_IF_ERROR(reader->read(at, buffer, got));
    at += got;
    TW_RETURN_IF_ERROR(full.at(at));
  }
  std::uint32_t mode = 0;
  TW_RETURN_IF_ERROR(handle.name(rank, mode).status());
  TW_ASSIGN_OR_RETURN(const format::FileEntry entry, handle.entry(rank));
  if ((entry.flags & format::kFileDamaged) == 0) return {};
  return Status::error(Code::corrupt_file,
                       "logical file {}: what is here can be read; a repair found that flushed bytes are lost", rank);
}

Status damaged_summary(const std::string& path, const CheckResult& result) {
  const std::string findings = fmt::format("{} finding{}", result.findings, result.findings == 1 ? "" : "s");
  if (result.damaged_logical == 0)
    return Status::error(
        Code::corrupt_file,
        "'{}': all logical files can be read, but it is not sound ({}); `thalweg defrag` makes a copy that is", path,
        findings);
  return Status::error(Code::corrupt_file, "'{}': {} of {} logical files are damaged ({})", path,
                       result.damaged_logical, result.n_logical, findings);
}

// Empty for a single logical file, which the message names.
std::string of_which(std::uint64_t begin, std::uint64_t end) {
  if (end - begin == 1) return "";
  return fmt::format("; logical files {} to {} are lost by that", begin, end - 1);
}

// Damage of a logical file is a finding; other errors end the check.
Status check_all(ReadHandle& handle, Reporter& report, CheckResult& result) {
  std::vector<std::byte> buffer;  // as large as the largest file asks for
  FullRead full(handle, report);
  TW_RETURN_IF_ERROR(full.count());
  const Status all = full.each_run([&](std::uint64_t rank, const EntryRun& run) -> Status {
    if (!run.has_entry && run.lost.ok()) return {};
    const Status status = run.has_entry ? read_whole(handle, rank, buffer, full) : run.lost;
    if (status.ok()) {
      result.logical_bytes = std::min(result.logical_bytes + handle.current()->size(), format::kMaxOffset);
    } else if (status.code() == Code::corrupt_file || status.code() == Code::not_found) {  // not found: a physical file
      result.damaged_logical += run.end - rank;
      report.finding(status.message() + of_which(rank, run.end));
    } else {
      return status;
    }
    return run.has_entry ? full.finished(rank) : Status{};
  });
  if (all.code() != Code::corrupt_file) return all;  // corrupt_file: a piece belongs to two logical files
  report.finding(all.message());
  return damaged_summary(handle.files().path(), result);
}

// Checks sessions, slabs and frames, which repair and append need and readers do not.
Status check_structure(ReadSet& files, Reporter& report) {
  const Status walked = walk_regions(files, [](const Region&) { return true; });
  if (walked.code() != Code::corrupt_file && walked.code() != Code::not_found)
    return walked;  // not found: a physical file
  report.finding(walked.message());
  return {};
}

// An added logical file that is in no run has no rank.
Status check_added_runs(ReadSet& files, Reporter& report, CheckResult& result) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t n, count_without_rank(files, [&report] { return report.go_on(); }));
  result.damaged_logical += n;
  if (n > 0)
    report.finding(
        fmt::format("'{}': {} added logical files have no rank, so that they cannot be read; {} gives them ranks",
                    files.path(), n, repair_command(files.path())));
  return {};
}

// Names are found by their places, which physical file 0 has for all.
Status check_name_places(ReadSet& files, Reporter& report) {
  std::vector<format::NamePlace> names;
  const GoOn go_on = [&report] { return report.go_on(); };
  for (std::uint32_t k = 0; k < files.header().n_physical; ++k) {
    auto physical = files.physical(k);
    const Status listed = physical.has_value() ? list_names(**physical, names, go_on) : physical.status();
    if (is_loss(listed.code())) return {};  // reported before
    TW_RETURN_IF_ERROR(listed);
  }
  std::ranges::sort(names);
  TW_ASSIGN_OR_RETURN(const bool agree, has_places(files.first(), names, go_on));
  if (!agree)
    report.finding(
        fmt::format("'{}': the places of the names are not those of the logical files that have them; {} "
                    "writes them anew",
                    files.path(), repair_command(files.path())));
  return {};
}

}  // namespace

Status verify_multifile(std::shared_ptr<Backend> backend, const std::string& path, const Watch& watch,
                        CheckResult& result) {
  result = {};
  Reporter report(watch, result);
  Watch recovery = report.watch();
  recovery.finding = {};  // reading the logical files reports what a recovery finds
  auto closed = open_all(backend, path, ReadSet::Unclosed::refuse, recovery);
  if (closed.has_value()) {
    result.closed = true;
    result.n_logical = closed->files().n_logical();
    TW_RETURN_IF_ERROR(check_all(*closed, report, result));
    TW_RETURN_IF_ERROR(check_structure(closed->files(), report));
    TW_RETURN_IF_ERROR(check_added_runs(closed->files(), report, result));
    TW_RETURN_IF_ERROR(check_name_places(closed->files(), report));
    TW_RETURN_IF_ERROR(closed->attributes().status());
    return result.findings == 0 ? Status{} : damaged_summary(path, result);
  }
  const Status why = closed.error();
  if (why.code() != Code::not_closed && why.code() != Code::corrupt_file) return why;
  report.finding(why.message());
  auto open = open_all(std::move(backend), path, ReadSet::Unclosed::recover, std::move(recovery));
  if (!open.has_value()) return open.error().code() == Code::stopped ? open.error() : why;
  result.n_logical = open->files().n_logical();
  const Status checked = check_all(*open, report, result);
  return checked.ok() || checked.code() == Code::corrupt_file ? why : checked;
}

}  // namespace thalweg
