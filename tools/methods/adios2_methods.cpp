// Method 22: one variable of an ADIOS2 file, with the library's default file engine and settings. The file keeps the
// blocks of ranks and an index of their places, so that only the library can read it.
#include <adios2_c.h>

#include <array>
#include <cstddef>
#include <functional>

#include "bands.hpp"
#include "method.hpp"
#include "stopwatch.hpp"

namespace methods {

namespace {

using Sizes = std::vector<std::size_t>;

constexpr const char* kVariable = "array";
constexpr std::int64_t kSerialPiece = std::int64_t{16} << 20;  // bytes
constexpr float kNoTimeOut = -1.0F;

std::string file_of(const std::string& folder) { return folder + "/array.bp"; }

// The library prints its reasons on standard error.
[[noreturn]] void fail(const char* what, const std::string& path) {
  throw Failed(std::string("cannot ") + what + " '" + path + "': ADIOS2 says why on standard error");
}
void must(adios2_error code, const char* what, const std::string& path) {
  if (code != adios2_error_none) fail(what, path);
}
template <typename Handle>
Handle* must_have(Handle* handle, const char* what, const std::string& path) {
  if (handle == nullptr) fail(what, path);
  return handle;
}

// The library takes dimensions from the slowest to the fastest, as C programs do.
Sizes turned(const Array& array, const std::vector<std::int64_t>& sizes) {
  Sizes out;
  for (const std::size_t d : array.slow_to_fast()) out.push_back(static_cast<std::size_t>(sizes[d]));
  return out;
}

// An open file with its ADIOS2 objects. The destructor closes nothing: a close is collective, and other ranks may be
// elsewhere after a failure.
class Session {
 public:
  Session(adios2_adios* adios, const std::string& path, adios2_mode mode) : path_(path), adios_(adios) {
    must_have(adios_, "begin with", path_);
    io_ = must_have(adios2_declare_io(adios_, "methods"), "declare", path_);
    if (mode == adios2_mode_read) open(mode);
  }

  // For writing; before open().
  void define(const Array& array, const Block& block) {
    const Sizes shape = turned(array, array.shape), start = turned(array, block.start),
                count = turned(array, block.count);
    variable_ = must_have(adios2_define_variable(io_, kVariable, adios2_type_float, shape.size(), shape.data(),
                                                 start.data(), count.data(), adios2_constant_dims_true),
                          "define the array of", path_);
  }
  void open(adios2_mode mode) {
    engine_ = must_have(adios2_open(io_, path_.c_str(), mode), mode == adios2_mode_read ? "open" : "create", path_);
    adios2_step_status status = adios2_step_status_other_error;
    const auto step = mode == adios2_mode_read ? adios2_step_mode_read : adios2_step_mode_append;
    must(adios2_begin_step(engine_, step, kNoTimeOut, &status), "begin with", path_);
    if (status != adios2_step_status_ok) fail("find anything in", path_);
    if (mode == adios2_mode_read)
      variable_ = must_have(adios2_inquire_variable(io_, kVariable), "find the array in", path_);
  }

  void put(std::span<const std::byte> memory) {
    must(adios2_put(engine_, variable_, memory.data(), adios2_mode_deferred), "write", path_);
  }
  void get(const Sizes& start, const Sizes& count, std::span<std::byte> memory, adios2_mode when) {
    must(adios2_set_selection(variable_, start.size(), start.data(), count.data()), "select a part of", path_);
    must(adios2_get(engine_, variable_, memory.data(), when), "read", path_);
  }
  // Moves the data of all puts or gets.
  void end_step() { must(adios2_end_step(engine_), "transfer", path_); }
  void close() {
    must(adios2_close(engine_), "close", path_);
    must(adios2_finalize(adios_), "finish with", path_);
  }

  std::string engine() const {
    std::array<char, 64> text{};
    std::size_t length = 0;
    const bool known = adios2_engine_get_type(nullptr, &length, engine_) == adios2_error_none && length < text.size() &&
                       adios2_engine_get_type(text.data(), &length, engine_) == adios2_error_none;
    return known ? std::string(text.data(), length) : "unknown";
  }

 private:
  const std::string& path_;
  adios2_adios* adios_;
  adios2_io* io_ = nullptr;
  adios2_variable* variable_ = nullptr;
  adios2_engine* engine_ = nullptr;
};

class Adios2Method : public Method {
 public:
  std::string library() const override { return std::string("ADIOS2 ") + ADIOS2_VERSION_STR; }

  Parts write(const Task& task) override {
    const std::string path = file_of(task.folder);
    Parts parts;
    Lap lap;
    Session session(adios2_init_mpi(task.comm), path, adios2_mode_write);
    session.define(*task.array, task.block);
    session.open(adios2_mode_write);
    parts.open = lap();
    if (task.block.elements() > 0) session.put(task.memory);
    session.end_step();
    parts.transfer = lap();
    hints_ = {{"engine", session.engine()}};
    session.close();
    parts.close = lap();
    return parts;
  }

  Parts read(const Task& task) override {
    const std::string path = file_of(task.folder);
    Parts parts;
    Lap lap;
    Session session(adios2_init_mpi(task.comm), path, adios2_mode_read);
    parts.open = lap();
    if (task.block.elements() > 0)
      session.get(turned(*task.array, task.block.start), turned(*task.array, task.block.count), task.memory,
                  adios2_mode_deferred);
    session.end_step();
    parts.transfer = lap();
    session.close();
    parts.close = lap();
    return parts;
  }

  void read_serial(const Array& array, const std::vector<int>& /*grid*/, const std::string& folder,
                   const See& see) override {
    const std::string path = file_of(folder);
    Session session(adios2_init_serial(), path, adios2_mode_read);
    const Sizes shape = turned(array, array.shape);
    std::vector<std::byte> bytes;
    for_each_band(std::vector<std::int64_t>(shape.begin(), shape.end()), kSerialPiece / kElement,
                  [&](const Band& band) {
                    bytes.resize(static_cast<std::size_t>(band.elements * kElement));
                    session.get({band.start.begin(), band.start.end()}, {band.count.begin(), band.count.end()}, bytes,
                                adios2_mode_sync);
                    see(band.first, bytes);
                  });
    session.end_step();
    session.close();
  }

  std::map<std::string, std::string> hints() const override { return hints_; }

 private:
  std::map<std::string, std::string> hints_;
};

}  // namespace

std::unique_ptr<Method> make_adios2_method(std::string_view /*id*/) { return std::make_unique<Adios2Method>(); }

}  // namespace methods
