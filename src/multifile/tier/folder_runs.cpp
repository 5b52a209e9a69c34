#include "multifile/tier/folder_runs.hpp"

#include <algorithm>

#include "multifile/format/layout.hpp"
#include "multifile/tier/tier_record.hpp"

namespace thalweg {

using format::kPageBytes;

namespace {

bool is_suffix(std::string_view text) {
  return text.empty() ||
         (text.size() > 1 && text[0] == '.' && text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

}  // namespace

Result<bool> FolderRuns::open_next() {
  if (suffixes_.empty()) {
    const std::filesystem::path first = first_;
    const std::string name = first.filename().string();
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(first.parent_path(), error)) {
      const std::string found = entry.path().filename().string();
      if (found.starts_with(name) && is_suffix(found.substr(name.size())))
        suffixes_.push_back(found.substr(name.size()));
    }
    TW_RETURN_IF_ERROR(folder_status(error, "list the folder of", first_));
    std::ranges::sort(suffixes_);
  } else {
    ++file_number_;
  }
  if (file_number_ >= suffixes_.size()) return false;
  TW_ASSIGN_OR_RETURN(file_, backend_.open(first_ + suffix(), OpenMode::read));
  rest_ = {};
  rest_offset_ = 0;
  return true;
}

// Takes the first run of pages that are not all zeros from rest_; false where there is none.
bool FolderRuns::take_run() {
  const auto page_at = [this](std::size_t at) { return rest_.subspan(at, std::min(kPageBytes, rest_.size() - at)); };
  std::size_t begin = 0;
  while (begin < rest_.size() && format::all_zero(page_at(begin))) begin += page_at(begin).size();
  std::size_t end = begin;
  while (end < rest_.size() && !format::all_zero(page_at(end))) end += page_at(end).size();
  offset_ = rest_offset_ + begin;
  data_ = rest_.subspan(begin, end - begin);
  rest_ = rest_.subspan(end);
  rest_offset_ += end;
  return !data_.empty();
}

Result<bool> FolderRuns::next() {
  for (;;) {
    if (take_run()) return true;
    std::uint64_t size = 0;
    if (file_ != nullptr) {
      TW_ASSIGN_OR_RETURN(size, file_->size());
      TW_ASSIGN_OR_RETURN(const std::uint64_t data, file_->next_data(rest_offset_));
      rest_offset_ = std::max(rest_offset_, data / kPageBytes * kPageBytes);
    }
    if (rest_offset_ >= size) {
      TW_ASSIGN_OR_RETURN(const bool opened, open_next());
      if (!opened) return false;
      continue;
    }
    buffer_.resize(std::min<std::uint64_t>(kMostBytes, size - rest_offset_));
    TW_ASSIGN_OR_RETURN(const std::size_t got, file_->read(rest_offset_, buffer_));
    rest_ = ByteSpan(buffer_).first(got);
    if (got == 0) return Status::error(Code::io_error, "'{}' was cut off while it was read", file_->path());
  }
}

}  // namespace thalweg
