// The mode of an access by its properties: all conditions as a table.
#include "vpfile/access_mode.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace thalweg {
namespace {

// An access of all VPs, 8 bytes each, at 16.
StreamAccess alike() {
  StreamAccess facts;
  facts.least_bytes = facts.most_bytes = 8;
  facts.least_position = facts.most_position = 16;
  facts.most_vps = 3;
  return facts;
}

struct WriteCase {
  const char* what;
  void (*change)(StreamAccess&);
  std::pair<VpMode, std::uint64_t> written;  // and the record
  VpMode mode;
  const char* cause;
};

const WriteCase kWrites[] = {
    {"alike", [](StreamAccess&) {}, {VpMode::nb, 8}, VpMode::nb, vp_cause::kNone},
    {"the first", [](StreamAccess&) {}, {VpMode::nb, 0}, VpMode::nb, vp_cause::kNone},
    {"masked", [](StreamAccess& f) { f.masked = 1; }, {VpMode::nb, 8}, VpMode::ib, vp_cause::kMasked},
    {"ragged", [](StreamAccess& f) { f.least_bytes = 0; }, {VpMode::nb, 8}, VpMode::ib, vp_cause::kRagged},
    {"scattered", [](StreamAccess& f) { f.scattered = 1; }, {VpMode::nb, 8}, VpMode::ib, vp_cause::kScattered},
    {"two positions", [](StreamAccess& f) { f.least_position = 8; }, {VpMode::nb, 8}, VpMode::ib, vp_cause::kScattered},
    {"masked and ragged", [](StreamAccess& f) { f.masked = 1, f.least_bytes = 0; }, {}, VpMode::ib, vp_cause::kMasked},
    {"ragged and scattered",
     [](StreamAccess& f) { f.least_bytes = 0, f.scattered = 1; },
     {},
     VpMode::ib,
     vp_cause::kRagged},
    {"behind IB", [](StreamAccess&) {}, {VpMode::ib, 8}, VpMode::ib, vp_cause::kBefore},
    {"a task has blocks", [](StreamAccess& f) { f.has_ib = 1; }, {VpMode::nb, 8}, VpMode::ib, vp_cause::kBefore},
    {"strided behind IB", [](StreamAccess& f) { f.strided = 1; }, {VpMode::ib, 8}, VpMode::ib, vp_cause::kBefore},
    {"strided", [](StreamAccess& f) { f.strided = 1; }, {VpMode::nb, 8}, VpMode::cb, vp_cause::kStrided},
    {"another size", [](StreamAccess&) {}, {VpMode::nb, 4}, VpMode::cb, vp_cause::kSize},
    {"another size, strided", [](StreamAccess& f) { f.strided = 1; }, {VpMode::nb, 4}, VpMode::cb, vp_cause::kStrided},
    {"between",
     [](StreamAccess& f) { f.least_position = f.most_position = 12; },
     {VpMode::nb, 8},
     VpMode::cb,
     vp_cause::kBetween},
    {"the first, between",
     [](StreamAccess& f) { f.least_position = f.most_position = 4; },
     {VpMode::nb, 0},
     VpMode::cb,
     vp_cause::kBetween},
    {"behind CB", [](StreamAccess&) {}, {VpMode::cb, 8}, VpMode::cb, vp_cause::kBefore},
};

TEST(VpModesOfWrites, AreThoseOfTheTable) {
  for (const WriteCase& one : kWrites) {
    StreamAccess facts = alike();
    one.change(facts);
    const VpChoice choice = choose_write(facts, one.written.first, one.written.second);
    EXPECT_EQ(choice.mode, one.mode) << one.what;
    EXPECT_STREQ(choice.cause, one.cause) << one.what;
  }
}

struct ReadCase {
  const char* what;
  void (*change)(StreamAccess&);
  bool in_lattice, whole_row;
  VpMode mode;
  const char* cause;
};

const ReadCase kReads[] = {
    {"alike", [](StreamAccess&) {}, true, true, VpMode::nb, vp_cause::kNone},
    {"masked", [](StreamAccess& f) { f.masked = 1; }, true, true, VpMode::ib, vp_cause::kMasked},
    {"ragged", [](StreamAccess& f) { f.least_bytes = 1; }, true, true, VpMode::ib, vp_cause::kRagged},
    {"scattered", [](StreamAccess& f) { f.scattered = 1; }, true, true, VpMode::ib, vp_cause::kScattered},
    {"behind the lattice", [](StreamAccess&) {}, false, true, VpMode::ib, vp_cause::kBefore},
    {"strided", [](StreamAccess& f) { f.strided = 1; }, true, true, VpMode::cb, vp_cause::kStrided},
    {"strided behind the lattice", [](StreamAccess& f) { f.strided = 1; }, false, true, VpMode::ib, vp_cause::kBefore},
    {"part of a row", [](StreamAccess&) {}, true, false, VpMode::cb, vp_cause::kSize},
    {"blocks do not matter within the lattice", [](StreamAccess& f) { f.has_ib = 1; }, true, true, VpMode::nb,
     vp_cause::kNone},
};

TEST(VpModesOfReads, AreThoseOfTheTable) {
  for (const ReadCase& one : kReads) {
    StreamAccess facts = alike();
    one.change(facts);
    const VpChoice choice = choose_read(facts, one.in_lattice, one.whole_row);
    EXPECT_EQ(choice.mode, one.mode) << one.what;
    EXPECT_STREQ(choice.cause, one.cause) << one.what;
  }
}

StreamAccess joined(StreamAccess left, const StreamAccess& right) {
  left.join(right);
  return left;
}

TEST(StreamAccessOfTasks, AreJoined) {
  StreamAccess other = alike();
  other.least_bytes = other.most_bytes = 5;
  other.least_position = other.most_position = 40;
  other.most_vps = 9;
  EXPECT_TRUE(joined(alike(), alike()).uniform());
  const StreamAccess both = joined(alike(), other);
  EXPECT_FALSE(both.uniform());
  EXPECT_EQ(both.least_bytes, 5u);
  EXPECT_EQ(both.most_bytes, 8u);
  EXPECT_EQ(both.least_position, 16u);
  EXPECT_EQ(both.most_position, 40u);
  EXPECT_EQ(both.most_vps, 9u);
  for (std::uint8_t StreamAccess::*flag :
       {&StreamAccess::wrong, &StreamAccess::reads, &StreamAccess::writes, &StreamAccess::masked,
        &StreamAccess::scattered, &StreamAccess::strided, &StreamAccess::has_ib}) {
    StreamAccess one = alike();
    one.*flag = 1;
    EXPECT_EQ(joined(alike(), one).*flag, 1);
    EXPECT_EQ(joined(one, alike()).*flag, 1);
    EXPECT_EQ(joined(alike(), alike()).*flag, 0);
  }
}

TEST(StreamAccessOfTasks, OneWithoutVpsSaysNothing) {
  const StreamAccess none;
  EXPECT_TRUE(joined(none, alike()).uniform());
  EXPECT_EQ(joined(none, alike()).most_bytes, 8u);
  EXPECT_EQ(joined(alike(), none).most_position, 16u);
  EXPECT_EQ(joined(none, none).most_bytes, 0u);
}

}  // namespace
}  // namespace thalweg
