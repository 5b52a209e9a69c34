// Relaying groups have no exchange of their own: all messages pass through one task. Good for a few words, not for
// data. Their collectives are functions of the user's that wait for the other tasks, on the thread that calls.
#pragma once

#include "group/group.hpp"

namespace thalweg {

class Relaying {
 public:
  virtual ~Relaying() = default;
  virtual bool relays() const noexcept = 0;
};

// The same on all tasks of a group.
inline bool relays_messages(const Group& group) {
  const auto* relaying = dynamic_cast<const Relaying*>(&group);
  return relaying != nullptr && relaying->relays();
}

}  // namespace thalweg
