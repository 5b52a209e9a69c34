// Accesses on a simulated machine: how bytes, tasks and costs change their times.
#include "sim/simulated_access.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "sim/predict.h"

namespace thalweg {
namespace {

tw_sim_access access_of(tw_sim_way way, int64_t tasks = 16) {
  tw_sim_access access = {};
  access.struct_size = sizeof access;
  access.way = way;
  access.direction = TW_ACCESS_WRITE;
  access.tasks = tasks;
  access.pieces = 4;
  access.piece_bytes = 4096;
  return access;
}

tw_sim_machine machine() {
  tw_sim_machine machine = {};
  machine.struct_size = sizeof machine;
  machine.tasks_per_node = 4;
  return machine;
}

double total(const tw_sim_access& access, const tw_sim_machine& on) {
  tw_sim_prediction found = {};
  found.struct_size = sizeof found;
  EXPECT_EQ(tw_sim_predict(&on, &access, &found), TW_OK);
  EXPECT_GE(found.open_seconds, 0);
  EXPECT_GE(found.close_seconds, 0);
  EXPECT_GT(found.transfer_seconds, 0);
  return found.open_seconds + found.transfer_seconds + found.close_seconds;
}

constexpr tw_sim_way kWays[] = {TW_SIM_COLLECTIVE, TW_SIM_INDEPENDENT, TW_SIM_MULTIFILE, TW_SIM_FILE_PER_TASK,
                                TW_SIM_GATHER};

TEST(SimulatedAccess, RepeatsExactlyInBothDirections) {
  for (const tw_sim_way way : kWays) {
    for (const tw_direction direction : {TW_ACCESS_WRITE, TW_ACCESS_READ}) {
      tw_sim_access access = access_of(way);
      access.direction = direction;
      EXPECT_EQ(total(access, machine()), total(access, machine())) << way;
    }
  }
}

TEST(SimulatedAccess, SlowerStorageTakesLonger) {
  tw_sim_machine slow = machine();
  slow.server_byte_ns = 500;
  for (const tw_sim_way way : kWays) EXPECT_GT(total(access_of(way), slow), total(access_of(way), machine())) << way;
}

TEST(SimulatedAccess, SlowMetadataHitFilesOfTasksMost) {
  tw_sim_machine slow = machine();
  slow.create_ns = 5e6;
  const double files = total(access_of(TW_SIM_FILE_PER_TASK), slow);

  EXPECT_GT(files, 16 * 5e-3);
  EXPECT_LT(total(access_of(TW_SIM_GATHER), slow), files);
}

TEST(SimulatedAccess, OneTaskAndOneByteAreEnough) {
  for (const tw_sim_way way : kWays) {
    tw_sim_access access = access_of(way, 1);
    access.pieces = access.piece_bytes = 1;
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
    tw_sim_access access = access_of(TW_SIM_INDEPENDENT);
    access.in_turn = in_turn;
    EXPECT_GT(total(access, machine()), 0);
  }
}

struct Member {
  const char* name;
  double tw_sim_machine::*ns;
  double value;
};
constexpr Member kTimes[] = {
    {"send_ns", &tw_sim_machine::send_ns, 300},           {"node_latency_ns", &tw_sim_machine::node_latency_ns, 500},
    {"node_byte_ns", &tw_sim_machine::node_byte_ns, 0.1}, {"latency_ns", &tw_sim_machine::latency_ns, 1500},
    {"byte_ns", &tw_sim_machine::byte_ns, 0.08},          {"request_ns", &tw_sim_machine::request_ns, 50e3},
    {"server_ns", &tw_sim_machine::server_ns, 20e3},      {"server_byte_ns", &tw_sim_machine::server_byte_ns, 0.5},
    {"handover_ns", &tw_sim_machine::handover_ns, 200e3}, {"open_ns", &tw_sim_machine::open_ns, 10e3},
    {"create_ns", &tw_sim_machine::create_ns, 50e3}};

// Times of all methods in both directions, on three nodes.
std::vector<double> totals(const tw_sim_machine& on) {
  std::vector<double> found;
  for (const tw_sim_way way : kWays) {
    for (const tw_direction direction : {TW_ACCESS_WRITE, TW_ACCESS_READ}) {
      tw_sim_access access = access_of(way, 130);
      access.direction = direction;
      access.piece_bytes = 20'000;
      found.push_back(total(access, on));
    }
  }
  return found;
}

TEST(SimulatedAccess, DefaultsAreThoseOfTheHeader) {
  tw_sim_machine none = {}, told = {};
  none.struct_size = told.struct_size = sizeof told;
  told.tasks_per_node = 64;
  told.servers = 16;
  told.stripe_bytes = 1 << 20;
  for (const Member& member : kTimes) told.*member.ns = member.value;
  const std::vector<double> defaults = totals(none);

  EXPECT_EQ(totals(told), defaults);

  for (const Member& member : kTimes) {
    tw_sim_machine other = none;
    other.*member.ns = member.value * 1.01;
    EXPECT_NE(totals(other), defaults) << member.name;
  }
  for (const auto member : {&tw_sim_machine::tasks_per_node, &tw_sim_machine::servers, &tw_sim_machine::stripe_bytes}) {
    tw_sim_machine other = none;
    other.*member = told.*member / 2;
    EXPECT_NE(totals(other), defaults);
  }
}

TEST(SimulatedAccess, RefusesWhatMakesNoSense) {
  tw_sim_prediction found = {};
  found.struct_size = sizeof found;
  const tw_sim_access good = access_of(TW_SIM_GATHER);
  EXPECT_EQ(tw_sim_predict(nullptr, &good, &found), TW_OK);
  EXPECT_EQ(tw_sim_predict(nullptr, nullptr, &found), TW_ERR_INVALID);
  EXPECT_EQ(tw_sim_predict(nullptr, &good, nullptr), TW_ERR_INVALID);
  const auto refused = [&](auto change) {
    tw_sim_access access = good;
    change(access);
    return tw_sim_predict(nullptr, &access, &found) == TW_ERR_INVALID;
  };
  EXPECT_TRUE(refused([](tw_sim_access& access) { access.way = 5; }));
  EXPECT_TRUE(refused([](tw_sim_access& access) { access.direction = 7; }));
  EXPECT_TRUE(refused([](tw_sim_access& access) { access.tasks = 0; }));
  EXPECT_TRUE(refused([](tw_sim_access& access) { access.pieces = int64_t{1} << 50; }));
  EXPECT_TRUE(refused([](tw_sim_access& access) { access.piece_bytes = int64_t{1} << 40; }));
  EXPECT_TRUE(refused([](tw_sim_access& access) { access.in_turn = -1; }));
}

struct Refused {
  const char* what;  // in the message
  void (*change)(tw_sim_machine& machine, tw_sim_access& access);
};
constexpr Refused kRefused[] = {
    {"tasks is 1048577", [](tw_sim_machine&, tw_sim_access& access) { access.tasks = (1 << 20) + 1; }},
    {"pieces is 0", [](tw_sim_machine&, tw_sim_access& access) { access.pieces = 0; }},
    {"in_turn is -1", [](tw_sim_machine&, tw_sim_access& access) { access.in_turn = -1; }},
    // Memory limits: of a piece, of a task, of a file that is kept.
    {"16777217 pieces",
     [](tw_sim_machine&, tw_sim_access& access) {
       access.way = TW_SIM_INDEPENDENT;
       access.tasks = 257;  // a factor of 2^24 + 1
       access.pieces = 65281;
       access.piece_bytes = 1;
     }},
    {"67108865 bytes",
     [](tw_sim_machine&, tw_sim_access& access) { access.pieces = 5, access.piece_bytes = 13421773; }},
    {"17179869437 bytes",
     [](tw_sim_machine&, tw_sim_access& access) {
       access.tasks = 257;
       access.pieces = 1;
       access.piece_bytes = 66847741;
     }},
    {"1073744900 bytes",
     [](tw_sim_machine&, tw_sim_access& access) {
       access.way = TW_SIM_MULTIFILE;
       access.tasks = 1025;
       access.pieces = 4;
       access.piece_bytes = 261889;
     }},
    // The nodes of the network and of storage are the same nodes.
    {"tasks_per_process is 3, must divide tasks_per_node, which is 4; set tasks_per_node",
     [](tw_sim_machine&, tw_sim_access& access) { access.tasks_per_process = 3; }},
    {"tasks_per_process is 8", [](tw_sim_machine&, tw_sim_access& access) { access.tasks_per_process = 8; }},
    {"tasks_per_process is -1", [](tw_sim_machine&, tw_sim_access& access) { access.tasks_per_process = -1; }},
    {"tasks_per_node is -4", [](tw_sim_machine& machine, tw_sim_access&) { machine.tasks_per_node = -4; }},
    {"servers is 1025", [](tw_sim_machine& machine, tw_sim_access&) { machine.servers = 1025; }},
    {"stripe_bytes is 4095", [](tw_sim_machine& machine, tw_sim_access&) { machine.stripe_bytes = 4095; }},
    {"stripe_bytes is 1073741825",
     [](tw_sim_machine& machine, tw_sim_access&) { machine.stripe_bytes = (1 << 30) + 1; }},
    {"server_byte_ns is -1", [](tw_sim_machine& machine, tw_sim_access&) { machine.server_byte_ns = -1; }},
    {"open_ns is nan", [](tw_sim_machine& machine, tw_sim_access&) { machine.open_ns = std::nan(""); }},
};

TEST(SimulatedAccess, ARefusalNamesTheNumber) {
  for (const Refused& one : kRefused) {
    tw_sim_machine on = machine();
    tw_sim_access access = access_of(TW_SIM_GATHER);
    one.change(on, access);
    tw_sim_prediction found = {};
    found.struct_size = sizeof found;
    EXPECT_EQ(tw_sim_predict(&on, &access, &found), TW_ERR_INVALID) << one.what;
    EXPECT_NE(std::string(tw_last_error()).find(one.what), std::string::npos) << one.what << ": " << tw_last_error();
  }
}

TEST(SimulatedAccess, AsManyServersAsThereMayBe) {
  tw_sim_machine on = machine();
  on.servers = 1024;
  for (const tw_sim_way way : kWays) total(access_of(way), on);
  on.servers = 1000;  // not a power of two
  on.stripe_bytes = 5000;
  for (const tw_sim_way way : kWays) total(access_of(way), on);
}

TEST(SimulatedAccess, TasksOfAProcessMayBeMoreThanThereAre) {
  for (const tw_sim_way way : kWays) {
    tw_sim_access access = access_of(way, 3);
    access.tasks_per_process = 4;
    total(access, machine());
  }
}

}  // namespace
}  // namespace thalweg
