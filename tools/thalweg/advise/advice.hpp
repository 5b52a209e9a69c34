// The choice of a method: time of each with its parts, reasons for exclusion, and warnings.
#pragma once

#include <string>
#include <vector>

#include "request.hpp"
#include "scale.hpp"

namespace tool {

struct Part {
  std::string what;  // for display
  double seconds = 0;
};

struct Warning {
  std::string text;
  bool always = false;  // printed for any rank in the list: about memory, offsets and chunks
};

struct Choice {
  const methods::MethodInfo* method = nullptr;
  double seconds = 0;
  double own_seconds = 0;        // of the node alone, without storage and network
  bool storage_decides = false;  // storage is slower than all other parts of the transfer
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
  std::vector<Choice> choices;  // the fastest first, those within 1 % by own_seconds; never empty
  std::vector<Ruled> out;
  std::vector<std::string> notes;     // general assumptions
  const Choice* one_array = nullptr;  // the fastest method that leaves the array as one file in its order; null: none
  double tie = 0;                     // relative: methods within this distance of the first are equal to the model
  std::vector<const Choice*> ties;    // these, without the first
};

// Throws Failure when no method is possible.
Advice advise(const Request& request, const Machine& machine);

// Why a method does not fit such data; "": it fits.
std::string ruled_out(const methods::MethodInfo& method, const std::string& pattern);
// Why a method is impossible with the resources of the nodes (advise/warnings.cpp); "": possible.
std::string impossible(const methods::MethodInfo& method, const Request& request, const Cell& cell);
// Warnings about this method (advise/warnings.cpp).
std::vector<Warning> warnings_of(const methods::MethodInfo& method, const Request& request, const Cell& cell);
// Assumptions, extrapolation, and the error of the model (advise/notes.cpp). `node`: load of one node.
std::vector<std::string> notes_of(const Request& request, const Machine& machine, const Load& node,
                                  const ScaleFacts& facts);
std::string bandwidth_text(double bytes_per_second);
// Share of the best method in the program's time, and how much of it can be hidden; empty when the program's times are
// unknown.
std::vector<std::string> duty_of(const Advice& advice, const Request& request);

}  // namespace tool
