// SideFiles: NAME.first, NAME.dir and NAME.batches of an open vpfile. The tasks of a process share them; they are opened
// when the first task needs them.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "storage/backend.hpp"
#include "vpfile/format/batch.hpp"
#include "vpfile/streams/entry_sums.hpp"

namespace thalweg {

class SideFiles {
 public:
  // Opens the files of a vpfile that was closed with `meta`, unless they are open. corrupt_file where one is missing,
  // belongs to another vpfile, was cut off, or has other sums.
  Status open(Backend& backend, const std::string& path, const format::VpMeta& meta, OpenMode mode);
  // Makes both files of a vpfile with this id and geometry, unless they are open. `synced`: also syncs their headers.
  // `repaired`: the data file under repair: both files are emptied, as long as its name leads to it.
  Status make(Backend& backend, const std::string& path, const format::FileIdentity& id,
              const format::VpGeometry& geometry, bool synced, StoredFile* repaired = nullptr);
  Status sync();
  Status forget_cached();  // of files that are open for writing (StoredFile::forget_cached)
  Status close();
  StoredFile* file(format::DirectoryFile which) const { return files_[which].get(); }  // null: not open
  // Sums of the entries of other sessions; null: there are no such entries.
  const EntrySums* sums(format::DirectoryFile which) const {
    return sums_[which].has_value() ? &*sums_[which] : nullptr;
  }
  // The batches of other sessions.
  std::span<const format::Batch> batches() const { return batches_; }
  Result<format::PerDirectoryFile<std::uint64_t>> sizes() const;

  std::unique_ptr<StoredFile> lock;  // the data file, held as long as this process writes
  std::unique_ptr<StoredFile> list;  // NAME.batches; null: other sessions made no batches

 private:
  std::mutex mutex_;
  format::PerDirectoryFile<std::unique_ptr<StoredFile>> files_;
  format::PerDirectoryFile<std::optional<EntrySums>> sums_;
  std::vector<format::Batch> batches_;
};

// Syncs the side files that there are: those of an earlier session, which this one has not used.
Status sync_side_files(Backend& backend, const std::string& path, const format::VpMeta& meta);

// Appends new batches to NAME.batches, and counts them in `meta`. `data`: the data file. Fails where its name leads to
// another file.
Status append_batches(Backend& backend, StoredFile& data, std::vector<format::Batch> batches, bool synced,
                      format::VpMeta& meta);

}  // namespace thalweg
