#include "mpiio/representation.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>

#include "mpiio/calls.hpp"
#include "mpiio/external32.hpp"
#include "mpiio/layout.hpp"
#include "mpiio/type_contents.hpp"

namespace thalweg::mpiio {

// One that the program registered, or external32, which has no functions.
struct Representation {
  std::string name;
  std::function<LargeConversion> read, write;  // empty: the bytes of memory are those of the file
  MPI_Datarep_extent_function* extent = nullptr;
  void* state = nullptr;
  bool is_external() const { return extent == nullptr; }
};

namespace {

struct Registered {
  std::mutex mutex;
  std::map<std::string, Representation> all{{"external32", {"external32", {}, {}, nullptr, nullptr}}};
};

Registered& registered() {
  static auto* const kept = new Registered;
  return *kept;
}

// --- signatures -------------------------------------------------------------------------------------------------------

Signature signature_of(MPI_Datatype type, const Representation& representation);

void add(Signature& to, std::int64_t count, Signature inner) {
  if (count <= 0 || inner.items.empty()) return;
  to.memory_bytes += count * inner.memory_bytes;
  to.file_bytes += count * inner.file_bytes;
  if (inner.items.size() > 1) {
    to.items.push_back({count, MPI_DATATYPE_NULL, std::make_shared<const Signature>(std::move(inner))});
    return;
  }
  Signature::Item only = std::move(inner.items[0]);
  only.count *= count;
  if (!to.items.empty() && only.list == nullptr && to.items.back().list == nullptr && to.items.back().leaf == only.leaf)
    to.items.back().count += only.count;
  else
    to.items.push_back(std::move(only));
}

Signature leaf(MPI_Datatype type, const Representation& representation) {
  Signature made;
  MPI_Count bytes = 0;
  MPI_Type_size_x(type, &bytes);
  made.memory_bytes = bytes;
  made.file_bytes = bytes_in_file(representation, type);
  if (bytes > 0) made.items.push_back({1, type, nullptr});
  return made;
}

// How many copies of its one inner datatype a constructor has.
std::int64_t copies(const TypeContents& contents) {
  const std::vector<std::int64_t>& numbers = contents.numbers;
  const auto sum = [&](std::size_t from, std::int64_t n) {
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(from);
    return std::accumulate(begin, begin + n, std::int64_t{0});
  };
  switch (contents.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return 1;
    case MPI_COMBINER_CONTIGUOUS:
      return numbers[0];
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
      return sum(1, numbers[0]);
    default:  // vectors and blocks of one length
      return numbers[0] * numbers[1];
  }
}

Signature constructed(MPI_Datatype type, const Representation& representation) {
  const TypeContents contents(type);
  Signature made;
  if (contents.combiner == MPI_COMBINER_STRUCT) {
    for (std::size_t i = 0; i < contents.types.size(); ++i)
      add(made, contents.numbers[1 + i], signature_of(contents.types[i], representation));
    return made;
  }
  Signature inner = signature_of(contents.types[0], representation);
  std::int64_t n = 0;
  if (contents.combiner == MPI_COMBINER_SUBARRAY || contents.combiner == MPI_COMBINER_DARRAY) {
    MPI_Count bytes = 0;
    MPI_Type_size_x(type, &bytes);
    n = inner.memory_bytes > 0 ? bytes / inner.memory_bytes : 0;
  } else {
    n = copies(contents);
  }
  add(made, n, std::move(inner));
  return made;
}

Signature signature_of(MPI_Datatype type, const Representation& representation) {
  return is_predefined(type) ? leaf(type, representation) : constructed(type, representation);
}

// Converts leaves in order until the bytes of the file end; whole ones only.
class Walk {
 public:
  Walk(std::span<std::byte> memory, std::span<std::byte> file, bool to_file)
      : memory_(memory), file_(file), to_file_(to_file) {}

  bool go(const Signature& signature, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      for (const Signature::Item& item : signature.items)
        if (item.list != nullptr ? !go(*item.list, item.count) : !convert(item.leaf, item.count)) return false;
    return true;
  }
  std::size_t in_memory() const { return memory_at_; }
  bool has_lost() const { return lost_; }

 private:
  bool convert(MPI_Datatype type, std::int64_t count) {
    const ExternalForm form = external_form(type);
    const std::size_t left = (file_.size() - file_at_) / form.file_bytes;
    const auto n = std::min(static_cast<std::size_t>(count), left);
    for (std::size_t i = 0; i < n; ++i) {
      std::byte* const memory = memory_.data() + memory_at_ + i * form.memory_bytes;
      std::byte* const file = file_.data() + file_at_ + i * form.file_bytes;
      lost_ = !(to_file_ ? to_external(form, memory, file) : from_external(form, file, memory)) || lost_;
    }
    memory_at_ += n * form.memory_bytes;
    file_at_ += n * form.file_bytes;
    return n == static_cast<std::size_t>(count);
  }

  std::span<std::byte> memory_, file_;
  bool to_file_;
  bool lost_ = false;  // a value that the other form cannot have
  std::size_t memory_at_ = 0, file_at_ = 0;
};

Failure lost_value() {
  return {MPI_ERR_CONVERSION,
          "a value is too large for external32, which has 4 bytes for a long and 2 for a wide character"};
}

// MPI counts the bytes of a packed buffer by an int.
std::int64_t instances_at_once(std::int64_t bytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  return std::max<std::int64_t>(1, kMost / std::max<std::int64_t>(bytes, 1));
}

}  // namespace

const Representation* representation_of(const char* name, Failure& failure) {
  if (std::strcmp(name, "native") == 0 || std::strcmp(name, "internal") == 0) return nullptr;
  Registered& known = registered();
  const std::scoped_lock lock(known.mutex);
  const auto found = known.all.find(name);
  if (found != known.all.end()) return &found->second;
  failure = {MPI_ERR_UNSUPPORTED_DATAREP,
             "the data representation '" + std::string(name) +
                 "' is unknown; \"native\", \"internal\", \"external32\", or one of MPI_Register_datarep()"};
  return nullptr;
}

std::int64_t bytes_in_file(const Representation& representation, MPI_Datatype predefined) {
  if (representation.is_external()) return static_cast<std::int64_t>(external_form(predefined).file_bytes);
  MPI_Aint bytes = 0;
  representation.extent(predefined, &bytes, representation.state);
  return bytes;
}

Conversion::Conversion(const Representation& representation, tw_direction direction, void* data, std::int64_t count,
                       MPI_Datatype type)
    : representation_(representation),
      direction_(direction),
      data_(data),
      count_(count),
      signature_(signature_of(type, representation)) {
  MPI_Type_dup(type, &type_);
  in_file_.resize(static_cast<std::size_t>(count * signature_.file_bytes));
}

Conversion::~Conversion() { MPI_Type_free(&type_); }

// Calls pack(instances, n, bytes of these) for the program's memory, in parts whose bytes an int can count.
template <class Pack>
void Conversion::in_parts(std::vector<std::byte>& bytes, Pack&& pack) const {
  const std::int64_t size = signature_.memory_bytes, step = instances_at_once(size);
  MPI_Count lower = 0, extent = 0;
  MPI_Type_get_extent_x(type_, &lower, &extent);
  for (std::int64_t i = 0; i < count_ && size > 0; i += step) {
    const std::int64_t n = std::min(step, count_ - i);
    pack(static_cast<std::byte*>(data_) + i * extent, static_cast<int>(n), bytes.data() + i * size,
         static_cast<int>(n * size));
  }
}

// The program's memory as MPI packs it: native bytes, one behind the other.
std::vector<std::byte> Conversion::packed() const {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count_ * signature_.memory_bytes));
  in_parts(bytes, [&](const void* instances, int n, std::byte* to, int room) {
    int at = 0;
    MPI_Pack(instances, n, type_, to, room, &at, MPI_COMM_SELF);
  });
  return bytes;
}

void Conversion::unpack(std::vector<std::byte>& bytes) {
  in_parts(bytes, [&](void* instances, int n, const std::byte* from, int room) {
    int at = 0;
    MPI_Unpack(from, room, &at, instances, n, type_, MPI_COMM_SELF);
  });
}

Failure Conversion::call_user(const std::function<LargeConversion>& function, std::int64_t count) {
  if (count == 0) return {};
  const int error = function(data_, type_, count, in_file_.data(), 0, representation_.state);
  if (error == MPI_SUCCESS) return {};
  return {MPI_ERR_CONVERSION, "the conversion function of data representation '" + representation_.name +
                                  "' returned error " + std::to_string(error)};
}

Failure Conversion::begin() {
  if (representation_.write) return call_user(representation_.write, count_);
  std::vector<std::byte> memory = packed();
  if (!representation_.is_external()) {  // MPI_CONVERSION_FN_NULL: the bytes of memory
    std::copy_n(memory.begin(), std::min(memory.size(), in_file_.size()), in_file_.begin());
    return {};
  }
  Walk walk(memory, in_file_, true);
  walk.go(signature_, count_);
  return walk.has_lost() ? lost_value() : Failure{};
}

Failure Conversion::end(std::int64_t* moved) {
  const std::int64_t whole = signature_.file_bytes > 0 ? *moved / signature_.file_bytes : 0;
  if (direction_ == TW_ACCESS_WRITE) {
    *moved = whole * signature_.memory_bytes;
    return {};
  }
  if (representation_.is_external()) return from_external(*moved, moved);
  if (representation_.read) {
    *moved = whole * signature_.memory_bytes;
    return call_user(representation_.read, whole);
  }
  std::vector<std::byte> memory = packed();
  std::copy_n(in_file_.begin(), std::min(memory.size(), static_cast<std::size_t>(*moved)), memory.begin());
  unpack(memory);
  return {};
}

// Memory that stands for bytes behind the end of the file keeps its values.
Failure Conversion::from_external(std::int64_t file_bytes_read, std::int64_t* moved) {
  std::vector<std::byte> memory = packed();
  Walk walk(memory, std::span(in_file_).first(static_cast<std::size_t>(file_bytes_read)), false);
  walk.go(signature_, count_);
  *moved = static_cast<std::int64_t>(walk.in_memory());
  unpack(memory);
  return walk.has_lost() ? lost_value() : Failure{};
}

namespace {

template <class Function>
std::function<LargeConversion> conversion_by(Function* function) {
  if (function == nullptr) return {};
  return [function](void* memory, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position, void* state) {
    return function(memory, type, static_cast<int>(count), file, position, state);
  };
}

template <>
std::function<LargeConversion> conversion_by(LargeConversion* function) {
  return function != nullptr ? std::function<LargeConversion>(function) : nullptr;
}

int add(const char* name, Representation made) {
  constexpr const char* kCall = "MPI_Register_datarep: ";
  if (name == nullptr || made.extent == nullptr || std::strlen(name) >= MPI_MAX_DATAREP_STRING)
    return conclude(nullptr, {MPI_ERR_ARG, std::string(kCall) + "the name or the extent function is NULL, or the name "
                                                                "has MPI_MAX_DATAREP_STRING characters or more"});
  Registered& known = registered();
  bool is_new = std::strcmp(name, "native") != 0 && std::strcmp(name, "internal") != 0;
  if (is_new) {
    made.name = name;
    const std::scoped_lock lock(known.mutex);
    is_new = known.all.try_emplace(name, std::move(made)).second;
  }
  if (is_new) return MPI_SUCCESS;
  return conclude(nullptr, {MPI_ERR_DUP_DATAREP, kCall + ("'" + std::string(name)) + "' is registered already"});
}

}  // namespace

int register_datarep(const char* name, MPI_Datarep_conversion_function* read, MPI_Datarep_conversion_function* write,
                     MPI_Datarep_extent_function* extent, void* state) {
  return add(name, {"", conversion_by(read), conversion_by(write), extent, state});
}

int register_datarep(const char* name, LargeConversion* read, LargeConversion* write,
                     MPI_Datarep_extent_function* extent, void* state) {
  return add(name, {"", conversion_by(read), conversion_by(write), extent, state});
}

}  // namespace thalweg::mpiio
