// The mode of an access by its properties: all conditions as a table.
#include "vpfile/access_mode.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

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
  VpCause cause;
};

const WriteCase kWrites[] = {
    {"alike", [](StreamAccess&) {}, {VpMode::nb, 8}, VpMode::nb, VpCause::none},
    {"the first", [](StreamAccess&) {}, {VpMode::nb, 0}, VpMode::nb, VpCause::none},
    {"masked", [](StreamAccess& f) { f.masked = 1; }, {VpMode::nb, 8}, VpMode::ib, VpCause::masked},
    {"ragged", [](StreamAccess& f) { f.least_bytes = 0; }, {VpMode::nb, 8}, VpMode::ib, VpCause::ragged},
    {"scattered", [](StreamAccess& f) { f.scattered = 1; }, {VpMode::nb, 8}, VpMode::ib, VpCause::scattered},
    {"two positions", [](StreamAccess& f) { f.least_position = 8; }, {VpMode::nb, 8}, VpMode::ib, VpCause::scattered},
    {"masked and ragged", [](StreamAccess& f) { f.masked = 1, f.least_bytes = 0; }, {}, VpMode::ib, VpCause::masked},
    {"ragged and scattered",
     [](StreamAccess& f) { f.least_bytes = 0, f.scattered = 1; },
     {},
     VpMode::ib,
     VpCause::ragged},
    {"behind IB", [](StreamAccess&) {}, {VpMode::ib, 8}, VpMode::ib, VpCause::before},
    {"a task has blocks", [](StreamAccess& f) { f.has_ib = 1; }, {VpMode::nb, 8}, VpMode::ib, VpCause::before},
    {"strided behind IB", [](StreamAccess& f) { f.strided = 1; }, {VpMode::ib, 8}, VpMode::ib, VpCause::before},
    {"strided", [](StreamAccess& f) { f.strided = 1; }, {VpMode::nb, 8}, VpMode::cb, VpCause::strided},
    {"another size", [](StreamAccess&) {}, {VpMode::nb, 4}, VpMode::cb, VpCause::size},
    {"another size, strided", [](StreamAccess& f) { f.strided = 1; }, {VpMode::nb, 4}, VpMode::cb, VpCause::strided},
    {"between",
     [](StreamAccess& f) { f.least_position = f.most_position = 12; },
     {VpMode::nb, 8},
     VpMode::cb,
     VpCause::between},
    {"the first, between",
     [](StreamAccess& f) { f.least_position = f.most_position = 4; },
     {VpMode::nb, 0},
     VpMode::cb,
     VpCause::between},
    {"behind CB", [](StreamAccess&) {}, {VpMode::cb, 8}, VpMode::cb, VpCause::before},
};

TEST(VpModesOfWrites, AreThoseOfTheTable) {
  for (const WriteCase& one : kWrites) {
    StreamAccess facts = alike();
    one.change(facts);
    const VpChoice choice = choose_write(facts, one.written.first, one.written.second);
    EXPECT_EQ(choice.mode, one.mode) << one.what;
    EXPECT_EQ(choice.cause, one.cause) << one.what;
  }
}

struct ReadCase {
  const char* what;
  void (*change)(StreamAccess&);
  bool in_lattice, whole_row;
  VpMode mode;
  VpCause cause;
};

const ReadCase kReads[] = {
    {"alike", [](StreamAccess&) {}, true, true, VpMode::nb, VpCause::none},
    {"masked", [](StreamAccess& f) { f.masked = 1; }, true, true, VpMode::ib, VpCause::masked},
    {"ragged", [](StreamAccess& f) { f.least_bytes = 1; }, true, true, VpMode::ib, VpCause::ragged},
    {"scattered", [](StreamAccess& f) { f.scattered = 1; }, true, true, VpMode::ib, VpCause::scattered},
    {"behind the lattice", [](StreamAccess&) {}, false, true, VpMode::ib, VpCause::before},
    {"strided", [](StreamAccess& f) { f.strided = 1; }, true, true, VpMode::cb, VpCause::strided},
    {"strided behind the lattice", [](StreamAccess& f) { f.strided = 1; }, false, true, VpMode::ib, VpCause::before},
    {"part of a row", [](StreamAccess&) {}, true, false, VpMode::cb, VpCause::size},
    {"blocks do not matter within the lattice", [](StreamAccess& f) { f.has_ib = 1; }, true, true, VpMode::nb,
     VpCause::none},
};

TEST(VpModesOfReads, AreThoseOfTheTable) {
  for (const ReadCase& one : kReads) {
    StreamAccess facts = alike();
    one.change(facts);
    const VpChoice choice = choose_read(facts, one.in_lattice, one.whole_row);
    EXPECT_EQ(choice.mode, one.mode) << one.what;
    EXPECT_EQ(choice.cause, one.cause) << one.what;
  }
}

StreamAccess joined(StreamAccess left, const StreamAccess& right) {
  StreamAccess::folding().join(&left, &right);
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

TEST(VpModeNames, AreAllDifferent) {
  EXPECT_STREQ(name_of(VpMode::nb), "NB");
  EXPECT_STREQ(name_of(VpMode::cb), "CB");
  EXPECT_STREQ(name_of(VpMode::ib), "IB");
  std::set<std::string> texts;
  for (int i = 0; i <= static_cast<int>(VpCause::before); ++i) texts.insert(text_of(static_cast<VpCause>(i)));
  EXPECT_EQ(texts.size(), 8u);
  EXPECT_EQ(texts.count(""), 0u);
}

}  // namespace
}  // namespace thalweg
