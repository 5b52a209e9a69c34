// Representations of data in files: external32 and what programs register.
#include <algorithm>
#include <cstddef>

#include "mpiio/mpiio_support.hpp"

namespace thalweg::test {
namespace {

constexpr const char* kExternal = "external32";

std::string bytes(std::initializer_list<int> values) {
  std::string made;
  for (const int value : values) made += static_cast<char>(value);
  return made;
}

class MpiioExternal32 : public testing::Test {
 protected:
  void set_view(MPI_File file) { EXPECT_MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, kExternal, MPI_INFO_NULL)); }
  // The bytes of a file that rank 0 has written from the begin on. All ranks read them back.
  template <class Value>
  std::string written(const Value* values, int n, MPI_Datatype type) {
    {
      const OpenFile file(path_);
      set_view(file);
      MPI_Status status;
      if (world_rank() == 0) {
        EXPECT_MPI(MPI_File_write_at(file, 0, values, n, type, &status));
        EXPECT_EQ(count_of(status, type), n);
      }
      barrier();
      std::vector<Value> back(static_cast<std::size_t>(n));
      EXPECT_MPI(MPI_File_read_at(file, 0, back.data(), n, type, &status));
      EXPECT_EQ(count_of(status, type), n);
      EXPECT_TRUE(std::equal(values, values + n, back.begin()));
    }
    return content(path_);
  }

  SharedFolder folder_;
  std::string path_ = folder_.path("file");
};

TEST_F(MpiioExternal32, NumbersAreBigEndian) {
  const int integers[] = {0x01020304, -2};
  EXPECT_EQ(written(integers, 2, MPI_INT), bytes({1, 2, 3, 4, 255, 255, 255, 254}));
}

TEST_F(MpiioExternal32, ALongHasFourBytes) {
  const long longs[] = {-5, 7};
  EXPECT_EQ(written(longs, 2, MPI_LONG), bytes({255, 255, 255, 251, 0, 0, 0, 7}));
}

TEST_F(MpiioExternal32, ALongDoubleIsABinary128) {
  const long double values[] = {1.25L};
  EXPECT_EQ(written(values, 1, MPI_LONG_DOUBLE), bytes({0x3f, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(MpiioExternal32, CharactersStayAsTheyAre) { EXPECT_EQ(written("abc", 3, MPI_CHAR), "abc"); }

TEST_F(MpiioExternal32, AValueThatIsTooLargeIsAnError) {
  const OpenFile file(path_);
  set_view(file);
  const long large = 1L << 40;
  EXPECT_CLASS(MPI_ERR_CONVERSION, MPI_File_write_at(file, 0, &large, 1, MPI_LONG, MPI_STATUS_IGNORE));
}

struct Mixed {
  long double a = 1.25L;
  long b[2] = {-5, 7};
  double value = 3.5;
  int index = -9;
};
constexpr int kMixedInFile = 16 + 2 * 4 + 8 + 4;

Type mixed() {
  const MPI_Datatype types[] = {MPI_LONG_DOUBLE, MPI_LONG, MPI_DOUBLE_INT};
  const int lengths[] = {1, 2, 1};
  const MPI_Aint displacements[] = {offsetof(Mixed, a), offsetof(Mixed, b), offsetof(Mixed, value)};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, lengths, displacements, types, &made);
  return Type(made);
}

TEST_F(MpiioExternal32, StructuresAreConvertedMemberByMember) {
  const Type type = mixed();
  const Mixed given;
  const OpenFile file(path_);
  set_view(file);
  const MPI_Offset place = kMixedInFile * world_rank();
  EXPECT_MPI(MPI_File_write_at_all(file, place, &given, 1, type, MPI_STATUS_IGNORE));
  Mixed read{0, {0, 0}, 0, 0};
  MPI_Request request;
  MPI_Status status;
  EXPECT_MPI(MPI_File_iread_at(file, place, &read, 1, type, &request));
  EXPECT_MPI(MPI_Wait(&request, &status));
  EXPECT_EQ(count_of(status, type), 1);
  EXPECT_EQ(read.a, given.a);
  EXPECT_EQ(read.b[0], given.b[0]);
  EXPECT_EQ(read.b[1], given.b[1]);
  EXPECT_EQ(read.value, given.value);
  EXPECT_EQ(read.index, given.index);
  MPI_Offset size = 0;
  barrier();
  EXPECT_MPI(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, kMixedInFile * world_size());
}

TEST_F(MpiioExternal32, ViewsHaveTheSizesOfTheFile) {
  // Each rank has every size-th long, of 4 bytes in the file.
  const int size = world_size(), rank = world_rank();
  MPI_Datatype spaced = MPI_DATATYPE_NULL;
  MPI_Type_vector(10, 1, size, MPI_LONG, &spaced);
  const Type type(spaced);
  std::vector<long> given;
  for (int i = 0; i < 10; ++i) given.push_back(10 * rank + i);
  {
    const OpenFile file(path_);
    EXPECT_MPI(MPI_File_set_view(file, 4 * rank, MPI_LONG, type, kExternal, MPI_INFO_NULL));
    EXPECT_MPI(MPI_File_write_all(file, given.data(), 10, MPI_LONG, MPI_STATUS_IGNORE));
    MPI_Offset position = 0, offset = 0;
    MPI_Aint extent = 0;
    EXPECT_MPI(MPI_File_get_position(file, &position));
    EXPECT_EQ(position, 10);
    EXPECT_MPI(MPI_File_get_byte_offset(file, 1, &offset));
    EXPECT_EQ(offset, 4 * rank + 4 * size);
    EXPECT_MPI(MPI_File_get_type_extent(file, MPI_LONG, &extent));
    EXPECT_EQ(extent, 4);
  }
  const std::string all = content(path_);
  ASSERT_EQ(all.size(), static_cast<std::size_t>(40 * size));
  for (int i = 0; i < 10 * size; ++i)
    EXPECT_EQ(all[static_cast<std::size_t>(4 * i + 3)], 10 * (i % size) + i / size) << "number " << i;
}

TEST_F(MpiioExternal32, BehindTheEndMemoryKeepsItsValues) {
  fill(path_, bytes({0, 0, 0, 1, 0, 0, 0, 2, 0, 0}));
  const OpenFile file(path_, MPI_MODE_RDONLY);
  set_view(file);
  std::vector<int> read(4, -1);
  MPI_Status status;
  EXPECT_MPI(MPI_File_read_all(file, read.data(), 4, MPI_INT, &status));
  EXPECT_EQ(count_of(status, MPI_INT), 2);
  EXPECT_EQ(read, (std::vector<int>{1, 2, -1, -1}));
}

// --- a representation of two bytes for an int, the lower one first ----------------------------------------------------

int read_two(void* memory, MPI_Datatype, int n, void* file, MPI_Offset position, void* state) {
  ++*static_cast<int*>(state);
  const auto* const in_file = static_cast<const unsigned char*>(file);
  for (int i = 0; i < n; ++i) static_cast<int*>(memory)[position + i] = in_file[2 * i] + 256 * in_file[2 * i + 1];
  return MPI_SUCCESS;
}

int write_two(void* memory, MPI_Datatype, int n, void* file, MPI_Offset position, void* state) {
  ++*static_cast<int*>(state);
  auto* const in_file = static_cast<unsigned char*>(file);
  for (int i = 0; i < n; ++i) {
    const int value = static_cast<const int*>(memory)[position + i];
    in_file[2 * i] = static_cast<unsigned char>(value);
    in_file[2 * i + 1] = static_cast<unsigned char>(value >> 8);
  }
  return MPI_SUCCESS;
}

int fail_to_read(void*, MPI_Datatype, int, void*, MPI_Offset, void*) { return MPI_ERR_OTHER; }

int two_bytes(MPI_Datatype, MPI_Aint* extent, void*) {
  *extent = 2;
  return MPI_SUCCESS;
}

TEST(MpiioDatarep, AProgramsFunctionsConvert) {
  static int calls = 0;
  ASSERT_EQ(MPI_Register_datarep("two", read_two, write_two, two_bytes, &calls), MPI_SUCCESS);
  EXPECT_CLASS(MPI_ERR_DUP_DATAREP, MPI_Register_datarep("two", read_two, write_two, two_bytes, &calls));
  EXPECT_CLASS(MPI_ERR_DUP_DATAREP, MPI_Register_datarep(kExternal, read_two, write_two, two_bytes, &calls));
  const SharedFolder folder;
  const OpenFile file(folder.path("file"));
  ASSERT_EQ(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "two", MPI_INFO_NULL), MPI_SUCCESS);
  const std::vector<int> given = numbers(10, 1000 * world_rank());
  EXPECT_MPI(MPI_File_write_at_all(file, 10 * world_rank(), given.data(), 10, MPI_INT, MPI_STATUS_IGNORE));
  std::vector<int> read(10);
  MPI_Status status;
  EXPECT_MPI(MPI_File_read_at_all(file, 10 * world_rank(), read.data(), 10, MPI_INT, &status));
  EXPECT_EQ(read, given);
  EXPECT_EQ(count_of(status, MPI_INT), 10);
  EXPECT_EQ(calls, 2);
  MPI_Offset size = 0, displacement = 0;
  barrier();
  EXPECT_MPI(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, 20 * world_size());
  char name[MPI_MAX_DATAREP_STRING];
  MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
  EXPECT_MPI(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
  EXPECT_STREQ(name, "two");
}

TEST(MpiioDatarep, AFailureOfAFunctionIsThatOfTheAccess) {
  static int calls = 0;
  ASSERT_EQ(MPI_Register_datarep("broken", fail_to_read, write_two, two_bytes, &calls), MPI_SUCCESS);
  const SharedFolder folder;
  const OpenFile file(folder.path("file"));
  ASSERT_EQ(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "broken", MPI_INFO_NULL), MPI_SUCCESS);
  std::vector<int> data(10);
  EXPECT_MPI(MPI_File_write_at_all(file, 10 * world_rank(), data.data(), 10, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_CLASS(MPI_ERR_CONVERSION, MPI_File_read_at(file, 0, data.data(), 10, MPI_INT, MPI_STATUS_IGNORE));
}

TEST(MpiioDatarep, AnUnknownOneIsNamed) {
  const SharedFolder folder;
  const OpenFile file(folder.path("file"));
  const int code = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "unknown", MPI_INFO_NULL);
  EXPECT_CLASS(MPI_ERR_UNSUPPORTED_DATAREP, code);
  EXPECT_NE(error_text(code).find("'unknown'"), std::string::npos) << error_text(code);
}

}  // namespace
}  // namespace thalweg::test
