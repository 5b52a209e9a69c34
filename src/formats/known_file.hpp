// The format of a stored file, and checks before it is overwritten.
#pragma once

#include <string>

#include "formats/known_format.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// By the bytes of the file alone.
Result<format::KnownFormat> format_of(StoredFile& file);
// Also by the files beside it: the data file of a vpfile need not begin as one. KnownFormat::none also for a path that
// does not exist or may not be read.
Result<format::KnownFormat> format_of(Backend& backend, const std::string& path);

// "'x' looks like HDF5, not a multifile"; OK where the file is `wanted`, or of no format that is known.
Status check_looks_like(const std::string& path, format::KnownFormat found, format::KnownFormat wanted);

// Code::unsafe where the file has another known format than `wanted`. The caller holds its lock and has not changed it.
Status check_may_overwrite(const std::string& path, format::KnownFormat found, format::KnownFormat wanted);
Status check_may_overwrite(Backend& backend, const std::string& path, format::KnownFormat wanted);
// Code::unsafe: "'x' looks like HDF5 and is left as it is", and what to do.
Status refuse_to_overwrite(const std::string& path, const std::string& what);
// Removes the side files of a vpfile that was overwritten by another format, as they would mark it as a vpfile.
// Failures are ignored.
void remove_vp_sides(Backend& backend, const std::string& path);
// Code::unsafe where `path` has a format of Thalweg: for writers of plain files.
Status check_not_own(Backend& backend, const std::string& path);

}  // namespace thalweg
