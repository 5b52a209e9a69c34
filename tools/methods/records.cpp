#include "records.hpp"

#include <unistd.h>

#include <cerrno>

namespace methods {

void print_record(const Json& record) {
  // Bytes that are no UTF-8 (a path in a message) are replaced.
  const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(STDOUT_FILENO, line.data() + done, line.size() - done);
    if (n < 0 && errno != EINTR) fail_errno("write to", "standard output");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

Json json_of(const Cell& cell, int ranks, Cache cache) {
  return {{"ranks", ranks},
          {"grid", cell.grid},
          {"shape", cell.array.shape},
          {"order", cell.array.order == Order::c ? "c" : "f"},
          {"cache", name_of(cache)}};
}

Json json_of(const MethodInfo& info, const Method& method) {
  const std::string missing = method.missing();
  const std::string library = method.library();
  return {{"id", info.id},
          {"number", info.number},
          {"title", info.title},
          {"built", missing.empty()},
          {"library", library.empty() ? Json() : Json(library)},
          {"reason", missing.empty() ? Json() : Json(missing)}};
}

Json failure_record(const Where& where, const std::string& message) {
  return {{"kind", "failure"},    {"method", where.method}, {"cell", where.cell},
          {"phase", where.phase}, {"message", message},     {"rank", where.rank}};
}

}  // namespace methods
