#include "group/hybrid_layout.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "group/memory.hpp"
#include "group/packing.hpp"
#include "group/relaying.hpp"

namespace thalweg {

Op<Result<std::shared_ptr<HybridLayout>>> make_hybrid_layout(Group& ranks, TaskRank threads) {
  const Place outer = ranks.place();
  std::vector<std::int64_t> mine{threads, outer.process};
  const auto all = co_await ranks.allgather(view_of(mine));
  if (!all.has_value()) co_return all.error();
  auto layout = std::make_shared<HybridLayout>();
  layout->mine = ranks.rank();
  layout->place = outer;
  layout->relays = relays_messages(ranks);
  layout->place.tasks_in_process = 0;
  layout->begin.push_back(0);
  for (std::size_t p = 0; p < all.value().parts(); ++p) {
    const std::vector<std::int64_t> entry = numbers_of(all.value().part(p));
    layout->begin.push_back(layout->begin.back() + entry[0]);
    if (entry[1] == outer.process) layout->place.tasks_in_process += entry[0];
  }
  layout->place.process_leader = layout->begin[static_cast<std::size_t>(outer.process_leader)];
  co_return layout;
}

Result<Bytes> pack_parts(const std::vector<const ByteView*>& shown) {
  try {
    std::size_t total = shown.size() * sizeof(std::int64_t);
    for (const ByteView* part : shown) total += part->size();
    Bytes packed;
    packed.reserve(total);
    for (const ByteView* part : shown) put_number(packed, static_cast<std::int64_t>(part->size()));
    for (const ByteView* part : shown) put_bytes(packed, *part);
    return packed;
  } catch (const std::bad_alloc&) {
    return no_memory_for("gather");
  }
}

// In place: the data only moves forward over the lengths.
Gathered join_parts(const HybridLayout& layout, Gathered packed) {
  Gathered all;
  all.begin.reserve(static_cast<std::size_t>(layout.tasks()) + 1);
  std::uint64_t end = 0;
  std::byte* const data = packed.data.data();
  for (std::size_t p = 0; p < packed.parts(); ++p) {
    ByteView part = packed.part(p);
    const std::vector<std::int64_t> lengths = numbers_of(
        take_bytes(part, static_cast<std::size_t>(layout.begin[p + 1] - layout.begin[p]) * sizeof(std::int64_t)));
    if (!part.empty()) std::memmove(data + end, part.data(), part.size());
    for (const std::int64_t length : lengths) {
      all.begin.push_back(end);
      end += static_cast<std::uint64_t>(length);
    }
  }
  all.begin.push_back(end);
  packed.data.resize(end);
  all.data = std::move(packed.data);
  return all;
}

Result<Gathered> split_parts(const HybridLayout& layout, const Gathered& parts) {
  if (Status bad = check_parts(parts, layout.tasks()); !bad.ok()) return bad;
  try {
    Gathered packed;
    packed.data.reserve(parts.data.size() + (static_cast<std::size_t>(layout.tasks()) + layout.begin.size()) * 8);
    for (std::size_t p = 0; p + 1 < layout.begin.size(); ++p) {
      const auto first = static_cast<std::size_t>(layout.begin[p]);
      const auto end = static_cast<std::size_t>(layout.begin[p + 1]);
      packed.begin.push_back(packed.data.size());
      put_number(packed.data, parts.data.size() > kHybridSmallBytes ? 1 : 0);
      for (std::size_t i = first; i < end; ++i) {
        put_number(packed.data, static_cast<std::int64_t>(parts.part(i).size()));
      }
      for (std::size_t i = first; i < end; ++i) put_bytes(packed.data, parts.part(i));
    }
    packed.begin.push_back(packed.data.size());
    return packed;
  } catch (const std::bad_alloc&) {
    return no_memory_for("scatter");
  }
}

}  // namespace thalweg
