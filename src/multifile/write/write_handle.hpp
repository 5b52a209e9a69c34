// A multifile open for writing, as one task holds it.
//
// One logical file is current. A LogicalWriter is made when it is first used, so a handle that serves a million logical
// files costs little more than those that are written.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/collective.hpp"
#include "multifile/rank_ranges.hpp"
#include "multifile/write/added_files.hpp"
#include "multifile/write/write_set.hpp"

namespace thalweg {

class WriteHandle {
 public:
  // `old`: what an append found in the file; else null.
  WriteHandle(std::shared_ptr<WriteSet> files, std::shared_ptr<ReadSet> old, WriteCommon common, WriteShare share,
              WriterSettings settings);

  Status seek_to(std::uint64_t rank, std::int64_t position);
  LogicalWriter* current() const { return current_; }  // null: no logical file was used yet
  Result<LogicalWriter*> current_or_first();
  Result<LogicalWriter*> writer(std::uint64_t rank);
  // Announces that so many bytes will be written in a row: they get one chunk, which is no larger.
  void expect(std::uint64_t bytes) {
    settings_.chunk_bytes = std::max<std::uint64_t>(bytes, 1);
    settings_.exact = true;
  }
  Status write(LogicalWriter& writer, std::span<const std::byte> data);
  // Makes a logical file that this handle did not serve, and makes it current.
  Status add(std::string_view name, std::uint32_t mode);
  Status set_name(LogicalWriter& writer, std::string_view name, std::uint32_t mode);
  Status flush();
  Status sync();
  // A flush or sync that waits for the storage in the background. Bytes written later are not part of it.
  Result<std::shared_ptr<AccessRequest>> begin(bool syncs);
  std::uint64_t n_served() const { return served_.count() + added_.size(); }
  // The logical files of the multifile, without those that other tasks add.
  std::uint64_t n_logical() const { return (old_ ? old_->n_logical() : common_.header.n_logical) + added_.size(); }
  // Waits for all flushes and syncs that were begun. Returns the first failure of one.
  Status await_syncs();

  format::Attributes& attributes() { return attributes_; }
  const WriteCommon& common() const { return common_; }
  const ServedRanges& served() const { return served_; }
  std::uint64_t session() const { return domains_.empty() ? 0 : domains_[0].session; }
  WriteSet& files() const { return *files_; }

  // Finishes all logical files and hands them over. Returns what this task contributes to the gather of the close.
  Bytes finish(TaskRank rank, GoOn go_on);

 private:
  struct Lists {
    std::vector<LogicalWriter*> touched;   // written since the last flush, each once
    std::vector<LogicalWriter*> unsynced;  // written since the last sync, each once
    std::vector<LogicalWriter*> syncing;   // those of syncs that go on in the background
    std::vector<LogicalWriter*> buffered;  // may hold a buffer; only of handles that serve many
  };
  Result<PhysicalWriter*> physical(std::uint32_t number);
  Status limit_buffers(LogicalWriter& left);
  Status note_writer(LogicalWriter& writer);
  Status store_added(bool last_stays);
  Lists& lists_of(const LogicalWriter& writer) { return writer.rank() >= added_.first_newest() ? newest_ : staying_; }
  template <class Step>
  Status guard(Step&& step);
  Status flush_writers(bool by_sync);
  Status flush_for_sync();
  void pin_all(const std::shared_ptr<const AccessRequest>& sync);
  void note_buffer(LogicalWriter& writer);
  Status keep_failure(const Status& status);
  std::unique_ptr<LogicalWriter>& writer_at(std::uint64_t slot);
  template <class Step>
  Status each_writer(Step&& step);  // of those that there are, by slot

  const std::shared_ptr<WriteSet> files_;
  const std::shared_ptr<ReadSet> old_;
  const WriteCommon common_;
  const std::vector<DomainShare> domains_;  // by physical file
  const ServedRanges served_;
  AddedFiles added_;
  const std::uint32_t home_;  // the physical file in which those lie
  WriterSettings settings_;
  // By slot, in pages: memory grows with the writers in use, not with the number that the header of a file claims.
  using WriterPage = std::vector<std::unique_ptr<LogicalWriter>>;
  std::map<std::uint64_t, WriterPage> writers_;
  std::pair<std::uint64_t, WriterPage*> last_page_{0, nullptr};
  Lists staying_;  // of writers that stay in memory
  Lists newest_;   // of the newest of added_
  LogicalWriter* current_ = nullptr;
  PhysicalWriter* last_physical_ = nullptr;  // of the logical file touched last, and mostly of the next one
  std::unordered_map<std::uint32_t, PageCache> index_cache_;  // of what was there, by physical file
  format::Attributes attributes_;
  std::vector<std::shared_ptr<AccessRequest>> syncs_;  // flushes and syncs that may go on
  LogicalWriter* last_written_ = nullptr;              // only of handles that serve many
  Status failure_;                                     // the first one of this task
  Status broken_;                                      // not ok after an exception: nothing more can be written
};

}  // namespace thalweg
