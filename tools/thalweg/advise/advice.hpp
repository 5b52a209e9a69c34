// Which method to use: each one's time with what it is made of, why others are out of the question, and warnings.
#pragma once

#include <string>
#include <vector>

#include "request.hpp"
#include "scale.hpp"

namespace tool {

struct Part {
  std::string what;  // for people
  double seconds = 0;
};

struct Warning {
  std::string text;
  bool always = false;  // said wherever the method stands in the list: of memory, offsets and chunks
};

struct Choice {
  const methods::MethodInfo* method = nullptr;
  double seconds = 0;
  double own_seconds = 0;        // of the node alone, as if storage and network took nothing
  bool storage_decides = false;  // it is slower than all that moves bytes
  std::vector<Part> parts;       // the largest first
  std::string reason;            // one sentence
  std::vector<Warning> warnings;
};

struct Ruled {
  const methods::MethodInfo* method = nullptr;
  std::string why;
};

struct Advice {
  Cell cell;
  std::vector<Choice> choices;  // the quickest first, those within 1 % by own_seconds; never empty
  std::vector<Ruled> out;
  std::vector<std::string> notes;     // on all of it: what was assumed
  const Choice* one_array = nullptr;  // the quickest that leaves the array in its order as one file; null: none does
  double tie = 0;                     // relative: what is not further from the first is as quick to the model
  std::vector<const Choice*> ties;    // these, without the first
};

// Throws Failure: nothing is left to choose from.
Advice advise(const Request& request, const Machine& machine);

// Why a method makes no sense for such data; "": it does.
std::string ruled_out(const methods::MethodInfo& method, const std::string& pattern);
// Why it cannot be done with what nodes have (advise/warnings.cpp); "": it can.
std::string impossible(const methods::MethodInfo& method, const Request& request, const Cell& cell);
// What to mind with this method (advise/warnings.cpp).
std::vector<Warning> warnings_of(const methods::MethodInfo& method, const Request& request, const Cell& cell);
// What was assumed, what is beyond what was measured, and how wrong the model is (advise/notes.cpp). `node`: its share.
std::vector<std::string> notes_of(const Request& request, const Machine& machine, const Load& node,
                                  const ScaleFacts& facts);
std::string bandwidth_text(double bytes_per_second);
// What the best method takes of the time of the program, and how much may be hidden; empty where nothing was told
// of that.
std::vector<std::string> duty_of(const Advice& advice, const Request& request);

}  // namespace tool
