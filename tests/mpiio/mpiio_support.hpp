// What the tests of libthalweg_mpiio share. They use mpi.h and the C++ library only. mpiio_support.cpp adds a check to
// every program: the library is in force (a file's info has "thalweg_version"), unless TW_MPIIO_OWN=1 is set.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::test {

int world_rank();
int world_size();
void barrier();
// Whether the MPI's own MPI-IO is wanted.
bool own_mpiio();

// A folder that all ranks see. Constructor and destructor are collective.
class SharedFolder {
 public:
  SharedFolder();
  ~SharedFolder();
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  std::string path(const std::string& name) const { return name_ + "/" + name; }

 private:
  std::string name_;
};

// An open file, on all ranks. Constructor and destructor are collective.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path, int amode = MPI_MODE_RDWR | MPI_MODE_CREATE,
                    MPI_Info info = MPI_INFO_NULL);
  ~OpenFile() { close(); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  void close();
  MPI_File get() const { return file_; }
  operator MPI_File() const { return file_; }

 private:
  MPI_File file_ = MPI_FILE_NULL;
};

// A datatype that is freed with the object.
class Type {
 public:
  Type() = default;
  explicit Type(MPI_Datatype owned) : type_(owned) { MPI_Type_commit(&type_); }
  Type(Type&& other) noexcept : type_(other.type_) { other.type_ = MPI_DATATYPE_NULL; }
  Type& operator=(Type&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  ~Type() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// Types of ints. strided: `blocks` of `length` ints, `stride` ints apart. resized: one int in `extent` bytes.
Type strided_ints(int blocks, int length, int stride);
Type spaced_ints(MPI_Aint extent);

// The file as the system has it.
std::string content(const std::string& path);
// Writes the file on rank 0, between two barriers.
void fill(const std::string& path, const std::string& bytes);
std::string error_text(int code);
int class_of(int code);
std::int64_t count_of(const MPI_Status& status, MPI_Datatype type);
std::int64_t elements_of(const MPI_Status& status, MPI_Datatype type);

// `n` ints from `first` on.
std::vector<int> numbers(int n, int first);
// The ints that the file holds.
std::vector<int> ints_of(const std::string& bytes);

// A function of MPI that an older mpi.h does not declare; null where there is none.
template <class Function>
Function* function_named(const std::string& name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name.c_str()));
}

// splitmix64: equal numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::int64_t up_to(std::int64_t most) {
    return static_cast<std::int64_t>(next() % (static_cast<std::uint64_t>(most) + 1));
  }
  std::int64_t between(std::int64_t least, std::int64_t most) { return least + up_to(most - least); }
  bool one_in(int n) { return up_to(n - 1) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace thalweg::test

#define EXPECT_MPI(call)                                                               \
  do {                                                                                 \
    const int code_of_call = (call);                                                   \
    EXPECT_EQ(code_of_call, MPI_SUCCESS) << ::thalweg::test::error_text(code_of_call); \
  } while (false)

#define EXPECT_CLASS(wanted, call) EXPECT_EQ(::thalweg::test::class_of(call), wanted)
