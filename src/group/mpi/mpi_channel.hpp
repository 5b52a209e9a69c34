// MpiChannel: a communicator that several groups share, and the tags that separate the messages of one of these
// groups from those of the others.
//
// All collectives of a group consist of point-to-point messages, so a group of the same ranks needs no communicator
// of its own. Within a channel two tags suffice: messages between two ranks match in sending order, and every rank
// runs the collectives of a group one after the other.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <memory>

namespace thalweg {

class MpiCommunicator {
 public:
  explicit MpiCommunicator(MPI_Comm comm) : comm_(comm) {}
  // After MPI_Finalize nothing can be freed.
  ~MpiCommunicator();
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  MPI_Comm get() const { return comm_; }

 private:
  const MPI_Comm comm_;
};

struct MpiChannel {
  static constexpr int kTags = 2;  // tags of one channel

  std::shared_ptr<const MpiCommunicator> shared;  // null: one rank alone, which sends nothing
  int rank = 0;
  int size = 1;
  int tag = 0;

  MPI_Comm comm() const { return shared->get(); }
  int length_tag() const { return tag + 1; }  // for messages from unknown senders
};

// Binomial tree over the ranks of a channel, numbered from its root: the subtree of number v consists of v and the
// numbers that follow, in total as many as the value of the lowest bit set in v.
struct MpiTree {
  MpiTree(const MpiChannel& channel, int from)
      : root(from), size(channel.size), number((channel.rank - from + channel.size) % channel.size) {
    for (; span < size && (number & span) == 0; span *= 2) {
    }
  }
  bool is_root() const { return number == 0; }
  int rank_of(int v) const { return (v + root) % size; }
  int parent() const { return rank_of(number - span); }
  // Ranks in the subtree of child number + bit.
  int ranks_below(int bit) const { return std::min(bit, size - number - bit); }
  int ranks_of_subtree() const { return std::min(span, size - number); }

  const int root, size, number;
  int span = 1;  // children: number + bit for each bit < span, as long as this is below size
};

}  // namespace thalweg
