// State slots and session pages: round trip, every bit, every rule of sections 2.2 and 2.3.
#include "multifile/format/header.hpp"
#include "unit/multifile/format_support.hpp"

namespace thalweg::format {
namespace {

const FileIdentity kId = sound_header().id;
const Bytes kEmptyPlace(512);

StateSlot open_slot(std::uint64_t sequence) {
  StateSlot s;
  s.sequence = sequence;
  s.session_offset = s.end = 8192;
  return s;
}

StateSlot closed_slot(std::uint64_t sequence) {
  StateSlot s;
  s.sequence = sequence;
  s.state = FileState::closed;
  s.session_offset = 4096;
  s.index_offset = 65536;
  s.index_bytes = 12288;
  s.end = s.index_offset + s.index_bytes;
  s.covered_session_offset = s.session_offset;
  return s;
}

Bytes place_of(const StateSlot& slot) {
  Bytes place = to_bytes(encode_state(slot, kId));
  place.resize(512);
  return place;
}

// Parses a state page whose only slot is this one.
Result<StateSlot> alone(const StateSlot& slot) {
  const bool in_a = state_offset(slot) == kSlotOffset[0];
  std::optional<StateSlot> before;
  auto newest = parse_state(in_a ? place_of(slot) : kEmptyPlace, in_a ? kEmptyPlace : place_of(slot), kId, &before);
  EXPECT_FALSE(before.has_value());
  return newest;
}

Code after(const StateSlot& slot, const std::function<void(StateSlot&)>& change) {
  StateSlot changed = slot;
  change(changed);
  return alone(changed).status().code();
}

TEST(StateSlot, GivesBackEveryField) {
  for (const std::uint64_t sequence : {1ull, 2ull, 77ull, 1ull << 63}) {
    StateSlot slot = closed_slot(sequence);
    slot.session = 12345;
    slot.durable = sequence % 2 == 1;

    auto back = alone(slot);

    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_EQ(back.value().sequence, slot.sequence);
    EXPECT_EQ(back.value().state, slot.state);
    EXPECT_EQ(back.value().session, slot.session);
    EXPECT_EQ(back.value().session_offset, slot.session_offset);
    EXPECT_EQ(back.value().end, slot.end);
    EXPECT_EQ(back.value().index_offset, slot.index_offset);
    EXPECT_EQ(back.value().index_bytes, slot.index_bytes);
    EXPECT_EQ(back.value().durable, slot.durable);
    EXPECT_EQ(back.value().covered_session_offset, slot.covered_session_offset);
  }
}

TEST(StateSlot, OddSequencesStandInSlotA) {
  EXPECT_EQ(state_offset(open_slot(1)), 512u);
  EXPECT_EQ(state_offset(open_slot(2)), 1024u);
  EXPECT_EQ(parse_state(kEmptyPlace, place_of(open_slot(1)), kId).status().code(), Code::corrupt_file);
  EXPECT_EQ(parse_state(place_of(open_slot(2)), kEmptyPlace, kId).status().code(), Code::corrupt_file);
}

TEST(StateSlot, TheHigherSequenceHolds) {
  std::optional<StateSlot> before_closed, before_open;
  const StateSlot closed = parse_state(place_of(open_slot(1)), place_of(closed_slot(2)), kId, &before_closed).value();
  const StateSlot open = parse_state(place_of(open_slot(3)), place_of(closed_slot(2)), kId, &before_open).value();

  EXPECT_EQ(closed.sequence, 2u);
  EXPECT_EQ(before_closed.value().sequence, 1u);
  EXPECT_EQ(open.sequence, 3u);
  EXPECT_EQ(before_open.value().sequence, 2u);
}

TEST(StateSlot, ATornNewerOneLeavesTheOlderOne) {
  Bytes torn = place_of(closed_slot(2));
  for (std::size_t i = 40; i < torn.size(); ++i) torn[i] = std::byte{0};

  std::optional<StateSlot> before;
  const StateSlot left = parse_state(place_of(open_slot(1)), torn, kId, &before).value();

  EXPECT_EQ(left.sequence, 1u);
  EXPECT_FALSE(before.has_value());
}

TEST(StateSlot, NoneIsRefused) {
  EXPECT_EQ(parse_state(kEmptyPlace, kEmptyPlace, kId).status().code(), Code::corrupt_file);
  EXPECT_EQ(parse_state({}, {}, kId).status().code(), Code::corrupt_file);
}

TEST(StateSlot, RefusesEveryFlippedBitAndEveryShorterLength) {
  const auto accepts = [](ByteView place) { return parse_state(place, {}, kId).has_value(); };

  expect_every_bit_matters(to_bytes(encode_state(closed_slot(1), kId)), accepts);
  expect_every_bit_matters(to_bytes(encode_state(open_slot(1), kId)), accepts);
  expect_no_prefix_accepted(to_bytes(encode_state(closed_slot(1), kId)), accepts);
}

TEST(StateSlot, IsBoundToItsFile) {
  FileIdentity other = kId;
  other.physical += 1;

  EXPECT_EQ(parse_state(place_of(open_slot(1)), kEmptyPlace, other).status().code(), Code::corrupt_file);
}

TEST(StateSlot, FieldsAreLegalOrRefused) {
  const Code bad = Code::corrupt_file;
  const StateSlot open = open_slot(1), closed = closed_slot(1);
  EXPECT_EQ(after(open, [](StateSlot& s) { s.state = FileState{0}; }), bad);
  EXPECT_EQ(after(open, [](StateSlot& s) { s.state = FileState{3}; }), bad);
  EXPECT_EQ(after(open, [](StateSlot& s) { s.sequence = 0; }), bad);
  EXPECT_EQ(after(open, [](StateSlot& s) { s.session = kMostSession; }), Code::ok);
  EXPECT_EQ(after(open, [](StateSlot& s) { s.session = kMostSession + 1; }), bad);
  EXPECT_EQ(after(open, [](StateSlot& s) { s.session_offset = s.end = 100; }), bad);
  EXPECT_EQ(after(open, [](StateSlot& s) { s.session_offset = s.end = ~4095ull; }), bad);
  EXPECT_EQ(after(open, [](StateSlot& s) { s.end += 4096; }), bad);
  EXPECT_EQ(after(open, [](StateSlot& s) { s.index_bytes = 4096; }), bad);
  const auto covers = [](StateSlot& s, std::uint64_t index, std::uint64_t session) {
    s.session_offset = s.end = 65536;
    s.index_offset = index;
    s.index_bytes = 4096;
    s.covered_session_offset = session;
  };
  EXPECT_EQ(after(open, [&](StateSlot& s) { covers(s, 8192, 4096); }), Code::ok);
  EXPECT_EQ(after(open, [&](StateSlot& s) { covers(s, 8192, 0); }), bad);
  EXPECT_EQ(after(open, [&](StateSlot& s) { covers(s, 8192, 4097); }), bad);
  EXPECT_EQ(after(open, [&](StateSlot& s) { covers(s, 8192, 8192); }), bad);
  EXPECT_EQ(after(open, [](StateSlot& s) { s.covered_session_offset = 4096; }), bad);
  EXPECT_EQ(after(closed, [](StateSlot& s) { s.covered_session_offset = 8192; }), bad);
  EXPECT_EQ(after(open, [](StateSlot& s) { s.index_offset = 4096, s.index_bytes = 8192; }), bad);
  EXPECT_EQ(after(closed, [](StateSlot& s) { s.index_offset = s.index_bytes = 0; }), bad);
  EXPECT_EQ(after(closed, [](StateSlot& s) { s.index_offset += 1; }), bad);
  EXPECT_EQ(after(closed, [](StateSlot& s) { s.index_offset = 131072; }), bad);
  EXPECT_EQ(after(closed, [](StateSlot& s) { s.index_bytes = 0; }), bad);
  EXPECT_EQ(after(closed, [](StateSlot& s) { s.index_bytes = 4000; }), bad);
  EXPECT_EQ(after(closed, [](StateSlot& s) { s.index_bytes -= 4096; }), bad);
  EXPECT_EQ(after(closed, [](StateSlot& s) { s.index_bytes = ~4095ull; }), bad);
  EXPECT_EQ(after(closed, [](StateSlot& s) { s.end += 4096; }), bad);
  EXPECT_EQ(after(closed, [](StateSlot& s) { s.end = ~0ull; }), bad);
  EXPECT_EQ(after(closed, [](StateSlot& s) { s.session_offset = s.end + 4096; }), bad);
}

TEST(StateSlot, AnIllegalOneIsNotPassedOverForAnOlderOne) {
  StateSlot wrong = closed_slot(2);
  wrong.state = FileState{9};

  EXPECT_EQ(parse_state(place_of(open_slot(1)), place_of(wrong), kId).status().code(), Code::corrupt_file);
}

SessionPage sound_session() {
  SessionPage s;
  s.rounds_per_doubling = 4;
  s.n_domains = 3;
  s.domains_offset = 8192;
  s.data_start = 12288;
  s.round_bytes = 3 * 65536;
  s.most_doublings = 10;
  return s;
}

Result<SessionPage> parsed(const SessionPage& s, std::uint64_t offset = 4096, std::uint64_t file_bytes = kFileBytes) {
  const FileHeader header = sound_header();
  return parse_session(encode_session(s, header.id, offset), header, offset, file_bytes);
}

Code session_after(const std::function<void(SessionPage&)>& change, std::uint64_t offset = 4096) {
  SessionPage s = sound_session();
  change(s);
  return parsed(s, offset).status().code();
}

TEST(SessionPage, GivesBackEveryField) {
  SessionPage s = sound_session();
  s.session = 7;
  s.previous_offset = 4096;
  s.domains_offset = 36864;
  s.data_start = 45056;

  auto back = parsed(s, 32768);

  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back.value().session, 7u);
  EXPECT_EQ(back.value().rounds_per_doubling, s.rounds_per_doubling);
  EXPECT_EQ(back.value().previous_offset, s.previous_offset);
  EXPECT_EQ(back.value().n_domains, s.n_domains);
  EXPECT_EQ(back.value().domains_offset, s.domains_offset);
  EXPECT_EQ(back.value().data_start, s.data_start);
  EXPECT_EQ(back.value().round_bytes, s.round_bytes);
  EXPECT_EQ(back.value().most_doublings, s.most_doublings);
}

TEST(SessionPage, RefusesEveryFlippedBitAndEveryShorterLength) {
  const FileHeader header = sound_header();
  const auto accepts = [&](ByteView page) { return parse_session(page, header, 4096, kFileBytes).has_value(); };

  expect_every_bit_matters(encode_session(sound_session(), header.id, 4096), accepts);
  expect_no_prefix_accepted(encode_session(sound_session(), header.id, 4096), accepts);
}

TEST(SessionPage, IsBoundToItsPlace) {
  const FileHeader header = sound_header();
  FileHeader moved = header;
  moved.session_offset = 20480;

  const auto page = encode_session(sound_session(), header.id, 4096);

  EXPECT_EQ(parse_session(page, moved, 20480, kFileBytes).status().code(), Code::corrupt_file);
}

TEST(SessionPage, NumbersLeadBackToSessionZero) {
  const Code bad = Code::corrupt_file;
  EXPECT_EQ(session_after([](SessionPage& s) { s.session = 1; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.previous_offset = 4096; }), bad);
  const auto later = [&](const std::function<void(SessionPage&)>& change) {
    return session_after(
        [&](SessionPage& s) {
          s.session = 1;
          s.previous_offset = 4096;
          s.domains_offset = 36864;
          s.data_start = 45056;
          change(s);
        },
        32768);
  };
  EXPECT_EQ(later([](SessionPage&) {}), Code::ok);
  EXPECT_EQ(later([](SessionPage& s) { s.session = 0; }), bad);
  EXPECT_EQ(later([](SessionPage& s) { s.session = kMostSession + 1; }), bad);
  EXPECT_EQ(later([](SessionPage& s) { s.previous_offset = 0; }), bad);
  EXPECT_EQ(later([](SessionPage& s) { s.previous_offset = 5000; }), bad);
  EXPECT_EQ(later([](SessionPage& s) { s.previous_offset = 32768; }), bad);
}

TEST(SessionPage, DomainsFitAndDataFollowThem) {
  const Code bad = Code::corrupt_file;
  EXPECT_EQ(session_after([](SessionPage& s) { s.n_domains = 0; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.n_domains = 1ull << 40; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.n_domains = ~0ull; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.domains_offset = 4096; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.domains_offset = 8193; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.domains_offset = kFileBytes; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.domains_offset = ~4095ull; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.data_start = 8192; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.data_start = 12289; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.data_start = ~4095ull; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.data_start = 12288 + (1ull << 26) - 4096; }), Code::ok);
  EXPECT_EQ(session_after([](SessionPage& s) { s.data_start = 12288 + (1ull << 26); }), bad);
}

TEST(SessionPage, RoundsAndDoublingsAreLegalOrRefused) {
  const Code bad = Code::corrupt_file;
  EXPECT_EQ(session_after([](SessionPage& s) { s.round_bytes = 0; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.round_bytes = 2 * 4096; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.round_bytes = 3 * 4096; }), Code::ok);
  EXPECT_EQ(session_after([](SessionPage& s) { s.round_bytes += 512; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.round_bytes = ~4095ull; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.most_doublings = 41; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.rounds_per_doubling = ~0u; }), Code::ok);
  EXPECT_EQ(session_after([](SessionPage& s) { s.rounds_per_doubling = 0; }), Code::ok);
}

TEST(SessionPage, LaterPhysicalFilesHaveSlabsWhereThereAreSuch) {
  const Code bad = Code::corrupt_file;
  EXPECT_EQ(session_after([](SessionPage& s) { s.later_start = 4096; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.later_domains = 1; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.later_bytes = 4096; }), bad);
  EXPECT_EQ(session_after([](SessionPage& s) { s.later_doublings = 1; }), bad);
  FileHeader header = sound_header();
  header.id.physical = 0;
  header.n_physical = 1;
  header.n_later = 3;
  const auto after = [&](const std::function<void(SessionPage&)>& change) {
    SessionPage s = sound_session();
    s.later_start = 8192;
    s.later_domains = 5;
    s.later_bytes = 65536;
    s.later_doublings = 7;
    change(s);
    auto back = parse_session(encode_session(s, header.id, 4096), header, 4096, kFileBytes);
    if (!back.has_value()) return back.error().code();
    const SlabLayout layout = back->later_layout(2);
    EXPECT_EQ(layout.data_start, s.later_start);
    EXPECT_EQ(layout.domain_prefix, 2 * s.later_bytes);
    EXPECT_EQ(layout.round_bytes, s.later_domains * s.later_bytes);
    EXPECT_EQ(layout.most_doublings, s.later_doublings);
    return Code::ok;
  };
  EXPECT_EQ(after([](SessionPage&) {}), Code::ok);
  EXPECT_EQ(after([](SessionPage& s) { s.later_start = 512; }), bad);
  EXPECT_EQ(after([](SessionPage& s) { s.later_start = 8193; }), bad);
  EXPECT_EQ(after([](SessionPage& s) { s.later_start = ~4095ull; }), bad);
  EXPECT_EQ(after([](SessionPage& s) { s.later_domains = 0; }), bad);
  EXPECT_EQ(after([](SessionPage& s) { s.later_domains = 1ull << 60; }), bad);
  EXPECT_EQ(after([](SessionPage& s) { s.later_bytes = 0; }), bad);
  EXPECT_EQ(after([](SessionPage& s) { s.later_bytes = 4097; }), bad);
  EXPECT_EQ(after([](SessionPage& s) { s.later_doublings = 41; }), bad);
}

}  // namespace
}  // namespace thalweg::format
