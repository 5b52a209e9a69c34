// Reads members of a record with type and range checks; errors name the member. Used by results.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "methods/results.hpp"

namespace tool {

// A JSON object whose members are read by name. Throws Failure (kDamaged): "time record: 'seconds' is -1, ...".
class Record {
 public:
  Record(const Json& object, std::string kind) : object_(object), kind_(std::move(kind)) {}

  bool has(const std::string& name) const;  // and is not null
  Record part(const std::string& name) const;
  const Json& member(const std::string& name) const;

  std::string text(const std::string& name) const;
  std::string text_or_empty(const std::string& name) const;  // missing or null: ""
  std::string word(const std::string& name) const;           // nonempty text
  bool truth(const std::string& name) const;
  int64_t count(const std::string& name, int64_t least, int64_t most) const;
  int64_t count_or(const std::string& name, int64_t otherwise) const;  // missing or null: `otherwise`; at least 0
  double number(const std::string& name) const;                        // finite, at least 0
  double number_or_zero(const std::string& name) const;
  std::vector<int64_t> counts(const std::string& name, size_t most_entries,
                              int64_t most) const;  // one or more, each at least 1
  Cell cell(const std::string& name) const;

 private:
  [[noreturn]] void refuse(const std::string& name, const std::string& why) const;

  const Json& object_;
  std::string kind_;
};

}  // namespace tool
