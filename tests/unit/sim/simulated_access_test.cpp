// Accesses on a simulated machine: how bytes, tasks and costs change their times.
#include "sim/simulated_access.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "sim/predict.hpp"
#include "support/sanitized.hpp"

namespace thalweg {
namespace {

SimulatedAccess access_of(SimulatedWay way, std::int64_t tasks = 16) {
  SimulatedAccess access;
  access.way = way;
  access.tasks = tasks;
  access.pieces = {4, 4096, 0};
  return access;
}

MachineCosts machine() {
  MachineCosts machine;
  machine.tasks_per_node = 4;
  return machine;
}

double total(const SimulatedAccess& access, const MachineCosts& on) {
  const auto found = predict(on, access);
  EXPECT_TRUE(found.has_value()) << found.status().message();
  if (!found.has_value()) return 0;
  EXPECT_GE(found.value().open, 0);
  EXPECT_GE(found.value().close, 0);
  EXPECT_GT(found.value().transfer, 0);
  return found.value().open + found.value().transfer + found.value().close;
}

constexpr SimulatedWay kWays[] = {SimulatedWay::collective, SimulatedWay::independent, SimulatedWay::multifile,
                                  SimulatedWay::file_per_task, SimulatedWay::gather};

TEST(SimulatedAccess, RepeatsExactlyInBothDirections) {
  for (const SimulatedWay way : kWays) {
    for (const Direction direction : {Direction::write, Direction::read}) {
      SimulatedAccess access = access_of(way);
      access.direction = direction;
      EXPECT_EQ(total(access, machine()), total(access, machine())) << static_cast<int>(way);
    }
  }
}

TEST(SimulatedAccess, SlowerStorageTakesLonger) {
  MachineCosts slow = machine();
  slow.storage.byte_ns = 500;
  for (const SimulatedWay way : kWays)
    EXPECT_GT(total(access_of(way), slow), total(access_of(way), machine())) << static_cast<int>(way);
}

// Between nodes of one process each collective is a trip through the network, and more than the bytes of a small access.
TEST(SimulatedAccess, OneRoundOfTwoPhaseTakesFewCollectives) {
  MachineCosts nodes;
  nodes.tasks_per_node = 1;
  SimulatedMachine machine(4, SimulatedBytes::forgotten, nodes);
  SimulatedSharedFile file(machine, {.count = 100, .bytes = 64}, "method=aggregate");
  ASSERT_TRUE(file.open().has_value());

  const auto written = file.move(Direction::write);
  const auto was_read = file.move(Direction::read);

  ASSERT_TRUE(written.has_value() && was_read.has_value());
  EXPECT_EQ(written.value().collectives, 3);   // the access of the group, requests, agreement
  EXPECT_EQ(was_read.value().collectives, 4);  // and replies
}

// The gather writes through the link of one node, files of tasks through those of four.
TEST(SimulatedAccess, SlowLinksOfClientsHitTheGatherMost) {
  MachineCosts slow = machine();
  slow.storage.client_byte_ns = 1e6;
  const double bytes = 16 * 4 * 4096;

  EXPECT_GT(total(access_of(SimulatedWay::gather), slow), bytes * 1e-3);
  EXPECT_LT(total(access_of(SimulatedWay::file_per_task), slow), bytes * 1e-3 / 4 * 1.1);
}

TEST(SimulatedAccess, SlowMetadataHitFilesOfTasksMost) {
  MachineCosts slow = machine();
  slow.storage.create_ns = 5e6;
  const double files = total(access_of(SimulatedWay::file_per_task), slow);

  EXPECT_GT(files, 16 * 5e-3);
  EXPECT_LT(total(access_of(SimulatedWay::gather), slow), files);
}

// Requests of different tasks are under way at the same time.
TEST(SimulatedAccess, OpeningByManyTasksWaitsForFewRequests) {
  MachineCosts costs;
  costs.storage.request_ns = 1e9;
  costs.storage.open_ns = 1;
  for (const SimulatedWay way : {SimulatedWay::multifile, SimulatedWay::collective}) {
    const auto found = predict(costs, access_of(way, 1000));
    ASSERT_TRUE(found.has_value()) << found.status().message();
    EXPECT_LT(found.value().open, 100);  // task 0 makes a physical file for each node, one after the other
  }
}

TEST(SimulatedAccess, AMultifileTakesHints) {
  MachineCosts costs;
  costs.storage.create_ns = 1e9;
  SimulatedAccess access;
  access.way = SimulatedWay::multifile;
  access.tasks = 16;
  const auto seconds_with = [&](const std::string& hints) {
    access.hints = hints;
    const auto found = simulate_access(costs, access);
    EXPECT_TRUE(found.has_value()) << hints;
    return found.has_value() ? found.value().open : 0;
  };
  EXPECT_GT(seconds_with("physical_files=8"), seconds_with("physical_files=1") + 6);  // 7 more files, a second each

  access.hints = "physical_file=8";
  EXPECT_EQ(simulate_access(costs, access).status().code(), Code::unknown_hint);
}

TEST(SimulatedAccess, OneTaskAndOneByteAreEnough) {
  for (const SimulatedWay way : kWays) {
    SimulatedAccess access = access_of(way, 1);
    access.pieces = {1, 1, 0};
    total(access, machine());
  }
}

// Each byte of the file belongs to one piece of one task, in the documented order.
TEST(SimulatedAccess, PiecesInTurnFillTheFileOnce) {
  constexpr std::uint64_t kCount = 3, kBytes = 10;
  for (const std::int64_t tasks : {1, 5, 16}) {
    for (const std::int64_t in_turn : {0, 1, 3, 5, 16, 100}) {
      const SimulatedPieces pieces{kCount, kBytes, in_turn};
      std::set<std::uint64_t> begins;
      for (std::int64_t task = 0; task < tasks; ++task) {
        for (std::uint64_t i = 0; i < kCount; ++i) begins.insert(pieces.offset(i, task, tasks));
      }
      const auto all = static_cast<std::uint64_t>(tasks) * kCount;
      ASSERT_EQ(begins.size(), all) << tasks << " tasks, in turn: " << in_turn;
      EXPECT_EQ(*begins.rbegin(), (all - 1) * kBytes);
      for (const std::uint64_t begin : begins) EXPECT_EQ(begin % kBytes, 0u);
    }
  }
  const SimulatedPieces pieces{2, 10, 2};  // a0 b0 a1 b1, c0 d0 c1 d1, e0 e1
  EXPECT_EQ(pieces.offset(1, 1, 5), 30u);
  EXPECT_EQ(pieces.offset(0, 2, 5), 40u);
  EXPECT_EQ(pieces.offset(1, 4, 5), 90u);
  EXPECT_EQ((SimulatedPieces{2, 10, 1}.offset(1, 3, 5)), 70u);  // a single task per process
}

TEST(SimulatedAccess, NeighboursInTurnAreAllSimulated) {
  for (const int64_t in_turn : {1, 3, 5, 16, 100}) {
    SimulatedAccess access = access_of(SimulatedWay::independent);
    access.pieces.in_turn = in_turn;
    EXPECT_GT(total(access, machine()), 0);
  }
}

struct Refused {
  const char* what;  // in the message
  void (*change)(MachineCosts& machine, SimulatedAccess& access);
};
constexpr Refused kRefused[] = {
    {"tasks is 1048577", [](MachineCosts&, SimulatedAccess& access) { access.tasks = (1 << 20) + 1; }},
    {"pieces is 0", [](MachineCosts&, SimulatedAccess& access) { access.pieces.count = 0; }},
    {"in_turn is -1", [](MachineCosts&, SimulatedAccess& access) { access.pieces.in_turn = -1; }},
    // Memory limits: of a piece, of a task, of a file that is kept.
    {"33554433 pieces",
     [](MachineCosts&, SimulatedAccess& access) {
       access.way = SimulatedWay::independent;
       access.tasks = 2761;  // a factor of 2^25 + 1
       access.pieces.count = 12153;
       access.pieces.bytes = 1;
     }},
    {"67108865 bytes",
     [](MachineCosts&, SimulatedAccess& access) { access.pieces.count = 5, access.pieces.bytes = 13421773; }},
    {"17179869437 bytes",
     [](MachineCosts&, SimulatedAccess& access) {
       access.tasks = 257;
       access.pieces.count = 1;
       access.pieces.bytes = 66847741;
     }},
    {"2147485700 bytes",
     [](MachineCosts&, SimulatedAccess& access) {
       access.way = SimulatedWay::multifile;
       access.tasks = 1025;
       access.pieces.count = 4;
       access.pieces.bytes = 523777;
     }},
    // The nodes of the network and of storage are the same nodes.
    {"tasks_per_process is 3, must divide tasks_per_node, which is 4; set tasks_per_node",
     [](MachineCosts&, SimulatedAccess& access) { access.tasks_per_process = 3; }},
    {"tasks_per_process is 8", [](MachineCosts&, SimulatedAccess& access) { access.tasks_per_process = 8; }},
    {"tasks_per_process is -1", [](MachineCosts&, SimulatedAccess& access) { access.tasks_per_process = -1; }},
    {"tasks_per_node is -4", [](MachineCosts& machine, SimulatedAccess&) { machine.tasks_per_node = -4; }},
    {"servers is 1025", [](MachineCosts& machine, SimulatedAccess&) { machine.storage.servers = 1025; }},
    {"stripe_bytes is 4095", [](MachineCosts& machine, SimulatedAccess&) { machine.storage.stripe_bytes = 4095; }},
    {"stripe_bytes is 1073741825",
     [](MachineCosts& machine, SimulatedAccess&) { machine.storage.stripe_bytes = (1 << 30) + 1; }},
    {"lock_bytes is 1, must be 4096", [](MachineCosts& machine, SimulatedAccess&) { machine.storage.lock_bytes = 1; }},
    {"hints 'physical_files=2' are for a multifile",
     [](MachineCosts&, SimulatedAccess& access) { access.hints = "physical_files=2"; }},
    {"server_byte_ns is -1", [](MachineCosts& machine, SimulatedAccess&) { machine.storage.byte_ns = -1; }},
    {"open_ns is nan", [](MachineCosts& machine, SimulatedAccess&) { machine.storage.open_ns = std::nan(""); }},
};

TEST(SimulatedAccess, ARefusalNamesTheNumber) {
  for (const Refused& one : kRefused) {
    MachineCosts on = machine();
    SimulatedAccess access = access_of(SimulatedWay::gather);
    one.change(on, access);
    const auto found = predict(on, access);
    EXPECT_EQ(found.status().code(), Code::invalid_argument) << one.what;
    EXPECT_NE(std::string(found.status().message()).find(one.what), std::string::npos)
        << one.what << ": " << found.status().message();
  }
}

TEST(SimulatedAccess, AsManyServersAsThereMayBe) {
  MachineCosts on = machine();
  on.storage.servers = 1024;
  for (const SimulatedWay way : kWays) total(access_of(way), on);
  on.storage.servers = 1000;  // not a power of two
  on.storage.stripe_bytes = 5000;
  for (const SimulatedWay way : kWays) total(access_of(way), on);
}

// Seconds of a write by 12 aggregators, whose domains have so many stripes, in units of what the servers need.
double aggregated_write(int servers, int stripes) {
  MachineCosts on = machine();
  on.storage.servers = static_cast<std::uint64_t>(servers);
  SimulatedMachine nodes(48, SimulatedBytes::forgotten, on);
  SimulatedSharedFile file(nodes, {static_cast<std::uint64_t>(stripes) * 4, 65536, 0},
                           "method=aggregate,aggregators=12");
  EXPECT_TRUE(file.open().has_value());
  auto cost = file.move(Direction::write);
  EXPECT_TRUE(cost.has_value()) << cost.status().message();
  EXPECT_TRUE(file.close().has_value());
  const double bytes = 12.0 * stripes * static_cast<double>(on.storage.stripe_bytes);
  return cost.has_value() ? cost->seconds / (bytes * on.storage.byte_ns * 1e-9 / servers) : 0;
}

// Where the domains had a multiple of the servers, all aggregators would go from one server to the next at the same
// time: 3.5 to 3.9 times what the servers need.
TEST(SimulatedAccess, AggregatorsUseAllServersAtATimeWhateverTheirNumber) {
  for (const int servers : {3, 5, 6, 12, 15, 16})
    for (const int stripes : {60, 63, 75, 105, 120}) {
      if (test::tries_less() && stripes != 75) continue;
      const double found = aggregated_write(servers, stripes);
      std::printf("%2d servers, %3d stripes of an aggregator: %.2f x\n", servers, stripes, found);
      EXPECT_LT(found, 2) << servers << " servers, " << stripes << " stripes";
    }
}

TEST(SimulatedAccess, TasksOfAProcessMayBeMoreThanThereAre) {
  for (const SimulatedWay way : kWays) {
    SimulatedAccess access = access_of(way, 3);
    access.tasks_per_process = 4;
    total(access, machine());
  }
}

}  // namespace
}  // namespace thalweg
