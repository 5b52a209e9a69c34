// Accesses on a simulated machine: what more bytes, tasks and slower parts do to their times.
#include "file/simulated_access.hpp"

#include <gtest/gtest.h>
#include <thalweg/sim.h>

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

TEST(SimulatedAccess, PiecesInTurnAmongFewNeighboursDoNotOverlap) {
  for (const int64_t in_turn : {1, 3, 5, 16, 100}) {
    tw_sim_access access = access_of(TW_SIM_INDEPENDENT);
    access.in_turn = in_turn;
    EXPECT_GT(total(access, machine()), 0);
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
  tw_sim_machine bad = machine();
  bad.server_byte_ns = -1;
  EXPECT_EQ(tw_sim_predict(&bad, &good, &found), TW_ERR_INVALID);
  bad = machine();
  bad.tasks_per_node = -4;
  EXPECT_EQ(tw_sim_predict(&bad, &good, &found), TW_ERR_INVALID);
}

}  // namespace
}  // namespace thalweg
