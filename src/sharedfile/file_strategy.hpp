// Strategy of a shared file: defaults, replaced by the tuned profile of the file system, replaced by the hints of the
// caller.
#pragma once

#include <string>
#include <string_view>

#include "engine/shared_file.hpp"

namespace thalweg {

// Hints are "name=value,name=value". Both fail with unknown_hint.
Result<Strategy> parse_file_hints(std::string_view hints);
Result<Strategy> choose_strategy(const StorageInfo& storage, std::string_view hints);
// Stripes of a new file where the servers follow the hints; `folder`: those of its folder.
StripeLayout stripes_to_be(const StorageInfo& folder, StripeRequest asked);
// What the hints ask for when a file is made.
inline StripeRequest asked_stripes(const Strategy& strategy) {
  return {strategy.striping_unit, strategy.striping_factor};
}

// Detects storage that is slow to answer and has no profile: a file that several processes open is not written in small
// pieces there. Replaces the costs by the measured time of a few small writes at `path`, once per process and file
// system, if that is far above one into the page cache; reads are taken to be as slow. Does nothing where there is a
// profile, or profiles are turned off. Threads: any.
void measure_writes(Backend& backend, const std::string& path, const StorageInfo& storage, Strategy& strategy);

}  // namespace thalweg
