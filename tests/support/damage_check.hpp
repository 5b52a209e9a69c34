// What must hold of a damaged multifile, whatever was done to it: it is opened, recovered, verified and repaired
// without harm; an opening as it is gives out the right bytes or refuses; and bytes that a recovery or repair lost
// are missed aloud.
#pragma once

#include <string>

#include "support/damage_images.hpp"

namespace thalweg::test {

// May a repair say "fine" although bytes are gone? Only where nothing can tell: the end of an unclosed file cut off.
enum class Loss { is_told, may_be_silent };

// How much is done to a damaged file. `reading`: it is opened as it is and with recovery, no more.
enum class Depth { reading, all };

// Nothing when all of it holds of `files`, a damaged copy of the files of `image`; else what does not.
std::string check_damaged(const Image& image, const std::map<std::string, std::vector<std::byte>>& files,
                          Loss loss = Loss::is_told, Depth depth = Depth::all);

// A logical file read in steps; refused steps are refused as a whole.
Found read_coarsely(ReadHandle& handle, std::uint64_t rank);

// The codes with which damage may be refused.
bool is_refusal(Code code);

}  // namespace thalweg::test
