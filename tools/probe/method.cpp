// Makes methods by their ids, and formats failures.
#include "method.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include "posix_file.hpp"

namespace probe {

namespace {

class AbsentMethod : public Method {
 public:
  explicit AbsentMethod(std::string reason) : reason_(std::move(reason)) {}
  std::string missing() const override { return reason_; }
  Parts write(const Task& /*task*/) override { throw Failed(reason_); }
  Parts read(const Task& /*task*/) override { throw Failed(reason_); }

 private:
  std::string reason_;
};

}  // namespace

void Method::read_serial(const Array& array, const std::vector<int>& /*grid*/, const std::string& folder,
                         const See& see) {
  see_file(folder + "/array", array.bytes(), see);
}

std::unique_ptr<Method> absent_method(const char* library, const char* remedy) {
  return std::make_unique<AbsentMethod>(std::string("not built: ") + library + " was not found when this program was " +
                                        "built; " + remedy);
}

std::unique_ptr<Method> make_method(std::string_view id) {
  const MethodInfo* info = find_method(id);
  if (info == nullptr) throw std::logic_error("unknown method '" + std::string(id) + "'");
  if (info->number <= 3) return make_posix_method(id);
  if (info->number <= 11 || info->number == 16) return make_mpiio_method(id);
  if (info->number <= 15) return make_hdf5_method(id);
  if (info->number == 17) return make_pnetcdf_method(id);
  if (info->number <= 21) return make_thalweg_method(id);
  return make_sionlib_method(id);
}

void must_mpi(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  std::string line(text.data(), static_cast<std::size_t>(length));
  for (char& c : line)
    if (c == '\n') c = ' ';
  throw Failed(what + ": " + line);
}

void fail_errno(const std::string& action, const std::string& path) {
  const int code = errno;
  throw Failed("cannot " + action + " '" + path + "': " + std::generic_category().message(code));
}

}  // namespace probe
