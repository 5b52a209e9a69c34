// Effort of a run. Every benchmark has the options --quick and --tiny.
#ifndef BENCH_SUPPORT_EFFORT_HPP
#define BENCH_SUPPORT_EFFORT_HPP

namespace bench {

// tiny: checks that the program runs and its bytes are right; quick: all comparisons with smaller sizes; full: sizes
// and repetitions of the published tables.
enum class Effort { tiny, quick, full };

inline Effort effort_of(bool tiny, bool quick) { return tiny ? Effort::tiny : quick ? Effort::quick : Effort::full; }

template <class T>
T pick(Effort effort, T tiny, T quick, T full) {
  return effort == Effort::tiny ? tiny : effort == Effort::quick ? quick : full;
}

inline const char* name_of(Effort effort) { return pick(effort, "tiny", "quick", "full"); }

}  // namespace bench

#endif
