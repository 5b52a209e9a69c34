#include "multifile/write/write_set.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "multifile/write/create_files.hpp"
#include "multifile/write/index_writer.hpp"
#include "storage/hold_file.hpp"

namespace thalweg {

// The lock of task 0's process covers all of its tasks. It lasts until task 0 has marked the files as complete.
Status WriteSet::hold(std::unique_ptr<StoredFile> lock_of_root) {
  const std::lock_guard lock(lock_mutex_);
  if (lock_of_root) lock_ = std::move(lock_of_root);
  if (lock_ || processes_ == 1) return {};
  TW_ASSIGN_OR_RETURN(std::unique_ptr<StoredFile> joined,
                      open_to_lock(*backend_, path_, in_tier_ ? OpenMode::create_keep : OpenMode::read));
  TW_RETURN_IF_ERROR(joined->join_writers());
  lock_ = std::move(joined);
  return {};
}

void WriteSet::give_up_lock() {
  const std::lock_guard lock(lock_mutex_);
  lock_.reset();
}

Result<PhysicalWriter*> WriteSet::writer(const DomainShare& share, const WriteCommon& common) {
  return files_.get_or_make(share.physical, [&] { return open_file(share, common); });
}

// The frame is written before any data of the later physical file: without it a recovery cannot tell a lost file from one
// that was never made. All processes make the file with the same bytes. A sync makes its name durable, too.
Result<std::unique_ptr<StoredFile>> WriteSet::open_later(const format::FileHeader& header, StripeRequest stripes) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<StoredFile> stored, make_later(*backend_, path_, header, stripes));
  {
    const std::lock_guard lock(name_mutex_);
    name_synced_ = false;
  }
  const auto files = files_.all();
  if (files.empty() || files.front().first != 0)
    return Status::error(Code::internal, "a process that does not write into the first physical file uses a later one");
  TW_RETURN_IF_ERROR(files.front().second->note_later(header.id.physical));
  return stored;
}

Result<std::unique_ptr<PhysicalWriter>> WriteSet::open_file(const DomainShare& share, const WriteCommon& common) {
  format::FileHeader header = common.header;
  header.id.physical = share.physical;
  if (header.is_later()) header = format::later_header(header, share.physical);
  TW_ASSIGN_OR_RETURN(std::unique_ptr<StoredFile> stored,
                      header.is_later() ? open_later(header, common.stripes)
                                        : backend_->open(format::physical_name(path_, share.physical),
                                                         in_tier_ ? OpenMode::create_keep : OpenMode::read_write));
  return std::make_unique<PhysicalWriter>(std::move(stored), header, share, common);
}

// Each caller begins with another file, so that threads that call together do not wait for each other at every file.
template <class Step>
Status WriteSet::for_each_file(Step&& step) {
  const auto files = files_.all();
  const std::size_t first = next_turn_.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < files.size(); ++i) TW_RETURN_IF_ERROR(step(*files[(first + i) % files.size()].second));
  return {};
}

Status WriteSet::flush_packs(bool waits) {
  return for_each_file([waits](PhysicalWriter& file) { return file.flush_pack(waits); });
}

Status WriteSet::await_packs() {
  return for_each_file([](PhysicalWriter& file) { return file.await_packs(); });
}

Status WriteSet::sync_data() {
  return for_each_file([](PhysicalWriter& file) { return file.sync(); });
}

Status WriteSet::close_files() {
  Status first;
  for (const auto& [physical, file] : files_.all())
    if (Status status = file->file().close(); !status.ok() && first.ok()) first = status;
  return first;
}

// Physical file 0 holds the mapping of ranks, and the directory holds the names of all physical files.
Status WriteSet::sync_name() {
  const std::lock_guard lock(name_mutex_);
  if (name_synced_) return {};
  const auto files = files_.all();
  if (files.empty() || files.front().first != 0) {
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
  return sync_name();
}

Status WriteSet::stopped() const { return Status::error(Code::stopped, "closing '{}': stopped by the caller", path_); }

Bytes WriteSet::deposit(Deposit mine) {
  const std::lock_guard lock(mutex_);
  deposits_.push_back(std::move(mine));
  if (static_cast<std::int64_t>(deposits_.size()) < tasks_) return {};
  const bool has_task_0 = std::any_of(deposits_.begin(), deposits_.end(), [](const Deposit& d) { return d.rank == 0; });
  Bytes bytes = contribution();
  if (!has_task_0)
    give_up_lock();  // before any task learns that the file is closed; task 0 writes on and keeps its lock
  return bytes;
}

namespace {

// The logical files of one physical file, in the order of tasks.
using Writers = std::vector<const LogicalWriter*>;

std::map<std::uint32_t, Writers> by_physical(const std::vector<Deposit>& deposits) {
  std::map<std::uint32_t, Writers> result;
  for (const Deposit& d : deposits)
    for (const auto& writer : d.writers) result[writer->physical().header().id.physical].push_back(writer.get());
  return result;
}

// Returns false where the caller stops the close.
bool put_contributions(WireWriter& out, const Writers& writers, const GoOn& go_on) {
  std::size_t bytes = 0;
  for (const LogicalWriter* w : writers) bytes += contribution_bytes(w->contribution().name.size(), w->n_pieces());
  out.reserve(bytes + 64);
  out.put_short(bytes);
  std::vector<WrittenPiece> room;
  std::uint64_t n = 0;
  for (const LogicalWriter* w : writers) {
    if (++n % kAskEach == 0 && go_on && !go_on()) return false;
    append_contribution(out.bytes(), w->contribution(), w->pieces(room));
  }
  return true;
}

}  // namespace

// A pack of less than a block would cost a block and a write in each process. It goes to task 0 instead, which joins
// those of many processes; the bound keeps all of them within the memory of task 0.
Result<Bytes> WriteSet::ship_or_flush(PhysicalWriter& writer) const {
  constexpr std::uint64_t kMostAtRoot = 256 << 20;
  Bytes shipped;
  if (writer.shared_with_others()) {
    const std::uint64_t most = kMostAtRoot / static_cast<std::uint64_t>(processes_);
    shipped = writer.ship(std::min<std::uint64_t>(writer.header().alignment, most));
  }
  TW_RETURN_IF_ERROR(writer.flush_pack());
  return shipped;
}

// Everything of the process, behind its status: whether the close is to be durable, the physical files, attributes.
Status WriteSet::encode_contribution(WireWriter& out) {
  const auto asking = std::ranges::find_if(deposits_, [](const Deposit& d) { return d.go_on != nullptr; });
  const GoOn go_on = asking == deposits_.end() ? GoOn{} : asking->go_on;
  const bool durable = close_durably_.load(std::memory_order_relaxed);
  out.put_status({});
  out.put(durable);
  const auto open_files = files_.all();
  out.put_short(open_files.size());
  std::map<std::uint32_t, Writers> files = by_physical(deposits_);
  for (const auto& [physical, writer] : open_files)  // the entries in the first one tell where pieces lie in them
    if (writer->header().is_later()) TW_RETURN_IF_ERROR(writer->flush_pack());
  for (const auto& [physical, writer] : open_files) {
    TW_ASSIGN_OR_RETURN(const Bytes shipped, ship_or_flush(*writer));
    if (durable) TW_RETURN_IF_ERROR(writer->file().sync());
    out.put_short(physical);
    out.put_short(writer->high_water());
    if (!put_contributions(out, files[physical], go_on)) return stopped();
    out.put_bytes(shipped);
    std::vector<StoredContributions> stored;
    for (const Deposit& d : deposits_)
      if (d.home == physical) stored.insert(stored.end(), d.stored.begin(), d.stored.end());
    out.put_all(stored);
  }
  if (deposits_.front().rank != 0) TW_RETURN_IF_ERROR(close_files());  // task 0 has more to write
  for (const Deposit& d : deposits_) {
    if (d.attributes.empty()) continue;
    out.put(d.rank);
    out.put_bytes(format::encode_attributes(d.attributes));
  }
  return {};
}

Bytes WriteSet::contribution() {
  std::ranges::sort(deposits_, {}, &Deposit::rank);
  const auto failed = std::ranges::find_if(deposits_, [](const Deposit& d) { return !d.status.ok(); });
  const TaskRank rank = failed == deposits_.end() ? deposits_.front().rank : failed->rank;
  WireWriter out;
  Status status = failed == deposits_.end() ? attempt([&] { return encode_contribution(out); }) : failed->status;
  deposits_.clear();
  if (status.ok()) return out.take();
  // It is task 0 that reports the status to all.
  if (tasks_ > 1 || processes_ > 1) status = status.with_context(fmt::format("task {}", rank));
  out = {};
  out.put_status(status);
  return out.take();
}

Status add_contribution(ByteSpan bytes, CloseContributions& all) {
  WireReader in(bytes);
  TW_RETURN_IF_ERROR(in.get_status());
  all.durable |= in.get<bool>();
  for (auto n = in.get_short(); n > 0; --n) {
    const std::uint64_t physical = in.get_short();
    PhysicalContribution one;
    one.high_water = in.get_short();
    const ByteView logical = in.get_view();
    one.logical = bytes.subspan(static_cast<std::size_t>(logical.data() - bytes.data()), logical.size());
    one.shipped = in.get_view();
    if (physical >= all.files.size())
      return Status::error(Code::internal, "a process wrote into physical file {} of {}", physical, all.files.size());
    all.files[physical].push_back(one);
    const auto stored = in.get_all<StoredContributions>();
    if (!stored.empty()) all.stored[physical].insert(all.stored[physical].end(), stored.begin(), stored.end());
  }
  while (!in.rest().empty()) {
    const auto rank = in.get<TaskRank>();
    TW_ASSIGN_OR_RETURN(format::Attributes attributes, format::parse_attributes(in.get_view()));
    all.attributes.emplace_back(rank, std::move(attributes));
  }
  return {};
}

}  // namespace thalweg
