// The peer of appends of varying size: one HDF5 dataset of variable-length rows, to which every step writes its rows.
#ifndef BENCH_VPFILE_VARIABLE_LENGTH_HPP
#define BENCH_VPFILE_VARIABLE_LENGTH_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

bool variable_length_is_there();
// Seconds from open to close, with one task. In step s VP v appends appended(v, s) doubles.
double append_variable_length(std::int64_t vps, int steps, const std::string& path,
                              std::size_t (*appended)(std::int64_t vp, int step));

}  // namespace bench

#endif
