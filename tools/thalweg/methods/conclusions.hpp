// Five conclusions, put to the data of one run. They are ours, in our words: the study that asked the question (M.
// Haefele, 2010) draws five others. Criteria: docs/howto/methods.md. Pure.
#pragma once

#include <string>
#include <vector>

#include "methods/results.hpp"

namespace tool {

enum class Verdict { confirmed, refuted, not_decided };
const char* verdict_name(Verdict verdict);  // "confirmed", "refuted", "not decided"

struct Conclusion {
  int number = 0;
  std::string statement;  // what is claimed, one sentence
  std::string criterion;  // when it is taken for confirmed, and for refuted
  Verdict verdict = Verdict::not_decided;
  std::vector<std::string> numbers;  // of this run, a sentence each; what is missing when it is not decided
};

// Always five, in order.
std::vector<Conclusion> conclusions(const Results& results);

}  // namespace tool
