// Plays a random program of MPI_File calls, and logs what it observes: to be run on libthalweg_mpiio and on the MPI's
// own MPI-IO, and compared (differential_test.py).
//
//   differential SEED STEPS FOLDER     writes FOLDER/log.RANK, and works on FOLDER/file
//
// Datatypes are tame: their displacements grow, they have bytes, and they are not nested. With others the MPIs' own MPI-IO
// ends the program or moves wrong bytes (datatypes_test.cpp has these). What the standard leaves open is not done: ranks write different bytes between two barriers, shared pointers are used
// by one rank at a time, files have no bytes that nobody has written.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "mpiio/file_calls.hpp"
#include "mpiio/random_types.hpp"

namespace thalweg::test {
namespace {

constexpr std::int64_t kFile = 65536;  // bytes of the file
constexpr std::int64_t kMost = 1200;   // bytes of an access

std::uint64_t checksum(const std::string& bytes) {
  std::uint64_t sum = 1469598103934665603U;
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211U;
  return sum % 1000000007U;
}

// An access that this rank has chosen, and its memory.
struct Access {
  Call call;
  bool write = false;
  MPI_Offset offset = 0;
  RandomType type;
  int count = 0;
  std::unique_ptr<Memory> memory;
  MPI_Request request = MPI_REQUEST_NULL;
};

class Program {
 public:
  Program(unsigned seed, std::string folder)
      : folder_(std::move(folder)),
        log_(folder_ + "/log." + std::to_string(world_rank())),
        common_(seed),
        own_(seed * 64 + 7 + static_cast<unsigned>(world_rank())) {}

  void play(int steps) {
    open();
    for (step_ = 0; step_ < steps; ++step_) {
      play_step();
      barrier();
    }
    close();
    if (world_rank() == 0) tell("end", content(path()));
    barrier();
  }

 private:
  std::string path() const { return folder_ + "/file"; }

  template <class... Values>
  void log(const std::string& what, const Values&... values) {
    std::ostringstream line;
    line << step_ << ' ' << what;
    ((line << ' ' << values), ...);
    log_ << line.str() << '\n' << std::flush;
  }
  void tell(const std::string& what, const std::string& bytes) { log(what, bytes.size(), checksum(bytes)); }

  void open() {
    if (world_rank() == 0) std::ofstream(path(), std::ios::binary) << std::string(kFile, '.');
    barrier();
    log("open", class_of(MPI_File_open(MPI_COMM_WORLD, path().c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file_)));
    shared_view_ = true;
    etype_bytes_ = 1;
    view_bytes_ = kFile;
  }
  void close() { log("close", class_of(MPI_File_close(&file_))); }

  void play_step() {
    const std::int64_t kind = common_.up_to(15);
    if (kind < 2) return change_view();
    if (kind < 7) return access_alone();
    if (kind < 9) return access_shared();
    if (kind < 11) return mix();
    if (kind == 11) return seek();
    if (kind == 12) return seek_shared();
    if (kind == 13) return read_at_end();
    if (kind == 14) return reopen();
    ask();
  }

  // --- views ----------------------------------------------------------------------------------------------------------

  // Either one view of all ranks, for shared pointers, or views that have no byte in common.
  void change_view() {
    shared_view_ = common_.one_in(2);
    const MPI_Datatype etypes[] = {MPI_BYTE, MPI_INT, MPI_DOUBLE};
    const MPI_Datatype etype = etypes[common_.up_to(2)];
    RandomType made = random_filetype(etype);
    const std::int64_t tile = made.extent * (shared_view_ ? 1 : world_size());
    MPI_Datatype wide = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(made.type, 0, tile, &wide);
    const Type filetype(wide);
    const MPI_Offset displacement = 8 * common_.up_to(20) + (shared_view_ ? 0 : world_rank() * made.extent);
    int size = 0;
    MPI_Type_size(etype, &size);
    etype_bytes_ = size;
    view_bytes_ = (kFile - 1000) / tile * made.size();
    const int error = MPI_File_set_view(file_, displacement, etype, filetype, "native", MPI_INFO_NULL);
    log("set_view", displacement, made.text, class_of(error));
  }

  RandomType random_filetype(MPI_Datatype etype) {
    for (;;) {
      RandomType made = random_type(common_, {1, etype == MPI_BYTE ? MPI_DATATYPE_NULL : etype, true, true});
      const bool fits = made.size() > 0 && made.extent > made.places.back() && made.extent < 1000;
      if (fits && ascends(made.of(2))) return made;
    }
  }

  // --- accesses -------------------------------------------------------------------------------------------------------

  // Where the access lies: ranks of one view have different parts of it.
  MPI_Offset random_offset(const Access& made, std::int64_t slot, std::int64_t slots) {
    const std::int64_t all = shared_view_ ? slots * world_size() : slots;
    const std::int64_t part = view_bytes_ / etype_bytes_ / all;
    const std::int64_t free = std::max<std::int64_t>(0, part - etypes_of(made));
    return (shared_view_ ? slot * world_size() + world_rank() : slot) * part +
           own_.up_to(std::min<std::int64_t>(free, 400));
  }

  // A memory type and a count whose bytes are whole etypes, at most `most` bytes.
  void choose_memory(Access& made, std::int64_t most) {
    for (int tries = 0; tries < 30; ++tries) {
      made.type = random_type(own_, {1, MPI_DATATYPE_NULL, true, true});
      made.count = static_cast<int>(own_.between(0, 4));
      const std::int64_t bytes = made.count * made.type.size();
      const bool is_tame = made.type.size() > 0 && ascends(made.type.of(made.count));
      if (is_tame && bytes % etype_bytes_ == 0 && bytes <= most) break;
      made.type = plain_type(MPI_BYTE);
      made.count = static_cast<int>(own_.up_to(most / etype_bytes_) * etype_bytes_);
    }
    made.memory = std::make_unique<Memory>(made.type, made.count, static_cast<unsigned>(own_.up_to(1000)));
  }

  std::int64_t etypes_of(const Access& made) const { return made.count * made.type.size() / etype_bytes_; }

  void log_access(const Access& made, int error, const MPI_Status& status) {
    const std::int64_t moved = error == MPI_SUCCESS ? elements_of(status, MPI_BYTE) : -1;
    std::string bytes;
    const Places places = made.type.of(made.count);
    for (std::int64_t i = 0; i < std::min<std::int64_t>(moved, static_cast<std::int64_t>(places.size())); ++i)
      bytes += made.memory->at(places[static_cast<std::size_t>(i)]);
    log(made.call.name(made.write), "at", made.offset, made.count, made.type.text, "->", class_of(error), moved,
        error == MPI_SUCCESS ? count_of(status, made.type.type) : -1, checksum(bytes));
  }

  void carry_out(Access& made) {
    MPI_Status status;
    const int error =
        access(made.call, made.write, file_, made.offset, made.memory->buffer(), made.count, made.type.type, &status);
    log_access(made, error, status);
  }

  Call random_call(Random& random, bool alone) {
    for (;;) {
      const Call& call = calls_[static_cast<std::size_t>(random.up_to(static_cast<std::int64_t>(calls_.size()) - 1))];
      if ((call.pointer == Pointer::shared) != alone) return call;
    }
  }

  // At an offset or at the individual pointer, which is moved to a part of the file that the rank has for itself.
  void access_alone() {
    Access made;
    made.call = random_call(common_, true);
    made.write = common_.one_in(2);
    const bool is_near = common_.one_in(2);
    choose_memory(made, std::min<std::int64_t>(kMost, view_bytes_ / 2 / world_size()));
    made.offset = random_offset(made, 0, 1);
    if (made.call.pointer == Pointer::individual && (made.write || is_near))
      log("seek", made.offset, class_of(MPI_File_seek(file_, made.offset, MPI_SEEK_SET)));
    MPI_Offset from = -1;
    MPI_File_get_position(file_, &from);
    carry_out(made);
    log_move(from, made.call.pointer == Pointer::individual ? etypes_of(made) : 0);
  }

  // The individual pointer behind an access of so many etypes. From the end of the file it goes to the begin, so that a
  // wrong one changes no later line.
  void log_move(MPI_Offset from, std::int64_t etypes) {
    MPI_Offset position = -1, place = -1;
    const int error = MPI_File_get_position(file_, &position);
    log("position", class_of(error), position, "from", from, "by", etypes, "of", etype_bytes_);
    MPI_File_get_byte_offset(file_, position, &place);
    if (place + etype_bytes_ > kFile) log("seek", class_of(MPI_File_seek(file_, 0, MPI_SEEK_SET)));
  }

  void log_position() {
    MPI_Offset position = -1;
    const int error = MPI_File_get_position(file_, &position);
    log("position", class_of(error), position);
  }

  // One rank after the other, or in order of the ranks. From a place in the first half of the view.
  void access_shared() {
    if (!shared_view_) return;
    const MPI_Offset from = common_.up_to(view_bytes_ / etype_bytes_ / 2);
    log("seek_shared", class_of(MPI_File_seek_shared(file_, from, MPI_SEEK_SET)));
    for (int i = 0; i < 2; ++i) {
      Access made;
      made.call = random_call(common_, false);
      made.write = common_.one_in(2);
      choose_memory(made, std::min<std::int64_t>(kMost, view_bytes_ / 8 / world_size()));
      if (made.call.collective) carry_out(made);
      for (int turn = 0; turn < world_size() && !made.call.collective; ++turn) {
        if (turn == world_rank()) carry_out(made);
        barrier();
      }
      log_shared_position();
      barrier();
    }
  }

  void log_shared_position() {
    MPI_Offset position = -1;
    const int error = MPI_File_get_position_shared(file_, &position);
    log("shared position", class_of(error), position);
  }

  // Several accesses at once to different parts of the file, waited for in one of the ways of MPI.
  void mix() {
    constexpr int kSlots = 4;
    std::vector<Access> all(kSlots);
    std::vector<MPI_Request> requests(kSlots);
    for (int i = 0; i < kSlots; ++i) {
      Access& one = all[static_cast<std::size_t>(i)];
      one.call = {common_.one_in(2) ? "_at" : "_at_all", Pointer::given, false, false, Call::Style::nonblocking, false};
      one.write = common_.one_in(2);
      choose_memory(one, std::min<std::int64_t>(kMost, view_bytes_ / (2 * kSlots * world_size())));
      one.offset = random_offset(one, i, kSlots);
      const int error = call_by_name(one.call, one.write, file_, one.offset, one.memory->buffer(), one.count,
                                     one.type.type, &requests[static_cast<std::size_t>(i)]);
      log("start", class_of(error));
    }
    std::vector<MPI_Status> statuses(kSlots);
    const int error = wait_for(requests, statuses);
    for (std::size_t i = 0; i < kSlots; ++i) log_access(all[i], error, statuses[i]);
  }

  int wait_for(std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses) {
    const auto n = static_cast<int>(requests.size());
    if (own_.one_in(2)) return MPI_Waitall(n, requests.data(), statuses.data());
    for (int i = 0; i < n; ++i) {
      int index = 0;
      MPI_Status status;
      if (const int error = MPI_Waitany(n, requests.data(), &index, &status); error != MPI_SUCCESS) return error;
      statuses[static_cast<std::size_t>(index)] = status;
    }
    return MPI_SUCCESS;
  }

  // --- positions and the whole file -----------------------------------------------------------------------------------

  void seek() {
    const int whences[] = {MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END};
    const char* names[] = {"set", "cur", "end"};
    const std::int64_t way = own_.up_to(2);
    const MPI_Offset offset = own_.between(way == 0 ? -3 : -100, 100);
    log("seek", names[way], offset, class_of(MPI_File_seek(file_, offset, whences[way])));
    log_position();
    log("seek", class_of(MPI_File_seek(file_, 0, MPI_SEEK_SET)));
  }

  void seek_shared() {
    if (!shared_view_) return;
    const int whences[] = {MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END};
    const std::int64_t way = common_.up_to(2);
    const MPI_Offset offset = common_.between(0, 50) * (way == 2 ? -1 : 1);
    log("seek_shared", way, offset, class_of(MPI_File_seek_shared(file_, offset, whences[way])));
    log_shared_position();
    barrier();
    log("seek_shared", class_of(MPI_File_seek_shared(file_, 0, MPI_SEEK_SET)));
  }

  // The file becomes shorter, so that reads end early, and long again. The system fills it with zeros.
  void read_at_end() {
    const MPI_Offset size = common_.up_to(kFile / 2);
    log("set_size", size, class_of(MPI_File_set_size(file_, size)));
    log("set_size was", file_size());
    for (int i = 0; i < 3; ++i) {
      Access made;
      do made.call = random_call(common_, true);
      while (made.call.pointer != Pointer::given);
      choose_memory(made, kMost);
      // Near the end of the file, if the view is evenly spread.
      const std::int64_t end = view_bytes_ * size / kFile / etype_bytes_;
      made.offset = std::max<MPI_Offset>(0, end - own_.up_to(kMost / etype_bytes_));
      carry_out(made);
    }
    log("seek", class_of(MPI_File_seek(file_, 0, MPI_SEEK_SET)));
    barrier();  // a change of the size conflicts with what other ranks read there (MPI 4.1, 14.2.4)
    log("set_size", class_of(MPI_File_set_size(file_, kFile)));
    log("set_size was", file_size());
  }

  MPI_Offset file_size() {
    MPI_Offset size = -1;
    const int error = MPI_File_get_size(file_, &size);
    return error == MPI_SUCCESS ? size : -1;
  }

  void reopen() {
    close();
    if (world_rank() == 0) tell("file", content(path()));
    const int amodes[] = {MPI_MODE_RDWR, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_MODE_RDWR | MPI_MODE_APPEND};
    const int amode = amodes[common_.up_to(2)];
    log("open", class_of(MPI_File_open(MPI_COMM_WORLD, path().c_str(), amode, MPI_INFO_NULL, &file_)));
    shared_view_ = true;
    etype_bytes_ = 1;
    view_bytes_ = kFile;
    log_position();
  }

  void ask() {
    log("size", file_size());
    const MPI_Offset offset = own_.up_to(500);
    MPI_Offset place = -1;
    const int error = MPI_File_get_byte_offset(file_, offset, &place);
    log("byte_offset", offset, class_of(error), place);
    log("sync", class_of(MPI_File_sync(file_)));
    barrier();
    if (world_rank() == 0) tell("file", content(path()));
  }

  std::string folder_;
  std::ofstream log_;
  Random common_, own_;
  int step_ = -1;
  MPI_File file_ = MPI_FILE_NULL;
  bool shared_view_ = true;
  std::int64_t etype_bytes_ = 1, view_bytes_ = kFile;
  std::vector<Call> calls_ = all_calls_for_int();

  // An MPI without the twins for large counts would play another program.
  static std::vector<Call> all_calls_for_int() {
    std::vector<Call> calls = all_calls();
    std::erase_if(calls, [](const Call& call) { return call.large; });
    return calls;
  }
};

}  // namespace
}  // namespace thalweg::test

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: differential SEED STEPS FOLDER\n");
    return 2;
  }
  ::alarm(100);
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  thalweg::test::Program(static_cast<unsigned>(std::atoi(argv[1])), argv[3]).play(std::atoi(argv[2]));
  MPI_Finalize();
  return 0;
}
