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
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>

#include "method.hpp"

namespace probe {

namespace {

using Sizes = std::vector<hsize_t>;

constexpr const char* kDataSet = "array";

// In the order of the data set: from the slowest to the fastest. That of a ragged array has one dimension.
Sizes turned(const Array& array, const std::vector<std::int64_t>& sizes) {
  if (array.ragged) return {static_cast<hsize_t>(sizes[0] * sizes[1])};
  const std::vector<std::int64_t> turned = array.turned(sizes);
  return {turned.begin(), turned.end()};
}

// The innermost message of the error stack, which is the reason.
std::string reason() {
  std::string text;
  const auto take = [](unsigned depth, const H5E_error2_t* error, void* to) -> herr_t {
    if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &text);
  H5Eclear2(H5E_DEFAULT);
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? "HDF5 gives no reason" : text;
}

// A space or a property list, which one rank can close alone.
class Handle {
 public:
  explicit Handle(hid_t id) : id_(id) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { H5Idec_ref(id_); }
  hid_t operator*() const { return id_; }

 private:
  hid_t id_;
};

// An open file and its data set. Not closed by itself: a close is collective, and after a failure other ranks may be
// elsewhere.
class Hdf5File {
 public:
  Hdf5File(const Task& task, bool chunked, bool collective) : task_(task), collective_(collective) {
    const Handle access(must(H5Pcreate(H5P_FILE_ACCESS)));
    must(H5Pset_fapl_mpio(*access, task.comm, MPI_INFO_NULL));
    must(H5Pset_coll_metadata_write(*access, true));
    // Independent transfers look chunks up independently, so metadata operations cannot be collective then.
    if (collective) must(H5Pset_all_coll_metadata_ops(*access, true));
    const auto alignment = static_cast<hsize_t>(block_bytes(task.folder));
    must(H5Pset_alignment(*access, alignment, alignment));
    if (task.writes) {
      file_ = must(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, *access), "create");
      set_ = create_set(chunked);
    } else {
      file_ = must(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, *access), "open");
      set_ = must(H5Dopen2(file_, kDataSet, H5P_DEFAULT), "find the data set of");
    }
  }

  // The memory has the shape of the block, for which the library has a fast path.
  void transfer() const {
    const Array& array = *task_.array;
    const Handle space(must(H5Dget_space(set_)));
    select(*space);
    const bool nothing = task_.block.elements() == 0;
    const Handle memory(space_of(nothing ? array.shape : task_.block.count));
    if (nothing) must(H5Sselect_none(*memory));
    const Handle how(must(H5Pcreate(H5P_DATASET_XFER)));
    must(H5Pset_dxpl_mpio(*how, collective_ ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
    if (task_.writes)
      must(H5Dwrite(set_, H5T_NATIVE_FLOAT, *memory, *space, *how, task_.memory.data()), "write");
    else
      must(H5Dread(set_, H5T_NATIVE_FLOAT, *memory, *space, *how, task_.memory.data()), "read");
  }

  void close() const {
    must(H5Dclose(set_), "close the data set of");
    must(H5Fclose(file_), "close");
  }

 private:
  // Throws Failed unless `code` is 0 or more.
  template <typename Code>
  Code must(Code code, const char* what = "prepare") const {
    if (code < 0) throw Failed(std::string("cannot ") + what + " '" + path_ + "': " + reason());
    return code;
  }

  hid_t space_of(const std::vector<std::int64_t>& sizes) const {
    const Sizes turned = probe::turned(*task_.array, sizes);
    return must(H5Screate_simple(static_cast<int>(turned.size()), turned.data(), nullptr));
  }

  hid_t create_set(bool chunked) const {
    const Handle creation(must(H5Pcreate(H5P_DATASET_CREATE)));
    must(H5Pset_fill_time(*creation, H5D_FILL_TIME_NEVER));
    must(H5Pset_alloc_time(*creation, H5D_ALLOC_TIME_EARLY));
    std::vector<std::int64_t> largest;  // block of a rank
    for (std::size_t d = 0; d < task_.grid.size(); ++d)
      largest.push_back((task_.array->shape[d] + task_.grid[d] - 1) / task_.grid[d]);
    const Sizes chunk = turned(*task_.array, largest);
    if (chunked) must(H5Pset_chunk(*creation, static_cast<int>(chunk.size()), chunk.data()), "cut into chunks");
    const Handle space(space_of(task_.array->shape));
    return must(H5Dcreate2(file_, kDataSet, H5T_IEEE_F32LE, *space, H5P_DEFAULT, *creation, H5P_DEFAULT),
                "create the data set of");
  }

  // Selects the elements of the block, or none, in a space of the whole array.
  void select(hid_t space) const {
    const Array& array = *task_.array;
    const auto add = [&](H5S_seloper_t how, const Sizes& start, const Sizes& count) {
      must(H5Sselect_hyperslab(space, how, start.data(), nullptr, count.data(), nullptr), "select a block of");
    };
    if (task_.block.elements() > 0 && !array.ragged)
      return add(H5S_SELECT_SET, turned(array, task_.block.start), turned(array, task_.block.count));
    must(H5Sselect_none(space));
    for_each_run(array, task_.block, [&](const Run& row) {
      add(H5S_SELECT_OR, {static_cast<hsize_t>(row.in_other)}, {static_cast<hsize_t>(row.length)});
    });
  }

  const Task& task_;
  const std::string path_ = task_.folder + "/array.h5";
  const bool collective_;
  hid_t file_ = -1, set_ = -1;
};

class Hdf5Method : public Method {
 public:
  Hdf5Method(bool chunked, bool collective)
      : Method(fmt::format("HDF5 {}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE)),
        chunked_(chunked),
        collective_(collective) {
    // A failed launch ends by MPI_Abort: exit handlers must not close files, which would wait for all ranks.
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }

  Parts move(const Task& task) override {
    return use([&] { return Hdf5File(task, chunked_, collective_); }, [](const Hdf5File& file) { file.transfer(); });
  }

 private:
  bool chunked_, collective_;
};

}  // namespace

std::unique_ptr<Method> make_hdf5_method(std::string_view id) {
  return std::make_unique<Hdf5Method>(id.starts_with("hdf5-chunked"), id.ends_with("collective"));
}

}  // namespace probe
