// Recognises the format of a file by its bytes, so that files of other formats are not overwritten by mistake and
// messages can name them.
#pragma once

#include <cstdint>

#include "base/endian.hpp"

namespace thalweg::format {

enum class KnownFormat : std::uint8_t {
  none,       // raw bytes, or an unknown format
  multifile,  // a physical file of one
  vpfile,     // a data file of one that begins with a superblock
  vp_side,    // NAME.meta, NAME.first or NAME.dir
  hdf5,       // NetCDF-4, too
  netcdf,     // the classic formats: CDF-1, CDF-2 and CDF-5
  sionlib,
};

inline constexpr std::size_t kBytesToKnow = 8192;      // that recognise() reads, where a file has so many
inline constexpr std::uint64_t kFirstUserBlock = 512;  // HDF5 begins at 0, or at a power of two times this

// The format of a file that begins with these bytes.
KnownFormat recognise(ByteView begin);
// Whether HDF5 begins with these bytes, which stand at 0 or at a user block's end.
bool begins_as_hdf5(ByteView bytes);

const char* name_of(KnownFormat format);  // as in "'x' looks like ..."
inline bool is_own(KnownFormat format) {
  return format == KnownFormat::multifile || format == KnownFormat::vpfile || format == KnownFormat::vp_side;
}

}  // namespace thalweg::format
