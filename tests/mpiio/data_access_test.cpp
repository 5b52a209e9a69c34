// Every access to data, and what it leaves behind: bytes, counts, positions.
#include <algorithm>
#include <filesystem>

#include "mpiio/file_calls.hpp"

namespace thalweg::test {
namespace {

MPI_Offset position_of(MPI_File file) {
  MPI_Offset position = -1;
  EXPECT_MPI(MPI_File_get_position(file, &position));
  return position;
}

MPI_Offset shared_position_of(MPI_File file) {
  MPI_Offset position = -1;
  EXPECT_MPI(MPI_File_get_position_shared(file, &position));
  return position;
}

MPI_Offset size_of(MPI_File file) {
  MPI_Offset size = -1;
  EXPECT_MPI(MPI_File_get_size(file, &size));
  return size;
}

void set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype) {
  EXPECT_MPI(MPI_File_set_view(file, displacement, etype, filetype, "native", MPI_INFO_NULL));
}

std::string bytes_of(const std::vector<int>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int)};
}

// Holes of files are undefined where nobody writes, so tests fill the file before.
std::string dots(std::size_t n) { return std::string(n, '.'); }

class MpiioAccess : public testing::Test {
 protected:
  static constexpr int kN = 6;  // ints of an access

  std::string path() const { return folder_.path("file"); }
  // Ints of one rank in one step, so that each int of the file says who wrote it.
  static std::vector<int> of(int rank, int step) { return numbers(kN, rank * 1000 + step * 100 + 1); }

  // Where a rank's access of one step begins, in ints of the view; shared pointers give any order of ranks.
  static MPI_Offset begin_of(const Call& call, int step) {
    if (call.pointer != Pointer::shared) return step * kN;
    return (step * world_size() + world_rank()) * kN;
  }

  // Each rank has every world_size()th int, or with shared pointers, all ranks the whole file.
  static void set_view_of(const Call& call, MPI_File file) {
    if (call.pointer == Pointer::shared) {
      set_view(file, 8, MPI_INT, MPI_INT);
      return;
    }
    const Type spaced = spaced_ints(world_size() * static_cast<MPI_Aint>(sizeof(int)));
    set_view(file, 8 + 4 * world_rank(), MPI_INT, spaced);
  }

  static void expect_positions(const Call& call, MPI_File file, int steps) {
    EXPECT_EQ(position_of(file), call.pointer == Pointer::individual ? steps * kN : 0);
    if (call.pointer != Pointer::shared) {
      EXPECT_EQ(shared_position_of(file), 0);
      return;
    }
    barrier();
    EXPECT_EQ(shared_position_of(file), steps * kN * world_size());
    barrier();
  }

  // The ints behind the displacement, sorted by who wrote them where the order of ranks is free.
  static std::vector<int> expected(const Call& call) {
    std::vector<int> all(static_cast<std::size_t>(2 * kN * world_size()));
    for (int rank = 0; rank < world_size(); ++rank)
      for (int step = 0; step < 2; ++step)
        for (int i = 0; i < kN; ++i) {
          const int place = call.pointer == Pointer::shared ? (step * world_size() + rank) * kN + i
                                                            : (step * kN + i) * world_size() + rank;
          all[static_cast<std::size_t>(place)] = of(rank, step)[static_cast<std::size_t>(i)];
        }
    return all;
  }

  void write_all(const Call& call, MPI_File file) const {
    for (int step = 0; step < 2; ++step) {
      std::vector<int> data = of(world_rank(), step);
      MPI_Status status;
      EXPECT_MPI(access(call, true, file, begin_of(call, step), data.data(), kN, MPI_INT, &status));
      EXPECT_EQ(count_of(status, MPI_INT), kN);
      EXPECT_EQ(elements_of(status, MPI_BYTE), kN * 4);
      if (call.pointer == Pointer::shared) barrier();
    }
  }

  void expect_content(const Call& call) const {
    std::string bytes = content(path());
    ASSERT_GE(bytes.size(), 8u);
    EXPECT_EQ(bytes.substr(0, 8), dots(8));
    std::vector<int> found = ints_of(bytes.substr(8)), wanted = expected(call);
    if (call.pointer == Pointer::shared && !call.ordered) {
      // Accesses are whole, in any order of the ranks.
      for (std::size_t i = 0; i + kN <= found.size(); i += kN)
        EXPECT_EQ(std::vector<int>(found.begin() + static_cast<int>(i), found.begin() + static_cast<int>(i) + kN),
                  numbers(kN, found[i]));
      std::ranges::sort(found);
      std::ranges::sort(wanted);
    }
    EXPECT_EQ(found, wanted);
  }

  void read_all(const Call& call, MPI_File file) const {
    std::vector<int> all;
    for (int step = 0; step < 2; ++step) {
      std::vector<int> back(kN, -1);
      MPI_Status status;
      EXPECT_MPI(access(call, false, file, begin_of(call, step), back.data(), kN, MPI_INT, &status));
      EXPECT_EQ(count_of(status, MPI_INT), kN);
      if (call.pointer != Pointer::shared || call.ordered) {
        EXPECT_EQ(back, of(world_rank(), step));
      }
      all.insert(all.end(), back.begin(), back.end());
      if (call.pointer == Pointer::shared) barrier();
    }
    if (call.pointer != Pointer::shared || call.ordered) return;
    // Each access was read by one rank.
    std::vector<int> everything(all.size() * static_cast<std::size_t>(world_size()));
    MPI_Allgather(all.data(), 2 * kN, MPI_INT, everything.data(), 2 * kN, MPI_INT, MPI_COMM_WORLD);
    std::vector<int> wanted = expected(call);
    std::ranges::sort(everything);
    std::ranges::sort(wanted);
    EXPECT_EQ(everything, wanted);
  }

  SharedFolder folder_;
};

TEST_F(MpiioAccess, OfEveryKindMovesItsPointerAndItsBytes) {
  for (const Call& call : all_calls()) {
    SCOPED_TRACE(call.name(true));
    fill(path(), dots(8));
    const OpenFile file(path(), MPI_MODE_RDWR);
    set_view_of(call, file);
    write_all(call, file);
    expect_positions(call, file, 2);
    barrier();
    if (world_rank() == 0) expect_content(call);
    barrier();
    set_view_of(call, file);  // both pointers at 0 again
    read_all(call, file);
    expect_positions(call, file, 2);
  }
}

TEST_F(MpiioAccess, AtTheEndOfTheFileMovesTheEtypesThatAreThere) {
  for (const Call& call : all_calls()) {
    if (call.pointer == Pointer::shared) continue;
    SCOPED_TRACE(call.name(false));
    // Rank r finds 3 + r ints of the 6 that it asks for, then none.
    const int there = 3 + world_rank();
    fill(path(), bytes_of(numbers(kN * world_size() - 3, 0)));
    const OpenFile file(path(), MPI_MODE_RDONLY);
    set_view(file, 0, MPI_INT, MPI_INT);
    const int begin = kN * world_size() - 3 - there;
    EXPECT_MPI(MPI_File_seek(file, begin, MPI_SEEK_SET));
    std::vector<int> back(2 * kN, -1);
    MPI_Status status;
    EXPECT_MPI(access(call, false, file, begin, back.data(), 2 * kN, MPI_INT, &status));
    EXPECT_EQ(count_of(status, MPI_INT), there);
    EXPECT_EQ(std::vector<int>(back.begin(), back.begin() + there), numbers(there, begin));
    EXPECT_MPI(access(call, false, file, kN * world_size(), back.data(), 1, MPI_INT, &status));
    EXPECT_EQ(count_of(status, MPI_INT), 0);
  }
}

TEST_F(MpiioAccess, OfNothingMovesNothing) {
  for (const Call& call : all_calls()) {
    SCOPED_TRACE(call.name(true));
    fill(path(), bytes_of(numbers(10, 1)));
    const OpenFile file(path(), MPI_MODE_RDWR);
    set_view(file, 0, MPI_INT, MPI_INT);
    for (const bool write : {true, false}) {
      MPI_Status status;
      EXPECT_MPI(access(call, write, file, 100, nullptr, 0, MPI_INT, &status));
      EXPECT_EQ(count_of(status, MPI_INT), 0);
      int byte = 0;
      EXPECT_MPI(access(call, write, file, 100, &byte, 0, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    EXPECT_EQ(size_of(file), 40);
    EXPECT_EQ(position_of(file), 0);
    EXPECT_EQ(shared_position_of(file), 0);
  }
}

TEST_F(MpiioAccess, OrderedAccessesFollowTheRanksWithTheirOwnSizes) {
  const OpenFile file(path());
  set_view(file, 0, MPI_INT, MPI_INT);
  std::vector<int> wanted;
  for (int step = 0; step < 3; ++step) {
    for (int rank = 0; rank < world_size(); ++rank)
      wanted.insert(wanted.end(), static_cast<std::size_t>((rank + step) % 3), rank);
    const int n = (world_rank() + step) % 3;
    const std::vector<int> mine(3, world_rank());
    if (step == 1) {
      EXPECT_MPI(MPI_File_write_ordered_begin(file, mine.data(), n, MPI_INT));
      EXPECT_MPI(MPI_File_write_ordered_end(file, mine.data(), MPI_STATUS_IGNORE));
    } else {
      EXPECT_MPI(MPI_File_write_ordered(file, mine.data(), n, MPI_INT, MPI_STATUS_IGNORE));
    }
    EXPECT_EQ(shared_position_of(file), static_cast<MPI_Offset>(wanted.size()));
    barrier();
  }
  EXPECT_EQ(ints_of(content(path())), wanted);
}

TEST_F(MpiioAccess, TheDatatypeMayBeFreedOnceTheAccessHasBegun) {
  const OpenFile file(path());
  const std::vector<int> values = {world_rank() * 2, -1, world_rank() * 2 + 1};
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const Type two_of_three = strided_ints(2, 1, 2);
    EXPECT_MPI(MPI_File_iwrite_at_all(file, 8 * world_rank(), values.data(), 1, two_of_three, &request));
  }
  EXPECT_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  barrier();
  EXPECT_EQ(ints_of(content(path())), numbers(2 * world_size(), 0));
}

// --- pointers ---------------------------------------------------------------------------------------------------------

class MpiioPointers : public MpiioAccess {};

TEST_F(MpiioPointers, SeekInAViewWithHoles) {
  fill(path(), dots(100));
  const OpenFile file(path(), MPI_MODE_RDWR);
  const Type two_of_five = strided_ints(2, 2, 5);  // ints 0 1 5 6; then 7 8 12 13
  set_view(file, 4, MPI_INT, two_of_five);
  EXPECT_MPI(MPI_File_seek(file, 3, MPI_SEEK_SET));
  EXPECT_EQ(position_of(file), 3);
  EXPECT_MPI(MPI_File_seek(file, 4, MPI_SEEK_CUR));
  EXPECT_EQ(position_of(file), 7);
  EXPECT_MPI(MPI_File_seek(file, -2, MPI_SEEK_CUR));
  EXPECT_EQ(position_of(file), 5);
  MPI_Offset place = 0;
  EXPECT_MPI(MPI_File_get_byte_offset(file, 5, &place));
  EXPECT_EQ(place, 4 + 8 * 4);
  // 96 bytes behind the displacement: 24 ints, of which 0 1 5 6 7 8 12 13 14 15 19 20 21 22 are in the view.
  EXPECT_MPI(MPI_File_seek(file, 0, MPI_SEEK_END));
  EXPECT_EQ(position_of(file), 14);
  EXPECT_MPI(MPI_File_seek(file, -14, MPI_SEEK_END));
  EXPECT_EQ(position_of(file), 0);
  EXPECT_CLASS(MPI_ERR_ARG, MPI_File_seek(file, -15, MPI_SEEK_END));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_File_seek(file, 0, 12345));
  EXPECT_EQ(position_of(file), 0);
}

// MPI 4.1, 14.6.10: by the amount accessed, so that a write behind the read leaves no hole.
TEST_F(MpiioPointers, AReadMovesTheIndividualOneByTheWholeEtypesThatTheFileHas) {
  fill(path(), dots(42));
  const OpenFile file(path(), MPI_MODE_RDWR);
  for (const MPI_Aint stride : {4, 8}) {
    const Type spaced = spaced_ints(stride);
    set_view(file, 0, MPI_INT, spaced);
    const MPI_Offset whole = 40 / stride;  // ints; the file has two bytes of the next one
    for (const MPI_Offset from : {whole - 2, whole, whole + 1})
      for (const bool atomic : {false, true})
        for (const Call& call : all_calls()) {
          if (call.pointer != Pointer::individual) continue;
          SCOPED_TRACE(call.name(false) + " from " + std::to_string(from) + (atomic ? ", atomic" : ""));
          EXPECT_MPI(MPI_File_set_atomicity(file, atomic ? 1 : 0));
          EXPECT_MPI(MPI_File_seek(file, from, MPI_SEEK_SET));
          std::vector<int> data(kN);
          MPI_Status status;
          EXPECT_MPI(access(call, false, file, 0, data.data(), kN, MPI_INT, &status));
          EXPECT_EQ(elements_of(status, MPI_BYTE), from < whole ? 10 : from == whole ? 2 : 0);
          EXPECT_EQ(position_of(file), std::max(from, whole));
        }
  }
}

TEST_F(MpiioPointers, TheSharedOneSeeksForAll) {
  fill(path(), dots(100));
  const OpenFile file(path(), MPI_MODE_RDWR);
  set_view(file, 20, MPI_INT, MPI_INT);
  EXPECT_MPI(MPI_File_seek_shared(file, 5, MPI_SEEK_SET));
  EXPECT_EQ(shared_position_of(file), 5);
  EXPECT_MPI(MPI_File_seek_shared(file, 2, MPI_SEEK_CUR));
  EXPECT_EQ(shared_position_of(file), 7);
  EXPECT_MPI(MPI_File_seek_shared(file, -1, MPI_SEEK_END));
  EXPECT_EQ(shared_position_of(file), 19);
  EXPECT_EQ(position_of(file), 0);
  barrier();
  int value = 0;
  EXPECT_MPI(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  barrier();
  EXPECT_EQ(shared_position_of(file), 19 + world_size());
  EXPECT_EQ(size_of(file), 20 + 4 * (19 + world_size()));
}

TEST_F(MpiioPointers, AppendBeginsAtTheEnd) {
  fill(path(), bytes_of(numbers(4, 0)));
  {
    const OpenFile file(path(), MPI_MODE_WRONLY | MPI_MODE_APPEND);
    EXPECT_EQ(position_of(file), 16);
    EXPECT_EQ(shared_position_of(file), 16);
    barrier();  // rank 0 moves the pointer as soon as it writes
    const int value = 4 + world_rank();
    EXPECT_MPI(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  }
  EXPECT_EQ(ints_of(content(path())), numbers(4 + world_size(), 0));
}

TEST_F(MpiioPointers, OfTwoFilesAreApart) {
  const OpenFile one(folder_.path("one")), other(folder_.path("other"));
  set_view(one, 0, MPI_INT, MPI_INT);
  set_view(other, 0, MPI_INT, MPI_INT);
  const int value = 7;
  for (int i = 0; i < 3; ++i) EXPECT_MPI(MPI_File_write_shared(one, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_MPI(MPI_File_write_shared(other, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  barrier();
  EXPECT_EQ(shared_position_of(one), 3 * world_size());
  EXPECT_EQ(shared_position_of(other), world_size());
}

TEST_F(MpiioPointers, AreAtZeroAfterAnotherView) {
  const OpenFile file(path());
  for (int round = 0; round < 5; ++round) {
    set_view(file, 0, MPI_INT, MPI_INT);
    EXPECT_EQ(shared_position_of(file), 0);
    EXPECT_EQ(position_of(file), 0);
    barrier();
    const int value = round;
    EXPECT_MPI(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_MPI(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_EQ(shared_position_of(file), 2 * world_size());
  }
  barrier();
  EXPECT_EQ(ints_of(content(path())), std::vector<int>(2 * static_cast<std::size_t>(world_size()), 4));
}

// --- modes and whole files --------------------------------------------------------------------------------------------

class MpiioFile : public MpiioAccess {};

TEST_F(MpiioFile, GoesAtItsCloseWithDeleteOnClose) {
  OpenFile file(path(), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
  const int value = 1;
  EXPECT_MPI(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  file.close();
  barrier();
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(MpiioFile, InSequentialModeHasTheSharedPointerOnly) {
  {
    const OpenFile file(path(), MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL);
    int value = world_rank();
    EXPECT_MPI(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Offset offset = 0;
    EXPECT_CLASS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_CLASS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_CLASS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_write_at_all(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_CLASS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_seek(file, 0, MPI_SEEK_SET));
    EXPECT_CLASS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    EXPECT_CLASS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_get_position(file, &offset));
  }
  const OpenFile file(path(), MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
  int value = -1;
  EXPECT_MPI(MPI_File_read_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_EQ(value, world_rank());
}

TEST_F(MpiioFile, OpensWithTheModesOfTheStandardOnly) {
  fill(path(), "x");
  MPI_File file = MPI_FILE_NULL;
  const auto open = [&](const std::string& name, int amode) {
    const int error = MPI_File_open(MPI_COMM_WORLD, folder_.path(name).c_str(), amode, MPI_INFO_NULL, &file);
    if (error == MPI_SUCCESS) {
      EXPECT_MPI(MPI_File_close(&file));
    }
    barrier();
    return class_of(error);
  };
  EXPECT_EQ(open("file", MPI_MODE_RDONLY | MPI_MODE_RDWR), MPI_ERR_AMODE);
  EXPECT_EQ(open("file", 0), MPI_ERR_AMODE);
  EXPECT_EQ(open("file", MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE);
  EXPECT_EQ(open("file", MPI_MODE_RDONLY | MPI_MODE_EXCL), MPI_ERR_AMODE);
  EXPECT_EQ(open("file", MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE);
  EXPECT_EQ(open("none", MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
  EXPECT_EQ(open("none/none", MPI_MODE_RDWR | MPI_MODE_CREATE), MPI_ERR_NO_SUCH_FILE);
  EXPECT_EQ(open("file", MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL), MPI_ERR_FILE_EXISTS);
  EXPECT_EQ(open("new", MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL), MPI_SUCCESS);
  EXPECT_EQ(open("file", MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN), MPI_SUCCESS);
  EXPECT_EQ(file, MPI_FILE_NULL);
}

TEST_F(MpiioFile, TellsHowItWasOpened) {
  const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_UNIQUE_OPEN;
  const OpenFile file(path(), amode);
  int told = 0;
  EXPECT_MPI(MPI_File_get_amode(file, &told));
  EXPECT_EQ(told, amode);
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  EXPECT_MPI(MPI_File_get_group(file, &group));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int compared = MPI_UNEQUAL;
  MPI_Group_compare(group, world, &compared);
  EXPECT_EQ(compared, MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

TEST_F(MpiioFile, TellsItsHintsAndIgnoresOthers) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", "1");
  MPI_Info_set(info, "striping_factor", "-1");  // all targets
  MPI_Info_set(info, "striping_unit", "99999999999");
  MPI_Info_set(info, "no_such_hint_of_anyone", "7");
  const OpenFile file(path(), MPI_MODE_RDWR | MPI_MODE_CREATE, info);
  MPI_Info_free(&info);
  const auto hint = [&](const char* key) -> std::string {
    MPI_Info told = MPI_INFO_NULL;
    EXPECT_MPI(MPI_File_get_info(file, &told));
    char value[64] = {};
    int found = 0;
    MPI_Info_get(told, key, 63, value, &found);
    MPI_Info_free(&told);
    return found != 0 ? value : "";
  };
  EXPECT_EQ(hint("cb_nodes"), "1");
  EXPECT_EQ(hint("no_such_hint_of_anyone"), "");
  const std::string told = hint("thalweg_stripes");  // no test has a file system with stripes
  EXPECT_TRUE(own_mpiio() || told.find("not followed: ") == 0) << told;
  MPI_Info_create(&info);
  MPI_Info_set(info, "access_style", "read_once");
  EXPECT_MPI(MPI_File_set_info(file, info));
  MPI_Info_free(&info);
  EXPECT_EQ(hint("access_style"), "read_once");
  EXPECT_EQ(hint("cb_nodes"), "1");
}

TEST_F(MpiioFile, TellsItsView) {
  const OpenFile file(path());
  MPI_Offset displacement = -1;
  MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
  char representation[MPI_MAX_DATAREP_STRING] = {};
  EXPECT_MPI(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
  EXPECT_EQ(displacement, 0);
  EXPECT_EQ(etype, MPI_BYTE);
  EXPECT_EQ(filetype, MPI_BYTE);
  EXPECT_STREQ(representation, "native");

  set_view(file, 24, MPI_INT, strided_ints(2, 1, 3));
  EXPECT_MPI(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
  EXPECT_EQ(displacement, 24);
  EXPECT_EQ(etype, MPI_INT);
  int size = 0;
  MPI_Type_size(filetype, &size);
  EXPECT_EQ(size, 8);
  // A derived type is a new reference, which the caller frees.
  EXPECT_MPI(MPI_File_set_view(file, 8, etype, filetype, "native", MPI_INFO_NULL));
  EXPECT_EQ(MPI_Type_free(&filetype), MPI_SUCCESS);
  MPI_Offset place = 0;
  EXPECT_MPI(MPI_File_get_byte_offset(file, 1, &place));
  EXPECT_EQ(place, 8 + 12);
}

TEST_F(MpiioFile, TellsTheExtentOfATypeInIt) {
  const OpenFile file(path());
  const Type spaced = spaced_ints(24);
  MPI_Aint extent = 0;
  EXPECT_MPI(MPI_File_get_type_extent(file, spaced, &extent));
  EXPECT_EQ(extent, 24);
  EXPECT_MPI(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
  EXPECT_EQ(extent, 8);
}

TEST_F(MpiioFile, GrowsAndShrinks) {
  fill(path(), bytes_of(numbers(10, 0)));
  const OpenFile file(path(), MPI_MODE_RDWR);
  EXPECT_EQ(size_of(file), 40);
  EXPECT_MPI(MPI_File_preallocate(file, 20));
  EXPECT_EQ(size_of(file), 40);
  EXPECT_MPI(MPI_File_preallocate(file, 100));
  EXPECT_EQ(size_of(file), 100);
  EXPECT_MPI(MPI_File_set_size(file, 24));
  EXPECT_EQ(size_of(file), 24);
  EXPECT_MPI(MPI_File_set_size(file, 28));
  EXPECT_MPI(MPI_File_sync(file));
  EXPECT_EQ(ints_of(content(path()).substr(0, 24)), numbers(6, 0));
  EXPECT_EQ(std::filesystem::file_size(path()), 28u);
}

TEST_F(MpiioFile, OfReadersDoesNotChangeItsSize) {
  fill(path(), "0123");
  const OpenFile file(path(), MPI_MODE_RDONLY);
  EXPECT_CLASS(MPI_ERR_READ_ONLY, MPI_File_set_size(file, 2));
  EXPECT_CLASS(MPI_ERR_READ_ONLY, MPI_File_preallocate(file, 20));
  EXPECT_EQ(size_of(file), 4);
}

TEST_F(MpiioFile, KeepsItsAtomicity) {
  const OpenFile file(path());
  int flag = -1;
  EXPECT_MPI(MPI_File_get_atomicity(file, &flag));
  EXPECT_EQ(flag, 0);
  EXPECT_MPI(MPI_File_set_atomicity(file, 1));
  EXPECT_MPI(MPI_File_get_atomicity(file, &flag));
  EXPECT_EQ(flag, 1);
  EXPECT_MPI(MPI_File_set_atomicity(file, 0));
  EXPECT_MPI(MPI_File_get_atomicity(file, &flag));
  EXPECT_EQ(flag, 0);
}

TEST_F(MpiioFile, IsDeletedByName) {
  fill(path(), "x");
  if (world_rank() == 0) {
    EXPECT_MPI(MPI_File_delete(path().c_str(), MPI_INFO_NULL));
    EXPECT_CLASS(MPI_ERR_NO_SUCH_FILE, MPI_File_delete(path().c_str(), MPI_INFO_NULL));
  }
  barrier();
  EXPECT_FALSE(std::filesystem::exists(path()));
}

}  // namespace
}  // namespace thalweg::test
