#include "mpiio/mpiio_support.hpp"

#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace thalweg::test {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

bool own_mpiio() { return std::getenv("TW_MPIIO_OWN") != nullptr; }

SharedFolder::SharedFolder() {
  char name[1024] = {};
  if (world_rank() == 0) {
    const std::string pattern = (std::filesystem::temp_directory_path() / "mpiio-XXXXXX").string();
    std::strncpy(name, pattern.c_str(), sizeof name - 1);
    if (::mkdtemp(name) == nullptr) std::perror(name);
  }
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  name_ = name;
}

SharedFolder::~SharedFolder() {
  barrier();
  if (world_rank() == 0) std::filesystem::remove_all(name_);
}

OpenFile::OpenFile(const std::string& path, int amode, MPI_Info info) {
  EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, path.c_str(), amode, info, &file_));
}

void OpenFile::close() {
  if (file_ != MPI_FILE_NULL) EXPECT_MPI(MPI_File_close(&file_));
}

Type strided_ints(int blocks, int length, int stride) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_vector(blocks, length, stride, MPI_INT, &made);
  return Type(made);
}

Type spaced_ints(MPI_Aint extent) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, extent, &made);
  return Type(made);
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void fill(const std::string& path, const std::string& bytes) {
  barrier();
  if (world_rank() == 0) std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  barrier();
}

std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

int class_of(int code) {
  int found = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
  return found;
}

std::int64_t count_of(const MPI_Status& status, MPI_Datatype type) {
  int count = 0;
  MPI_Get_count(&status, type, &count);
  return count;
}

std::int64_t elements_of(const MPI_Status& status, MPI_Datatype type) {
  int count = 0;
  MPI_Get_elements(&status, type, &count);
  return count;
}

std::vector<int> numbers(int n, int first) {
  std::vector<int> made;
  for (int i = 0; i < n; ++i) made.push_back(first + i);
  return made;
}

std::vector<int> ints_of(const std::string& bytes) {
  std::vector<int> found(bytes.size() / sizeof(int));
  std::memcpy(found.data(), bytes.data(), found.size() * sizeof(int));
  return found;
}

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

namespace {

// Fails all tests of a program that has the MPI's own MPI-IO.
class InForce : public testing::Environment {
 public:
  void SetUp() override {
    if (own_mpiio()) return;
    const SharedFolder folder;
    const OpenFile file(folder.path("in_force"));
    MPI_Info info = MPI_INFO_NULL;
    EXPECT_MPI(MPI_File_get_info(file, &info));
    int length = 0, found = 0;
    char key[] = "thalweg_version";
    MPI_Info_get_valuelen(info, key, &length, &found);
    MPI_Info_free(&info);
    ASSERT_EQ(found, 1) << "libthalweg_mpiio is not in force; TW_MPIIO_OWN=1 tests the MPI's own MPI-IO";
  }
};

[[maybe_unused]] const testing::Environment* const checked = testing::AddGlobalTestEnvironment(new InForce);

}  // namespace

}  // namespace thalweg::test
