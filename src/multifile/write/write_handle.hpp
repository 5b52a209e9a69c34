// A multifile open for writing, as one task holds it.
//
// One logical file is current. LogicalWriters are made when first touched, so a handle that serves a million logical
// files costs a pointer for each until then.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "multifile/rank_ranges.hpp"
#include "multifile/write/logical_writer.hpp"
#include "multifile/write/write_set.hpp"

namespace thalweg {

class WriteHandle {
 public:
  struct Setup {
    std::shared_ptr<WriteSet> files;
    std::shared_ptr<ReadSet> old;  // append: what was there; else null
    WriteCommon common;
    WriteShare share;
    WriterSettings settings;
  };
  explicit WriteHandle(Setup setup);

  Status seek_to(std::uint64_t rank, std::int64_t position);
  LogicalWriter* current() const { return current_; }  // null: the handle serves nothing, or nothing was touched yet
  Result<LogicalWriter*> current_or_first();
  Result<LogicalWriter*> writer(std::uint64_t rank);
  // So many bytes are going to be written in a row: they get one chunk, which is no larger.
  void expect(std::uint64_t bytes) {
    setup_.settings.chunk_bytes = std::max<std::uint64_t>(bytes, 1);
    setup_.settings.exact = true;
  }
  Status write(LogicalWriter& writer, std::span<const std::byte> data);
  Status flush();
  Status sync();

  void set_attribute(const std::string& key, const std::string& value) { attributes_[key] = value; }
  const format::Attributes& attributes() const { return attributes_; }
  const WriteCommon& common() const { return setup_.common; }
  const ServedRanges& served() const { return served_; }
  std::uint64_t session() const { return setup_.share.domains.empty() ? 0 : setup_.share.domains[0].session; }
  WriteSet& files() const { return *setup_.files; }
  bool appending() const { return setup_.old != nullptr; }

  // Finishes all logical files and hands them over; the bytes are this task's part in the gather of the close.
  Bytes finish(TaskRank rank, GoOn go_on);

 private:
  Result<PhysicalWriter*> physical(std::uint32_t number);
  Result<std::uint64_t> old_size(const PlacedRange& at);
  Status limit_buffers(LogicalWriter& left);
  Status note_writer(LogicalWriter& writer);
  template <class Step>
  Status guard(Step&& step);
  Status flush_writers(bool by_sync);
  Status finish_writers(const GoOn& go_on);
  Status keep_failure(const Status& status);
  std::unique_ptr<LogicalWriter>& writer_at(std::uint64_t slot);
  template <class Step>
  Status each_writer(Step&& step);  // of those that there are, by slot

  Setup setup_;
  ServedRanges served_;
  // By slot, in pages: no memory for as many as are served, which for a file of others is what its header claims.
  using WriterPage = std::vector<std::unique_ptr<LogicalWriter>>;
  std::map<std::uint64_t, WriterPage> writers_;
  std::pair<std::uint64_t, WriterPage*> last_page_{0, nullptr};
  std::vector<LogicalWriter*> touched_;   // written since the last flush, each once
  std::vector<LogicalWriter*> buffered_;  // may hold a buffer; only of handles that serve many
  LogicalWriter* current_ = nullptr;
  std::shared_ptr<PhysicalWriter> last_physical_;  // of the logical file touched last: most often also of the next
  std::unordered_map<std::uint32_t, PageCache> index_cache_;  // of what was there, by physical file
  format::Attributes attributes_;
  LogicalWriter* last_written_ = nullptr;  // only of handles that serve many
  Status failure_;                         // the first one of this task
  Status spoilt_;                          // not ok: an exception was met, nothing more can be written
};

}  // namespace thalweg
