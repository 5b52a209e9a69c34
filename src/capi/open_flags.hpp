// Flags of the calls that open files. All are distinct bits, so that a flag of one call is an error in the other.
#pragma once

#include <cstdint>

#include "base/status.hpp"

namespace thalweg {

// Refuses what is no flag of tw_multifile_open; a flag of tw_file_open is named as such.
Status check_multifile_mode(std::int32_t mode);
// Refuses what is no flag of tw_file_open; a flag of tw_multifile_open is named as such.
Status check_file_flags(std::int32_t flags);

}  // namespace thalweg
