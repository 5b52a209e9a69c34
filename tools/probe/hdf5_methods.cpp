// Methods 12 to 15: one data set of a parallel HDF5 file, contiguous or in chunks, by independent or collective
// transfers.
//
// Written as an experienced user would:
// - No fill values: every element is written. The parallel library always allocates early, since ranks that write
//   independently cannot allocate; the code requests it explicitly.
// - Data begin at a block of the file system (a stripe, where it is reported), so that ranks share as few blocks as
//   possible; metadata stay small and together.
// - All ranks write metadata collectively at the end; one rank reads at open and broadcasts.
// - A chunk is the largest block of a rank. Where the grid does not divide the shape, blocks and chunks differ, as for
//   every user of a grid of chunks.
// - Order f: the dimensions of the data set are reversed, as in the library's Fortran interface.
#include <sys/stat.h>

#include <algorithm>
#include <limits>

#include "bands.hpp"
#include "hdf5_handles.hpp"
#include "mpi_info.hpp"
#include "stopwatch.hpp"

namespace probe {

namespace {

using Sizes = std::vector<hsize_t>;

constexpr const char* kDataSet = "array";
constexpr std::uint64_t kLargestChunk = std::numeric_limits<std::uint32_t>::max();  // bytes; 32 bits in the format
constexpr std::int64_t kSerialPiece = std::int64_t{16} << 20;                       // bytes
constexpr hsize_t kSmallestAlignment = 4096;

std::string file_of(const std::string& folder) { return folder + "/array.h5"; }

// In the order of the data set: from the slowest to the fastest. That of a ragged array has one dimension.
Sizes turned(const Array& array, const std::vector<std::int64_t>& sizes) {
  if (array.ragged) return {static_cast<hsize_t>(sizes[0] * sizes[1])};
  Sizes out;
  for (const std::size_t d : array.slow_to_fast()) out.push_back(static_cast<hsize_t>(sizes[d]));
  return out;
}

int rank_of(const Sizes& sizes) { return static_cast<int>(sizes.size()); }

hsize_t alignment_of(const std::string& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) fail_errno("look at", folder);
  return std::max<hsize_t>(kSmallestAlignment, static_cast<hsize_t>(status.st_blksize));
}

// The largest block of a rank, cut to the limit of a chunk.
Sizes chunk_of(const Array& array, const std::vector<int>& grid) {
  std::vector<std::int64_t> largest;
  for (std::size_t d = 0; d < grid.size(); ++d) largest.push_back((array.shape[d] + grid[d] - 1) / grid[d]);
  Sizes chunk = turned(array, largest);
  hsize_t fits = kLargestChunk / static_cast<hsize_t>(kElement);
  for (auto extent = chunk.rbegin(); extent != chunk.rend(); ++extent) {
    *extent = std::min(*extent, std::max<hsize_t>(fits, 1));
    fits /= *extent;
  }
  return chunk;
}

std::string times_text(const Sizes& sizes) {
  std::string text;
  for (const hsize_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

// Selects the elements of `block`, or none, in a space of the whole array.
void select(hid_t space, const Array& array, const Block& block, const std::string& path) {
  if (block.elements() == 0 || array.ragged) {
    must_hdf5(H5Sselect_none(space), "select nothing of", path);
    return for_each_run(array, block, [&](const Run& row) {
      const auto start = static_cast<hsize_t>(row.in_array), count = static_cast<hsize_t>(row.length);
      must_hdf5(H5Sselect_hyperslab(space, H5S_SELECT_OR, &start, nullptr, &count, nullptr), "select rows of", path);
    });
  }
  const Sizes start = turned(array, block.start);
  const Sizes count = turned(array, block.count);
  must_hdf5(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
            "select a block of", path);
}

// The memory of this rank, in the shape of its block, for which the library has a fast path.
Hdf5Handle memory_space(const Array& array, const Block& block, const std::string& path) {
  const bool nothing = block.elements() == 0;
  const Sizes sizes = nothing ? Sizes(turned(array, array.shape).size(), 1) : turned(array, block.count);
  Hdf5Handle space(must_hdf5(H5Screate_simple(rank_of(sizes), sizes.data(), nullptr), "describe memory for", path),
                   H5Sclose);
  if (nothing) must_hdf5(H5Sselect_none(*space), "select nothing for", path);
  return space;
}

class Hdf5Method : public Method {
 public:
  Hdf5Method(bool chunked, bool collective) : chunked_(chunked), collective_(collective) {
    // A failed launch ends by MPI_Abort: exit handlers must not close files, which would wait for all ranks.
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }

  std::string library() const override {
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return "HDF5 " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
  }

  Parts write(const Task& task) override { return move(task, true); }
  Parts read(const Task& task) override { return move(task, false); }

  void read_serial(const Array& array, const std::vector<int>& /*grid*/, const std::string& folder,
                   const See& see) override {
    const std::string path = file_of(folder);
    const hid_t file = must_hdf5(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open", path);
    const hid_t set = open_set(file, path);
    const Hdf5Handle space(must_hdf5(H5Dget_space(set), "get the shape of", path), H5Sclose);
    const Sizes sizes = turned(array, array.shape);
    std::vector<std::byte> bytes;
    for_each_band(
        std::vector<std::int64_t>(sizes.begin(), sizes.end()), kSerialPiece / kElement, [&](const Band& band) {
          const Sizes start(band.start.begin(), band.start.end()), count(band.count.begin(), band.count.end());
          must_hdf5(H5Sselect_hyperslab(*space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
                    "select a part of", path);
          const Hdf5Handle memory(H5Screate_simple(rank_of(count), count.data(), nullptr), H5Sclose);
          bytes.resize(static_cast<std::size_t>(band.elements * kElement));
          must_hdf5(H5Dread(set, H5T_NATIVE_FLOAT, *memory, *space, H5P_DEFAULT, bytes.data()), "read", path);
          see(band.first, bytes);
        });
    close(file, set, path);
  }

  std::map<std::string, std::string> hints() const override { return hints_; }

 private:
  Parts move(const Task& task, bool writes) {
    const std::string path = file_of(task.folder);
    Parts parts;
    Lap lap;
    const hid_t file =
        writes ? create_file(task, path)
               : must_hdf5(H5Fopen(path.c_str(), H5F_ACC_RDONLY, *parallel_access(task, path)), "open", path);
    const hid_t set = writes ? create_set(file, task, path) : open_set(file, path);
    parts.open = lap();
    const Hdf5Handle space(must_hdf5(H5Dget_space(set), "get the shape of", path), H5Sclose);
    select(*space, *task.array, task.block, path);
    const Hdf5Handle memory = memory_space(*task.array, task.block, path);
    const Hdf5Handle how = transfer(path);
    if (writes)
      must_hdf5(H5Dwrite(set, H5T_NATIVE_FLOAT, *memory, *space, *how, task.memory.data()), "write", path);
    else
      must_hdf5(H5Dread(set, H5T_NATIVE_FLOAT, *memory, *space, *how, task.memory.data()), "read", path);
    parts.transfer = lap();
    close(file, set, path);
    parts.close = lap();
    return parts;
  }

  static hid_t open_set(hid_t file, const std::string& path) {
    return must_hdf5(H5Dopen2(file, kDataSet, H5P_DEFAULT), "find the data set of", path);
  }

  Hdf5Handle parallel_access(const Task& task, const std::string& path) const {
    Hdf5Handle access(must_hdf5(H5Pcreate(H5P_FILE_ACCESS), "prepare", path), H5Pclose);
    must_hdf5(H5Pset_fapl_mpio(*access, task.comm, MPI_INFO_NULL), "prepare", path);
    must_hdf5(H5Pset_coll_metadata_write(*access, true), "prepare", path);
    // Independent transfers look chunks up independently, so metadata operations cannot be collective then.
    if (collective_) must_hdf5(H5Pset_all_coll_metadata_ops(*access, true), "prepare", path);
    const hsize_t alignment = alignment_of(task.folder);
    must_hdf5(H5Pset_alignment(*access, alignment, alignment), "prepare", path);
    return access;
  }

  hid_t create_file(const Task& task, const std::string& path) {
    const Hdf5Handle access = parallel_access(task, path);
    const hid_t file = must_hdf5(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, *access), "create", path);
    void* handle = nullptr;
    if (H5Fget_vfd_handle(file, *access, &handle) >= 0 && handle != nullptr)
      hints_ = hints_of(*static_cast<MPI_File*>(handle));
    hints_["alignment"] = std::to_string(alignment_of(task.folder));
    return file;
  }

  hid_t create_set(hid_t file, const Task& task, const std::string& path) {
    const Hdf5Handle creation(must_hdf5(H5Pcreate(H5P_DATASET_CREATE), "prepare", path), H5Pclose);
    must_hdf5(H5Pset_fill_time(*creation, H5D_FILL_TIME_NEVER), "prepare", path);
    must_hdf5(H5Pset_alloc_time(*creation, H5D_ALLOC_TIME_EARLY), "prepare", path);
    const Sizes sizes = turned(*task.array, task.array->shape);
    if (chunked_) {
      const Sizes chunk = chunk_of(*task.array, task.written_grid);
      must_hdf5(H5Pset_chunk(*creation, rank_of(chunk), chunk.data()), "cut into chunks", path);
      hints_["chunk"] = times_text(chunk);
    }
    const Hdf5Handle space(must_hdf5(H5Screate_simple(rank_of(sizes), sizes.data(), nullptr), "describe", path),
                           H5Sclose);
    return must_hdf5(H5Dcreate2(file, kDataSet, H5T_IEEE_F32LE, *space, H5P_DEFAULT, *creation, H5P_DEFAULT),
                     "create the data set of", path);
  }

  Hdf5Handle transfer(const std::string& path) const {
    Hdf5Handle list(must_hdf5(H5Pcreate(H5P_DATASET_XFER), "prepare", path), H5Pclose);
    must_hdf5(H5Pset_dxpl_mpio(*list, collective_ ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT), "prepare", path);
    return list;
  }

  static void close(hid_t file, hid_t set, const std::string& path) {
    must_hdf5(H5Dclose(set), "close the data set of", path);
    must_hdf5(H5Fclose(file), "close", path);
  }

  bool chunked_, collective_;
  std::map<std::string, std::string> hints_;
};

}  // namespace

std::unique_ptr<Method> make_hdf5_method(std::string_view id) {
  return std::make_unique<Hdf5Method>(id.starts_with("hdf5-chunked"), id.ends_with("collective"));
}

}  // namespace probe
