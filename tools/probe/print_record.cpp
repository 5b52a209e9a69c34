#include "print_record.hpp"

#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace probe {

void print_record(const Json& record) {
  // Bytes that are no UTF-8 (a path in a message) are replaced.
  const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(STDOUT_FILENO, line.data() + done, line.size() - done);
    if (n < 0 && errno != EINTR)
      throw std::runtime_error("cannot write to standard output: " + std::generic_category().message(errno));
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

}  // namespace probe
