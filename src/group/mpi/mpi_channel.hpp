// MpiChannel: a communicator that several groups share, and the tags by which the messages of one of them are told from
// those of the others.
//
// All collectives of a group are made of point-to-point messages, so that a group of the same ranks needs no
// communicator of its own. Within a channel two tags suffice: the messages between two ranks match in the order in
// which they were sent, and the collectives of a group follow one another on every rank.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <memory>

namespace thalweg {

class MpiCommunicator {
 public:
  explicit MpiCommunicator(MPI_Comm comm) : comm_(comm) {}
  // After MPI_Finalize there is nothing to free any more.
  ~MpiCommunicator();
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  MPI_Comm get() const { return comm_; }

 private:
  const MPI_Comm comm_;
};

struct MpiChannel {
  static constexpr int kTags = 2;  // of one channel

  std::shared_ptr<const MpiCommunicator> shared;  // null: one rank alone, which sends nothing
  int rank = 0;
  int size = 1;
  int tag = 0;

  MPI_Comm comm() const { return shared->get(); }
  int length_tag() const { return tag + 1; }  // of messages whose senders are not known before
};

// Binomial tree over the ranks of a channel, numbered from its root: the subtree of number v is v and those that
// follow, as many as the lowest bit that is set in v.
struct MpiTree {
  MpiTree(const MpiChannel& channel, int from)
      : root(from), size(channel.size), number((channel.rank - from + channel.size) % channel.size) {
    for (; span < size && (number & span) == 0; span *= 2) {
    }
  }
  bool is_root() const { return number == 0; }
  int rank_of(int v) const { return (v + root) % size; }
  int parent() const { return rank_of(number - span); }
  // Of the subtree of child number + bit.
  int ranks_below(int bit) const { return std::min(bit, size - number - bit); }
  int ranks_of_subtree() const { return std::min(span, size - number); }

  const int root, size, number;
  int span = 1;  // children are number + bit for each bit < span while that is a number
};

}  // namespace thalweg
