#include "support/damage/damage_check.hpp"

#include <algorithm>

#include "group/groups.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/multifile.hpp"

namespace thalweg::test {

namespace {

enum class Content { exact, exact_or_refused, older, wrong };

std::string told(const Status& status) {
  return "code " + std::to_string(static_cast<int>(status.code())) + ": " + status.message();
}

class DamageCheck {
 public:
  DamageCheck(const Image& image, const std::map<std::string, std::vector<std::byte>>& files, Loss loss)
      : image_(image), storage_(storage_of(files)), loss_(loss) {}

  std::string run(Depth depth) {
    const Content plain = read(false, "as it is");
    if (plain == Content::older) return "opened as it is: " + why_;
    if (plain == Content::wrong) return why_;
    const Content recovered = read(true, "with recovery");
    if (recovered == Content::wrong) return why_;
    if (depth == Depth::reading && recovered <= Content::exact_or_refused) return "";
    const std::string lost_in_recovery = why_;
    const std::string verified = verify(plain);
    if (!verified.empty()) return verified;
    const std::string repaired = repair();
    if (!repaired.empty()) return repaired;
    const bool silent = recovered == Content::older && repair_says_fine_ && loss_ == Loss::is_told;
    return silent ? "opened with recovery, while a repair says fine: " + lost_in_recovery : "";
  }

 private:
  // The worst content of any logical file; why_ explains it.
  Content read(bool recover, const char* how) {
    why_.clear();
    OpenRequest request;
    request.backend = storage_;
    request.path = kImagePath;
    request.recover = recover;
    request.options.buffer_bytes = 2000;
    const auto group = make_self_group();
    auto file = thalweg::run(open_multifile(*group, std::move(request)));
    if (!file.has_value()) return refusal(file.error(), how);
    Content worst = Content::exact;
    ReadHandle& handle = *(*file)->reading;
    if (handle.files().header().n_logical != image_.n_numbered || handle.files().n_logical() > image_.contents.size())
      return wrong(how, "another number of logical files");
    for (std::uint64_t rank = image_.n_numbered; rank < handle.files().n_logical(); ++rank)
      worst = std::max(worst, judge_name(handle, rank, how));
    for (std::uint64_t rank = 0; rank < image_.contents.size(); ++rank)
      worst = std::max(worst, judge_one(rank, found_of(handle, rank), how));
    return worst;
  }

  // A logical file that was added; empty where its name is lost.
  Found found_of(ReadHandle& handle, std::uint64_t number) const {
    auto rank = find_rank(handle, number, image_.histories[number]);
    if (rank.status().code() == Code::not_found) return {};
    return rank.has_value() ? read_coarsely(handle, *rank) : Found{rank.status(), {}, {}};
  }

  Content judge_name(ReadHandle& handle, std::uint64_t rank, const char* how) {
    std::uint32_t mode = 0;
    auto name = handle.name(rank, mode);
    if (!name.has_value()) return refusal(name.error(), how);
    why_ = "the name of logical file " + std::to_string(rank) + " is lost";
    if (name->empty()) return Content::older;
    const bool known = std::ranges::any_of(image_.histories, [&](const History& one) { return one.name == *name; });
    return known ? Content::exact : wrong(how, "a logical file has the name '" + *name + "'");
  }

  Content refusal(const Status& status, const char* how) {
    if (is_refusal(status.code())) return Content::exact_or_refused;
    return wrong(how, "refused with " + told(status));
  }

  Content wrong(const char* how, const std::string& what) {
    why_ = std::string("opened ") + how + ": " + what;
    return Content::wrong;
  }

  Content judge_one(std::uint64_t rank, const Found& found, const char* how) {
    if (!found.unreadable.ok()) return refusal(found.unreadable, how);
    const std::vector<std::byte>& right = image_.contents[rank];
    if (found.refused.empty() && found.bytes == right) return Content::exact;
    bool same = found.bytes.size() == right.size();
    for (std::size_t i = 0; same && i < right.size(); ++i)
      same = found.bytes[i] == right[i] || (!found.refused.empty() && found.refused[i]);
    if (same) return Content::exact_or_refused;
    const std::string judged = judge(rank, image_.histories[rank].writes, 0, found);
    if (!judged.empty()) return wrong(how, judged);
    why_ = "logical file " + std::to_string(rank) + " is an older one, of " + std::to_string(found.bytes.size()) +
           " of " + std::to_string(right.size()) + " bytes";
    return Content::older;
  }

  std::string verify(Content plain) {
    CheckResult health;
    const Status status = verify_multifile(storage_, kImagePath, {}, health);
    if (status.ok() && plain != Content::exact) return "verify finds it whole; it cannot be read whole";
    if (status.ok() || is_refusal(status.code())) return "";
    return "verify ends with " + told(status);
  }

  std::string repair() {
    CheckResult health;
    std::string findings;
    const Watch watch{[&](const std::string& text) { findings += "\n    " + text; }, {}};
    const Status status = repair_multifile(storage_, kImagePath, watch, health);
    repair_says_fine_ = status.ok();
    if (!status.ok() && !is_refusal(status.code())) return "repair ends with " + told(status);
    if (!status.ok() && findings.empty() && health.repaired) return "repair fails without a finding: " + told(status);
    if (!status.ok() && !health.repaired) return "";  // the repair could not begin or complete
    const Content after = read(false, "after the repair");
    if (after > worst_after(status))
      return "repair says " + (status.ok() ? "fine" : told(status)) + "; " + why_ + findings;
    return "";
  }

  Content worst_after(const Status& repair) const {
    if (!repair.ok()) return Content::older;
    return loss_ == Loss::may_be_silent ? Content::older : Content::exact;
  }

  const Image& image_;
  const std::shared_ptr<Backend> storage_;
  const Loss loss_;
  std::string why_;
  bool repair_says_fine_ = false;
};

}  // namespace

bool is_refusal(Code code) {
  return code == Code::corrupt_file || code == Code::not_closed || code == Code::unsupported_version;
}

Found read_coarsely(ReadHandle& handle, std::uint64_t rank) {
  Found found;
  found.unreadable = handle.seek_to(rank, 0);
  if (!found.unreadable.ok()) return found;
  LogicalReader& reader = *handle.current();
  found.bytes.resize(reader.size());
  std::size_t got = 0;
  if (reader.read(0, found.bytes, got).ok()) return found;
  found.refused.resize(found.bytes.size());
  constexpr std::uint64_t kStep = 250;
  for (std::uint64_t at = 0; at < found.bytes.size(); at += kStep) {
    const auto part = std::span(found.bytes).subspan(at, std::min<std::uint64_t>(kStep, found.bytes.size() - at));
    if (reader.read(at, part, got).ok()) continue;
    std::fill_n(found.refused.begin() + static_cast<std::ptrdiff_t>(at), part.size(), true);
  }
  return found;
}

std::string check_damaged(const Image& image, const std::map<std::string, std::vector<std::byte>>& files, Loss loss,
                          Depth depth) {
  return DamageCheck(image, files, loss).run(depth);
}

}  // namespace thalweg::test
