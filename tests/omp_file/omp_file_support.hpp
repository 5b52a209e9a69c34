// Shared by the tests of omp_file: teams of a given size, private files, and a table of all calls.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <omp_file.h>
#include <sys/uio.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace omp_file_test {

using Bytes = std::vector<unsigned char>;

// Runs `body(rank)` in a region of `n` threads, also nested.
void on_team(int n, const std::function<void(int)>& body);

// Return value of a call on one thread, and its errno.
struct Result {
  int returned = 0;
  int error = 0;
  bool operator==(const Result&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Result& result);

// Runs `call(rank)` in a region of `n` threads; returns the results by rank.
std::vector<Result> results_on(int n, const std::function<int(int)>& call);
std::vector<Result> all_ok(int n);
std::vector<Result> all_failed(int n, int error);

// A test with a folder of its own and a limit of two minutes: a hang is a failure.
class OmpFile : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  std::string path(const std::string& name = "file") const { return folder_ + "/" + name; }
  // Opens a file outside any region; returns the common descriptor.
  int open_file(int flags = O_RDWR | O_CREAT | O_TRUNC, const std::string& name = "file") const;

 private:
  std::string folder_;
};

Bytes contents(const std::string& path);
void store(const std::string& path, const Bytes& bytes);
Bytes noise(std::size_t n, unsigned seed);

// One thread's arguments of any call.
struct Arguments {
  void* buf = nullptr;
  long length = 0;
  off_t offset = 0;
  const iovec* list = nullptr;
  const off_t* offsets = nullptr;
  int size = 0;
  int fd = -1;
  int hint = 0;
};

struct Form {
  std::string name;
  bool common;
  bool is_list;
  bool has_offset;
  bool nonblocking;
  bool writes;
  // A nonblocking call without a `request` is waited for at once.
  std::function<int(const Arguments&, omp_file_request*)> call;
};

// All reading and writing calls, in every spelling.
const std::vector<Form>& forms();

// Makes the call; waits if it is nonblocking.
int run(const Form& form, const Arguments& arguments);

}  // namespace omp_file_test
