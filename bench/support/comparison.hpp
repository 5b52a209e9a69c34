// Variants of one piece of work, run in turns (A B C A B C ...), so that drifting clocks and neighbours hit all alike.
// What is said about them: medians, and ratios taken within one repetition.
#ifndef BENCH_SUPPORT_COMPARISON_HPP
#define BENCH_SUPPORT_COMPARISON_HPP

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bench {

// Median, smallest and largest of some values.
struct Spread {
  double median = 0, low = 0, high = 0;
};
Spread spread_of(std::vector<double> values);

// How often to repeat: until `repetitions` or, after `least` of them, until `seconds` have passed. On a machine so busy
// that it takes many times as long, fewer than `least` must do, and a note says so.
struct Plan {
  int repetitions = 3;
  double seconds = 1e9;
  bool warm_up = false;  // one repetition before, not counted
  int least = 1;
  double most_seconds = 1e9;
};

// What one run handles, to print rates: "byte" gives GB/s, anything else the time for one.
struct Amount {
  double count = 1;
  std::string unit = "byte";
};

class Comparison {
 public:
  // Seconds of each phase, in the order of the phases.
  using Run = std::function<std::vector<double>(int repetition)>;

  Comparison(std::string name, Amount amount, std::vector<std::string> phases);

  // `run` makes what it needs, times its phases, checks bytes and cleans up. Repetition -1 is the warm-up.
  void add(const std::string& variant, Run run);
  void run(const Plan& plan);

  const std::string& name() const { return name_; }
  const Amount& amount() const { return amount_; }
  const std::vector<std::string>& phases() const { return phases_; }
  std::vector<std::string> variants() const;
  const std::vector<double>& samples(const std::string& variant, const std::string& phase) const;

  Spread seconds(const std::string& variant, const std::string& phase) const;
  // How many times faster `variant` is than `peer`.
  Spread speed(const std::string& variant, const std::string& peer, const std::string& phase) const;
  // Which of `candidates` has the smallest median; those that were not added do not count.
  std::string fastest(const std::vector<std::string>& candidates, const std::string& phase) const;
  // A fact to stand beside the numbers.
  void note(const std::string& key, const std::string& text) { notes_[key] = text; }
  const std::map<std::string, std::string>& notes() const { return notes_; }

 private:
  struct Entry {
    std::string name;
    Run run;
    std::map<std::string, std::vector<double>> seconds;
  };
  const Entry& find(const std::string& variant) const;

  std::string name_;
  Amount amount_;
  std::vector<std::string> phases_;
  std::vector<Entry> entries_;
  std::map<std::string, std::string> notes_;
};

}  // namespace bench

#endif
