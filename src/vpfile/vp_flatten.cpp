#include "vpfile/vp_flatten.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "group/groups.hpp"
#include "vpfile/vp_health.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 22;  // bytes

Result<std::uint64_t> longest_stream(VpFile& file) {
  std::uint64_t longest = 0;
  for (std::uint64_t local = 0; local < file.vps().count(); ++local) {
    TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, file.size_of(local));
    longest = std::max(longest, bytes);
  }
  return longest;
}

Status step(const Watch& watch, std::uint64_t done, std::uint64_t total) {
  if (!watch.progress || watch.progress(done, total)) return {};
  return Status::error(Code::stopped, "stopped");
}

// Records one behind the other; a long one part by part.
Status copy_streams(VpFile& file, StoredFile& out, std::uint64_t record, std::byte fill, const Watch& watch) {
  const std::uint64_t n = file.vps().count();
  std::vector<std::byte> buffer;
  std::uint64_t written = 0;
  for (std::uint64_t local = 0; local < n; ++local) {
    for (std::uint64_t done = 0; done < record;) {
      const std::uint64_t part = std::min(record - done, kAtOnce);
      const std::size_t begin = buffer.size();
      buffer.resize(begin + part, fill);
      TW_ASSIGN_OR_RETURN(const std::uint64_t got, file.read_one(local, std::span(buffer).subspan(begin)));
      std::fill(buffer.begin() + static_cast<std::ptrdiff_t>(begin + got), buffer.end(), fill);
      done += part;
      if (buffer.size() < kAtOnce && (local + 1 < n || done < record)) continue;
      TW_RETURN_IF_ERROR(out.write(written, buffer));
      written += buffer.size();
      buffer.clear();
      TW_RETURN_IF_ERROR(step(watch, local, n));
    }
  }
  return {};
}

}  // namespace

Status flatten_vpfile(std::shared_ptr<Backend> backend, const std::string& from, const std::string& to,
                      std::uint64_t record_bytes, std::byte fill, const Watch& watch) {
  const auto alone = make_self_group();
  VpOpen how;
  how.path = from;
  auto opened = run(VpFile::open(*alone, backend, std::move(how)));
  if (!opened.has_value()) return opened.error();
  VpFile& file = *opened.value();
  if (record_bytes == 0) {
    TW_ASSIGN_OR_RETURN(record_bytes, longest_stream(file));
  }
  if (record_bytes == 0)
    return Status::error(Code::invalid_argument, "'" + from + "' is empty: give the bytes of a record");
  TW_ASSIGN_OR_RETURN(const auto out, backend->open(to, OpenMode::create_exclusive));
  Status status = copy_streams(file, *out, record_bytes, fill, watch);
  if (status.ok()) status = out->close();
  if (status.ok()) status = import_array(*backend, to, file.shape(), record_bytes);
  if (!status.ok()) static_cast<void>(backend->remove(to).ok());
  const Status closed = run(file.close());
  return status.ok() ? closed : status;
}

}  // namespace thalweg
