// The compared ways of moving a share of a file: Thalweg's and MPI's.
#ifndef BENCH_COLLECTIVE_WAYS_HPP
#define BENCH_COLLECTIVE_WAYS_HPP

#include <functional>
#include <memory>
#include <string>

#include "collective/layout.hpp"

namespace bench {

// The data of one call: all of a layout or pieces of it.
struct Access {
  char* memory = nullptr;  // contiguous; nullptr: `memory_type` contains the addresses
  std::int64_t bytes = 0;
  std::int64_t skipped = 0;  // bytes of the view before the data; without a view the offset in the file
  std::vector<tw_extent> extents;
  MPI_Datatype memory_type = MPI_INT;
};
Access whole_of(const Layout& layout, const Memory& memory);
// `n` equal consecutive accesses. Pieces are not cut.
std::vector<Access> parts_of(const Layout& layout, const Memory& memory, int n);

class Pending {
 public:
  virtual ~Pending() = default;
  virtual bool test() = 0;  // not to be called after it returned true
  virtual void wait() = 0;  // not to be called after test() returned true
};

// A file opened by all tasks; the destructor is collective and closes it. Failures end the program.
class SharedFile {
 public:
  virtual ~SharedFile() = default;
  virtual void write(const Access& access) = 0;
  virtual void read(const Access& access) = 0;
  // Collective, on several nodes: all see what was written.
  virtual void sync() {}
  virtual std::unique_ptr<Pending> start_write(const Access& access) = 0;
  virtual std::unique_ptr<Pending> start_read(const Access& access) = 0;
};

// Opens `path`, creating it if needed, and sets the view of a layout.
using OpenFile = std::function<std::unique_ptr<SharedFile>(const std::string& path, const Layout& layout)>;

enum class Form { blocking, started_then_awaited };

struct OurSettings {
  Form form = Form::blocking;
  tw_progress progress = TW_PROGRESS_DEFAULT;
  bool direct = false;  // bypasses the page cache
  const char* hints = nullptr;
};
OpenFile ours(tw_group* group, OurSettings settings = {});

// MPI_File_write_all and its relatives on a view. `hints`: of ROMIO, "NAME=VALUE,...".
OpenFile mpi_collective(const std::string& hints = "");
// MPI_File_write_at on a view, independently.
OpenFile mpi_independent(const std::string& hints = "");
// MPI_File_write_at for each piece, independently.
OpenFile mpi_per_piece();

// Opens the file with the delay turned on, as the open may measure storage.
std::unique_ptr<SharedFile> opened(const OpenFile& open, const std::string& path, const Layout& layout);

void must_tw(tw_status status, const char* what);

}  // namespace bench

#endif
