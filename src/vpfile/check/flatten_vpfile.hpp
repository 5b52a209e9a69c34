// The streams of a vpfile as a plain array, by one task.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/check_result.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// See tw_vpfile_flatten().
Status flatten_vpfile(std::shared_ptr<Backend> backend, const std::string& from, const std::string& to,
                      std::uint64_t record_bytes, std::byte fill, const Watch& watch);

}  // namespace thalweg
