#include "os/node_id.hpp"

#include <unistd.h>

#include <string>
#include <string_view>

#include "os/file_ops.hpp"

namespace thalweg {

namespace {

// FNV-1a: short, and enough to distinguish nodes.
std::int64_t hash(std::string_view text) {
  std::uint64_t value = 14695981039346656037U;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return static_cast<std::int64_t>(value >> 1U);
}

std::int64_t find_node_id() {
  std::string id = proc_text("/proc/sys/kernel/random/boot_id");
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) == 0) id += name;
  return id.empty() ? -1 : hash(id);
}

}  // namespace

NodeIdCall& node_id_call() {
  static NodeIdCall call = find_node_id;
  return call;
}

std::int64_t node_id() { return node_id_call()(); }

std::size_t cores_of_node() {
  static const long n = ::sysconf(_SC_NPROCESSORS_ONLN);  // the call reads a file in /sys
  return n > 0 ? static_cast<std::size_t>(n) : 1;
}

}  // namespace thalweg
