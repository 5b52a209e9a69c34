#include "file/write_set.hpp"

#include <algorithm>

#include "file/index_writer.hpp"

namespace thalweg {

Result<std::shared_ptr<PhysicalWriter>> WriteSet::writer(const DomainShare& share, const format::FileHeader& common) {
  const std::lock_guard lock(mutex_);
  const auto found = writers_.find(share.physical);
  if (found != writers_.end()) return found->second;
  TW_ASSIGN_OR_RETURN(std::unique_ptr<StoredFile> file,
                      backend_->open(format::physical_name(path_, share.physical), OpenMode::read_write));
  format::FileHeader header = common;
  header.id.physical = share.physical;
  auto writer =
      std::make_shared<PhysicalWriter>(PhysicalWriter::Setup{std::move(file), header, share.session, share.layout});
  writers_.emplace(share.physical, writer);
  return writer;
}

Status WriteSet::flush_packs() {
  const std::lock_guard lock(mutex_);
  for (auto& [physical, writer] : writers_) TW_RETURN_IF_ERROR(writer->flush_pack());
  return {};
}

Status WriteSet::sync_data() {
  const std::lock_guard lock(mutex_);
  for (auto& [physical, writer] : writers_) TW_RETURN_IF_ERROR(writer->file().sync());
  return {};
}

// Physical file 0 says which logical file lies where, and directories hold the names.
Status WriteSet::sync_name() {
  if (name_synced_) return {};
  if (!writers_.contains(0)) {
    TW_ASSIGN_OR_RETURN(std::unique_ptr<StoredFile> first, backend_->open(path_, OpenMode::read));
    TW_RETURN_IF_ERROR(first->sync());
    TW_RETURN_IF_ERROR(first->close());
  }
  TW_RETURN_IF_ERROR(backend_->sync_directory_of(path_));
  name_synced_ = true;
  return {};
}

Status WriteSet::sync() {
  close_durably();
  TW_RETURN_IF_ERROR(sync_data());
  const std::lock_guard lock(mutex_);
  return sync_name();
}

Bytes WriteSet::deposit(Deposit mine) {
  const std::lock_guard lock(mutex_);
  deposits_.push_back(std::move(mine));
  if (static_cast<std::int64_t>(deposits_.size()) < tasks_) return {};
  return contribution();
}

namespace {

// A failure, as bytes. Leaves without memory if even that cannot be had: then the root misses the process.
Bytes failed(const Status& status) {
  WireWriter out;
  out.put_status(status);
  return out.take();
}

void append_logical(std::vector<std::byte>& out, LogicalWriter& writer) {
  Contribution c;
  c.local_index = writer.local_index();
  c.bytes = writer.size();
  if (writer.name() != nullptr) {
    c.named = true;
    c.name = *writer.name();
    c.mode = writer.mode();
  }
  append_contribution(out, c, writer.take_pieces());
}

}  // namespace

// What is less than a block costs a block and a write if each process does it; so it goes to task 0, which packs that
// of many processes. Bounded, so that task 0 has memory for all.
Result<Bytes> WriteSet::ship_or_flush(PhysicalWriter& writer) const {
  constexpr std::uint64_t kMostAtRoot = 256 << 20;
  if (writer.shared_with_others()) {
    const std::uint64_t most = kMostAtRoot / static_cast<std::uint64_t>(processes_);
    Bytes shipped = writer.ship(std::min<std::uint64_t>(writer.header().alignment, most));
    if (!shipped.empty()) return shipped;
  }
  TW_RETURN_IF_ERROR(writer.flush_pack());
  return Bytes{};
}

Bytes WriteSet::contribution() {
  std::sort(deposits_.begin(), deposits_.end(), [](const Deposit& a, const Deposit& b) { return a.rank < b.rank; });
  for (const Deposit& d : deposits_) {
    if (d.status.ok()) continue;
    const Status status = tasks_ > 1 ? d.status.with_context("task " + std::to_string(d.rank)) : d.status;
    deposits_.clear();
    return failed(status);
  }
  std::map<std::uint32_t, Bytes> files, shipped;
  WireWriter out;
  out.put_status({});
  const Status status = attempt([&]() -> Status {
    const bool durable = close_durably_.load(std::memory_order_relaxed);
    out.put(durable);
    for (auto& [physical, writer] : writers_) {
      TW_ASSIGN_OR_RETURN(shipped[physical], ship_or_flush(*writer));
      files[physical];
      if (durable) TW_RETURN_IF_ERROR(writer->file().sync());
    }
    for (Deposit& d : deposits_)
      for (const auto& logical : d.writers) append_logical(files[logical->physical().header().id.physical], *logical);
    out.put(std::uint64_t{files.size()});
    for (auto& [physical, bytes] : files) {
      out.put(physical);
      out.put(writers_[physical]->high_water());
      out.put_bytes(bytes);
      out.put_bytes(shipped[physical]);
      bytes = {};
    }
    for (const Deposit& d : deposits_) {
      if (d.attributes.empty()) continue;
      out.put(d.rank);
      out.put_bytes(format::encode_attributes(d.attributes));
    }
    return {};
  });
  deposits_.clear();
  return status.ok() ? out.take() : failed(status);
}

ProcessContribution decode_contribution(ByteSpan bytes) {
  ProcessContribution result;
  WireReader in(bytes);
  result.status = in.get_status();
  if (!result.status.ok()) return result;
  result.durable = in.get<bool>();
  for (auto n = in.get<std::uint64_t>(); n > 0; --n) {
    PartContribution part;
    part.physical = in.get<std::uint32_t>();
    part.high_water = in.get<std::uint64_t>();
    const ByteView files = in.get_view();
    part.files = bytes.subspan(static_cast<std::size_t>(files.data() - bytes.data()), files.size());
    part.shipped = in.get_view();
    result.parts.push_back(part);
  }
  while (!in.rest().empty()) {
    const auto rank = in.get<TaskRank>();
    auto attributes = format::parse_attributes(in.get_view());
    if (attributes.has_value()) result.attributes.emplace_back(rank, std::move(*attributes));
  }
  return result;
}

}  // namespace thalweg
