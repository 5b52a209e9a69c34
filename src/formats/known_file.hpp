// Which format a file of a backend has, and that files of other formats are not overwritten by mistake.
#pragma once

#include <string>

#include "formats/known_format.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// Told by the bytes of the file alone.
Result<format::KnownFormat> format_of(StoredFile& file);
// Also by the files beside it: the data file of a vpfile need not begin as one. None: also of what is not there, or
// cannot be looked at by this user.
Result<format::KnownFormat> format_of(Backend& backend, const std::string& path);

// "'x' looks like HDF5, not a multifile"; OK where the file is `wanted`, or of no format that is known.
Status check_looks_like(const std::string& path, format::KnownFormat found, format::KnownFormat wanted);

// unsafe where the file is of another known format than `wanted`. Who asks holds its lock, and has changed nothing.
Status check_may_overwrite(const std::string& path, format::KnownFormat found, format::KnownFormat wanted);
Status check_may_overwrite(Backend& backend, const std::string& path, format::KnownFormat wanted);
// unsafe: "'x' looks like HDF5 and is left as it is", and what to do.
Status refuse_to_overwrite(const std::string& path, const std::string& what);
// Removes the side files of a vpfile that was overwritten by something else: they would tell that it is one. One that
// stays is not reported.
void remove_vp_sides(Backend& backend, const std::string& path);
// unsafe where `path` is a file of ours: for those that know nothing of our formats.
Status check_not_own(Backend& backend, const std::string& path);

}  // namespace thalweg
