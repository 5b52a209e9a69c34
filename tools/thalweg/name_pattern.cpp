// Parses a pattern such as 'task-%06d'.
#include "name_pattern.hpp"

#include <fmt/format.h>

#include "common.hpp"

namespace tool {
namespace {

constexpr size_t kMostWidth = 64;

[[noreturn]] void refuse(const std::string& text, const char* why) {
  throw Failure(
      kUsage,
      fmt::format("pattern '{}' {}; it takes exactly one %d, as in 'task-%06d' (%% is a per cent sign)", text, why));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

NamePattern::NamePattern(const std::string& text) {
  bool found = false;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string& side = found ? after_ : before_;
    if (text[i] != '%') {
      side += text[i];
      continue;
    }
    if (++i < text.size() && text[i] == '%') {
      side += '%';
      continue;
    }
    if (found) refuse(text, "has more than one conversion");
    if (i < text.size() && text[i] == '0') fill_ = '0';
    for (; i < text.size() && is_digit(text[i]); ++i) {
      width_ = width_ * 10 + static_cast<size_t>(text[i] - '0');
      if (width_ > kMostWidth) refuse(text, "asks for more than 64 digits");
    }
    if (i >= text.size() || text[i] != 'd') refuse(text, "has a conversion other than %d");
    found = true;
  }
  if (!found) refuse(text, "has no conversion");
}

std::string NamePattern::name(int64_t rank) const {
  const std::string digits = std::to_string(rank);
  const std::string fill(digits.size() < width_ ? width_ - digits.size() : 0, fill_);
  return before_ + fill + digits + after_;
}

}  // namespace tool
