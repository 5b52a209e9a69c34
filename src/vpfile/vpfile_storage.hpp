// The files of a vpfile by name: which ones belong to it, and which ones are removed or truncated.
#pragma once

#include <string>
#include <vector>

#include "base/watch.hpp"
#include "storage/backend.hpp"
#include "vpfile/format/meta.hpp"

namespace thalweg {

using format::vp_meta_path;
using format::vp_side_path;

// Reads the slots of NAME.meta, as far as the file reaches; not_found. `of_nodes`: as other nodes left them
// (StoredFile::forget_cached).
Result<std::vector<std::byte>> read_meta_slots(Backend& backend, const std::string& path, bool of_nodes = false);

// unsafe: the slot of NAME.meta in force is not the one with the identity, sequence and state of `meta`, as another
// program has repaired the vpfile or written to it.
Status check_meta(StoredFile& meta_file, const format::VpMeta& meta);

// unsafe: the vpfile looks unclosed, and the lock of its data file, `held`, does not tell whether it is written on another
// node (check_unwritten).
Status check_unclosed_vpfile(Backend& backend, const StoredFile& held, bool force, const GoOn& go_on);

// Removes the side files of the directory; unless `foreign_too`, only if they are side files of a vpfile, or blank.
Status remove_directory(Backend& backend, const std::string& path, bool foreign_too = false);
// Removes all side files, whatever they are.
Status remove_all_beside(Backend& backend, const std::string& path);

// unsafe: there is a file of this name that is no side file. `may_be_torn`: one without its header counts as one.
Status check_side(Backend& backend, const std::string& name, bool may_be_torn = false);
// unsafe: NAME is a file of another known format, or the name of a side file belongs to a file that is none.
Status check_not_foreign(Backend& backend, const std::string& path);

// Whether NAME.meta is there and not empty: a writer of an array that dies may leave an empty one.
Result<bool> has_meta_bytes(Backend& backend, const std::string& path);

// Whether a data file beside which there is no NAME.meta begins or ends with a superblock, and so is no array.
Result<bool> holds_superblocks(StoredFile& data);

format::FileIdentity new_vp_identity();  // never the same again

// Truncates NAME.meta to `end`: behind the sums of entries, or to kMetaBytes without any sums.
Status cut_sums(StoredFile& meta_file, std::uint64_t end);

// corrupt_file where a data file of so many bytes was cut off.
Status check_data_bytes(const std::string& path, const format::VpMeta& meta, std::uint64_t bytes);

}  // namespace thalweg
