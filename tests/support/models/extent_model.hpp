// Carries out an access run by run on a model of file and memory that records the origin of each byte, and compares the
// result with the extents byte by byte.
//
// All memory is one arena, so that an index identifies a byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "access/extent_list.hpp"
#include "engine/plan/file_domains.hpp"
#include "engine/plan/runs.hpp"

namespace thalweg::model {

inline constexpr std::int64_t kUntouched = -1;

struct Place {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool gap_before = false;  // in memory: a gap precedes this extent
};

struct Rules {
  std::size_t workers = 1;
  std::uint64_t block = 4096;
  RunReader::Limits limits;
};

class Access {
 public:
  // `of_task[i]`: the extents of task i, in the order of its list. They lie in the first few KiB of a file.
  Access(const std::vector<std::vector<Place>>& of_task, Direction direction) : direction_(direction) {
    for (const auto& task : of_task) {
      lists_.emplace_back();
      for (const Place& place : task) add(place);
    }
    arena_.resize(arena_source_.size());
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      for (Extent& extent : lists_[i]) extent.memory = arena_.data() + reinterpret_cast<std::uintptr_t>(extent.memory);
    }
  }

  // Returns "" when every byte is right, else what is wrong.
  std::string check(const Rules& rules) {
    std::vector<ExtentList> ordered;
    ordered.reserve(lists_.size());
    std::vector<const ExtentList*> pointers;
    for (const auto& list : lists_) {
      auto made = ExtentList::of(list);
      if (!made.has_value()) return made.error().message();
      ordered.push_back(std::move(made).value());
      pointers.push_back(&ordered.back());
    }
    std::fill(file_source_.begin(), file_source_.end(), kUntouched);
    std::fill(arena_source_.begin(), arena_source_.end(), kUntouched);
    problem_.clear();
    const std::vector<FileDomain> domains = cut_domains(pointers, rules.workers, rules.block);
    check_domains(domains, rules.workers);
    for (const FileDomain& domain : domains) {
      RunReader runs(pointers, domain, direction_, rules.limits);
      carry_out(runs, domain, rules.limits);
    }
    check_bytes();
    return problem_;
  }

  const std::vector<std::vector<Extent>>& lists() const { return lists_; }

 private:
  // Memory is an index until the arena is allocated.
  void add(const Place& place) {
    if (place.gap_before) arena_source_.push_back(kUntouched);
    lists_.back().push_back({reinterpret_cast<std::byte*>(arena_source_.size()), place.bytes, place.offset});
    arena_source_.resize(arena_source_.size() + place.bytes);
    if (place.bytes == 0) return;
    file_source_.resize(std::max<std::size_t>(file_source_.size(), place.offset + place.bytes), kUntouched);
  }

  void require(bool holds, const char* what) {
    if (!holds && problem_.empty()) problem_ = what;
  }

  void check_domains(const std::vector<FileDomain>& domains, std::size_t workers) {
    require(domains.size() == workers, "number of domains");
    for (std::size_t i = 1; i < domains.size(); ++i) {
      require(domains[i].begin == domains[i - 1].end, "domains do not follow each other");
      require(!domains[i - 1].empty() || domains[i].empty(), "an empty domain before one that is not");
    }
  }

  void carry_out(RunReader& runs, const FileDomain& domain, const RunReader::Limits& limits) {
    Run run;
    std::uint64_t last_begin = 0;
    std::uint64_t last_end = 0;
    bool any = false;
    bool may_touch = true;  // a run may begin at the end of the previous run only when that run was full
    while (runs.next(run)) {
      any = true;
      const std::uint64_t end = run.offset + run.bytes;
      require(run.bytes > 0 && run.bytes <= limits.most_bytes, "bytes of a run");
      require(!run.pieces.empty() && run.pieces.size() <= limits.most_pieces, "pieces of a run");
      require(run.offset >= domain.begin && end <= domain.end, "a run leaves its domain");
      require(run.offset >= (direction_ == Direction::write ? last_end : last_begin), "runs are not in file order");
      require(may_touch || run.offset != last_end, "runs that touch are not one");
      transfer(run);
      may_touch = run.bytes == limits.most_bytes || run.pieces.size() == limits.most_pieces;
      last_begin = run.offset;
      last_end = end;
      if (!problem_.empty()) return;
    }
    require(any || domain.empty(), "a domain with nothing to move");
    require(!runs.next(run) && run.pieces.empty(), "a run behind the end");
  }

  void transfer(const Run& run) {
    std::uint64_t at = run.offset;
    const std::byte* memory_end = nullptr;
    for (const Piece& piece : run.pieces) {
      require(piece.bytes > 0 && piece.memory != memory_end, "pieces that touch are not one");
      memory_end = piece.memory + piece.bytes;
      auto place = static_cast<std::size_t>(piece.memory - arena_.data());
      for (std::uint64_t i = 0; i < piece.bytes; ++i, ++at, ++place) {
        std::int64_t& source = direction_ == Direction::write ? file_source_[at] : arena_source_[place];
        require(source == kUntouched, "a byte is moved twice");
        source = static_cast<std::int64_t>(direction_ == Direction::write ? place : at);
      }
    }
    require(at == run.offset + run.bytes, "the pieces are not as long as their run");
  }

  void check_bytes() {
    // Removes the bytes that an extent asked for; any byte left is an error.
    auto& sources = direction_ == Direction::write ? file_source_ : arena_source_;
    struct Asked {
      std::size_t target;
      std::int64_t source;
    };
    std::vector<Asked> asked;
    for (const auto& list : lists_) {
      for (const Extent& extent : list) {
        const auto place = static_cast<std::size_t>(extent.memory - arena_.data());
        for (std::uint64_t i = 0; i < extent.bytes; ++i) {
          const std::size_t in_file = extent.offset + i;
          const std::size_t in_memory = place + i;
          if (direction_ == Direction::write) {
            asked.push_back({in_file, static_cast<std::int64_t>(in_memory)});
          } else {
            asked.push_back({in_memory, static_cast<std::int64_t>(in_file)});
          }
        }
      }
    }
    constexpr std::int64_t kRight = -2;
    for (const Asked& one : asked) {
      if (sources[one.target] == one.source) sources[one.target] = kRight;
    }
    for (const Asked& one : asked) require(sources[one.target] == kRight, "a byte has not got what was asked for");
    for (const Asked& one : asked) sources[one.target] = kUntouched;
    for (const std::int64_t source : sources) require(source == kUntouched, "a byte is moved that nobody asked for");
  }

  Direction direction_;
  std::vector<std::vector<Extent>> lists_;
  std::vector<std::byte> arena_;
  std::vector<std::int64_t> arena_source_;  // reading: file offset that each byte came from
  std::vector<std::int64_t> file_source_;   // writing: arena index that each byte came from
  std::string problem_;
};

}  // namespace thalweg::model
