// A method whose library opens the file 'array', with direct I/O if it can.
#pragma once

#include <optional>

#include "method.hpp"
#include "opened_direct.hpp"
#include "stopwatch.hpp"

namespace probe {

template <class Kind>
class DirectMethod : public Kind {
 public:
  bool can_direct() const override { return true; }
  bool was_direct() const override { return direct_.value_or(false); }

 protected:
  static std::string file_of(const std::string& folder) { return folder + "/array"; }

  // The times of a file that open() returns and act(file) uses.
  template <class Open, class Act>
  Parts use(const Task& task, Open open, Act act) {
    Parts parts;
    Lap lap;
    auto file = open();
    parts.open = lap();
    act(file);
    parts.transfer = lap();
    if (task.direct && !direct_) direct_ = opened_direct(file_of(task.folder));
    file.close();
    parts.close = lap();
    return parts;
  }

 private:
  std::optional<bool> direct_;
};

}  // namespace probe
