// Method 17: one variable of a PnetCDF file of format CDF-5, by collective calls. The format has big-endian numbers, so
// that little-endian machines swap every one. A fixed-size variable is the array at an offset given in the header.
#include <pnetcdf.h>

#include <algorithm>
#include <limits>

#include "method.hpp"
#include "ranks.hpp"

namespace probe {

namespace {

// Limit of one call; in its default configuration the library refuses more than 2 GiB.
constexpr MPI_Offset kLargestCall = std::numeric_limits<int>::max() / kElement;  // elements

void must(int code, const char* what, const std::string& path) {
  if (code != NC_NOERR) throw Failed(std::string("cannot ") + what + " '" + path + "': " + ncmpi_strerror(code));
}

struct PnetcdfFile {
  const std::string& path;
  int file = 0, variable = 0;

  void close() const { must(ncmpi_close(file), "close", path); }
};

class PnetcdfMethod : public Method {
 public:
  PnetcdfMethod() : Method(name()) {}
  std::string unfit_for(const Array& array) const override { return array.ragged ? "not programmed for PnetCDF" : ""; }

  Parts move(const Task& task) override {
    const std::string path = task.folder + "/array.nc";
    return use([&] { return task.writes ? create(task, path) : open(task, path); },
               [&](const PnetcdfFile& file) { transfer(task, file); });
  }

 private:
  static std::string name() {
    // "1.12.3 of ...", in some versions after "PnetCDF Version:".
    const std::string text = ncmpi_inq_libvers();
    const std::size_t begin = text.find_first_of("0123456789");
    return "PnetCDF " + text.substr(std::min(begin, text.size()), text.find(' ', begin) - begin);
  }

  static PnetcdfFile open(const Task& task, const std::string& path) {
    PnetcdfFile opened{path};
    must(ncmpi_open(task.comm, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &opened.file), "open", path);
    must(ncmpi_inq_varid(opened.file, "array", &opened.variable), "find the variable of", path);
    return opened;
  }

  // Data begin at a block of the file system. Without fill values, as by the library's default.
  static PnetcdfFile create(const Task& task, const std::string& path) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_var_align_size", std::to_string(block_bytes(task.folder)).c_str());
    PnetcdfFile made{path};
    const int code = ncmpi_create(task.comm, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, info, &made.file);
    MPI_Info_free(&info);
    must(code, "create", path);
    int old_mode = 0;
    must(ncmpi_set_fill(made.file, NC_NOFILL, &old_mode), "prepare", path);
    std::vector<int> dimensions;
    for (const std::int64_t size : task.array->turned(task.array->shape)) {
      const std::string called = "d" + std::to_string(dimensions.size());
      must(ncmpi_def_dim(made.file, called.c_str(), size, &dimensions.emplace_back()), "define", path);
    }
    must(ncmpi_def_var(made.file, "array", NC_FLOAT, static_cast<int>(dimensions.size()), dimensions.data(),
                       &made.variable),
         "define", path);
    must(ncmpi_enddef(made.file), "write the header of", path);
    return made;
  }

  // In calls of some indices of the slowest dimension. All ranks make as many as the rank with most of them.
  static void transfer(const Task& task, const PnetcdfFile& file) {
    const auto start = task.array->turned(task.block.start), count = task.array->turned(task.block.count);
    std::vector<MPI_Offset> from(start.begin(), start.end()), n(count.begin(), count.end());
    const MPI_Offset slice = task.block.elements() / std::max<MPI_Offset>(1, n[0]);  // elements of one index
    if (slice > kLargestCall) throw Failed("PnetCDF moves less than 2 GiB in one call; take a smaller array");
    const MPI_Offset most = slice > 0 ? kLargestCall / slice : kLargestCall;
    MPI_Offset calls = std::max<MPI_Offset>(1, (n[0] + most - 1) / most);
    if (task.array->elements() > kLargestCall)
      must_mpi(MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_OFFSET, MPI_MAX, task.comm), "MPI_Allreduce");
    auto* memory = reinterpret_cast<float*>(task.memory.data());
    for (MPI_Offset left = slice > 0 ? n[0] : 0; calls > 0; --calls, left -= n[0], from[0] += n[0]) {
      n[0] = std::min(most, left);
      if (left == 0) std::ranges::fill(from, 0);  // the library refuses a start at the end
      must(task.writes ? ncmpi_put_vara_float_all(file.file, file.variable, from.data(), n.data(), memory)
                       : ncmpi_get_vara_float_all(file.file, file.variable, from.data(), n.data(), memory),
           task.writes ? "write" : "read", file.path);
      memory += n[0] * slice;
    }
  }
};

}  // namespace

std::unique_ptr<Method> make_pnetcdf_method() { return std::make_unique<PnetcdfMethod>(); }

}  // namespace probe
