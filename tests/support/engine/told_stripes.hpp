// While an object lives, file systems tell recorded kinds and stripes: answers of Lustre and BeeGFS, whose servers no test
// has. What is asked of them is kept.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/endian.hpp"
#include "os/stripes.hpp"

namespace thalweg::test {

constexpr std::uint32_t kLustre = 0x0BD00BD0, kBeegfs = 0x19830326, kGpfs = 0x47504653;

class ToldStripes {
 public:
  struct Control {
    unsigned long request;
    std::vector<std::byte> argument;
  };
  static inline std::uint32_t magic;               // of every file system; 0: the real one
  static inline std::vector<std::byte> attribute;  // lustre.lov; empty: none
  static inline std::vector<Control> controls;
  static inline int refuse;  // errno of every control; 0: they succeed
  static inline std::string made_by_server;

  ToldStripes() {
    magic = 0;
    refuse = 0;
    attribute.clear();
    controls.clear();
    made_by_server.clear();
    stripe_calls() = {system_at, system_of, get_attribute, control};
  }
  ~ToldStripes() { stripe_calls() = saved_; }
  ToldStripes(const ToldStripes&) = delete;
  ToldStripes& operator=(const ToldStripes&) = delete;

  // A layout of version 1 or 3, with an object on each of `targets`.
  static std::vector<std::byte> lov(std::uint32_t version, std::uint32_t pattern, std::uint32_t bytes,
                                    std::uint16_t count, const std::vector<std::uint32_t>& targets) {
    std::vector<std::byte> out;
    put<std::uint32_t>(out, {version == 1 ? 0x0BD10BD0U : 0x0BD30BD0U, pattern});
    put<std::uint64_t>(out, {77, 0});
    put<std::uint32_t>(out, {bytes});
    put<std::uint16_t>(out, {count, 3});
    if (version == 3) put<std::uint64_t>(out, {0x6C6F6F70, 0});  // the pool
    for (const std::uint32_t target : targets) {
      put<std::uint64_t>(out, {1234, 0});
      put<std::uint32_t>(out, {0, target});
    }
    return out;
  }
  template <class U>
  static void put(std::vector<std::byte>& out, std::initializer_list<U> values) {
    for (const U value : values) {
      out.resize(out.size() + sizeof(U));
      store_le<U>(std::span(out).last(sizeof(U)), value);
    }
  }

 private:
  static int system_at(const char* path, struct statfs* found) {
    const int result = ::statfs(path, found);
    if (magic != 0) found->f_type = magic;
    return result;
  }
  static int system_of(int file, struct statfs* found) {
    const int result = ::fstatfs(file, found);
    if (magic != 0) found->f_type = magic;
    return result;
  }
  static ssize_t get_attribute(int, const char* name, void* value, std::size_t bytes) {
    if (std::string(name) != "lustre.lov" || attribute.empty()) {
      errno = ENODATA;
      return -1;
    }
    if (bytes > 0) std::memcpy(value, attribute.data(), std::min(bytes, attribute.size()));
    return static_cast<ssize_t>(attribute.size());
  }
  static int control(int file, unsigned long request, void* argument) {
    const auto* const bytes = static_cast<const std::byte*>(argument);
    const std::size_t size = request == _IOW('f', 154, long) ? 32 : _IOC_SIZE(request);
    controls.push_back({request, {bytes, bytes + size}});
    if (refuse != 0) {
      errno = refuse;
      return -1;
    }
    if (_IOC_NR(request) == 25) {
      const std::uint32_t stripes[] = {1, 524288, 4};  // RAID0, the chunk, and targets with padding
      std::memcpy(argument, stripes, sizeof stripes);
    } else if (_IOC_NR(request) == 27) {
      const char* name = nullptr;
      std::memcpy(&name, argument, sizeof name);
      made_by_server = name;
      ::close(::openat(file, name, O_CREAT | O_EXCL | O_WRONLY, 0600));
    }
    return 0;
  }

  const StripeCalls saved_ = stripe_calls();
};

}  // namespace thalweg::test
