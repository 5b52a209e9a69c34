// Method 17: one variable of a PnetCDF file of format CDF-5, by collective calls. The format has big-endian numbers, so
// that little-endian machines swap every one. A fixed-size variable is the array at an offset given in the header: a
// plain reader queries it once and then needs no library.
#include <pnetcdf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "bands.hpp"
#include "method.hpp"
#include "mpi_info.hpp"
#include "posix_file.hpp"
#include "stopwatch.hpp"

namespace probe {

namespace {

using Sizes = std::vector<MPI_Offset>;

constexpr std::int64_t kSerialPiece = std::int64_t{4} << 20;  // bytes
// Limit of one call; in its default configuration the library refuses more than 2 GiB.
constexpr std::int64_t kLargestCall = std::numeric_limits<int>::max() / kElement;  // elements

std::string file_of(const std::string& folder) { return folder + "/array.nc"; }

void must(int code, const char* what, const std::string& path) {
  if (code != NC_NOERR) throw Failed(std::string("cannot ") + what + " '" + path + "': " + ncmpi_strerror(code));
}

Sizes turned(const Array& array, const std::vector<std::int64_t>& sizes) {
  Sizes out;
  for (const std::size_t d : array.slow_to_fast()) out.push_back(static_cast<MPI_Offset>(sizes[d]));
  return out;
}

// One call: its part of the file, and its place in memory.
struct Call {
  Sizes start, count;
  std::int64_t in_block = 0;  // elements
};

// The calls of all ranks: as many as the rank with most calls needs; the others add empty ones. That number is
// exchanged only where the array does not fit in one call, which all ranks know.
std::vector<Call> calls_of(const Task& task) {
  const Sizes start = turned(*task.array, task.block.start), count = turned(*task.array, task.block.count);
  std::vector<Call> calls;
  for_each_band(std::vector<std::int64_t>(count.begin(), count.end()), kLargestCall, [&](const Band& band) {
    Call call{start, {band.count.begin(), band.count.end()}, band.first};
    for (std::size_t d = 0; d < start.size(); ++d) call.start[d] += band.start[d];
    calls.push_back(std::move(call));
  });
  int most = 1;
  if (task.array->elements() > kLargestCall) {
    const int mine = static_cast<int>(calls.size());
    must_mpi(MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, task.comm), "MPI_Allreduce");
  }
  const Sizes zeros(start.size(), 0);
  calls.resize(std::max(calls.size(), static_cast<std::size_t>(most)), Call{zeros, zeros, 0});
  return calls;
}

class PnetcdfMethod : public Method {
 public:
  std::string library() const override {
    // "1.12.3 of ...", in some versions after "PnetCDF Version:".
    const std::string text = ncmpi_inq_libvers();
    const std::size_t begin = text.find_first_of("0123456789");
    return "PnetCDF " + text.substr(std::min(begin, text.size()), text.find(' ', begin) - begin);
  }

  std::string unfit_for(const Array& array) const override { return array.ragged ? "not programmed for PnetCDF" : ""; }

  Parts write(const Task& task) override {
    const std::string path = file_of(task.folder);
    const auto create = [&](int& file, int& variable) {
      file = create_file(task, path);
      variable = define(file, *task.array, path);
    };
    return move(task, path, "write", ncmpi_put_vara_float_all, create,
                [this](int file, int v) { keep_hints(file, v); });
  }

  Parts read(const Task& task) override {
    const std::string path = file_of(task.folder);
    const auto open = [&](int& file, int& variable) {
      must(ncmpi_open(task.comm, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file), "open", path);
      must(ncmpi_inq_varid(file, "array", &variable), "find the variable of", path);
    };
    return move(task, path, "read", ncmpi_get_vara_float_all, open, [](int /*file*/, int /*variable*/) {});
  }

  void read_serial(const Array& array, const std::vector<int>& /*grid*/, const std::string& folder,
                   const See& see) override {
    const std::string path = file_of(folder);
    const std::int64_t place = place_of_array(path);
    PosixFile file(path, PosixFile::Use::read, false);
    std::vector<std::byte> bytes;
    for (std::int64_t at = 0; at < array.bytes(); at += std::ssize(bytes)) {
      bytes.resize(static_cast<std::size_t>(std::min(kSerialPiece, array.bytes() - at)));
      file.read(bytes, place + at);
      for (auto element = bytes.begin(); element != bytes.end(); element += kElement)
        std::reverse(element, element + kElement);
      see(at / kElement, bytes);
    }
    file.close();
  }

  std::map<std::string, std::string> hints() const override { return hints_; }

 private:
  static Parts move(const Task& task, const std::string& path, const char* what, auto* call, auto&& open, auto&& look) {
    Parts parts;
    Lap lap;
    int file = 0, variable = 0;
    open(file, variable);
    parts.open = lap();
    for (const Call& one : calls_of(task)) {
      auto* const memory = reinterpret_cast<float*>(task.memory.data()) + one.in_block;
      must(call(file, variable, one.start.data(), one.count.data(), memory), what, path);
    }
    parts.transfer = lap();
    look(file, variable);
    must(ncmpi_close(file), "close", path);
    parts.close = lap();
    return parts;
  }

  // Data begin at a block of the file system.
  static int create_file(const Task& task, const std::string& path) {
    struct stat status {};
    if (::stat(task.folder.c_str(), &status) != 0) fail_errno("look at", task.folder);
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_var_align_size", std::to_string(std::max<long>(4096, status.st_blksize)).c_str());
    int file = 0;
    const int code = ncmpi_create(task.comm, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, info, &file);
    MPI_Info_free(&info);
    must(code, "create", path);
    return file;
  }

  // Without fill values, as by the library's default.
  static int define(int file, const Array& array, const std::string& path) {
    int old_mode = 0;
    must(ncmpi_set_fill(file, NC_NOFILL, &old_mode), "prepare", path);
    std::vector<int> dimensions;
    for (const MPI_Offset size : turned(array, array.shape)) {
      int dimension = 0;
      must(ncmpi_def_dim(file, ("d" + std::to_string(dimensions.size())).c_str(), size, &dimension), "define", path);
      dimensions.push_back(dimension);
    }
    int variable = 0;
    must(ncmpi_def_var(file, "array", NC_FLOAT, static_cast<int>(dimensions.size()), dimensions.data(), &variable),
         "define", path);
    must(ncmpi_enddef(file), "write the header of", path);
    return variable;
  }

  static std::int64_t place_of_array(const std::string& path) {
    int file = 0, variable = 0;
    MPI_Offset place = 0;
    must(ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file), "open", path);
    must(ncmpi_inq_varid(file, "array", &variable), "find the variable of", path);
    must(ncmpi_inq_varoffset(file, variable, &place), "find the array in", path);
    must(ncmpi_close(file), "close", path);
    return place;
  }

  void keep_hints(int file, int variable) {
    MPI_Info info = MPI_INFO_NULL;
    hints_.clear();
    if (ncmpi_inq_file_info(file, &info) == NC_NOERR) hints_ = take_info(info);
    MPI_Offset place = 0;
    if (ncmpi_inq_varoffset(file, variable, &place) == NC_NOERR) hints_["array_begins_at"] = std::to_string(place);
  }

  std::map<std::string, std::string> hints_;
};

}  // namespace

std::unique_ptr<Method> make_pnetcdf_method(std::string_view /*id*/) { return std::make_unique<PnetcdfMethod>(); }

}  // namespace probe
