// A file name generated from a rank: text with one %d, %Nd or %0Nd. The text is never passed to printf.
#pragma once

#include <cstdint>
#include <string>

namespace tool {

class NamePattern {
 public:
  // Throws Failure (usage) unless there is exactly one conversion. "%%" is a per cent sign.
  explicit NamePattern(const std::string& text);
  std::string name(int64_t rank) const;

 private:
  std::string before_, after_;
  size_t width_ = 0;
  char fill_ = ' ';
};

}  // namespace tool
