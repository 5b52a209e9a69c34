// MPI-IO, mostly without hints.
#include <sstream>

#include "collective/ranks.hpp"
#include "collective/ways.hpp"
#include "support/scratch.hpp"

namespace bench {

namespace {

class MpiPending : public Pending {
 public:
  explicit MpiPending(MPI_Request request) : request_(request) {}
  bool test() override {
    int done = 0;
    must_mpi(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }
  void wait() override { must_mpi(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait"); }

 private:
  MPI_Request request_;
};

class Info {
 public:
  explicit Info(const std::string& hints) {
    std::istringstream all(hints);
    for (std::string hint; std::getline(all, hint, ',');) {
      const std::size_t equals = hint.find('=');
      if (info_ == MPI_INFO_NULL) MPI_Info_create(&info_);
      MPI_Info_set(info_, hint.substr(0, equals).c_str(), hint.substr(equals + 1).c_str());
    }
  }
  ~Info() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

class MpiFile : public SharedFile {
 public:
  MpiFile(const std::string& path, const Layout& layout, const std::string& hints = "") {
    const Info info(hints);
    must_mpi(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, info.get(), &file_),
             "MPI_File_open");
    if (layout.view.get() != MPI_DATATYPE_NULL) {
      must_mpi(MPI_File_set_view(file_, 0, MPI_INT, layout.view.get(), "native", MPI_INFO_NULL), "MPI_File_set_view");
      unit_ = kWord;
    }
  }
  ~MpiFile() override { must_mpi(MPI_File_close(&file_), "MPI_File_close"); }
  MpiFile(const MpiFile&) = delete;
  MpiFile& operator=(const MpiFile&) = delete;

  void write(const Access& access) override { move(MPI_File_write_at_all, access, "MPI_File_write_at_all"); }
  void read(const Access& access) override { move(MPI_File_read_at_all, access, "MPI_File_read_at_all"); }
  void sync() override { must_mpi(MPI_File_sync(file_), "MPI_File_sync"); }
  std::unique_ptr<Pending> start_write(const Access& access) override {
    MPI_Request request = MPI_REQUEST_NULL;
    must_mpi(MPI_File_iwrite_at_all(file_, access.skipped / unit_, access.memory, count(access), access.memory_type,
                                    &request),
             "MPI_File_iwrite_at_all");
    return std::make_unique<MpiPending>(request);
  }
  std::unique_ptr<Pending> start_read(const Access& access) override {
    MPI_Request request = MPI_REQUEST_NULL;
    must_mpi(MPI_File_iread_at_all(file_, access.skipped / unit_, access.memory, count(access), access.memory_type,
                                   &request),
             "MPI_File_iread_at_all");
    return std::make_unique<MpiPending>(request);
  }

 protected:
  template <class Call>
  void move(Call call, const Access& access, const char* name) const {
    must_mpi(call(file_, access.skipped / unit_, access.memory, count(access), access.memory_type, MPI_STATUS_IGNORE),
             name);
  }
  static int count(const Access& access) {
    return access.memory != nullptr ? static_cast<int>(access.bytes / kWord) : 1;  // MPI_BOTTOM is a null pointer
  }
  MPI_File file_ = MPI_FILE_NULL;
  std::int64_t unit_ = 1;  // unit of offsets in bytes
};

class MpiIndependent : public MpiFile {
 public:
  using MpiFile::MpiFile;
  void write(const Access& access) override { move(MPI_File_write_at, access, "MPI_File_write_at"); }
  void read(const Access& access) override { move(MPI_File_read_at, access, "MPI_File_read_at"); }
};

class MpiPieces : public MpiFile {
 public:
  explicit MpiPieces(const std::string& path) : MpiFile(path, Layout()) {}
  void write(const Access& access) override {
    for (const tw_extent& e : access.extents)
      must_mpi(
          MPI_File_write_at(file_, e.offset, e.address, static_cast<int>(e.length / kWord), MPI_INT, MPI_STATUS_IGNORE),
          "MPI_File_write_at");
  }
  void read(const Access& access) override {
    for (const tw_extent& e : access.extents)
      must_mpi(
          MPI_File_read_at(file_, e.offset, e.address, static_cast<int>(e.length / kWord), MPI_INT, MPI_STATUS_IGNORE),
          "MPI_File_read_at");
  }
};

}  // namespace

OpenFile mpi_collective(const std::string& hints) {
  return
      [hints](const std::string& path, const Layout& layout) { return std::make_unique<MpiFile>(path, layout, hints); };
}
OpenFile mpi_independent(const std::string& hints) {
  return [hints](const std::string& path, const Layout& layout) {
    return std::make_unique<MpiIndependent>(path, layout, hints);
  };
}
OpenFile mpi_per_piece() {
  return [](const std::string& path, const Layout&) { return std::make_unique<MpiPieces>(path); };
}

}  // namespace bench
