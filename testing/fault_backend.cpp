#include "testing/fault_backend.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <random>
#include <utility>

#include "testing/fault_file.hpp"
#include "testing/fault_journal.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kTornAt = 4096;  // a write across a multiple of this can be torn there

Status dead_status(const std::string& path) {
  return Status::failed_call(Code::io_error, EIO,
                             fmt::format("fault script: dead; no call on '{}' has an effect", path));
}

}  // namespace

FaultBackend::FaultBackend(std::shared_ptr<Backend> wrapped, FaultScript script) : wrapped_(std::move(wrapped)) {
  restart(std::move(script));
}

FaultBackend::~FaultBackend() = default;

void FaultBackend::go_on(FaultScript script) {
  std::unique_ptr<FaultJournal> unsynced;
  {
    const std::lock_guard lock(mutex_);
    unsynced = std::move(journal_);
  }
  restart(std::move(script));
  const std::lock_guard lock(mutex_);
  if (unsynced != nullptr) journal_ = std::move(unsynced);
}

void FaultBackend::restart(FaultScript script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
  n_calls_ = 0;
  n_failed_ = 0;
  n_of_kind_.clear();
  n_of_rule_.assign(script_.rules.size(), 0);
  dead_ = false;
  records_.clear();
  const bool machine_may_die = script_.keep_journal || (script_.death && script_.death->death == Death::machine);
  journal_ = machine_may_die ? std::make_unique<FaultJournal>() : nullptr;
  space_ = script_.space_bytes ? std::make_unique<SpaceLimit>(*script_.space_bytes) : nullptr;
}

std::uint32_t FaultBackend::direct_alignment_of(StoredFile& wrapped) const {
  const std::lock_guard lock(mutex_);
  return script_.direct_alignment.value_or(wrapped.direct_alignment());
}

bool FaultBackend::death_is_due(const Call& call) const {
  if (!script_.death) return false;
  if (!script_.death->kind) return n_calls_ == script_.death->at;
  return call.kind == *script_.death->kind && n_of_kind_.at(call.kind) == script_.death->at;
}

std::uint64_t FaultBackend::torn_bytes(const Call& call) const {
  if (script_.death->tear == Tear::nothing) return 0;
  if (script_.death->tear == Tear::half) return call.bytes / 2;
  std::vector<std::uint64_t> cuts{0};
  for (std::uint64_t border = (call.offset / kTornAt + 1) * kTornAt; border < call.offset + call.bytes;
       border += kTornAt) {
    cuts.push_back(border - call.offset);
  }
  cuts.push_back(call.bytes);
  return cuts[std::mt19937_64(script_.death->seed)() % cuts.size()];
}

FaultBackend::Verdict FaultBackend::judge_by_rules(const Call& call) {
  Verdict verdict;
  for (std::size_t i = 0; i < script_.rules.size(); ++i) {
    const FaultRule& rule = script_.rules[i];
    if (rule.kind && *rule.kind != call.kind) continue;
    if (call.path.find(rule.path_part) == std::string::npos) continue;
    const std::uint64_t count = ++n_of_rule_[i];
    if (!verdict.failure.ok() || (rule.lasting ? count < rule.at : count != rule.at)) continue;
    if (rule.short_read) {
      verdict.short_read = call.kind == CallKind::read;
      continue;
    }
    verdict.failure = os_error(rule.os_errno, "fault script: call {} on '{}'", n_calls_, call.path);
    verdict.effect = rule.partial ? call.bytes / 2 : 0;
  }
  return verdict;
}

FaultBackend::Verdict FaultBackend::judge(const Call& call) {
  ++n_calls_;
  ++n_of_kind_[call.kind];
  if (dead_) return {.failure = dead_status(call.path)};
  if (death_is_due(call)) return {.failure = dead_status(call.path), .effect = torn_bytes(call), .dies = true};
  return judge_by_rules(call);
}

Status FaultBackend::finish_death(Death death, std::uint64_t seed) {
  dead_ = true;
  return death == Death::machine && journal_ ? journal_->lose(*wrapped_, seed) : Status{};
}

Status FaultBackend::finish(const Call& call, const Verdict& verdict, Status status) {
  if (verdict.dies) {
    const Status lost = finish_death(script_.death->death, script_.death->seed);
    if (!lost.ok()) status = Status::error(Code::internal, "fault script: {}", lost.message());
  }
  if (!status.ok()) ++n_failed_;
  if (script_.record) records_.push_back({call.kind, call.path, call.offset, call.bytes, status.code()});
  return status;
}

Status FaultBackend::perform(const Call& call, const std::function<Status()>& action) {
  const std::lock_guard lock(mutex_);
  const Verdict verdict = judge(call);
  return finish(call, verdict, verdict.failure.ok() ? action() : verdict.failure);
}

Result<std::uint64_t> FaultBackend::perform_read(const Call& call,
                                                 const std::function<Result<std::uint64_t>(std::uint64_t)>& first) {
  const std::lock_guard lock(mutex_);
  const Verdict verdict = judge(call);
  Result<std::uint64_t> got(std::uint64_t{0});
  if (verdict.failure.ok()) got = first(verdict.short_read ? call.bytes / 2 : call.bytes);
  TW_RETURN_IF_ERROR(finish(call, verdict, verdict.failure.ok() ? got.status() : verdict.failure));
  return got;
}

Status FaultBackend::perform_write(const Call& call, StoredFile& file,
                                   const std::function<Status(std::uint64_t)>& first) {
  const std::lock_guard lock(mutex_);
  Verdict verdict = judge(call);
  std::uint64_t effect = verdict.failure.ok() ? call.bytes : verdict.effect;
  if (space_) {
    const std::uint64_t room = space_->take(call.path, call.offset, effect);
    if (room < effect && verdict.failure.ok()) {
      verdict.failure = os_error(ENOSPC, "fault script: cannot write {} bytes at offset {} of '{}'", call.bytes,
                                 call.offset, call.path);
    }
    effect = room;
  }
  Status status;
  if (effect > 0 || verdict.failure.ok()) {
    if (journal_ && effect > 0) status = journal_->before_change(file, call.offset, effect);
    if (status.ok()) status = first(effect);
  }
  return finish(call, verdict, verdict.failure.ok() ? status : verdict.failure);
}

Status FaultBackend::open_wrapped(const std::string& path, const OpenOptions& options,
                                  std::unique_ptr<StoredFile>& file) {
  TW_ASSIGN_OR_RETURN(const bool existed, wrapped_->exists(path));
  if (existed && options.truncate && !(options.create && options.exclusive)) {  // the old content may come back
    TW_ASSIGN_OR_RETURN(std::unique_ptr<StoredFile> old, wrapped_->open(path, OpenMode::read_write));
    if (journal_) TW_RETURN_IF_ERROR(journal_->before_truncation(*old, 0));
    if (space_) space_->truncated(path, 0);
  }
  OpenOptions inner = options;
  inner.read = true;  // the journal reads the old bytes before a change
  TW_ASSIGN_OR_RETURN(file, wrapped_->open(path, inner));
  if (journal_ && !existed) journal_->created(path);
  if (!space_) return {};
  TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, file->size());
  space_->opened(path, bytes);
  return {};
}

Result<std::unique_ptr<StoredFile>> FaultBackend::open(const std::string& path, const OpenOptions& options) {
  TW_RETURN_IF_ERROR(check_options(path, options));
  std::unique_ptr<StoredFile> file;
  TW_RETURN_IF_ERROR(perform({CallKind::open, path}, [&] { return open_wrapped(path, options, file); }));
  return std::unique_ptr<StoredFile>(std::make_unique<FaultFile>(*this, std::move(file), options.read));
}

Status FaultBackend::remove(const std::string& path) {
  return perform({CallKind::remove, path}, [&] {
    if (journal_) {
      TW_ASSIGN_OR_RETURN(const bool exists, wrapped_->exists(path));
      if (exists) TW_RETURN_IF_ERROR(journal_->before_removal(*wrapped_, path));
    }
    TW_RETURN_IF_ERROR(wrapped_->remove(path));
    if (space_) space_->truncated(path, 0);
    return Status{};
  });
}

Result<bool> FaultBackend::exists(const std::string& path) {
  Result<bool> got(false);
  TW_RETURN_IF_ERROR(perform({CallKind::exists, path}, [&] {
    got = wrapped_->exists(path);
    return got.status();
  }));
  return got;
}

Status FaultBackend::sync_directory_of(const std::string& path) {
  return perform({CallKind::sync_directory, path}, [&] {
    TW_RETURN_IF_ERROR(wrapped_->sync_directory_of(path));
    if (journal_) journal_->folder_synced(path);
    return Status{};
  });
}

Result<StorageInfo> FaultBackend::describe(const std::string& path) {
  Result<StorageInfo> got(StorageInfo{});
  TW_RETURN_IF_ERROR(perform({CallKind::describe, path}, [&] {
    got = wrapped_->describe(path);
    return got.status();
  }));
  return got;
}

std::uint32_t FaultBackend::direct_alignment_at(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return script_.direct_alignment.value_or(wrapped_->direct_alignment_at(path));
}

void FaultBackend::kill(Death death, std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  if (!dead_) (void)finish_death(death, seed);
}

std::uint64_t FaultBackend::failures() const {
  const std::lock_guard lock(mutex_);
  return n_failed_;
}

std::uint64_t FaultBackend::calls() const {
  const std::lock_guard lock(mutex_);
  return n_calls_;
}

std::uint64_t FaultBackend::calls(CallKind kind) const {
  const std::lock_guard lock(mutex_);
  const auto found = n_of_kind_.find(kind);
  return found == n_of_kind_.end() ? 0 : found->second;
}

bool FaultBackend::dead() const {
  const std::lock_guard lock(mutex_);
  return dead_;
}

std::vector<CallRecord> FaultBackend::records() const {
  const std::lock_guard lock(mutex_);
  return records_;
}

std::shared_ptr<FaultBackend> make_fault_backend(std::shared_ptr<Backend> wrapped, FaultScript script) {
  return std::make_shared<FaultBackend>(std::move(wrapped), std::move(script));
}

}  // namespace thalweg
