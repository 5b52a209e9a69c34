// Where the logical file of a name is: section 6.6 of the format document.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "multifile/read/physical_reader.hpp"

namespace thalweg {

// Appends the places of all names in a physical file.
Status list_names(const PhysicalReader& physical, std::vector<format::NamePlace>& names, const GoOn& go_on);

// Place i of those that the index of physical file 0 has, sorted, for all physical files.
Result<format::NamePlace> name_place(const PhysicalReader& first, std::uint64_t i, PageCache& cache);
// Whether the index of physical file 0 has exactly these places. `names`: sorted.
Result<bool> has_places(const PhysicalReader& first, std::span<const format::NamePlace> names, const GoOn& go_on);
// The number of places up to the last one with this hash. Reads about two pages.
Result<std::uint64_t> end_of_hash(const PhysicalReader& first, std::uint32_t hash, PageCache& cache);

// Fails with Code::already_exists where two logical files of a closed multifile have one name. `names`: all places
// whose hash another one has, sorted.
Status check_names_differ(std::shared_ptr<Backend> backend, const std::string& path,
                          std::span<const format::NamePlace> names);

}  // namespace thalweg
