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

#include "hdf5_handles.hpp"
#include "method.hpp"
#include "ranks.hpp"

namespace probe {

namespace {

using Sizes = std::vector<hsize_t>;

constexpr const char* kDataSet = "array";
constexpr std::uint64_t kLargestChunk = std::numeric_limits<std::uint32_t>::max();  // bytes; 32 bits in the format
constexpr hsize_t kSmallestAlignment = 4096;

// In the order of the data set: from the slowest to the fastest. That of a ragged array has one dimension.
Sizes turned(const Array& array, const std::vector<std::int64_t>& sizes) {
  if (array.ragged) return {static_cast<hsize_t>(sizes[0] * sizes[1])};
  const std::vector<std::int64_t> turned = array.turned(sizes);
  return {turned.begin(), turned.end()};
}

hid_t space_of(const Sizes& sizes) { return H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr); }

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

// Selects the elements of `block`, or none, in a space of the whole array.
void select(hid_t space, const Array& array, const Block& block, const std::string& path) {
  const auto add = [&](H5S_seloper_t how, const Sizes& start, const Sizes& count) {
    must_hdf5(H5Sselect_hyperslab(space, how, start.data(), nullptr, count.data(), nullptr), "select a block of", path);
  };
  if (block.elements() > 0 && !array.ragged)
    return add(H5S_SELECT_SET, turned(array, block.start), turned(array, block.count));
  must_hdf5(H5Sselect_none(space), "select nothing of", path);
  for_each_run(array, block, [&](const Run& row) {
    add(H5S_SELECT_OR, {static_cast<hsize_t>(row.in_other)}, {static_cast<hsize_t>(row.length)});
  });
}

// An open file and its data set. Not closed by itself: a close is collective.
struct Hdf5File {
  const std::string& path;
  hid_t file, set;

  void close() const {
    must_hdf5(H5Dclose(set), "close the data set of", path);
    must_hdf5(H5Fclose(file), "close", path);
  }
};

class Hdf5Method : public Method {
 public:
  Hdf5Method(bool chunked, bool collective) : Method(name()), chunked_(chunked), collective_(collective) {
    // A failed launch ends by MPI_Abort: exit handlers must not close files, which would wait for all ranks.
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }

  Parts move(const Task& task) override {
    const std::string path = task.folder + "/array.h5";
    return use(
        task, [&] { return task.writes ? create(task, path) : open(task, path); },
        [&](const Hdf5File& file) { transfer(task, file); });
  }

 private:
  static std::string name() {
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return "HDF5 " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
  }

  // The memory has the shape of the block, for which the library has a fast path.
  void transfer(const Task& task, const Hdf5File& file) const {
    const Array& array = *task.array;
    const Hdf5Handle space(H5Dget_space(file.set), H5Sclose, file.path);
    select(*space, array, task.block, file.path);
    const bool nothing = task.block.elements() == 0;
    const Hdf5Handle memory(space_of(turned(array, nothing ? array.shape : task.block.count)), H5Sclose, file.path);
    if (nothing) must_hdf5(H5Sselect_none(*memory), "select nothing for", file.path);
    const Hdf5Handle how(H5Pcreate(H5P_DATASET_XFER), H5Pclose, file.path);
    must_hdf5(H5Pset_dxpl_mpio(*how, collective_ ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT), "prepare", file.path);
    if (task.writes)
      must_hdf5(H5Dwrite(file.set, H5T_NATIVE_FLOAT, *memory, *space, *how, task.memory.data()), "write", file.path);
    else
      must_hdf5(H5Dread(file.set, H5T_NATIVE_FLOAT, *memory, *space, *how, task.memory.data()), "read", file.path);
  }

  void set_access(hid_t access, const Task& task, const std::string& path) const {
    must_hdf5(H5Pset_fapl_mpio(access, task.comm, MPI_INFO_NULL), "prepare", path);
    must_hdf5(H5Pset_coll_metadata_write(access, true), "prepare", path);
    // Independent transfers look chunks up independently, so metadata operations cannot be collective then.
    if (collective_) must_hdf5(H5Pset_all_coll_metadata_ops(access, true), "prepare", path);
    const hsize_t alignment = alignment_of(task.folder);
    must_hdf5(H5Pset_alignment(access, alignment, alignment), "prepare", path);
  }

  Hdf5File open(const Task& task, const std::string& path) const {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, path);
    set_access(*access, task, path);
    const hid_t file = must_hdf5(H5Fopen(path.c_str(), H5F_ACC_RDONLY, *access), "open", path);
    return {path, file, must_hdf5(H5Dopen2(file, kDataSet, H5P_DEFAULT), "find the data set of", path)};
  }

  Hdf5File create(const Task& task, const std::string& path) {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, path);
    set_access(*access, task, path);
    const hid_t file = must_hdf5(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, *access), "create", path);
    void* handle = nullptr;
    if (H5Fget_vfd_handle(file, *access, &handle) >= 0 && handle != nullptr)
      hints_ = hints_of(*static_cast<MPI_File*>(handle));
    hints_["alignment"] = std::to_string(alignment_of(task.folder));
    const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, path);
    must_hdf5(H5Pset_fill_time(*creation, H5D_FILL_TIME_NEVER), "prepare", path);
    must_hdf5(H5Pset_alloc_time(*creation, H5D_ALLOC_TIME_EARLY), "prepare", path);
    if (chunked_) cut_into_chunks(*creation, chunk_of(*task.array, task.written_grid), path);
    const Hdf5Handle space(space_of(turned(*task.array, task.array->shape)), H5Sclose, path);
    return {path, file,
            must_hdf5(H5Dcreate2(file, kDataSet, H5T_IEEE_F32LE, *space, H5P_DEFAULT, *creation, H5P_DEFAULT),
                      "create the data set of", path)};
  }

  void cut_into_chunks(hid_t creation, const Sizes& chunk, const std::string& path) {
    must_hdf5(H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data()), "cut into chunks", path);
    std::string& text = hints_["chunk"];
    text.clear();
    for (const hsize_t size : chunk) text += (text.empty() ? "" : "x") + std::to_string(size);
  }

  bool chunked_, collective_;
};

}  // namespace

std::unique_ptr<Method> make_hdf5_method(std::string_view id) {
  return std::make_unique<Hdf5Method>(id.starts_with("hdf5-chunked"), id.ends_with("collective"));
}

}  // namespace probe
