#include "group/hybrid/hybrid_layout.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "base/wire.hpp"
#include "group/memory.hpp"

namespace thalweg {

namespace {

// Built from the message of each process: its number of threads, and its process in the group of processes.
std::shared_ptr<HybridLayout> layout_of(const Gathered& all, const Group& ranks) {
  auto layout = std::make_shared<HybridLayout>();
  layout->mine = ranks.rank();
  layout->place = ranks.place();
  layout->relays = ranks.relays();
  layout->place.tasks_in_process = 0;
  layout->begin.push_back(0);
  for (std::size_t p = 0; p < all.parts(); ++p) {
    ByteView part = all.part(p);
    const TaskRank threads = take_number(part);
    layout->begin.push_back(layout->begin.back() + threads);
    if (take_number(part) == layout->place.process) layout->place.tasks_in_process += threads;
  }
  for (TaskRank* leader : {&layout->place.process_leader, &layout->place.node_leader})
    *leader = layout->begin[static_cast<std::size_t>(*leader)];
  return layout;
}

}  // namespace

std::shared_ptr<HybridProcess> share_layout(std::shared_ptr<const HybridLayout> layout) {
  auto process = std::make_shared<HybridProcess>();
  const auto mine = static_cast<std::size_t>(layout->mine);
  process->shown.resize(static_cast<std::size_t>(layout->begin[mine + 1] - layout->begin[mine]));
  process->layout = std::move(layout);
  return process;
}

Op<Result<std::shared_ptr<HybridProcess>>> find_layout(Group& ranks, TaskRank threads) {
  std::vector<std::int64_t> mine{threads, ranks.place().process};
  const auto all = co_await ranks.allgather(view_of(mine));
  if (!all.has_value()) co_return all.error();
  co_return or_out_of_memory(
      [&]() -> Result<std::shared_ptr<HybridProcess>> { return share_layout(layout_of(all.value(), ranks)); });
}

Result<Bytes> pack_parts(const Shown<ByteView>& shown) {
  try {
    const auto threads = static_cast<std::int64_t>(shown.size());
    std::size_t total = shown.size() * sizeof(std::int64_t);
    for (std::int64_t t = 0; t < threads; ++t) {
      if (shown[t] == nullptr) return no_memory_for("gather");
      total += shown[t]->size();
    }
    Bytes packed;
    packed.reserve(total);
    for (std::int64_t t = 0; t < threads; ++t) put_number(packed, static_cast<std::int64_t>(shown[t]->size()));
    for (std::int64_t t = 0; t < threads; ++t) put_bytes(packed, *shown[t]);
    return packed;
  } catch (const std::bad_alloc&) {
    return no_memory_for("gather");
  }
}

// In place: the data only move forward, over lengths that were read before.
void join_parts(const HybridLayout& layout, Gathered packed, Gathered& all) {
  std::uint64_t end = 0;
  for (std::size_t p = 0; p < packed.parts(); ++p) {
    ByteView part = packed.part(p);
    const std::uint64_t begin = end;
    for (TaskRank r = layout.begin[p]; r < layout.begin[p + 1]; ++r) {
      all.begin.push_back(end);
      end += static_cast<std::uint64_t>(take_number(part));
    }
    if (!part.empty()) std::memmove(packed.data.data() + begin, part.data(), part.size());
  }
  all.begin.push_back(end);
  packed.data.resize(end);
  all.data = std::move(packed.data);
}

Result<Gathered> split_parts(const HybridLayout& layout, const Gathered& parts) {
  if (Status bad = check_parts(parts, layout.tasks()); !bad.ok()) return bad;
  bool large = false;
  for (std::size_t r = 0; r < parts.parts(); ++r) large = large || parts.part(r).size() > kHybridSmallPart;
  try {
    Gathered packed;
    packed.data.reserve(parts.data.size() + (static_cast<std::size_t>(layout.tasks()) + layout.begin.size()) * 8);
    for (std::size_t p = 0; p + 1 < layout.begin.size(); ++p) {
      const auto first = static_cast<std::size_t>(layout.begin[p]);
      const auto end = static_cast<std::size_t>(layout.begin[p + 1]);
      packed.begin.push_back(packed.data.size());
      put_number(packed.data, large ? 1 : 0);
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

SplitPart part_of_split(ByteView packed, std::int64_t threads, std::int64_t thread) {
  const bool large = take_number(packed) != 0;
  ByteView lengths = take_bytes(packed, static_cast<std::size_t>(threads) * sizeof(std::int64_t));
  for (std::int64_t t = 0; t < thread; ++t) (void)take_bytes(packed, static_cast<std::size_t>(take_number(lengths)));
  return {take_bytes(packed, static_cast<std::size_t>(take_number(lengths))), large};
}

}  // namespace thalweg
