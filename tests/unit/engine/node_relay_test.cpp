// NodeRelay: when it reduces the cost.
#include "engine/two_phase/node_relay.hpp"

#include <gtest/gtest.h>

namespace thalweg {
namespace {

// Fewer messages against one more exchange.
TEST(NodeRelay, IsForManySendersOnFewNodes) {
  StorageCosts costs;
  costs.message_ns = 1000;
  costs.round_ns = 20000;
  RelayCase input{.nodes = 16, .processes = 1024, .senders = 1024, .message_bytes = 100, .most_bytes = 8192};
  EXPECT_TRUE(pays_to_relay(input, costs));
  input.senders = 16 + 64 + 110;  // 11 bits of processes
  EXPECT_FALSE(pays_to_relay(input, costs));
  ++input.senders;
  EXPECT_TRUE(pays_to_relay(input, costs));
  for (const std::uint64_t few : {0, 1, 16, 80}) {
    input.senders = few;
    EXPECT_FALSE(pays_to_relay(input, costs)) << few;
  }
}

TEST(NodeRelay, IsNotForLargeMessagesNorWhereNodesHaveOneProcess) {
  const StorageCosts costs;
  RelayCase input{.nodes = 16, .processes = 1024, .senders = 1024, .message_bytes = 8192, .most_bytes = 8192};
  EXPECT_TRUE(pays_to_relay(input, costs));
  ++input.message_bytes;
  EXPECT_FALSE(pays_to_relay(input, costs));
  input = {.nodes = 1024, .processes = 1024, .senders = 1024, .message_bytes = 100, .most_bytes = 8192};
  EXPECT_FALSE(pays_to_relay(input, costs));
}

}  // namespace
}  // namespace thalweg
