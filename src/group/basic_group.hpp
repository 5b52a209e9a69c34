// BasicGroup: two collectives that most kinds of group make of the others.
#pragma once

#include "base/visibility.hpp"
#include "group/group.hpp"

namespace thalweg {

class TW_SHARED BasicGroup : public Group {
 public:
  // Gathers to task 0, which broadcasts the result.
  Op<Result<Gathered>> allgather(ByteView data) override;
  // Each task sends an address, and takes that of its leader, which is valid in its process only.
  Op<Result<std::shared_ptr<void>>> share_in_process(std::function<std::shared_ptr<void>()> make) override;
};

}  // namespace thalweg
