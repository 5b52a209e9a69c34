#include "support/crash/write_history.hpp"

#include <algorithm>

#include "support/models/multifile_model.hpp"

namespace thalweg::test {

namespace {

bool covers(const WriteRecord& write, std::uint64_t at) {
  return at >= write.offset && at - write.offset < write.bytes;
}

std::uint64_t end_of(const WriteRecord& write) { return write.bytes == 0 ? 0 : write.offset + write.bytes; }

// Whether at some moment the logical file reached beyond `at` without a certain write there.
bool gap_stood_at(std::span<const WriteRecord> writes, std::uint64_t at) {
  for (const WriteRecord& write : writes) {
    if (covers(write, at) && !write.failed) return false;
    if (!covers(write, at) && end_of(write) > at) return true;
  }
  return false;
}

class Judge {
 public:
  Judge(std::uint64_t rank, std::span<const WriteRecord> writes, std::size_t durable, std::uint64_t zeros_below)
      : rank_(rank), writes_(writes), durable_(durable), zeros_below_(zeros_below) {
    for (std::size_t i = 0; i < writes.size(); ++i) {
      most_ = std::max(most_, end_of(writes[i]));
      if (i < durable && !writes[i].failed) least_ = std::max(least_, end_of(writes[i]));
    }
  }

  std::string run(const Found& found) {
    if (!found.unreadable.ok()) return least_ == 0 ? "" : "cannot be read: " + found.unreadable.message();
    const std::string size = std::to_string(found.bytes.size());
    if (found.bytes.size() < least_) return "has " + size + " bytes; " + std::to_string(least_) + " were durable";
    if (found.bytes.size() > most_) return "has " + size + " bytes; only " + std::to_string(most_) + " were written";
    find_last_durable(found.bytes.size());
    for (std::uint64_t at = 0; at < found.bytes.size(); ++at) {
      const bool refused = !found.refused.empty() && found.refused[at];
      if (refused && at < least_) return "refuses the durable byte at " + std::to_string(at);
      if (!refused && !is_right(at, found.bytes[at]))
        return "byte " + std::to_string(at) + " of " + size + " is wrong (durable below " + std::to_string(least_) +
               ", last durable write " + std::to_string(last_durable_[at]) + " of " + std::to_string(durable_) +
               ", value " + std::to_string(std::to_integer<int>(found.bytes[at])) + ")";
    }
    return "";
  }

 private:
  void find_last_durable(std::size_t bytes) {
    last_durable_.assign(bytes, 0);
    for (std::size_t i = 0; i < durable_; ++i) {
      if (writes_[i].failed) continue;
      const std::uint64_t end = std::min<std::uint64_t>(end_of(writes_[i]), bytes);
      for (std::uint64_t at = writes_[i].offset; at < end; ++at) last_durable_[at] = static_cast<std::uint32_t>(i + 1);
    }
  }
  bool is_right(std::uint64_t at, std::byte value) const {
    const std::uint32_t last = last_durable_[at];
    if (last > 0 && value == pattern(rank_, at, last)) return true;
    if (last == 0 && value == std::byte{0} && (at < least_ || at < zeros_below_ || gap_stood_at(writes_, at)))
      return true;
    for (std::size_t i = last; i < writes_.size(); ++i) {
      const bool later = i >= durable_ || writes_[i].failed;
      if (later && covers(writes_[i], at) && value == pattern(rank_, at, i + 1)) return true;
    }
    return false;
  }

  const std::uint64_t rank_;
  const std::span<const WriteRecord> writes_;
  const std::size_t durable_;
  const std::uint64_t zeros_below_;
  std::uint64_t least_ = 0, most_ = 0;       // limits of the size of the logical file
  std::vector<std::uint32_t> last_durable_;  // number of the last durable write of each byte; 0: none
};

}  // namespace

std::vector<std::byte> written_bytes(std::uint64_t rank, const WriteRecord& write, std::uint64_t version) {
  std::vector<std::byte> data(write.bytes);
  for (std::uint64_t i = 0; i < write.bytes; ++i) data[i] = pattern(rank, write.offset + i, version);
  return data;
}

std::uint64_t History::size() const {
  std::uint64_t size = settled_size;
  for (const WriteRecord& write : std::span(writes).subspan(settled)) size = std::max(size, end_of(write));
  return size;
}

TaskHistories::Written TaskHistories::written() const {
  Written written;
  for (const History* history : all_) written.push_back(history->writes.size());
  return written;
}

void TaskHistories::note(const Written& written, bool synced) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    all_[i]->flushed = std::max(all_[i]->flushed, written[i]);
    if (synced) all_[i]->synced = std::max(all_[i]->synced, written[i]);
  }
}

void History::settle(std::uint64_t bytes) {
  for (WriteRecord& write : std::span(writes).subspan(flushed)) write.failed = true;
  settled = flushed = writes.size();
  settled_size = bytes;
}

Found read_found(ReadHandle& handle, std::uint64_t rank) {
  Found found;
  found.unreadable = handle.seek_to(rank, 0);
  if (!found.unreadable.ok()) return found;
  LogicalReader& reader = *handle.current();
  found.bytes.resize(reader.size());
  std::size_t got = 0;
  if (reader.read(0, found.bytes, got).ok()) return found;
  found.refused.resize(found.bytes.size());
  constexpr std::uint64_t kStep = 256;
  for (std::uint64_t at = 0; at < found.bytes.size(); at += kStep) {
    const auto part = std::span(found.bytes).subspan(at, std::min<std::uint64_t>(kStep, found.bytes.size() - at));
    if (reader.read(at, part, got).ok()) continue;
    for (std::uint64_t i = 0; i < part.size(); ++i)
      found.refused[at + i] = !reader.read(at + i, part.subspan(i, 1), got).ok();
  }
  return found;
}

Result<std::uint64_t> find_rank(ReadHandle& handle, std::uint64_t number, const History& history) {
  if (!history.name.empty()) return handle.find(history.name);
  if (number < handle.files().header().n_logical) return number;
  return Status::error(Code::not_found, "logical file {} was not added", number);
}

std::string judge(std::uint64_t rank, std::span<const WriteRecord> writes, std::size_t durable, const Found& found,
                  std::uint64_t zeros_below) {
  const std::string wrong = Judge(rank, writes, durable, zeros_below).run(found);
  return wrong.empty() ? "" : "logical file " + std::to_string(rank) + " " + wrong;
}

}  // namespace thalweg::test
