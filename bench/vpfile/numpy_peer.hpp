// NumPy as a peer: what ndarray.tofile() and numpy.fromfile() need for the same bytes, in one process of their own.
#ifndef BENCH_VPFILE_NUMPY_PEER_HPP
#define BENCH_VPFILE_NUMPY_PEER_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

std::string python_with_numpy();  // the command; empty: there is none
// Seconds of writing `doubles` doubles to `path`, and of reading them; the bytes were checked.
std::vector<double> write_and_read_by_numpy(const std::string& python, const std::string& path, std::int64_t doubles);

}  // namespace bench

#endif
