// NumPy as a peer: the time of ndarray.tofile() and numpy.fromfile() for the bytes, in a separate process.
#ifndef BENCH_VPFILE_NUMPY_PEER_HPP
#define BENCH_VPFILE_NUMPY_PEER_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

std::string python_with_numpy();  // the command; empty: not installed
// Seconds of writing `doubles` doubles to `path`, and of reading them; the bytes are verified.
std::vector<double> write_and_read_by_numpy(const std::string& python, const std::string& path, std::int64_t doubles);

}  // namespace bench

#endif
