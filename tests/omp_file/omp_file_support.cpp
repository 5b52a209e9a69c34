#include "omp_file/omp_file_support.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

// For the thread sanitizer: libomp is not instrumented, so its locks are reported as races (LLVM 16).
extern "C" const char* __tsan_default_suppressions() { return "called_from_lib:libomp.so\n"; }

namespace omp_file_test {

void on_team(int n, const std::function<void(int)>& body) {
  omp_set_dynamic(0);
  omp_set_max_active_levels(3);
  int threads = 0;
#pragma omp parallel num_threads(n) shared(threads)
  {
#pragma omp single
    threads = omp_get_num_threads();
    body(omp_get_thread_num());
  }
  ASSERT_EQ(threads, n);
}

std::ostream& operator<<(std::ostream& out, const Result& result) {
  return out << result.returned << " (errno " << result.error << ")";
}

std::vector<Result> results_on(int n, const std::function<int(int)>& call) {
  std::vector<Result> results(static_cast<std::size_t>(n));
  on_team(n, [&](int rank) {
    const int returned = call(rank);
    results[static_cast<std::size_t>(rank)] = {returned, returned == 0 ? 0 : errno};
  });
  return results;
}

std::vector<Result> all_ok(int n) { return std::vector<Result>(static_cast<std::size_t>(n), Result{0, 0}); }
std::vector<Result> all_failed(int n, int error) {
  return std::vector<Result>(static_cast<std::size_t>(n), Result{-1, error});
}

void OmpFile::SetUp() {
  std::string name = ::testing::TempDir() + "omp_file_XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  folder_ = name;
  alarm(120);
}

void OmpFile::TearDown() {
  alarm(0);
  std::filesystem::remove_all(folder_);
}

int OmpFile::open_file(int flags, const std::string& name) const {
  int fd = -1;
  EXPECT_EQ(omp_file_open_all(&fd, path(name).c_str(), flags, 0600), 0) << std::generic_category().message(errno);
  return fd;
}

Bytes contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

void store(const std::string& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Bytes noise(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(n);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(1 + random() % 255);
  return bytes;
}

namespace {

// The calls of one direction in one spelling: NAME and its nonblocking form.
#define FORMS_OF(NAME, INAME, COMMON, WRITES)                                                                         \
  {#NAME "_all",                                                                                                      \
   COMMON,                                                                                                            \
   false,                                                                                                             \
   false,                                                                                                             \
   false,                                                                                                             \
   WRITES,                                                                                                            \
   [](const Arguments& a, omp_file_request*) { return NAME##_all(a.buf, a.length, a.fd, a.hint); }},                  \
      {#NAME "_at_all",                                                                                               \
       COMMON,                                                                                                        \
       false,                                                                                                         \
       true,                                                                                                          \
       false,                                                                                                         \
       WRITES,                                                                                                        \
       [](const Arguments& a, omp_file_request*) { return NAME##_at_all(a.buf, a.length, a.offset, a.fd, a.hint); }}, \
      {#NAME "_list_all",                                                                                             \
       COMMON,                                                                                                        \
       true,                                                                                                          \
       false,                                                                                                         \
       false,                                                                                                         \
       WRITES,                                                                                                        \
       [](const Arguments& a, omp_file_request*) { return NAME##_list_all(a.list, a.size, a.fd, a.hint); }},          \
      {#NAME "_list_at_all",                                                                                          \
       COMMON,                                                                                                        \
       true,                                                                                                          \
       true,                                                                                                          \
       false,                                                                                                         \
       WRITES,                                                                                                        \
       [](const Arguments& a, omp_file_request*) {                                                                    \
         return NAME##_list_at_all(a.list, a.offsets, a.size, a.fd, a.hint);                                          \
       }},                                                                                                            \
      {#INAME "_all",                                                                                                 \
       COMMON,                                                                                                        \
       false,                                                                                                         \
       false,                                                                                                         \
       true,                                                                                                          \
       WRITES,                                                                                                        \
       [](const Arguments& a, omp_file_request* r) { return INAME##_all(a.buf, a.length, a.fd, a.hint, r); }},        \
      {#INAME "_at_all",                                                                                              \
       COMMON,                                                                                                        \
       false,                                                                                                         \
       true,                                                                                                          \
       true,                                                                                                          \
       WRITES,                                                                                                        \
       [](const Arguments& a, omp_file_request* r) {                                                                  \
         return INAME##_at_all(a.buf, a.length, a.offset, a.fd, a.hint, r);                                           \
       }},                                                                                                            \
      {#INAME "_list_all",                                                                                            \
       COMMON,                                                                                                        \
       true,                                                                                                          \
       false,                                                                                                         \
       true,                                                                                                          \
       WRITES,                                                                                                        \
       [](const Arguments& a, omp_file_request* r) { return INAME##_list_all(a.list, a.size, a.fd, a.hint, r); }},    \
  {                                                                                                                   \
    #INAME "_list_at_all", COMMON, true, true, true, WRITES, [](const Arguments& a, omp_file_request* r) {            \
      return INAME##_list_at_all(a.list, a.offsets, a.size, a.fd, a.hint, r);                                         \
    }                                                                                                                 \
  }

}  // namespace

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      FORMS_OF(omp_file_read, omp_file_iread, false, false),
      FORMS_OF(omp_file_write, omp_file_iwrite, false, true),
      FORMS_OF(omp_file_read_com, omp_file_iread_com, true, false),
      FORMS_OF(omp_file_write_com, omp_file_iwrite_com, true, true),
      FORMS_OF(omp_file_com_read, omp_file_icom_read, true, false),
      FORMS_OF(omp_file_com_write, omp_file_icom_write, true, true),
  };
  return all;
}

int run(const Form& form, const Arguments& arguments) {
  omp_file_request request = -7;
  const int returned = form.call(arguments, &request);
  if (returned != 0 || !form.nonblocking) return returned;
  return omp_file_wait_all(&request);
}

}  // namespace omp_file_test
