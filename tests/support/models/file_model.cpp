#include "support/models/file_model.hpp"

#include <algorithm>

namespace thalweg::test {

// State of each byte of the file, and the possible lengths of the file.
struct FileModel::Marks {
  enum : std::uint8_t { kTouched = 1, kMust = 2, kRight = 4 };
  std::vector<std::uint8_t> of;
  std::uint64_t least, most;
};

std::string FileModel::check_same(const Bytes& got) const {
  const auto other = std::mismatch(content_.begin(), content_.end(), got.begin(), got.end());
  if (other.first == content_.end() && other.second == got.end()) return "";
  return "of " + std::to_string(content_.size()) + " bytes byte " + std::to_string(other.first - content_.begin()) +
         " has changed, which nobody wrote; there are " + std::to_string(got.size());
}

FileModel::Marks FileModel::mark(const std::vector<DoneAccess>& done, const Bytes& now) const {
  Marks marks{std::vector<std::uint8_t>(now.size()), content_.size(), content_.size()};
  for (const DoneAccess& one : done) {
    if (one.refused) continue;
    for (TaskRank r = 0; r < (one.what.common ? 1 : tasks_); ++r) {
      std::uint64_t at = 0;
      for (const Extent& place : places_of(one.what, r, one.base)) {
        if (place.bytes == 0) continue;
        marks.most = std::max(marks.most, place.end());
        if (one.status.ok()) marks.least = std::max(marks.least, place.end());
        for (std::uint64_t offset = place.offset; offset < place.end(); ++offset, ++at) {
          if (offset >= now.size()) continue;
          marks.of[offset] |= one.status.ok() ? Marks::kTouched | Marks::kMust : Marks::kTouched;
          if (now[offset] == Buffer::value(one.what, r, at)) marks.of[offset] |= Marks::kRight;
        }
      }
    }
  }
  return marks;
}

std::string FileModel::take_written(const std::vector<DoneAccess>& done, Bytes now) {
  const Marks marks = mark(done, now);
  std::string problem;
  if (now.size() < marks.least || now.size() > marks.most)
    problem = "the file has " + std::to_string(now.size()) + " bytes, which should be " + std::to_string(marks.least) +
              " to " + std::to_string(marks.most);
  for (std::uint64_t i = 0; i < now.size() && problem.empty(); ++i) {
    const std::byte before = i < content_.size() ? content_[i] : std::byte{0};
    const bool may_be_old = (marks.of[i] & Marks::kMust) == 0;
    if ((marks.of[i] & Marks::kRight) != 0 || (may_be_old && now[i] == before)) continue;
    problem =
        "byte " + std::to_string(i) + ((marks.of[i] & Marks::kTouched) != 0 ? " is of no writer" : " was touched");
  }
  content_ = std::move(now);
  return problem;
}

std::string FileModel::check_read(const DoneAccess& one, TaskRank r, std::uint64_t moved) const {
  std::uint64_t within = 0;
  for (const Extent& extent : one.buffers[static_cast<std::size_t>(r)]->extents()) {
    const std::uint64_t end = std::min<std::uint64_t>(extent.end(), content_.size());
    for (std::uint64_t i = 0; i < extent.bytes; ++i) {
      const bool inside = extent.offset + i < end;
      const std::byte wanted = inside ? content_[extent.offset + i] : Buffer::kGuard;
      within += inside ? 1 : 0;
      if (extent.memory[i] == wanted) continue;
      return "task " + std::to_string(r) + " has read another byte from offset " + std::to_string(extent.offset + i);
    }
  }
  if (moved == within) return "";
  return "task " + std::to_string(r) + " was told of " + std::to_string(moved) + " bytes read, not " +
         std::to_string(within);
}

}  // namespace thalweg::test
