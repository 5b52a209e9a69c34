// Checks five conclusions with the data of one run. They are Thalweg's; the study that raised the question (M. Haefele,
// 2010) draws five others. Criteria: docs/howto/methods.md. Pure.
#pragma once

#include <string>
#include <vector>

#include "methods/results.hpp"

namespace tool {

enum class Verdict { confirmed, refuted, not_decided };
const char* verdict_name(Verdict verdict);  // "confirmed", "refuted", "not decided"

struct Conclusion {
  int number = 0;
  std::string statement;  // the claim, one sentence
  std::string criterion;  // the limits for confirmed and refuted
  Verdict verdict = Verdict::not_decided;
  std::vector<std::string> numbers = {};  // of this run, a sentence each; when not decided, the missing data
};

// Always five, in order.
std::vector<Conclusion> conclusions(const Results& results);

}  // namespace tool
