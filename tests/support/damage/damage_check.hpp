// Checks a damaged multifile. Opening, recovering, verifying and repairing it never crash; an opening without recovery
// returns correct bytes or an error; and a recovery or repair that loses bytes reports it.
#pragma once

#include <string>

#include "support/damage/damage_images.hpp"

namespace thalweg::test {

// Whether a repair may report success although bytes were lost: only where an unclosed file lost its end, which no
// check can detect.
enum class Loss { is_told, may_be_silent };

// Depth of the check. `reading`: opens the file as it is and with recovery only.
enum class Depth { reading, all };

// Checks `files`, a damaged copy of the files of `image`. Returns "" when all checks pass, else what failed.
std::string check_damaged(const Image& image, const std::map<std::string, std::vector<std::byte>>& files,
                          Loss loss = Loss::is_told, Depth depth = Depth::all);

// Reads a logical file in steps; a refused step counts as refused as a whole.
Found read_coarsely(ReadHandle& handle, std::uint64_t rank);

// Whether `code` is an allowed error for damaged files.
bool is_refusal(Code code);

}  // namespace thalweg::test
