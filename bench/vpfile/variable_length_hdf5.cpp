#include <hdf5.h>

#include <vector>

#include "support/clock.hpp"
#include "support/scratch.hpp"
#include "variable_length.hpp"

namespace bench {

bool variable_length_is_there() { return true; }

// A row for each VP and step, chunked by steps.
double append_variable_length(std::int64_t vps, int steps, const std::string& path,
                              std::size_t (*appended)(std::int64_t vp, int step)) {
  const double start = now();
  const hid_t file = must(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "H5Fcreate");
  const hid_t type = H5Tvlen_create(H5T_NATIVE_DOUBLE);
  const hsize_t n = static_cast<hsize_t>(vps);
  const hsize_t size[2] = {0, n};
  const hsize_t most[2] = {H5S_UNLIMITED, n};
  const hsize_t chunk[2] = {1, n < 65536 ? n : 65536};
  const hid_t space = H5Screate_simple(2, size, most);
  const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  must(H5Pset_chunk(how, 2, chunk), "H5Pset_chunk");
  const hid_t dataset = must(H5Dcreate2(file, "ragged", type, space, H5P_DEFAULT, how, H5P_DEFAULT), "H5Dcreate2");
  const hsize_t row[2] = {1, n};
  const hid_t memory = H5Screate_simple(2, row, nullptr);
  std::vector<hvl_t> cells(n);
  std::vector<double> values;
  for (int step = 0; step < steps; ++step) {
    values.clear();
    for (std::int64_t vp = 0; vp < vps; ++vp) {
      cells[static_cast<std::size_t>(vp)].len = appended(vp, step);
      values.insert(values.end(), appended(vp, step), static_cast<double>(vp) + step);
    }
    double* at = values.data();
    for (hvl_t& cell : cells) {
      cell.p = at;
      at += cell.len;
    }
    const hsize_t grown[2] = {static_cast<hsize_t>(step) + 1, n};
    must(H5Dset_extent(dataset, grown), "H5Dset_extent");
    const hid_t all = H5Dget_space(dataset);
    const hsize_t begin[2] = {static_cast<hsize_t>(step), 0};
    must(H5Sselect_hyperslab(all, H5S_SELECT_SET, begin, nullptr, row, nullptr), "H5Sselect_hyperslab");
    must(H5Dwrite(dataset, type, memory, all, H5P_DEFAULT, cells.data()), "H5Dwrite");
    H5Sclose(all);
  }
  H5Sclose(memory);
  H5Dclose(dataset);
  H5Pclose(how);
  H5Sclose(space);
  H5Tclose(type);
  must(H5Fclose(file), "H5Fclose");
  return now() - start;
}

}  // namespace bench
